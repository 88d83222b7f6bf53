// `check`: a ratio for each kernel and device; schema/check.schema.json.
#include "report/check_views.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/text.h"
#include "report/json_parts.h"

namespace kernelcast::report {

bool CheckReport::passed() const {
  return std::all_of(rows.begin(), rows.end(), [](const CheckRow& r) { return r.passed; });
}

namespace {

/// With the launch where files are compared, each with any number of launches of a kernel.
std::string shown_name(const CheckRow& r) {
  return r.file.empty() || r.launch.empty() ? r.name() : r.name() + " <<<" + r.launch + ">>>";
}

std::string gate_of(const CheckRow& r) { return r.accepted ? "accepted" : r.passed ? "pass" : "fail"; }

/// What a reader must know before the table: how large a change has to be.
std::string what_is_seen(const CheckReport& report) {
  return fmt::format(
      "A slowdown of {} is detected with a probability of 90 %.\nNine in ten true ratios are within a factor of {:.2f} "
      "of the forecast one.",
      format_percent(report.visible_ratio - 1), report.ratio_factor);
}

}  // namespace

std::string check_text(const CheckReport& report, const Style& style) {
  std::string text = fmt::format("{} against {}, at most {} slower\n", style.bold(report.changed),
                                 style.bold(report.base), format_percent(report.max_slowdown));
  text += what_is_seen(report) + "\n";
  Table table({Table::Align::left, Table::Align::left, Table::Align::right, Table::Align::right, Table::Align::right,
               Table::Align::right, Table::Align::right, Table::Align::left},
              2);
  table.row({"kernel", "device", "base", "new", "ratio", "90 %", "slower with", "gate"});
  for (const CheckRow& r : report.rows) {
    if (!r.failure.empty()) {
      table.row({shown_name(r), r.device, r.base_s ? format_seconds(*r.base_s) : "-", "-", "-", "-", "-",
                 "fail: " + r.failure});
      continue;
    }
    table.row({shown_name(r), r.device, format_seconds(*r.base_s), format_seconds(*r.new_s),
               fmt::format("{:.3f}", r.ratio),
               fmt::format("{:.2f}..{:.2f}{}", r.ratio_lo, r.ratio_hi, r.local_memory ? " *" : ""),
               format_percent(r.probability_slower), gate_of(r)});
  }
  if (report.rows.empty()) return text + "  no launch of a changed source is compared\n";
  text += table.str(style, true);
  if (std::any_of(report.rows.begin(), report.rows.end(), [](const CheckRow& r) { return r.local_memory; }))
    text += "  * private arrays or spilled registers are probably in local memory: the ratio is less certain\n";
  return text;
}

namespace {

/// A cell of a Markdown table: kernels' names have templates and pointers, and a bar would end the cell.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\`*_{}[]<>|~#").find(c) != std::string_view::npos) out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

}  // namespace

std::string check_markdown(const CheckReport& report) {
  std::string text = fmt::format("**{}**: {} against {}, at most {} slower\n\n", report.passed() ? "pass" : "fail",
                                 cell(report.changed), cell(report.base), format_percent(report.max_slowdown));
  text += what_is_seen(report) + "\n\n";
  if (report.rows.empty()) return text + "No launch of a changed source is compared.\n";
  text +=
      "| kernel | device | base | new | ratio | 90 % | slower with | gate |\n|---|---|---:|---:|---:|---:|---:|---|\n";
  for (const CheckRow& r : report.rows) {
    if (!r.failure.empty()) {
      text += fmt::format("| {} | {} | {} | - | - | - | - | fail: {} |\n", cell(shown_name(r)), cell(r.device),
                          r.base_s ? format_seconds(*r.base_s) : "-", cell(r.failure));
      continue;
    }
    text += fmt::format("| {} | {} | {} | {} | {:.3f} | {:.2f} to {:.2f} | {} | {} |\n", cell(shown_name(r)),
                        cell(r.device), format_seconds(*r.base_s), format_seconds(*r.new_s), r.ratio, r.ratio_lo,
                        r.ratio_hi, format_percent(r.probability_slower), r.passed ? gate_of(r) : "**fail**");
  }
  return text;
}

std::string check_json(const CheckReport& report) {
  Json j = head_json(report.head);
  j["base"] = report.base;
  j["new"] = report.changed;
  j["max_slowdown"] = number(report.max_slowdown);
  j["visible_ratio"] = number(report.visible_ratio);
  j["gate"] = report.passed() ? "pass" : "fail";
  j["checks"] = Json::array();
  for (const CheckRow& r : report.rows) {
    Json c;
    c["kernel"] = r.kernel;
    if (!r.file.empty()) c["file"] = r.file;
    if (!r.file.empty()) c["launch"] = r.launch;
    c["device"] = r.device;
    c["gate"] = gate_of(r);
    if (r.failure.empty()) {
      c["base_time_s"] = number(*r.base_s);
      c["new_time_s"] = number(*r.new_s);
      c["ratio"] = number(r.ratio);
      c["ratio_interval"] = {number(r.ratio_lo), number(r.ratio_hi)};
      c["probability_slower"] = number(r.probability_slower);
      c["probability_broken"] = number(r.probability_broken);
      c["local_memory"] = r.local_memory;
      c["base_limiter"] = r.base_limiter;
      c["new_limiter"] = r.new_limiter;
    } else {
      put_unknown(c, "ratio", r.failure);
    }
    j["checks"].push_back(c);
  }
  return dumped(j);
}

}  // namespace kernelcast::report
