// Widths count code points, not bytes: device names and units may hold non-ASCII characters.
#include "report/style.h"

#include <algorithm>

namespace kernelcast::report {
namespace {

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

std::string Style::wrapped(std::string_view code, std::string_view text) const {
  if (!colour_ || text.empty()) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

std::string Table::str(const Style& style, bool heading) const {
  std::vector<std::size_t> widths(align_.size(), 0);
  for (const auto& cells : rows_) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths.at(i) = std::max(widths[i], width(cells[i]));
  }
  std::string out;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < rows_[r].size(); ++i) {
      const std::string& cell = rows_[r][i];
      const std::string pad(widths[i] - width(cell), ' ');
      if (i > 0) line += "  ";
      line += align_[i] == Align::right ? pad + cell : cell + pad;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += std::string(static_cast<std::size_t>(indent_), ' ');
    out += heading && r == 0 ? style.bold(line) : line;
    out += '\n';
  }
  return out;
}

}  // namespace kernelcast::report
