// The compact blocks of `predict`, two spaces of indentation a level.
#include "report/text_parts.h"

#include <fmt/format.h>

#include "io/text.h"
#include "report/execution_views.h"

namespace kernelcast::report {
namespace {

std::string resources(const DeviceResult& d) {
  return fmt::format("{} per thread ({}), {} {} of shared memory per block",
                     format_count_of(d.workload->registers_per_thread, "register"), d.profile->registers.method,
                     d.workload->shared_bytes_per_block,
                     plural(static_cast<double>(d.workload->shared_bytes_per_block), "byte"));
}

std::string interval_note(const Estimate& e) {
  if (!e.interval_lo_s || !e.interval_hi_s) return "";
  return fmt::format(" (90 %: {} to {})", format_seconds(*e.interval_lo_s), format_seconds(*e.interval_hi_s));
}

std::string occupancy_text(const Occupancy& o) {
  return fmt::format("{}: {:.3g} {}, {:.3g} {} per unit, limited by {}", format_percent(o.fraction), o.blocks_per_unit,
                     plural(o.blocks_per_unit, "block"), o.warps_per_unit, plural(o.warps_per_unit, "warp"), o.limiter);
}

/// The one occupancy that all models found; empty when they differ.
std::string common_occupancy(const DeviceResult& d) {
  std::string common;
  for (const ModelResult& m : d.models) {
    if (!m.estimate) continue;
    const std::string text = occupancy_text(m.estimate->occupancy);
    if (!common.empty() && text != common) return "";
    common = text;
  }
  return common;
}

std::string model_block(const ModelResult& result, bool with_occupancy, bool all, const Style& style) {
  if (!result.estimate) return fmt::format("  {}  {}\n", style.bold(result.model), style.red(result.failure));
  const Estimate& e = *result.estimate;
  std::string out = fmt::format("  {}  ", style.bold(e.model));
  if (e.time_s.value) {
    out += fmt::format("{}{}{}\n", style.bold(format_seconds(*e.time_s.value)), interval_note(e),
                       e.limiter.empty() ? "" : ", limited by " + e.limiter);
  } else {
    out += fmt::format("time unknown: {}\n", e.time_s.reason);
  }
  if (with_occupancy) out += fmt::format("    occupancy {}\n", occupancy_text(e.occupancy));
  Table bounds({Table::Align::left, Table::Align::right, Table::Align::left}, 4);
  for (const Bound& b : e.bounds) {
    const std::string without =
        all && b.without ? fmt::format("; {} without it", format_seconds(b.without->value())) : std::string();
    if (all || b.time.value() != 0) bounds.row({b.name, format_seconds(b.time.value()), b.why + without});
  }
  out += bounds.str(style, false);
  if (e.floor_s.value && e.time_s.value && e.achieved.fraction_of_peak)
    out += fmt::format("    floor {}: {}; the estimate reaches {} of it\n", format_seconds(*e.floor_s.value),
                       e.floor_why, format_percent(*e.achieved.fraction_of_peak));
  if (e.energy_j.value) {
    out += fmt::format("    energy {}", format_si(*e.energy_j.value, "J", 3));
    if (e.energy_lo_j && e.energy_hi_j)
      out += fmt::format(" (90 %: {} to {})", format_si(*e.energy_lo_j, "J", 3), format_si(*e.energy_hi_j, "J", 3));
    out += "\n";
  }
  return out + assumption_block(e.assumptions, "assumptions of the model", style, 4);
}

}  // namespace

std::string dim_text(const Dim3& d) {
  if (d.z != 1) return fmt::format("{} x {} x {}", d.x, d.y, d.z);
  if (d.y != 1) return fmt::format("{} x {}", d.x, d.y);
  return fmt::format("{}", d.x);
}

std::string device_heading(const ForecastReport& forecast, const DeviceResult& d, const Style& style) {
  const std::string kernel = d.profile ? d.profile->kernel : forecast.kernel;
  std::string out =
      style.bold(fmt::format("{} on {}", kernel, d.device.name)) + style.dim(fmt::format("  [{}]", d.device.id)) + "\n";
  if (!d.failure.empty()) return out + "  " + style.red("no forecast: " + d.failure) + "\n";
  const Workload& w = *d.workload;
  out += fmt::format("  launch     {} {} of {} {} = {}, {} of {}\n", dim_text(w.grid),
                     plural(static_cast<double>(w.grid.count()), "block"), dim_text(w.block),
                     plural(static_cast<double>(w.block.count()), "thread"), format_count_of(w.threads, "thread"),
                     format_count_of(w.warps, "warp"), w.geometry.warp_size);
  out += fmt::format("  resources  {}\n", resources(d));
  if (d.execution) out += fmt::format("  counts     {}\n", method_text(w));
  if (const std::string o = common_occupancy(d); !o.empty()) out += fmt::format("  occupancy  {}\n", o);
  return out;
}

std::string model_blocks(const DeviceResult& device, const Style& style, bool all) {
  const bool each_occupancy = common_occupancy(device).empty();
  std::string out;
  if (!device.workload) return out;  // the heading has said why
  for (const ModelResult& m : device.models) out += model_block(m, each_occupancy, all, style);
  return out;
}

std::string unmodeled_block(const KernelProfile* profile, const Style& style) {
  if (!profile || profile->unmodeled.empty()) return "";
  std::string out = "  " + style.bold("not modelled: cost nothing in this estimate") + "\n";
  for (const Unmodeled& u : profile->unmodeled) {
    out += "    " + u.what;
    if (u.count > 1) out += ", " + std::to_string(u.count) + " places";
    if (u.line.file >= 0)
      out += (u.count > 1 ? ", the first at " : " at ") + profile->files[static_cast<std::size_t>(u.line.file)] + ":" +
             std::to_string(u.line.line);
    out += "\n";
  }
  return out;
}

std::string assumption_block(const std::vector<Assumption>& assumptions, std::string_view title, const Style& style,
                             int indent) {
  if (assumptions.empty()) return "";
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string out = fmt::format("{}{}\n", margin, style.dim(title));
  for (const Assumption& a : assumptions) {
    out += fmt::format("{}  {}{}{}\n", margin, a.what, a.value.empty() ? "" : " = " + a.value,
                       a.replace.empty() ? "" : style.dim("  [" + a.replace + "]"));
  }
  return out;
}

}  // namespace kernelcast::report
