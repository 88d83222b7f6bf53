// What the table of fields says beyond its rows: units in words, and which field a misspelt key was meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelcast/device.h"

namespace kernelcast {

/// Every field in the order of the table.
std::span<const FieldInfo> all_fields();
/// The sections in the order of the table, each once.
std::span<const std::string_view> all_sections();

/// "memory.l2_bytes".
std::string full_name(Field f);
/// The unit as a message says it: "Hz", "bytes", "bytes/s", "s", "W", "cycles", "bits"; empty for counts.
std::string_view unit_of(Field f);
/// The unit in words: "hertz", "bytes per second", ...; empty for counts.
std::string_view unit_in_words(Field f);

/// The end of the message about an unknown key: "; did you mean l2_bytes? Its value is in bytes". Knows keys that
/// differ only in the unit (boost_clock_mhz), keys of another section, and misspellings; empty when nothing is near.
std::string suggest_key(std::string_view section, std::string_view key);

/// "; did you mean sheet?" for the nearest of the candidates; empty when none is near.
std::string nearest_hint(std::string_view name, const std::vector<std::string>& candidates);

/// Shortest text that reads back as the same number, with short exponents: "30", "1.296e9".
std::string number_text(double value);

}  // namespace kernelcast
