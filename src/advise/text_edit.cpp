#include "advise/text_edit.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <optional>
#include <vector>

#include "advise/place.h"

namespace kernelcast::advice {
namespace {

constexpr auto npos = std::string::npos;

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

std::string stripped(const std::string& text) {
  std::size_t begin = 0, end = text.size();
  while (begin < end && is_space(text[begin])) ++begin;
  while (end > begin && is_space(text[end - 1])) --end;
  return text.substr(begin, end - begin);
}

std::optional<int> integer_of(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

struct Component {
  std::string index;
  int at = 0;
};

/// n * e + k as vector e, component k.
std::optional<Component> component_of(const std::string& index, int elements) {
  Component found;
  if (index.find_first_of("?-<>&|^~%/=,\"'") != npos) return std::nullopt;
  for (const std::string& term : parts_of(index, '+')) {
    if (const auto constant = integer_of(term)) {
      found.at += *constant;
      continue;
    }
    const std::vector<std::string> factors = parts_of(term, '*');
    if (!found.index.empty() || factors.size() != 2) return std::nullopt;
    for (const int n : {0, 1})
      if (integer_of(factors[static_cast<std::size_t>(n)]) == elements)
        found.index = factors[static_cast<std::size_t>(1 - n)];
  }
  const bool inside = !found.index.empty() && found.at >= 0 && found.at < elements;
  return inside ? std::optional(found) : std::nullopt;
}

/// Whether what stands behind an access assigns to it.
bool assigned(const std::string& text, std::size_t behind) {
  while (behind < text.size() && is_space(text[behind])) ++behind;
  const std::string rest = text.substr(behind, 3);
  if (rest.starts_with("==")) return false;
  if (rest.starts_with("=") || rest.starts_with("++") || rest.starts_with("--")) return true;
  return rest.size() > 1 && std::string("+-*/%&|^").find(rest[0]) != npos && rest[1] == '=';
}

}  // namespace

std::size_t closing(const std::string& text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[' || text[i] == '{') ++depth;
    if ((text[i] == ')' || text[i] == ']' || text[i] == '}') && --depth == 0) return i;
  }
  return npos;
}

std::vector<std::string> parts_of(const std::string& text, char sign) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == sign && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (std::string& part : parts) part = stripped(part);
  return parts;
}

std::string with_vector_loads(const std::string& text, const std::string& name, int elements,
                              const std::string& vector) {
  if (elements < 2 || elements > 4) return "";
  std::string changed;
  std::size_t from = 0;
  for (std::size_t at = find_word(text, name); at != npos; at = find_word(text, name, at + 1)) {
    if (at < from) continue;
    const std::size_t open = at + name.size();
    if (open >= text.size() || text[open] != '[') continue;
    const std::size_t close = closing(text, open);
    if (close == npos || assigned(text, close + 1)) return "";
    const auto part = component_of(text.substr(open + 1, close - open - 1), elements);
    if (!part) return "";
    changed += text.substr(from, at - from) +
               fmt::format("reinterpret_cast<const {}*>({})[{}].{}", vector, name, part->index, "xyzw"[part->at]);
    from = close + 1;
  }
  return from == 0 ? "" : changed + text.substr(from);
}

}  // namespace kernelcast::advice
