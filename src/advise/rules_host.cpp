// What host code does around a launch: copies between host and device in the loop that launches the kernel.
//
// The source is read as text: a loop `for (...) {` or `while (...) {` that holds both the launch of the kernel and
// blocking copies of buffers that the launch takes. Copies of other variables (a flag that ends the loop) do not count.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "advise/place.h"
#include "advise/rules.h"
#include "advise/text_edit.h"
#include "io/text.h"

namespace kernelcast::advice {
namespace {

constexpr auto nowhere = std::string::npos;

/// The items between the brackets at `open`, without blanks.
std::vector<std::string> list_at(const std::string& text, std::size_t open) {
  const std::size_t end = closing(text, open);
  if (end == nowhere) return {};
  auto items = parts_of(text.substr(open + 1, end - open - 1), ',');
  for (std::string& item : items) std::erase_if(item, [](unsigned char c) { return std::isspace(c) != 0; });
  return items;
}

struct LaunchText {
  std::size_t at = 0;  // of the kernel's name
  std::vector<std::string> arguments;
};

/// The first launch of the kernel by <<<>>>.
std::optional<LaunchText> launch_of(const std::string& text, const std::string& kernel) {
  const std::string name = kernel.substr(0, kernel.find('<'));
  for (std::size_t at = text.find("<<<"); at != nowhere; at = text.find("<<<", at + 3)) {
    const std::size_t line = text.rfind('\n', at) == nowhere ? 0 : text.rfind('\n', at) + 1;
    const std::size_t named = find_word(text, name, line);
    const std::size_t close = text.find(">>>", at);
    if (named >= at || close == nowhere) continue;
    const std::size_t open = text.find_first_not_of(" \t\n", close + 3);
    if (open == nowhere || text[open] != '(') continue;
    return LaunchText{named, list_at(text, open)};
  }
  return std::nullopt;
}

/// Whether the statement that begins at a position is the whole body of a loop, without braces.
bool is_loop_body(const std::string& text, std::size_t at) {
  constexpr std::string_view blanks = " \t\r\n";
  while (at > 0) {
    std::size_t close = text.find_last_not_of(blanks, at - 1);
    if (close == nowhere || text[close] != ')') return false;
    int depth = 0;
    std::size_t open = close + 1;
    while (open-- > 0) {
      depth += text[open] == ')' ? 1 : text[open] == '(' ? -1 : 0;
      if (depth == 0) break;
    }
    if (depth != 0 || open == 0) return false;
    const std::size_t last = text.find_last_not_of(blanks, open - 1);
    std::size_t first = last == nowhere ? 0 : last + 1;
    while (first > 0 && (std::isalnum(static_cast<unsigned char>(text[first - 1])) != 0 || text[first - 1] == '_'))
      --first;
    const std::string word = text.substr(first, last + 1 - first);
    if (word == "for" || word == "while") return true;
    if (word != "if") return false;
    at = first;  // the branch may be the body
  }
  return false;
}

/// The innermost loop in braces around a position, as its first and last character; nothing: none.
std::optional<std::pair<std::size_t, std::size_t>> loop_around(const std::string& text, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i-- > 0;) {
    if (text[i] == '}') ++depth;
    if (text[i] != '{' || depth-- > 0) continue;
    depth = 0;
    const std::size_t line = text.rfind('\n', i) == nowhere ? 0 : text.rfind('\n', i) + 1;
    const std::string same = text.substr(line, i - line);
    const bool loop =
        find_word(same, "for") != nowhere || find_word(same, "while") != nowhere || find_word(same, "do") != nowhere;
    if (loop) return std::pair{i, closing(text, i)};
  }
  return std::nullopt;
}

struct Copies {
  double to_bytes = 0, from_bytes = 0;
  int count = 0;
  std::size_t at = nowhere;
};

/// Bytes of the launch's argument of this name, where the caller told the buffer's size.
double bytes_of(const Subject& s, const LaunchText& launch, const std::string& variable) {
  const auto found = std::ranges::find(launch.arguments, variable);
  const auto position = static_cast<std::size_t>(found - launch.arguments.begin());
  if (position >= s.profile().parameters.size()) return 0;
  const auto size = s.launch().buffers.find(s.profile().parameters[position].name);
  int bytes = 0;  // of an element: the narrowest access
  for (const Site& site : s.sites()) {
    const Access& a = *site.access;
    if (a.buffer < 0 || s.profile().buffers[static_cast<std::size_t>(a.buffer)].parameter != static_cast<int>(position))
      continue;
    bytes = bytes == 0 ? a.bytes : std::min(bytes, a.bytes);
  }
  return size == s.launch().buffers.end() ? 0 : static_cast<double>(size->second.elements) * bytes;
}

/// Whether a statement of the loop that begins at `open` runs in each of its iterations: no branch stands around it.
bool always_runs(const std::string& text, std::size_t open, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i-- > open + 1;) {
    if (text[i] == '}') ++depth;
    if (text[i] == '{' && depth-- == 0) return false;
  }
  // What stands between the statement before it and the call: a macro around it, a result that it gives; or a branch.
  const std::size_t before = text.find_last_of(";{}", at - 1);
  std::string head, line;
  for (const char c : text.substr(before == nowhere ? 0 : before + 1, at - before - 1) + "\n") {
    line += c;
    if (c != '\n') continue;
    const std::size_t first = line.find_first_not_of(" \t");
    if (first != nowhere && line[first] != '#' && line.compare(first, 2, "//") != 0) head += line;
    line.clear();
  }
  for (const char* word : {"if", "else", "for", "while", "do", "case", "default"})
    if (find_word(head, word) != nowhere) return false;
  return std::count(head.begin(), head.end(), ')') <= std::count(head.begin(), head.end(), '(');
}

