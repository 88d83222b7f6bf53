// `predict` for spreadsheets: RFC 4180, one line for each device and model.
#include <fmt/format.h>

#include "report/views.h"

namespace kernelcast::report {
namespace {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string csv_number(const std::optional<double>& x) { return x ? fmt::format("{:.9g}", *x) : std::string(); }

std::string csv_dims(const Dim3& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); }

std::vector<std::string> csv_row(const ForecastReport& f, const DeviceResult& d, const ModelResult& m) {
  std::vector<std::string> cells{d.profile ? d.profile->kernel : f.kernel, d.device.id, m.model};
  const std::string failure = d.failure.empty() ? m.failure : d.failure;
  if (m.estimate) {
    const Estimate& e = *m.estimate;
    cells.insert(cells.end(), {csv_number(e.time_s.value), csv_number(e.interval_lo_s), csv_number(e.interval_hi_s),
                               e.limiter, csv_number(e.floor_s.value), csv_number(e.launch_overhead_s.value),
                               csv_number(e.occupancy.fraction), csv_number(e.energy_j.value)});
  } else {
    cells.resize(cells.size() + 8);
  }
  if (d.workload) {
    cells.insert(cells.end(), {csv_number(d.workload->registers_per_thread),
                               csv_number(d.workload->shared_bytes_per_block), csv_dims(d.workload->grid),
                               csv_dims(d.workload->block), std::string(name_of(d.workload->counts_method))});
  } else {
    cells.resize(cells.size() + 5);
  }
  cells.push_back(m.estimate ? m.estimate->time_s.reason : failure);
  return cells;
}

}  // namespace

std::string predict_csv(const ForecastReport& forecast) {
  std::string out =
      "kernel,device,model,time_s,interval_lo_s,interval_hi_s,limiter,floor_s,launch_overhead_s,occupancy,energy_j,"
      "registers_per_thread,shared_bytes_per_block,grid,block,counts_method,reason\n";
  for (const DeviceResult& d : forecast.devices)
    for (const ModelResult& m : d.models) {
      std::string line;
      for (const std::string& cell : csv_row(forecast, d, m)) line += (line.empty() ? "" : ",") + csv_field(cell);
      out += line + "\n";
    }
  return out;
}

}  // namespace kernelcast::report
