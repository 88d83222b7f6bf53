// A device or model that fails is shown with its reason. It makes the run incomplete when it was asked for by name;
// `--device all` and `--model all` ask for whatever works. A source is analysed once for each code generation target.
#include "cli/forecast.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/catalog.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

bool any_answer(const DeviceResult& d) {
  return std::any_of(d.models.begin(), d.models.end(), [](const ModelResult& m) { return m.estimate.has_value(); });
}

bool all_answers(const DeviceResult& d) {
  return std::all_of(d.models.begin(), d.models.end(), [](const ModelResult& m) { return m.estimate.has_value(); });
}

/// One line for each distinct reason of a device.
void add_failures(const DeviceResult& d, std::vector<std::string>& messages) {
  std::vector<std::string> reasons;
  if (!d.failure.empty()) reasons.push_back(d.failure);
  for (const ModelResult& m : d.models) {
    if (!m.failure.empty() && std::find(reasons.begin(), reasons.end(), m.failure) == reasons.end()) {
      reasons.push_back(m.failure);
    }
  }
  for (const std::string& reason : reasons) messages.push_back(fmt::format("{}: {}", d.device.id, reason));
}

}  // namespace

ForecastRun run_forecast(const Request& request, const Frontend& frontend, const DeviceCatalog& catalog,
                         const std::function<void(const std::string&)>& progress) {
  const std::vector<Device> devices = devices_of(request.devices, request.all_devices, catalog);
  Forecaster forecaster(request, frontend);
  ForecastRun run;
  run.forecast.kernel = request.kernel;
  run.forecast.source = request.source.path;
  for (const Device& device : devices) {
    progress(fmt::format("{} ({} of {})", device.id, run.forecast.devices.size() + 1, devices.size()));
    run.forecast.devices.push_back(forecaster.on(device));
  }
  const auto& results = run.forecast.devices;
  if (std::none_of(results.begin(), results.end(), any_answer)) forecaster.rethrow_first_failure();
  run.complete = request.all_devices || std::all_of(results.begin(), results.end(), [&](const DeviceResult& d) {
                   return request.all_models ? any_answer(d) : all_answers(d);
                 });
  run.messages = forecaster.warnings();
  run.forecast.findings = forecaster.findings();
  for (const report::FindingReport& f : run.forecast.findings) run.messages.push_back(f.text());
  for (const DeviceResult& d : results) add_failures(d, run.messages);
  return run;
}

}  // namespace kernelcast::cli