Copies copies_in(const Subject& s, const LaunchText& launch, const std::string& text, std::size_t from,
                 std::size_t to) {
  Copies found;
  for (const char* name : {"cudaMemcpy", "hipMemcpy"})
    for (std::size_t at = find_word(text, name, from); at < to; at = find_word(text, name, at + 1)) {
      const std::size_t open = text.find_first_not_of(" \t", at + std::string_view(name).size());
      if (open == nowhere || text[open] != '(') continue;
      const auto arguments = list_at(text, open);
      if (arguments.size() != 4 || !always_runs(text, from, at)) continue;
      const bool in = arguments[3].find("HostToDevice") != nowhere, out = arguments[3].find("DeviceToHost") != nowhere;
      if (!in && !out) continue;
      const double bytes = bytes_of(s, launch, arguments[in ? 0 : 1]);
      if (bytes <= 0) continue;
      (in ? found.to_bytes : found.from_bytes) += bytes;
      found.at = std::min(found.at, at);
      ++found.count;
    }
  return found;
}

double link_rate(const Device& d, Field pageable, Field pinned, bool is_pinned) {
  const auto slow = d.get(pageable), fast = d.get(pinned), raw = d.get(Field::system_link_bandwidth_bytes_per_s);
  if (!is_pinned && slow) return *slow;
  return fast ? *fast : raw.value_or(0);
}

std::vector<Draft> transfers(const Subject& s) {
  const std::string& text = s.question().source.text;
  const auto launch = launch_of(text, s.profile().kernel);
  // Copies around a loop of launches alone are paid for all of them together.
  const auto loop = launch && !is_loop_body(text, launch->at) ? loop_around(text, launch->at) : std::nullopt;
  if (!loop) return {};
  const Copies c = copies_in(s, *launch, text, loop->first, loop->second);
  const bool pinned =
      text.find("MallocHost") != nowhere || text.find("HostAlloc") != nowhere || text.find("HostMalloc") != nowhere;
  const double to = link_rate(s.device(), Field::link_to_pageable_bandwidth_bytes_per_s,
                              Field::link_to_bandwidth_bytes_per_s, pinned);
  const double from = link_rate(s.device(), Field::link_from_pageable_bandwidth_bytes_per_s,
                                Field::link_from_bandwidth_bytes_per_s, pinned);
  if (c.count == 0 || to <= 0 || from <= 0) return {};
  const double kernel = *s.estimate().time_s.value, copies = c.to_bytes / to + c.from_bytes / from;
  if (copies < kernel) return {};
  Draft d;
  const auto line =
      static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(c.at), '\n')) + 1;
  for (const SourceLine l : s.lines())
    if (s.in_source(l) && l.line == line) d.line = l;
  d.token = "Memcpy";
  d.message =
      fmt::format("the loop that launches the kernel copies {} to the device and {} back: {} for a kernel of {}",
                  format_bytes(c.to_bytes), format_bytes(c.from_bytes), format_seconds(copies), format_seconds(kernel));
  d.change =
      "copy before and after the loop what only the device uses; what must move, in parts on two streams: "
      "cudaMemcpyAsync from pinned memory while the kernel works on the part before";
  d.before = kernel + copies;
  d.seconds = copies;
  d.limiter = "link";
  d.assumptions.emplace_back("copies and kernel overlap; times are of both together");
  return {std::move(d)};
}

}  // namespace

std::span<const Rule> host_rules() {
  static const Rule list[] = {
      {{"transfers", "a loop of launches copies more than its kernel takes"}, transfers},
  };
  return list;
}

}  // namespace kernelcast::advice
