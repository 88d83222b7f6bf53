// Small helpers of the assembly readers; see assembly.h.
#include "frontend/ir/assembly.h"

#include <algorithm>

namespace kernelcast::frontend {

std::string_view trim(std::string_view s) {
  const auto first = s.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<std::string_view> split_operands(std::string_view s) {
  std::vector<std::string_view> parts;
  s = trim(s);
  if (s.empty()) return parts;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const char c = s[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(trim(s.substr(start, i - start)));
      start = i + 1;
    }
  }
  parts.push_back(trim(s.substr(start)));
  return parts;
}

std::string path_in_comment(std::string_view comment) {
  comment.remove_prefix(std::min<std::size_t>(comment.starts_with("//") ? 2 : 1, comment.size()));
  std::string_view path = trim(comment);
  if (const auto inlined = path.find(" @["); inlined != std::string_view::npos) path = path.substr(0, inlined);
  for (int colons = 0; colons < 2; ++colons) path = path.substr(0, std::min(path.rfind(':'), path.size()));
  return std::string(trim(path));
}

void fill_unknown_lines(AsmFunction& function) {
  auto& code = function.instructions;
  for (std::size_t i = code.size(); i-- > 0;) {  // backwards: the next known line of the block
    if (code[i].line != 0 || i + 1 == code.size() || code[i + 1].block != code[i].block) continue;
    code[i].line = code[i + 1].line;
    code[i].file = code[i + 1].file;
  }
  for (std::size_t i = 1; i < code.size(); ++i) {  // what is left: the one before, across blocks
    if (code[i].line != 0) continue;
    code[i].line = code[i - 1].line;
    code[i].file = code[i - 1].file;
  }
}

}  // namespace kernelcast::frontend
