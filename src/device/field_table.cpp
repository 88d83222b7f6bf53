// The table of fields as an array, and help for misspelt keys.
//
// A wrong key in a device file is most often the right name with another unit (boost_clock_mhz, l2_kb). Such a key is
// matched by its stem, the name without the unit, because taking its number as it stands would be wrong by powers of
// ten. Only then do misspellings count.
#include "device/field_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "io/nearest.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

constexpr std::array<FieldInfo, field_count> field_table = {{
#define KC_FIELD(section, key, minimum, maximum, integer, meaning) {#section, #key, minimum, maximum, integer, meaning},
#include "kernelcast/device_fields.def"
#undef KC_FIELD
}};

struct UnitName {
  std::string_view suffix, unit, words;
};
// The units of the table; a longer suffix before those that end it.
constexpr std::array<UnitName, 7> unit_names = {{{"_bytes_per_s", "bytes/s", "bytes per second"},
                                                 {"_cycles", "cycles", "cycles"},
                                                 {"_bytes", "bytes", "bytes"},
                                                 {"_bits", "bits", "bits"},
                                                 {"_hz", "Hz", "hertz"},
                                                 {"_s", "s", "seconds"},
                                                 {"_w", "W", "watts"}}};

// Endings that people write instead.
constexpr std::string_view foreign_suffixes[] = {"_gbytes_per_s",
                                                 "_gbytes_s",
                                                 "_bytes_per_second",
                                                 "_bytes_per_sec",
                                                 "_gib_per_s",
                                                 "_tib_per_s",
                                                 "_mib_per_s",
                                                 "_gb_per_s",
                                                 "_tb_per_s",
                                                 "_mb_per_s",
                                                 "_gb_per_sec",
                                                 "_gbps",
                                                 "_tbps",
                                                 "_gb_s",
                                                 "_tb_s",
                                                 "_mb_s",
                                                 "_khz",
                                                 "_mhz",
                                                 "_ghz",
                                                 "_hertz",
                                                 "_kbytes",
                                                 "_mbytes",
                                                 "_gbytes",
                                                 "_kib",
                                                 "_mib",
                                                 "_gib",
                                                 "_kb",
                                                 "_mb",
                                                 "_gb",
                                                 "_tb",
                                                 "_byte",
                                                 "_b",
                                                 "_size",
                                                 "_ms",
                                                 "_us",
                                                 "_ns",
                                                 "_seconds",
                                                 "_sec",
                                                 "_watts",
                                                 "_watt",
                                                 "_kw",
                                                 "_mw",
                                                 "_clocks",
                                                 "_clk",
                                                 "_cycle",
                                                 "_bit"};

std::string_view stem(std::string_view key) {
  std::size_t longest = 0;
  for (const UnitName& u : unit_names)
    if (key.ends_with(u.suffix)) longest = std::max(longest, u.suffix.size());
  for (std::string_view s : foreign_suffixes)
    if (key.ends_with(s)) longest = std::max(longest, s.size());
  return key.substr(0, key.size() - longest);
}

const UnitName* unit_row(Field f) {
  const FieldInfo& row = info(f);
  for (const UnitName& u : unit_names)
    if (row.key.ends_with(u.suffix)) return &u;
  // Keys with the unit inside (shared_bytes_per_unit) or only in the meaning ("...; bytes") are bytes.
  if (row.key.find("_bytes") != std::string_view::npos || row.meaning.ends_with("; bytes")) return &unit_names[2];
  return nullptr;
}

std::string advice(Field f, std::string_view shown) {
  std::string text = "; did you mean " + std::string(shown) + "?";
  if (!unit_in_words(f).empty()) text += " Its value is in " + std::string(unit_in_words(f));
  return text;
}

}  // namespace

