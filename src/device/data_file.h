// A TOML file as plain data, for files other than devices (their reader, raw_file.h, checks keys as it goes).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelcast {

struct DataEntry;

struct DataNode {
  enum class Kind { text, number, truth, list, table };
  Kind kind = Kind::table;
  int line = 0;
  std::string text;
  double number = 0;
  bool truth = false;
  std::vector<DataNode> items;
  std::vector<DataEntry> entries;  // of a table
  [[nodiscard]] const DataNode* find(std::string_view key) const;
};

struct DataEntry {
  std::string name;
  DataNode node;
};

/// Throws UserError "FILE:LINE: what"; a line of 0 or below, not known, is 1.
[[noreturn]] void fail(const std::string& file, int line, const std::string& what);

/// Throws UserError "FILE:LINE: ..." for what is no TOML or holds dates.
DataNode read_data(const std::string& file, std::string_view text);

}  // namespace kernelcast
