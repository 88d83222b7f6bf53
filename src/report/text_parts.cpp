// The compact blocks of `predict`, two spaces of indentation a level.
#include "report/text_parts.h"

#include <fmt/format.h>

#include "io/text.h"

namespace kernelcast::report {
namespace {

std::string resources(const DeviceResult& d) {
  return fmt::format("{} registers per thread ({}), {} shared memory per block",
                     format_count(d.workload->registers_per_thread), d.profile->registers.method,
                     format_bytes(d.workload->shared_bytes_per_block));
}

std::string interval(const Estimate& e) {
  if (!e.interval_lo_s || !e.interval_hi_s) return "";
  return fmt::format(" (90 %: {} to {})", format_seconds(*e.interval_lo_s), format_seconds(*e.interval_hi_s));
}

}  // namespace

std::string dim_text(const Dim3& d) {
  if (d.z != 1) return fmt::format("{} x {} x {}", d.x, d.y, d.z);
  if (d.y != 1) return fmt::format("{} x {}", d.x, d.y);
  return fmt::format("{}", d.x);
}

std::string device_heading(const Forecast& forecast, const DeviceResult& d, const Style& style) {
  const std::string kernel = d.profile ? d.profile->kernel : forecast.kernel;
  std::string out =
      style.bold(fmt::format("{} on {}", kernel, d.device.name)) + style.dim(fmt::format("  [{}]", d.device.id)) + "\n";
  if (!d.failure.empty()) return out + "  " + style.red("no forecast: " + d.failure) + "\n";
  const Workload& w = *d.workload;
  out += fmt::format("  launch     {} blocks of {} threads = {} threads, {} warps of {}\n", dim_text(w.grid),
                     dim_text(w.block), format_count(w.threads), format_count(w.warps), w.geometry.warp_size);
  out += fmt::format("  resources  {}\n", resources(d));
  out += fmt::format("  counts     {}\n", w.counts_method);
  return out;
}

std::string model_block(const ModelResult& result, const Style& style) {
  if (!result.estimate) return fmt::format("  {}  {}\n", style.bold(result.model), style.red(result.failure));
  const Estimate& e = *result.estimate;
  std::string out = fmt::format("  {}  ", style.bold(e.model));
  if (e.time_s.value) {
    out += fmt::format("{}{}, limited by {}\n", style.bold(format_seconds(*e.time_s.value)), interval(e), e.limiter);
  } else {
    out += fmt::format("time unknown: {}\n", e.time_s.reason);
  }
  out += fmt::format("    occupancy {}: {:.3g} blocks, {:.3g} warps per unit, limited by {}\n",
                     format_percent(e.occupancy.fraction), e.occupancy.blocks_per_unit, e.occupancy.warps_per_unit,
                     e.occupancy.limiter);
  Table bounds({Table::Align::left, Table::Align::right, Table::Align::left}, 4);
  for (const Bound& b : e.bounds) bounds.row({b.name, format_seconds(b.time.value()), b.why});
  out += bounds.str(style, false);
  if (e.energy_j.value) out += fmt::format("    energy {:.3g} J\n", *e.energy_j.value);
  return out + assumption_block(e.assumptions, "assumptions of the model", style, 4);
}

std::string assumption_block(const std::vector<Assumption>& assumptions, std::string_view title, const Style& style,
                             int indent) {
  if (assumptions.empty()) return "";
  Table table({Table::Align::left, Table::Align::left}, indent + 2);
  for (const Assumption& a : assumptions) {
    table.row({a.value.empty() ? a.what : fmt::format("{} = {}", a.what, a.value), a.flag});
  }
  return fmt::format("{}{}\n{}", std::string(static_cast<std::size_t>(indent), ' '), style.dim(title),
                     table.str(style, false));
}

}  // namespace kernelcast::report
