// The facade: options to a question, results to values that need no header of ours beyond the installed ones.
#include "kernelcast/forecast.h"

#include "forecast/pipeline.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "kernelcast/sm_model.h"

namespace kernelcast {
namespace {

ForecastQuestion question_of(const Source& source, const ForecastOptions& options) {
  if (options.devices.empty()) throw UsageError("no device is given: give " KC_SETTING(device));
  if (options.models.empty()) throw UsageError("no model is given: give " KC_SETTING(model));
  if (options.grid && options.global)
    throw UsageError(KC_SETTING(grid) " and " KC_SETTING(global) " say the same: give one of them");
  ForecastQuestion q;
  q.source = source;
  q.kernel = options.kernel;
  q.map = options.map;
  for (const std::string& name : options.models) q.models.push_back(&sm::any_model_named(name));
  q.grid = options.grid;
  q.global = options.global;
  q.launch = options.launch;
  q.counts = options.execute ? Counting::automatic : Counting::symbolic;
  q.compile_seconds = options.compile_seconds;
  return q;
}

DeviceForecast value_of(DeviceResult&& r) {
  DeviceForecast f;
  f.device = r.device.id;
  f.name = r.device.name;
  if (r.profile) f.kernel = r.profile->kernel;
  f.grid = r.launch.grid;
  f.block = r.launch.block;
  if (!r.failure.empty()) f.failures.push_back(plain_text(r.failure));
  for (ModelResult& m : r.models) {
    if (m.estimate) f.estimates.push_back(std::move(*m.estimate));
    if (!m.failure.empty()) f.failures.push_back(m.model + ": " + plain_text(m.failure));
  }
  f.counts = std::move(r.workload);
  f.assumptions = std::move(r.assumptions);
  for (Assumption& a : f.assumptions) a.replace = plain_text(a.replace);
  return f;
}

}  // namespace

ForecastResult forecast(const Source& source, const ForecastOptions& options) {
  const ForecastQuestion question = question_of(source, options);
  const DeviceCatalog catalog(options.device_folder.empty() ? default_device_folder() : options.device_folder);
  std::vector<Device> devices;
  for (const std::string& name : options.devices) devices.push_back(catalog.find(name));
  const Frontend frontend = real_frontend();
  Forecaster forecaster(question, frontend);
  ForecastResult result;
  bool any = false;
  for (const Device& device : devices) {
    result.devices.push_back(value_of(forecaster.on(device)));
    any = any || !result.devices.back().estimates.empty();
  }
  if (!any) forecaster.rethrow_first_failure();
  result.warnings = forecaster.warnings();
  for (const FindingReport& f : forecaster.findings()) result.findings.push_back(plain_text(f.text()));
  return result;
}

}  // namespace kernelcast
