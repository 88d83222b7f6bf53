// A device file that stands alone: every number of the base with its citation, measured ones in their place. Citations
// go into the file's own [sources], so that it can lie anywhere.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "io/printable.h"
#include "kernelcast/error.h"
#include "kernelcast/probe.h"
#include "kernelcast/setting.h"

namespace kernelcast::probe {
namespace {

/// Drivers give names in whatever bytes; a TOML file is UTF-8 without control characters.
std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

bool is_id(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string_view::npos &&
         text.front() != '.' && text.front() != '-';
}

/// A number whose fastest samples lie further apart says nothing.
constexpr double most_spread = 0.5;

class FileWriter {
 public:
  explicit FileWriter(const Report& report) : report_(report) {}

  std::string file(const std::string& id) {
    const Device& d = report_.device;
    std::string out = "id = " + toml_string(id) + "\nname = " + toml_string(d.name + ", measured") +
                      "\nkind = " + toml_string(d.kind) + "\n";
    const auto line = [&](std::string_view key, const std::string& text) {
      if (!text.empty()) out += std::string(key) + " = " + toml_string(text) + "\n";
    };
    line("vendor", d.vendor);
    line("architecture", d.architecture);
    line("compute_capability", d.compute_capability);
    line("codegen_target", d.codegen_target);
    line("codegen_note", d.codegen_note);
    out += "notes = [" +
           toml_string("Numbers whose source is \"measured\" come from kernelcast probe (back end " + report_.backend +
                       ")" + "; the others are those of " + d.id + ".") +
           "]\n";
    std::string section;
    for (std::size_t i = 0; i < field_count; ++i) {
      const auto field = static_cast<Field>(i);
      const std::string entry = number(field);
      if (entry.empty()) continue;
      if (info(field).section != section) out += "\n[" + (section = info(field).section) + "]\n";
      out += std::string(info(field).key) + " = " + entry + "\n";
    }
    out += "\n[sources]\nmeasured = " + toml_string("measured by kernelcast probe, back end " + report_.backend) + "\n";
    for (const auto& [citation, key] : keys_) out += key + " = " + toml_string(citation) + "\n";
    return out;
  }

 private:
  std::string number(Field field) {
    const Result* unsteady = nullptr;
    for (const Result& r : report_.results) {
      if (std::ranges::find(r.fields, field) == r.fields.end() || !r.value ||
          !(*r.value >= info(field).minimum && *r.value <= info(field).maximum))  // nor what is no number
        continue;
      if (r.confidence != "unstable")
        return fmt::format("{{ value = {}, source = {} }}", shown(field, *r.value),
                           toml_string("measured " + r.method + " (" + r.confidence + ")"));
      if (!unsteady && r.spread <= most_spread) unsteady = &r;
    }
    const FieldValue& base = report_.device.values[static_cast<std::size_t>(field)];
    // Nearer than any stand-in for it. Models of GPUs do not know what to do with such a number.
    if (!base.value && unsteady && report_.backend == "host")
      return fmt::format("{{ value = {}, source = {}, unstable = true }}", shown(field, *unsteady->value),
                         toml_string("measured " + unsteady->method + " (unstable: " + unsteady->reason + ")"));
    if (!base.value) return base.source.empty() ? "" : "{ unknown = " + toml_string(base.source) + " }";
    const auto [entry, is_new] = keys_.try_emplace(base.source, "base-" + std::to_string(keys_.size() + 1));
    return fmt::format("{{ value = {}, source = {} }}", shown(field, *base.value), toml_string(entry->second));
  }

  static std::string shown(Field field, double value) {
    return info(field).integer ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
  }

  const Report& report_;
  std::map<std::string, std::string> keys_;
};

}  // namespace

std::string device_file(const Report& report, const std::string& id) {
  if (!is_id(id))
    throw UsageError("-o " + id + ".toml: the name of a device file may hold only a-z, 0-9, - and . before .toml");
  return FileWriter(report).file(id);
}

}  // namespace kernelcast::probe
