// `tune` for people: for each device a table of the best, what limits the first, which are as good, which cannot run.
#include <fmt/format.h>

#include <algorithm>

#include "io/text.h"
#include "report/text_parts.h"
#include "report/tune_views.h"

namespace kernelcast::report {
namespace {

using tune::Candidate;
using tune::DeviceTuning;

std::string params_text(const std::vector<std::pair<std::string, tune::Value>>& parameters) {
  std::string out;
  for (const auto& [name, value] : parameters) out += (out.empty() ? "" : " ") + name + "=" + tune::text_of(value);
  return out;
}

std::string interval(const Estimate& e) {
  if (!e.interval_lo_s || !e.interval_hi_s) return "-";
  return fmt::format("{} to {}", format_seconds(*e.interval_lo_s), format_seconds(*e.interval_hi_s));
}

std::string shape_text(const tune::LaunchShape& s) {
  std::string out = dim_text(s.block);
  if (s.dynamic_shared_bytes > 0) out += fmt::format(" +{} B", s.dynamic_shared_bytes);
  return out;
}

const Measured* measured_of(const TuneReport& report, std::size_t device, std::size_t rank) {
  if (device > 0) return nullptr;
  for (const Measured& m : report.measured) {
    if (m.rank == rank) return &m;
  }
  return nullptr;
}

std::string best_table(const TuneReport& report, std::size_t device, const Style& style) {
  using Align = Table::Align;
  const DeviceTuning& d = report.result.devices[device];
  const bool measured = device == 0 && !report.measured.empty();
  std::vector<Align> columns{Align::right, Align::right, Align::left, Align::left, Align::left,
                             Align::left,  Align::left,  Align::left, Align::left};
  const bool energy = report.by_energy;
  std::vector<std::string> heading{"",     "time",  "90 % interval", "limited by", "occupancy",
                                   "grid", "block", "as good",       "parameters"};
  if (measured) {
    columns.insert(columns.begin() + 2, Align::right);
    heading.insert(heading.begin() + 2, "measured");
  }
  if (energy) {
    columns.insert(columns.begin() + 2, Align::right);
    heading.insert(heading.begin() + 2, "energy");
  }
  Table table(columns, 2);
  table.row(heading);
  for (std::size_t i = 0; i < d.best.size(); ++i) {
    const Candidate& c = d.best[i];
    std::vector<std::string> cells{
        fmt::format("{}", i + 1),
        format_seconds(c.time_s),
        interval(c.estimate),
        c.estimate.limiter,
        fmt::format("{} ({})", format_percent(c.estimate.occupancy.fraction), c.estimate.occupancy.limiter),
        dim_text(c.shape.grid),
        shape_text(c.shape),
        i == 0   ? ""
        : c.tied ? "tied"
                 : "",
        params_text(c.parameters)};
    if (c.cannot_run >= 0.005) cells.back() += fmt::format("  (cannot run with probability {:.2f})", c.cannot_run);
    if (measured) {
      const Measured* m = measured_of(report, device, i);
      cells.insert(cells.begin() + 2, m == nullptr ? "" : m->failure.empty() ? format_seconds(m->time_s) : "failed");
    }
    if (energy)
      cells.insert(cells.begin() + 2,
                   c.estimate.energy_j.value ? format_si(*c.estimate.energy_j.value, "J", 3) : "unknown");
    table.row(cells);
  }
  return table.str(style, true);
}

std::string refusals_text(const DeviceTuning& d) {
  std::string out;
  for (const tune::RefusalCount& c : d.refusals) {
    std::string example;
    for (const tune::Refused& r : d.refused) {
      if (r.kind != c.kind) continue;
      example = ": " + r.reason + (r.parameters.empty() ? "" : " (" + params_text(r.parameters) + ")");
      break;
    }
    out += fmt::format("    {:>9}  {}{}\n", format_count(static_cast<double>(c.count)), tune::name_of(c.kind), example);
  }
  return out.empty() ? "" : "  cannot run, with the first of each kind\n" + out;
}

std::string device_text_of(const TuneReport& report, std::size_t device, const Style& style) {
  const DeviceTuning& d = report.result.devices[device];
  std::string out =
      style.bold(
          fmt::format("{} on {}", report.result.kernel.empty() ? "the kernel" : report.result.kernel, d.device.name)) +
      style.dim(fmt::format("  [{}]", d.device.id)) + "\n";
  if (d.best.empty()) return out + "  " + style.red("no configuration: " + d.failure) + "\n" + refusals_text(d);
  out +=
      fmt::format("  {} of {} forecast by {}\n", format_count(static_cast<double>(d.evaluated)),
                  format_count_of(static_cast<double>(report.result.combinations), "combination"), report.result.model);
  if (d.recounted > 0)
    out += fmt::format("  {} forecast again, with counts of execution\n",
                       format_count_of(static_cast<double>(d.recounted), "configuration"));
  out += best_table(report, device, style);
  const Candidate& first = d.best.front();
  out += fmt::format("  the best is limited by {}\n", first.estimate.limiter);
  Table bounds({Table::Align::left, Table::Align::right, Table::Align::left}, 4);
  for (std::size_t i = 0; i < first.estimate.bounds.size() && i < 4; ++i) {
    const Bound& b = first.estimate.bounds[i];
    bounds.row({b.name, format_seconds(b.time.value()), b.why});
  }
  out += bounds.str(style, false);
  for (const tune::SkeConstraint& k : first.constraints) {
    if (k.status != "active") continue;
    out += fmt::format("    active constraint ({}) {}: {} of {}\n", k.number, k.name, k.left, k.right);
  }
  if (d.tied > 1) {
    out += fmt::format("  {} cannot be told from the best: the forecasts are closer than the model's usual error\n",
                       format_count_of(static_cast<double>(d.tied - 1), "configuration"));
  }
  out += refusals_text(d);
  return out + assumption_block(d.assumptions, "assumptions", style);
}

std::string portable_text(const TuneReport& report, const Style& style) {
  const tune::TuneResult& r = report.result;
  if (r.portable.empty()) return "";
  std::vector<Table::Align> columns{Table::Align::right, Table::Align::right};
  std::vector<std::string> heading{"", "worst loss"};
  for (const DeviceTuning& d : r.devices) {
    columns.push_back(Table::Align::right);
    heading.push_back(d.device.id);
  }
  columns.insert(columns.end(), {Table::Align::left, Table::Align::left});
  heading.insert(heading.end(), {"block", "parameters"});
  Table table(columns, 2);
  table.row(heading);
  for (std::size_t i = 0; i < r.portable.size(); ++i) {
    const tune::PortableChoice& p = r.portable[i];
    std::vector<std::string> cells{fmt::format("{}", i + 1), format_percent(p.worst_loss)};
    for (const double t : p.time_s) cells.push_back(t > 0 ? format_seconds(t) : "-");
    cells.push_back(shape_text(p.candidate.shape));
    cells.push_back(params_text(p.candidate.parameters));
    table.row(cells);
  }
  return style.bold("one configuration for all devices, by the smallest worst loss") + "\n" + table.str(style, true);
}

std::string summary_table(const TuneReport& report, const Style& style) {
  if (report.result.devices.size() < 2) return "";
  Table table({Table::Align::left, Table::Align::right, Table::Align::left, Table::Align::left, Table::Align::left});
  table.row({"device", "best time", "limited by", "block", "parameters"});
  for (const DeviceTuning& d : report.result.devices) {
    if (d.best.empty()) {
      table.row({d.device.id, "-", "cannot run, see below", "", ""});
      continue;
    }
    const Candidate& c = d.best.front();
    table.row(
        {d.device.id, format_seconds(c.time_s), c.estimate.limiter, shape_text(c.shape), params_text(c.parameters)});
  }
  return table.str(style, true) + "\n";
}

}  // namespace

std::string tune_text(const TuneReport& report, const Style& style) {
  const tune::TuneResult& r = report.result;
  std::string out = summary_table(report, style);
  for (std::size_t d = 0; d < r.devices.size(); ++d) {
    if (d > 0) out += "\n";
    out += device_text_of(report, d, style);
  }
  const std::string portable = portable_text(report, style);
  if (!portable.empty()) out += "\n" + portable;
  out += "\n";
  if (r.interrupted) {
    const bool any = std::any_of(r.devices.begin(), r.devices.end(), [](const auto& d) { return !d.best.empty(); });
    out += style.red(any ? "interrupted: the best of what was tried" : "interrupted: nothing that was tried can run") +
           "\n";
  }
  if (r.optimised) out += "found by an optimiser, which does not try every configuration; --search enumerate does\n";
  if (!report.measured_on.empty()) out += fmt::format("measured on {}\n", report.measured_on);
  out +=
      style.dim(fmt::format(
          "variants of the source: {}; the same as others after preprocessing: {}; analyses: {}, {} of them of modules "
          "known already; from the cache: {}; {:.2f} s",
          r.variants, r.alike, r.compiled, r.shared, r.found, r.seconds)) +
      "\n";
  return out;
}

}  // namespace kernelcast::report
