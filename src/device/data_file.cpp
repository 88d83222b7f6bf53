#include "device/data_file.h"

#include <algorithm>

#include "device/toml_number.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

DataNode plain(const std::string& file, const toml::node& node) {
  DataNode out;
  out.line = static_cast<int>(node.source().begin.line);
  if (const auto* text = node.as_string()) {
    out.kind = DataNode::Kind::text;
    out.text = text->get();
  } else if (node.is_number()) {
    out.kind = DataNode::Kind::number;
    out.number = number_in(node);
  } else if (const auto* truth = node.as_boolean()) {
    out.kind = DataNode::Kind::truth;
    out.truth = truth->get();
  } else if (const auto* list = node.as_array()) {
    out.kind = DataNode::Kind::list;
    for (const toml::node& item : *list) out.items.push_back(plain(file, item));
  } else if (const auto* table = node.as_table()) {
    out.kind = DataNode::Kind::table;
    for (auto&& [key, value] : *table) {
      out.entries.push_back({std::string(key.str()), plain(file, value)});
      out.entries.back().node.line = static_cast<int>(key.source().begin.line);
    }
    std::ranges::stable_sort(out.entries, {}, [](const DataEntry& entry) { return entry.node.line; });
  } else {
    fail(file, out.line, "dates and times mean nothing here");
  }
  return out;
}

/// A dotted key nests as deep as it has dots, which the library does not limit; a line's length does.
void refuse_long_lines(const std::string& file, std::string_view text) {
  constexpr std::size_t longest = 4000;
  int line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end - begin > longest) fail(file, line, "the line is longer than " + std::to_string(longest) + " bytes");
    begin = end + 1;
  }
}

}  // namespace

void fail(const std::string& file, int line, const std::string& what) {
  throw UserError(file + ":" + std::to_string(std::max(line, 1)) + ": " + what);
}

const DataNode* DataNode::find(std::string_view key) const {
  for (const auto& [name, node] : entries)
    if (name == key) return &node;
  return nullptr;
}

DataNode read_data(const std::string& file, std::string_view text) {
  refuse_long_lines(file, text);
  try {
    return plain(file, toml::parse(text, std::string_view(file)));
  } catch (const toml::parse_error& e) {
    fail(file, static_cast<int>(e.source().begin.line), std::string(e.description()));
  }
}

}  // namespace kernelcast
