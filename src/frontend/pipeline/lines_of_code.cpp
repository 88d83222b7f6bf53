// The text of a target's code for people to read.
#include "frontend/ir/assembly.h"
#include "frontend/pipeline/pipeline.h"

namespace kernelcast::frontend {

std::vector<TargetLine> lines_of_code(std::string_view text) {
  std::vector<TargetLine> lines;
  std::string file;
  int line = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view whole = text.substr(0, end), code = trim(whole);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (code.starts_with(".loc")) {
      const std::size_t comment = std::min(code.find("//"), code.find(';'));
      file = comment == std::string_view::npos ? std::string() : path_in_comment(code.substr(comment));
      std::string_view numbers = trim(code.substr(4));
      numbers = trim(numbers.substr(std::min(numbers.find_first_of(" \t"), numbers.size())));
      line = 0;
      for (const char c : numbers) {
        if (c < '0' || c > '9' || line > (1 << 24)) break;
        line = 10 * line + (c - '0');
      }
      continue;
    }
    const bool label = code.ends_with(':') || code.find(":  ") != std::string_view::npos;
    const bool skipped = code.empty() || code.front() == ';' || code.starts_with("//") || code == "{" || code == "}" ||
                         code == "(" || code == ")" || (code.front() == '.' && !label);
    if (skipped) continue;
    if (label) {
      lines.push_back({std::string(code.substr(0, code.find_first_of(" \t"))), {}, 0});
    } else {
      lines.push_back({"  " + std::string(code), line > 0 ? file : std::string(), line});
    }
  }
  return lines;
}

}  // namespace kernelcast::frontend
