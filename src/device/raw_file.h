// One device file as it stands: nothing inherited, sources still keys. With data_file.h the only code that sees the
// TOML library.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelcast/device.h"

namespace kernelcast {

/// A text with its line in the file; line 0: not given.
struct RawText {
  std::string text;
  int line = 0;
  [[nodiscard]] bool given() const { return line > 0; }
};

struct RawNumber {
  Field field;
  std::optional<double> value;
  std::string source;  // "KEY" or "KEY PLACE"; for unknown numbers the reason
  int line;
  bool unstable = false;
};

struct RawDevice {
  std::string file;
  RawText id, name, kind, vendor, inherits, architecture, compute_capability, codegen_target, codegen_note;
  std::vector<std::string> aliases, notes;
  int aliases_line = 0;  // 0: not given
  std::vector<RawNumber> numbers;
  std::map<std::string, std::string, std::less<>> sources;  // the file's own [sources]
};

using SourceTable = std::map<std::string, std::string, std::less<>>;

/// All of `text`, the contents of `file`, checked against the table of fields. Throws UserError "FILE:LINE: ...".
RawDevice read_raw(const std::string& file, std::string_view text);
/// As read_raw, but only the keys before the first section.
RawDevice read_head(const std::string& file, std::string_view text);
/// A sources.toml: nothing but the table [sources], key = "citation".
SourceTable read_sources(const std::string& file, std::string_view text);

}  // namespace kernelcast
