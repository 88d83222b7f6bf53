// `probe`: results as a table and as JSON (schema/probe.schema.json).
#include "report/probe_views.h"

#include <fmt/format.h>

#include "report/json_parts.h"

namespace kernelcast::report {
namespace {

std::string list_text(const std::vector<std::vector<double>>& lists) {
  std::string out;
  for (const std::vector<double>& list : lists) {
    std::string line;
    for (double v : list) line += (line.empty() ? "" : " ") + fmt::format("{:g}", v);
    out += (out.empty() ? "" : " | ") + line;
  }
  constexpr std::size_t longest = 60;
  return out.size() > longest ? out.substr(0, longest) + " ..." : out;
}

std::string value_text(const probe::Result& r) {
  if (r.value) return fmt::format("{:.6g}", *r.value);
  return r.lists.empty() ? "unknown" : list_text(r.lists);
}

/// What the figure is, and what is against it; only the reason where there is no figure.
std::string sentence(const probe::Result& r) {
  if (r.reason.empty()) return r.what;
  if (!r.value && r.lists.empty()) return r.reason;
  const std::size_t end = r.what.ends_with('.') ? r.what.size() - 1 : r.what.size();
  return r.what.substr(0, end) + " (" + r.reason + ").";
}

}  // namespace

std::string probe_text(const probe::Report& report, const Style& style) {
  std::string out = style.bold(report.device.name) + " by " + report.backend + "\n\n";
  Table table({Table::Align::left, Table::Align::right, Table::Align::left, Table::Align::left, Table::Align::left});
  table.row({"result", "value", "unit", "confidence", "what it is"});
  for (const probe::Result& r : report.results) table.row({r.id, value_text(r), r.unit, r.confidence, sentence(r)});
  return out + table.str(style, true);
}

std::string probe_json(const Head& head, const probe::Report& report) {
  Json j = head_json(head);
  j["device"] = report.device.id;
  j["backend"] = report.backend;
  j["results"] = Json::array();
  for (const probe::Result& r : report.results) {
    Json entry = {{"id", r.id}};
    if (r.value) {
      entry["value"] = number(*r.value);
    } else if (!r.lists.empty()) {
      entry["value"] = r.lists;
    } else {
      entry["value"] = nullptr;
    }
    if (!r.reason.empty()) entry["reason"] = entry["value"].is_null() ? "value: " + r.reason : r.reason;
    entry["unit"] = r.unit;
    entry["method"] = r.method;
    entry["samples"] = r.samples;
    entry["spread"] = number(r.spread);
    entry["confidence"] = r.confidence;
    entry["what"] = r.what;
    j["results"].push_back(std::move(entry));
  }
  return dumped(j);
}

}  // namespace kernelcast::report
