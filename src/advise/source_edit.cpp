#include "advise/source_edit.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/place.h"

namespace kernelcast::advice {
namespace {

constexpr std::size_t longest_head = 400;  // characters between __global__ and the name: attributes and a type

std::string without_arguments(const std::string& kernel) { return kernel.substr(0, kernel.find('<')); }

/// Position of the kernel's name behind __global__; npos: not declared in this text.
std::size_t name_in_declaration(const std::string& text, const std::string& kernel) {
  const std::string name = without_arguments(kernel);
  for (std::size_t at = find_word(text, name); at != std::string::npos; at = find_word(text, name, at + 1)) {
    const std::size_t head = text.rfind("__global__", at);
    if (head == std::string::npos || at - head > longest_head) continue;
    const std::size_t behind = text.find_first_not_of(" \t\r\n", at + name.size());
    const bool declares = behind != std::string::npos && text[behind] == '(';
    const std::string between = text.substr(head, at - head);
    if (declares && between.find_first_of(";{}") == std::string::npos) return at;
  }
  return std::string::npos;
}

}  // namespace

std::string with_restrict(const std::string& text, const std::string& kernel) {
  const std::size_t name = name_in_declaration(text, kernel);
  if (name == std::string::npos) return "";
  const std::size_t begin = text.find('(', name) + 1;
  std::string parameters;
  bool changed = false;
  int depth = 0;
  std::size_t from = begin, end = begin;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (c == '{' || c == ';' || c == '/') return "";  // a comment, or no list of parameters
    if (c == '(' || c == '<' || c == '[') ++depth;
    if ((c == ')' || c == '>' || c == ']') && depth-- > 0) continue;
    if (depth > 0 || (c != ',' && c != ')')) continue;
    std::string one = text.substr(from, end - from);
    const std::size_t star = one.rfind('*');
    if (star != std::string::npos && one.find("restrict") == std::string::npos && one.find('(') == std::string::npos) {
      const bool space = star + 1 < one.size() && one[star + 1] == ' ';
      one.insert(star + 1, space ? " __restrict__" : " __restrict__ ");
      changed = true;
    }
    parameters += one + c;
    from = end + 1;
    if (c == ')') break;
  }
  if (!changed || end >= text.size()) return "";
  return text.substr(0, begin) + parameters + text.substr(end + 1);
}

LineEdit with_launch_bounds(const std::string& text, const std::string& kernel, int threads, int blocks) {
  const std::size_t name = name_in_declaration(text, kernel);
  if (name == std::string::npos) return {};
  const std::size_t head = text.rfind("__global__", name);
  if (text.substr(head, name - head).find("__launch_bounds__") != std::string::npos) return {};
  const std::size_t begin = text.rfind('\n', name) == std::string::npos ? 0 : text.rfind('\n', name) + 1;
  const std::string line = text.substr(begin, std::min(text.find('\n', name), text.size()) - begin);
  LineEdit edit{static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n')) + 1,
                line, line};
  edit.after.insert(name - begin, fmt::format("__launch_bounds__({}, {}) ", threads, blocks));
  return edit;
}

}  // namespace kernelcast::advice