Field tensor_rate_field(TensorType type) {
  const auto first = static_cast<std::size_t>(Field::compute_tensor_f16_f16_fma_per_unit);
  return static_cast<Field>(first + static_cast<std::size_t>(type));
}
static_assert(static_cast<std::size_t>(Field::compute_tensor_f4_f32_fma_per_unit) ==
                  static_cast<std::size_t>(Field::compute_tensor_f16_f16_fma_per_unit) +
                      static_cast<std::size_t>(TensorType::f4_f32),
              "the rates stand in the order of the types");

std::optional<Field> tensor_energy_field(TensorType type) {
  switch (type) {
    case TensorType::f16_f16:
    case TensorType::f16_f32:
      return Field::energy_tensor_f16_f32_fma_j;
    case TensorType::bf16_f32:
      return Field::energy_tensor_bf16_f32_fma_j;
    case TensorType::tf32_f32:
      return Field::energy_tensor_tf32_f32_fma_j;
    case TensorType::f64_f64:
      return Field::energy_tensor_f64_f64_fma_j;
    case TensorType::s8_s32:
      return Field::energy_tensor_s8_s32_fma_j;
    case TensorType::f8_f16:
    case TensorType::f8_f32:
      return Field::energy_tensor_f8_f32_fma_j;
    default:
      return std::nullopt;
  }
}

const FieldInfo& info(Field f) {
  auto index = static_cast<std::size_t>(f);
  if (index >= field_count) throw InternalError("no such device field");
  return field_table[index];
}

std::span<const FieldInfo> all_fields() { return field_table; }

std::span<const std::string_view> all_sections() {
  static const std::vector<std::string_view> sections = [] {
    std::vector<std::string_view> list;
    for (const FieldInfo& row : field_table)
      if (std::find(list.begin(), list.end(), row.section) == list.end()) list.push_back(row.section);
    return list;
  }();
  return sections;
}

std::optional<Field> field_named(std::string_view section, std::string_view key) {
  for (std::size_t i = 0; i < field_count; ++i)
    if (field_table[i].key == key && field_table[i].section == section) return static_cast<Field>(i);
  return std::nullopt;
}

std::string full_name(Field f) { return std::string(info(f).section) + "." + std::string(info(f).key); }

std::string_view unit_of(Field f) {
  const UnitName* u = unit_row(f);
  return u != nullptr ? u->unit : std::string_view();
}

std::string_view unit_in_words(Field f) {
  const UnitName* u = unit_row(f);
  return u != nullptr ? u->words : std::string_view();
}

std::string suggest_key(std::string_view section, std::string_view key) {
  std::vector<std::string> same_section;
  std::optional<Field> other_section;
  for (std::size_t i = 0; i < field_count; ++i) {
    auto f = static_cast<Field>(i);
    bool here = field_table[i].section == section;
    if (here && stem(field_table[i].key) == stem(key)) return advice(f, field_table[i].key);
    if (here) same_section.emplace_back(field_table[i].key);
    if (!here && field_table[i].key == key) other_section = f;
  }
  if (other_section) return "; " + std::string(key) + " belongs in [" + std::string(info(*other_section).section) + "]";
  std::vector<std::string> near = nearest_names(key, same_section, 1);
  if (near.empty()) return "";
  return advice(*field_named(section, near.front()), near.front());
}

std::string nearest_hint(std::string_view name, const std::vector<std::string>& candidates) {
  std::vector<std::string> near = nearest_names(name, candidates, 1);
  return near.empty() ? "" : "; did you mean " + near.front() + "?";
}

std::string number_text(double value) {
  char buffer[40];
  char* end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (std::abs(value) >= 1e6 || (value != 0 && std::abs(value) < 1e-4)) {
    end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
    std::string scientific(buffer, end);
    std::size_t e = scientific.find('e');
    std::string digits = scientific.substr(e + 2);
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
    scientific = scientific.substr(0, e + 1) + (scientific[e + 1] == '-' ? "-" : "") + digits;
    if (scientific.size() < text.size() || text.find('e') != std::string::npos) return scientific;
  }
  return text;
}

}  // namespace kernelcast
