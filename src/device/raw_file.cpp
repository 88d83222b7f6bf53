// Reads one TOML file strictly: every key must be in the table of fields or among the names below, and every number
// must come with its source. The TOML library is header-only and seen here alone.
#include "device/raw_file.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "device/field_table.h"
#include "device/toml_number.h"
#include "io/nearest.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

struct TextKey {
  std::string_view key;
  RawText RawDevice::* member;
};
constexpr std::array<TextKey, 9> text_keys = {{{"id", &RawDevice::id},
                                               {"name", &RawDevice::name},
                                               {"kind", &RawDevice::kind},
                                               {"vendor", &RawDevice::vendor},
                                               {"inherits", &RawDevice::inherits},
                                               {"architecture", &RawDevice::architecture},
                                               {"compute_capability", &RawDevice::compute_capability},
                                               {"codegen_target", &RawDevice::codegen_target},
                                               {"codegen_note", &RawDevice::codegen_note}}};

int line_of(const toml::source_region& where) { return static_cast<int>(where.begin.line); }

std::string_view type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "a boolean";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::table:
      return "a table";
    default:
      return "a date or time";
  }
}

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  toml::table parse(std::string_view text) const {
    refuse_long_lines(text);
    try {
      return toml::parse(text, std::string_view(file_));
    } catch (const toml::parse_error& e) {
      fail(line_of(e.source()), std::string(e.description()));
    }
  }

  RawDevice device(const toml::table& root) const {
    RawDevice out;
    out.file = file_;
    for (auto&& [key, node] : root) top_level(key, node, out);
    // The table is sorted by name; messages and merging go by line.
    std::ranges::sort(out.numbers, {}, &RawNumber::line);
    return out;
  }

  SourceTable sources(const toml::node& node) const {
    if (!node.is_table()) fail(line_of(node.source()), "sources must be a table of KEY = \"citation\"");
    SourceTable out;
    for (auto&& [key, citation] : *node.as_table()) {
      std::string name(key.str());
      if (name.empty() || name.find(' ') != std::string::npos)
        fail(line_of(key.source()), "source key \"" + name + "\" must not be empty or hold a space");
      out[name] = string(citation, line_of(key.source()), "sources." + name);
    }
    return out;
  }

  [[noreturn]] void fail(int line, const std::string& what) const {
    throw UserError(file_ + ":" + std::to_string(std::max(line, 1)) + ": " + what);
  }

 private:
  /// A dotted key nests as deep as it has dots ("a.a.a..."), which the library does not limit; a line's length does.
  void refuse_long_lines(std::string_view text) const {
    constexpr std::size_t longest = 4000;
    int line = 1;
    for (std::size_t begin = 0; begin < text.size(); ++line) {
      std::size_t end = std::min(text.find('\n', begin), text.size());
      if (end - begin > longest) fail(line, "the line is longer than " + std::to_string(longest) + " bytes");
      begin = end + 1;
    }
  }

  std::string string(const toml::node& node, int line, const std::string& what) const {
    if (!node.is_string()) fail(line, what + " must be a string, not " + std::string(type_name(node)));
    std::string text = node.as_string()->get();
    if (text.empty()) fail(line, what + " must not be empty");
    return text;
  }

  std::vector<std::string> strings(const toml::node& node, int line, const std::string& what) const {
    if (!node.is_array()) fail(line, what + " must be an array of strings, not " + std::string(type_name(node)));
    std::vector<std::string> out;
    for (const toml::node& item : *node.as_array())
      out.push_back(string(item, line_of(item.source()), "an entry of " + what));
    return out;
  }

  void top_level(const toml::key& key, const toml::node& node, RawDevice& out) const {
    std::string name(key.str());
    int line = line_of(key.source());
    for (const TextKey& t : text_keys)
      if (t.key == name) {
        out.*t.member = {string(node, line, name), line};
        return;
      }
    if (name == "aliases") {
      out.aliases = strings(node, line, name);
      out.aliases_line = line;
    } else if (name == "notes") {
      out.notes = strings(node, line, name);
    } else if (name == "sources") {
      out.sources = sources(node);
    } else if (std::ranges::find(all_sections(), name) != all_sections().end()) {
      if (!node.is_table()) fail(line, name + " must be a section, [" + name + "]");
      for (auto&& [field, entry] : *node.as_table()) out.numbers.push_back(number(name, field, entry));
    } else if (node.is_table() && !is_field_key(name)) {
      fail(line, "unknown section [" + name + "]" + near_section(name));
    } else {
      fail(line, "unknown key " + name + near_top(name));
    }
  }

  static bool is_field_key(std::string_view name) {
    return std::ranges::find(all_fields(), name, &FieldInfo::key) != all_fields().end();
  }

  static std::string near_section(std::string_view name) {
    std::vector<std::string> known(all_sections().begin(), all_sections().end());
    known.emplace_back("sources");
    std::vector<std::string> near = nearest_names(name, known, 1);
    return near.empty() ? "" : "; did you mean [" + near.front() + "]?";
  }

  static std::string near_top(std::string_view name) {
    // A number's key at the top has lost its section.
    for (const FieldInfo& row : all_fields())
      if (row.key == name) return "; " + std::string(name) + " belongs in [" + std::string(row.section) + "]";
    std::vector<std::string> known = {"aliases", "notes"};
    for (const TextKey& t : text_keys) known.emplace_back(t.key);
    return nearest_hint(name, known);
  }

  RawNumber number(const std::string& section, const toml::key& key, const toml::node& node) const {
    int line = line_of(key.source());
    std::optional<Field> field = field_named(section, key.str());
    std::string name = section + "." + std::string(key.str());
    if (!field) fail(line, "unknown key " + name + suggest_key(section, key.str()));
    if (node.is_number()) {
      fail(line, name + " = " + number_text(number_in(node)) + " has no source; write { value = " +
                     number_text(number_in(node)) + ", source = \"KEY\" } with a key of sources.toml");
    }
    const toml::table* entry = node.as_table();
    if (entry == nullptr) {
      fail(line, name + " must be { value = NUMBER, source = \"KEY\" } or { unknown = \"REASON\" }, not " +
                     std::string(type_name(node)));
    }
    for (auto&& [part, ignored] : *entry)
      if (part != "value" && part != "source" && part != "unknown" && part != "unstable")
        fail(line_of(part.source()), name + " has an unknown part \"" + std::string(part.str()) +
                                         "\"; it may have value, source and unstable, or unknown");
    if (const toml::node* unknown = entry->get("unknown")) {
      if (entry->size() != 1) fail(line, name + " cannot be unknown and also have a value or a source");
      return {*field, std::nullopt, string(*unknown, line, name + ": the reason of unknown"), line};
    }
    const toml::node* value = entry->get("value");
    const toml::node* source = entry->get("source");
    if (value == nullptr) fail(line, name + " has no value; if nobody knows it, write { unknown = \"REASON\" }");
    if (source == nullptr) fail(line, name + " has no source; add source = \"KEY\" with a key of sources.toml");
    const toml::node* unstable = entry->get("unstable");
    if (unstable != nullptr && !unstable->is_boolean()) fail(line, name + ": unstable must be true or false");
    return {*field, in_range(*field, *value, line), string(*source, line, name + ": source"), line,
            unstable != nullptr && *unstable->value<bool>()};
  }

  double in_range(Field f, const toml::node& node, int line) const {
    std::string name = full_name(f);
    if (!node.is_number()) fail(line, name + ": value must be a number, not " + std::string(type_name(node)));
    double value = number_in(node);
    const FieldInfo& row = info(f);
    if (!(value >= row.minimum && value <= row.maximum)) {
      std::string_view unit = unit_of(f);
      std::string about = unit.empty() ? "it counts: " + std::string(row.meaning) : "the unit is " + std::string(unit);
      fail(line, name + " = " + number_text(value) + " is outside " + number_text(row.minimum) + ".." +
                     number_text(row.maximum) + "; " + about);
    }
    if (row.integer && value != std::floor(value))
      fail(line, name + " = " + number_text(value) + " must be a whole number");
    return value;
  }

  std::string file_;
};

// The part before the first line that opens a section. No key before the sections holds a nested array, so a line that
// starts with a bracket is a section.
std::string_view head_of(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t first = text.find_first_not_of(" \t", at);
    if (first == std::string_view::npos || text[first] == '[') return text.substr(0, at);
    std::size_t end = text.find('\n', first);
    if (end == std::string_view::npos) break;
    at = end + 1;
  }
  return text;
}

}  // namespace

RawDevice read_raw(const std::string& file, std::string_view text) {
  Reader reader(file);
  return reader.device(reader.parse(text));
}

RawDevice read_head(const std::string& file, std::string_view text) { return read_raw(file, head_of(text)); }

SourceTable read_sources(const std::string& file, std::string_view text) {
  Reader reader(file);
  toml::table root = reader.parse(text);
  SourceTable out;
  for (auto&& [key, node] : root) {
    if (key != "sources")
      reader.fail(line_of(key.source()), "unknown key " + std::string(key.str()) + "; this file holds only [sources]");
    out = reader.sources(node);
  }
  return out;
}

}  // namespace kernelcast
