// `advise` for programs: schema/advise.schema.json, and SARIF 2.1.0 for code hosts.
#include <fmt/format.h>

#include <algorithm>

#include "io/text.h"
#include "report/advice_views.h"
#include "report/json_parts.h"
#include "report/settings.h"

namespace kernelcast::report {
namespace {

Json edit_json(const AdviceEdit& e) {
  Json j = Json::object();
  if (e.grid) j["grid"] = dims(*e.grid);
  if (e.block) j["block"] = dims(*e.block);
  if (!e.option.empty()) j["option"] = "--" + e.option;
  if (e.most_registers) j["most_registers"] = number(*e.most_registers);
  if (!e.lines.empty()) j["lines"] = Json::array();
  for (const LineEdit& l : e.lines) j["lines"].push_back({{"line", l.line}, {"before", l.before}, {"after", l.after}});
  return j;
}

}  // namespace

Json finding_json(const Advice& a, const DeviceAdvice& d, const std::string& source) {
  Json j = {
      {"rule", a.rule}, {"severity", a.defect ? "warning" : "advice"}, {"kernel", d.kernel}, {"device", d.device}};
  j["file"] = a.where.file.empty() ? source : a.where.file;
  if (!a.where.file.empty()) {
    j["line"] = a.where.line;
    j["end_line"] = a.where.line;
    if (a.where.column > 0) {
      j["column"] = a.where.column;
      j["end_column"] = a.where.end_column;
    }
  }
  j["message"] = a.message;
  j["change"] = a.change;
  if (a.edit.any()) j["edit"] = edit_json(a.edit);
  j["time_s"] = number(a.time_s);
  j["changed_time_s"] = number(a.changed_time_s);
  j["gain_s"] = number(a.time_s - a.changed_time_s);
  j["gain_fraction"] = number(a.gain);
  j["gain_interval"] = {number(a.gain_low), number(a.gain_high)};
  j["probability"] = number(a.probability);
  j["limiter"] = a.limiter;
  j["changed_limiter"] = a.changed_limiter;
  j["verified"] = name_of(a.verified);
  if (!a.diff.empty()) j["diff"] = a.diff;
  j["assumptions"] = a.assumptions;
  return j;
}

namespace {

std::string sarif_uri(const std::string& path) {
  std::string uri;
  for (const char c : path) {
    const auto u = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(u) != 0 || std::string_view("/-_.~").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", u);
  }
  return path.starts_with('/') ? "file://" + uri : uri;
}

/// SARIF counts characters, the finding bytes: the same where all of the line is ASCII.
bool ascii_line(const Advice& a, const AdviceReport& r) {
  const auto file = r.sources.find(a.where.file);
  if (file == r.sources.end() || a.where.line < 1 || static_cast<std::size_t>(a.where.line) > file->second.size())
    return false;
  const std::string& line = file->second[static_cast<std::size_t>(a.where.line - 1)];
  return std::all_of(line.begin(), line.end(), [](unsigned char c) { return c < 128; });
}

Json sarif_result(const Advice& a, const DeviceAdvice& d, const AdviceReport& r, int rule) {
  Json region = {{"startLine", a.where.file.empty() ? 1 : std::max(1, a.where.line)}};
  if (a.where.column > 0 && ascii_line(a, r)) {
    region["startColumn"] = a.where.column;
    region["endColumn"] = a.where.end_column + 1;  // past the last one
  }
  const std::string gain = a.defect ? std::string()
                                    : fmt::format(" Saves {} (90 %: {} to {}) on {}: {} -> {}.", format_percent(a.gain),
                                                  format_percent(a.gain_low), format_percent(a.gain_high), d.name,
                                                  format_seconds(a.time_s), format_seconds(a.changed_time_s));
  const std::string text = fmt::format("{}.{} {}", a.message, gain, a.change);
  const char* level = a.defect ? "warning" : "note";
  Json j = {{"ruleId", a.rule}, {"ruleIndex", rule}, {"level", level}, {"message", {{"text", text}}}};
  const std::string file = a.where.file.empty() ? r.source : a.where.file;
  j["locations"] =
      Json::array({{{"physicalLocation", {{"artifactLocation", {{"uri", sarif_uri(file)}}}, {"region", region}}}}});
  j["properties"] = {{"device", d.device},
                     {"kernel", d.kernel},
                     {"gain_fraction", number(a.gain)},
                     {"gain_interval", {number(a.gain_low), number(a.gain_high)}},
                     {"verified", name_of(a.verified)}};
  return j;
}

}  // namespace

std::string advice_json(const AdviceReport& report) {
  Json j = head_json(report.head);
  j["source"] = report.source;
  j["devices"] = Json::array();
  j["findings"] = Json::array();
  for (const DeviceAdvice& d : report.devices) {
    Json one = {{"device", d.device}, {"kernel", d.kernel}};
    const std::string why = d.failure.empty() ? "no number of the device gives one" : with_flags(d.failure);
    put(one, "time_s", d.time_s, why);
    put(one, "floor_s", d.floor_s, why);
    one["limiter"] = d.limiter;
    one["assumptions"] = d.assumptions;
    j["devices"].push_back(std::move(one));
    for (const Advice& a : d.findings) j["findings"].push_back(finding_json(a, d, report.source));
  }
  return dumped(j);
}

std::string advice_sarif(const AdviceReport& report) {
  Json rules = Json::array(), results = Json::array();
  for (const AdviceRule& r : report.rules)
    rules.push_back({{"id", r.name}, {"shortDescription", {{"text", r.summary}}}});
  for (const DeviceAdvice& d : report.devices)
    for (const Advice& a : d.findings) {
      int index = 0;
      while (static_cast<std::size_t>(index) < report.rules.size() &&
             report.rules[static_cast<std::size_t>(index)].name != a.rule)
        ++index;
      results.push_back(sarif_result(a, d, report, index));
    }
  const Json driver = {{"name", "kernelcast"}, {"version", report.head.tool_version}, {"rules", rules}};
  Json run = {{"tool", {{"driver", driver}}}, {"columnKind", "utf16CodeUnits"}, {"results", results}};
  Json j = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}};
  j["runs"] = Json::array({run});
  return dumped(j);
}

}  // namespace kernelcast::report
