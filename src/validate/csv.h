// Tables of comma-separated values (RFC 4180), with the line of every record for messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast::validate {

struct CsvTable {
  struct Record {
    int line = 0;  // where it begins; the heading is on line 1
    std::vector<std::string> cells;
  };
  std::string path;
  std::vector<std::string> columns;
  std::vector<Record> records;
  /// Index of a column, -1 when there is none of that name.
  [[nodiscard]] int column(std::string_view name) const;
};

/// Fields may be quoted ("" is a quote inside); lines end in LF or CRLF; blank lines are skipped. Throws UserError
/// "FILE:LINE: ..." for an open quote, text behind a closing quote, a record with more or fewer cells than the heading,
/// a column without a name or named twice, an empty file, more than a thousand columns or a million records.
CsvTable parse_csv(const std::string& path, std::string_view text);

/// One record, read by column name. Messages name file, line and column.
class CsvCells {
 public:
  CsvCells(const CsvTable& table, const CsvTable::Record& record) : table_(table), record_(record) {}
  /// The cell; empty where the table has no such column.
  [[nodiscard]] const std::string& text(std::string_view column) const;
  /// The cell, which must not be empty.
  const std::string& required(std::string_view column) const;
  /// A whole number of at least `minimum`; `fallback` for an empty cell.
  [[nodiscard]] std::int64_t whole(std::string_view column, std::int64_t minimum, std::int64_t fallback) const;
  /// A finite number.
  [[nodiscard]] double number(std::string_view column) const;
  /// "name=value;name=value" in order; throws for a part without name or "=".
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> pairs(std::string_view column) const;
  [[noreturn]] void fail(std::string_view column, std::string_view what) const;

 private:
  const CsvTable& table_;
  const CsvTable::Record& record_;
};

/// The text between separators, blanks around it removed, empty parts left out.
std::vector<std::string> split(std::string_view text, char separator);
/// The whole text as a number, if it is one and finite.
std::optional<double> number_in(std::string_view text);
std::optional<std::int64_t> whole_in(std::string_view text);

}  // namespace kernelcast::validate
