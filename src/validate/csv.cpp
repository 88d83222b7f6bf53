// A state machine over the bytes: what RFC 4180 leaves open (a quote inside an unquoted field) is taken as it stands.
#include "validate/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "kernelcast/error.h"

namespace kernelcast::validate {
namespace {

constexpr std::size_t most_columns = 1000, most_records = 1'000'000, most_cells = 50'000'000;

class CsvParser {
 public:
  CsvParser(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  std::vector<CsvTable::Record> records() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    std::vector<CsvTable::Record> all;
    std::size_t cells = 0;
    while (at_ < text_.size()) {
      CsvTable::Record record = next();
      const bool blank = record.cells.size() == 1 && record.cells.front().empty();
      if (blank) continue;
      cells += record.cells.size();
      if (all.size() > most_records || cells > most_cells)
        too_large(record.line, fmt::format("more than {} records or {} cells", most_records, most_cells));
      all.push_back(std::move(record));
    }
    return all;
  }

 private:
  [[noreturn]] void too_large(int line, const std::string& what) const {
    throw UserError(fmt::format("{}:{}: {}; split the table", path_, line, what));
  }

  CsvTable::Record next() {
    CsvTable::Record record{line_, {}};
    for (;;) {
      if (record.cells.size() == most_columns) too_large(line_, fmt::format("more than {} columns", most_columns));
      record.cells.push_back(at_ < text_.size() && text_[at_] == '"' ? quoted() : plain());
      if (at_ == text_.size()) return record;
      if (text_[at_] == ',') {
        ++at_;
        continue;
      }
      if (text_[at_] == '\r') ++at_;
      if (at_ < text_.size()) ++at_;  // the line feed
      ++line_;
      return record;
    }
  }

  std::string plain() {
    std::size_t end = text_.find_first_of(",\n", at_);
    if (end == std::string_view::npos) end = text_.size();
    std::size_t last = end;
    if (last > at_ && text_[last - 1] == '\r') --last;
    std::string cell(text_.substr(at_, last - at_));
    at_ = last;
    if (end == text_.size()) at_ = end;
    return cell;
  }

  std::string quoted() {
    const int opened = line_;
    std::string cell;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '"') {
        cell += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        cell += '"';
        ++at_;
      } else {
        ++at_;
        if (at_ < text_.size() && text_.find_first_of(",\r\n", at_) != at_) {
          throw UserError(fmt::format("{}:{}: text behind a closing quote; write \"\" for a quote", path_, line_));
        }
        return cell;
      }
    }
    throw UserError(fmt::format("{}:{}: a quote is opened and never closed", path_, opened));
  }

  const std::string& path_;
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

void check_columns(const CsvTable& table, int line) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& name = table.columns[i];
    if (name.empty()) throw UserError(fmt::format("{}:{}: column {} has no name", table.path, line, i + 1));
    if (table.column(name) != static_cast<int>(i)) {
      throw UserError(fmt::format("{}:{}: there are two columns \"{}\"", table.path, line, name));
    }
  }
}

}  // namespace

int CsvTable::column(std::string_view name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  return found == columns.end() ? -1 : static_cast<int>(found - columns.begin());
}

CsvTable parse_csv(const std::string& path, std::string_view text) {
  CsvTable table;
  table.path = path;
  table.records = CsvParser(path, text).records();
  if (table.records.empty()) throw UserError(path + ": is empty; expected a line of column names");
  const int heading = table.records.front().line;
  table.columns = std::move(table.records.front().cells);
  table.records.erase(table.records.begin());
  check_columns(table, heading);
  for (const CsvTable::Record& record : table.records) {
    if (record.cells.size() == table.columns.size()) continue;
    throw UserError(fmt::format("{}:{}: {} cells where the heading has {}", path, record.line, record.cells.size(),
                                table.columns.size()));
  }
  return table;
}

const std::string& CsvCells::text(std::string_view column) const {
  static const std::string none;
  const int i = table_.column(column);
  return i < 0 ? none : record_.cells[static_cast<std::size_t>(i)];
}

const std::string& CsvCells::required(std::string_view column) const {
  const std::string& value = text(column);
  if (value.empty()) fail(column, table_.column(column) < 0 ? "there is no such column" : "is empty");
  return value;
}

std::int64_t CsvCells::whole(std::string_view column, std::int64_t minimum, std::int64_t fallback) const {
  const std::string& value = text(column);
  if (value.empty()) return fallback;
  const auto n = whole_in(value);
  if (!n || *n < minimum) {
    fail(column, fmt::format("\"{}\" where a whole number of at least {} is expected", value, minimum));
  }
  return *n;
}

double CsvCells::number(std::string_view column) const {
  const std::string& value = required(column);
  const auto n = number_in(value);
  if (!n) fail(column, fmt::format("\"{}\" where a number is expected", value));
  return *n;
}

std::vector<std::pair<std::string, std::string>> CsvCells::pairs(std::string_view column) const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& part : split(text(column), ';')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0) fail(column, fmt::format("\"{}\" is not NAME=VALUE", part));
    all.emplace_back(part.substr(0, equals), part.substr(equals + 1));
  }
  return all;
}

void CsvCells::fail(std::string_view column, std::string_view what) const {
  throw UserError(fmt::format("{}:{}: column {}: {}", table_.path, record_.line, column, what));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    std::string_view part = text.substr(start, end - start);
    const std::size_t first = part.find_first_not_of(" \t");
    if (first != std::string_view::npos) {
      part = part.substr(first, part.find_last_not_of(" \t") - first + 1);
      parts.emplace_back(part);
    }
    start = end + 1;
  }
  return parts;
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> whole_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace kernelcast::validate
