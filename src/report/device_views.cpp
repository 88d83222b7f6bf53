// `devices`: the list, and one device with every number and its source.
#include <fmt/format.h>

#include "io/text.h"
#include "report/json_parts.h"
#include "report/views.h"

namespace kernelcast::report {
namespace {

std::string joined(const std::vector<std::string>& texts) { return fmt::format("{}", fmt::join(texts, ", ")); }

std::string year_text(const Device& d) {
  const auto year = d.get(Field::system_year);
  return year ? fmt::format("{:.0f}", *year) : "";
}

Json device_head(const Device& d) {
  return {{"id", d.id},
          {"name", d.name},
          {"vendor", d.vendor},
          {"architecture", d.architecture},
          {"kind", d.kind},
          {"compute_capability", d.compute_capability},
          {"codegen_target", d.codegen_target},
          {"codegen_note", d.codegen_note},
          {"aliases", d.aliases}};
}

/// A field that the file leaves out altogether has neither value nor source.
bool mentioned(const FieldValue& v) { return v.value || !v.source.empty(); }

/// Sources in order of appearance; a number stands for each in the table.
class Citations {
 public:
  std::string mark(const std::string& source) {
    std::size_t i = 0;
    while (i < sources_.size() && sources_[i] != source) ++i;
    if (i == sources_.size()) sources_.push_back(source);
    return fmt::format("[{}]", i + 1);
  }
  [[nodiscard]] std::string str() const {
    std::string out;
    for (std::size_t i = 0; i < sources_.size(); ++i) out += fmt::format("    [{}] {}\n", i + 1, sources_[i]);
    return out;
  }

 private:
  std::vector<std::string> sources_;
};

}  // namespace

std::string devices_text(const DeviceList& list, const Style& style) {
  Table table({Table::Align::left, Table::Align::left, Table::Align::left, Table::Align::left, Table::Align::left,
               Table::Align::left});
  table.row({"device", "name", "kind", "architecture", "target", "year"});
  for (const Device& d : list.devices) {
    table.row({d.id, d.name, d.kind, d.architecture, d.codegen_target + (d.codegen_note.empty() ? "" : " (stand-in)"),
               year_text(d)});
  }
  return table.str(style, true);
}

std::string devices_json(const DeviceList& list) {
  Json j = head_json(list.head);
  j["devices"] = Json::array();
  for (const Device& d : list.devices) j["devices"].push_back(device_head(d));
  j["failures"] = list.failures;
  return dumped(j);
}

std::string device_text(const Device& d, const Style& style) {
  std::string out = style.bold(d.name) + style.dim(fmt::format("  [{}]", d.id)) + "\n";
  std::string head = "  " + d.vendor + " " + d.kind;
  if (!d.architecture.empty()) head += ", " + d.architecture;
  if (!d.compute_capability.empty()) head += (d.architecture.empty() ? ", " : " ") + d.compute_capability;
  out += head + (d.file.empty() ? "" : ", " + d.file) + "\n";
  out += fmt::format("  code generation  {}{}\n", d.codegen_target,
                     d.codegen_note.empty() ? "" : ": stand-in, " + d.codegen_note);
  if (!d.aliases.empty()) out += fmt::format("  also called      {}\n", joined(d.aliases));
  for (const std::string& note : d.notes) out += fmt::format("  note             {}\n", note);
  Citations citations;
  std::string_view section;
  bool any_unknown = false;
  Table table({Table::Align::left, Table::Align::right, Table::Align::left, Table::Align::left}, 2);
  for (std::size_t i = 0; i < field_count; ++i) {
    const FieldInfo& field = info(static_cast<Field>(i));
    const FieldValue& v = d.values[i];
    if (!mentioned(v)) continue;
    if (field.section != section) table.row({std::string(field.section)});
    section = field.section;
    any_unknown = any_unknown || !v.value;
    table.row({"  " + std::string(field.key), v.value ? fmt::format("{:.12g}", *v.value) : "unknown",
               v.value ? citations.mark(v.source) : v.source});
  }
  out += table.str(style, false);
  if (any_unknown) {
    out += "  A model that needs an unknown number takes a default, which `predict` lists among its assumptions.\n";
  }
  return out + fmt::format("  {}\n", style.bold("sources")) + citations.str();
}

std::string device_json(const Head& head, const Device& d) {
  Json j = head_json(head);
  Json device = device_head(d);
  device["file"] = d.file;
  device["notes"] = d.notes;
  Json fields = Json::array();
  for (std::size_t i = 0; i < field_count; ++i) {
    const FieldInfo& field = info(static_cast<Field>(i));
    const FieldValue& v = d.values[i];
    if (!mentioned(v)) continue;
    Json row = {{"section", field.section}, {"key", field.key}};
    put(row, "value", v.value, v.source);
    row["source"] = v.source;
    row["origin"] = v.origin;
    row["meaning"] = field.meaning;
    fields.push_back(std::move(row));
  }
  device["fields"] = std::move(fields);
  j["devices"] = Json::array({std::move(device)});
  j["failures"] = Json::array();
  return dumped(j);
}

}  // namespace kernelcast::report
