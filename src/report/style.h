// Colour and columns of text output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelcast::report {

/// Escape sequences when colour is on, plain text otherwise. Whether it is on is the command line's decision.
class Style {
 public:
  explicit Style(bool colour) : colour_(colour) {}
  [[nodiscard]] std::string bold(std::string_view text) const { return wrapped("1", text); }
  [[nodiscard]] std::string dim(std::string_view text) const { return wrapped("2", text); }
  [[nodiscard]] std::string red(std::string_view text) const { return wrapped("31", text); }

 private:
  [[nodiscard]] std::string wrapped(std::string_view code, std::string_view text) const;
  bool colour_;
};

/// Columns as wide as their widest cell, two spaces between them, no trailing blanks.
class Table {
 public:
  enum class Align { left, right };
  explicit Table(std::vector<Align> columns, int indent = 0) : align_(std::move(columns)), indent_(indent) {}
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// The first row is set apart by `style` when it is a heading.
  [[nodiscard]] std::string str(const Style& style, bool heading) const;

 private:
  std::vector<Align> align_;
  int indent_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace kernelcast::report
