// `predict` for people: with several devices a table first, then one compact block for each device, in it one for each
// model. Assumptions that all models share stand once, below the device's heading.
#include <fmt/format.h>

#include <algorithm>

#include "io/text.h"
#include "report/text_parts.h"
#include "report/views.h"

namespace kernelcast::report {
namespace {

std::string cell(const ModelResult& result) {
  if (!result.estimate) return "-";
  return result.estimate->time_s.value ? format_seconds(*result.estimate->time_s.value) : "unknown";
}

/// What limits the kernel by each model; said once when the models agree.
std::string limiters(const DeviceResult& device) {
  std::vector<std::string> names;
  for (const ModelResult& m : device.models) {
    if (!m.estimate || m.estimate->limiter.empty()) continue;
    if (std::find(names.begin(), names.end(), m.estimate->limiter) == names.end()) names.push_back(m.estimate->limiter);
  }
  return fmt::format("{}", fmt::join(names, " / "));
}

std::string occupancy_cell(const DeviceResult& device) {
  for (const ModelResult& m : device.models) {
    if (m.estimate) {
      const Occupancy& o = m.estimate->occupancy;
      return fmt::format("{} ({})", format_percent(o.fraction), o.limiter);
    }
  }
  return "-";
}

std::string summary_table(const ForecastReport& forecast, const Style& style) {
  std::vector<Table::Align> columns{Table::Align::left};
  std::vector<std::string> heading{"device"};
  for (const ModelResult& m : forecast.devices.front().models) {
    heading.push_back(m.model);
    columns.push_back(Table::Align::right);
  }
  columns.insert(columns.end(), {Table::Align::left, Table::Align::left});
  heading.insert(heading.end(), {"limited by", "occupancy"});
  Table table(columns);
  table.row(heading);
  for (const DeviceResult& d : forecast.devices) {
    std::vector<std::string> cells{d.device.id};
    for (const ModelResult& m : d.models) cells.push_back(cell(m));
    cells.push_back(limiters(d));
    cells.push_back(d.failure.empty() ? occupancy_cell(d) : "cannot run, see below");
    table.row(cells);
  }
  return table.str(style, true);
}

}  // namespace

std::string predict_text(const ForecastReport& forecast, const Style& style) {
  std::string out;
  if (forecast.devices.size() > 1) out += summary_table(forecast, style) + "\n";
  for (std::size_t i = 0; i < forecast.devices.size(); ++i) {
    const DeviceResult& device = forecast.devices[i];
    if (i > 0) out += "\n";
    out += device_heading(forecast, device, style);
    out += model_blocks(device, style, false);
    out += unmodeled_block(device.profile.get(), style);
    out += assumption_block(device.assumptions, "assumptions", style);
  }
  return out;
}

}  // namespace kernelcast::report
