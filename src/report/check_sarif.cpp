// `check` as SARIF 2.1.0 (OASIS, 2020): a result for each kernel and device whose gate is broken or was accepted, for
// code-scanning views. A launch keeps its fingerprint from run to run.
#include <fmt/format.h>

#include "io/text.h"
#include "report/check_views.h"
#include "report/json_parts.h"

namespace kernelcast::report {
namespace {

Json rule(const char* id, const char* text) { return {{"id", id}, {"shortDescription", {{"text", text}}}}; }

/// A path as a relative reference (RFC 3986): bytes that a URI cannot hold are escaped.
std::string uri_of(const std::string& path) {
  std::string uri;
  for (const char c : path) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

std::string message_of(const CheckReport& report, const CheckRow& r) {
  if (!r.failure.empty()) return fmt::format("{} on {}: no forecast: {}", r.kernel, r.device, r.failure);
  std::string text = fmt::format("{} on {}: forecast {}, before {}: ratio {:.3f} (90 %: {:.2f} to {:.2f}), gate {:.3f}",
                                 r.kernel, r.device, format_seconds(*r.new_s), format_seconds(*r.base_s), r.ratio,
                                 r.ratio_lo, r.ratio_hi, 1 + report.max_slowdown);
  if (r.accepted) text += "; accepted";
  return text;
}

}  // namespace

std::string check_sarif(const CheckReport& report) {
  Json results = Json::array();
  for (const CheckRow& r : report.rows) {
    if (r.passed && !r.accepted) continue;
    Json result;
    result["ruleId"] = r.failure.empty() ? "slower" : "no-forecast";
    result["level"] = r.accepted ? "note" : "error";
    result["message"]["text"] = message_of(report, r);
    Json location;
    location["physicalLocation"]["artifactLocation"]["uri"] = uri_of(r.file.empty() ? report.changed : r.file);
    location["physicalLocation"]["region"]["startLine"] = r.line;
    result["locations"] = Json::array({location});
    result["partialFingerprints"]["kernelcast/launch/v1"] = fmt::format("{} {} {}", r.device, r.launch, r.name());
    if (r.failure.empty()) {
      result["properties"]["ratio"] = number(r.ratio);
      result["properties"]["probability_slower"] = number(r.probability_slower);
    }
    results.push_back(result);
  }
  Json driver;
  driver["name"] = "kernelcast";
  driver["version"] = report.head.tool_version;
  driver["rules"] = {rule("slower", "The kernel is forecast to be slower than the gate allows"),
                     rule("no-forecast", "The kernel could not be forecast before or after the change")};
  Json run;
  run["tool"]["driver"] = driver;
  run["results"] = results;
  Json log;
  log["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  log["version"] = "2.1.0";
  log["runs"] = Json::array({run});
  return dumped(log);
}

}  // namespace kernelcast::report
