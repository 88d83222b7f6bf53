// Bytes are taken as they are; the compiler decides what it makes of them.
#include "cli/sources.h"

#include "io/text_file.h"

namespace kernelcast::cli {

std::string read_source(const std::string& path) { return read_text_file(path == "<stdin>" ? "-" : path); }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    std::size_t end = text.find('\n', start);
    if (end == std::string::npos) end = text.size();
    std::string line = text.substr(start, end - start);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::move(line));
    start = end + 1;
  }
  return lines;
}

}  // namespace kernelcast::cli
