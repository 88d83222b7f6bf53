// The facade: options to a question, results to values that need no header of ours beyond the installed ones.
#include "kernelcast/forecast.h"

#include <utility>

#include "forecast/pipeline.h"
#include "kernelcast/device.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "kernelcast/sm_model.h"

namespace kernelcast {
namespace {

ForecastQuestion question_of(Source source, const ForecastOptions& options) {
  if (options.devices.empty()) throw UsageError("no device is given: give " KC_SETTING(device));
  if (options.models.empty()) throw UsageError("no model is given: give " KC_SETTING(model));
  if (options.grid && options.global)
    throw UsageError(KC_SETTING(grid) " and " KC_SETTING(global) " say the same: give one of them");
  ForecastQuestion q;
  q.source = std::move(source);
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

LaunchSums sums_of(const Workload& w) {
  LaunchSums s;
  s.warp_instructions = w.warp_ops.total();
  s.flop32 = flops32(w.thread_ops);
  s.flop64 = flops64(w.thread_ops);
  s.tensor_flop = tensor_flops(w.warp_ops.tensor);
  s.footprint_read_bytes = w.footprint_read_bytes;
  s.footprint_write_bytes = w.footprint_write_bytes;
  return s;
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
  if (r.workload) f.counts = sums_of(*r.workload);
  f.assumptions = std::move(r.assumptions);
  for (Assumption& a : f.assumptions) a.replace = plain_text(a.replace);
  return f;
}

std::vector<Device> devices_of(const ForecastOptions& options) {
  DeviceCatalog catalog(options.device_folder.empty() ? default_device_folder() : options.device_folder);
  catalog.run_at(operating_point(options.clock, options.power_limit));
  std::vector<Device> devices;
  for (const std::string& name : options.devices) devices.push_back(catalog.find(name));
  return devices;
}

ForecastResult answers(const ForecastQuestion& question, const std::vector<Device>& devices,
                       std::shared_ptr<AnalysedKernels> known) {
  const Frontend frontend = real_frontend();
  Forecaster forecaster(question, frontend, std::move(known));
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

}  // namespace

std::vector<DeviceEntry> devices_in(const std::string& device_folder) {
  std::vector<DeviceEntry> devices;
  for (const DeviceHead& head : DeviceCatalog(device_folder).heads())
    if (head.trouble.empty()) devices.push_back({head.id, head.name, head.kind});
  return devices;
}

ForecastResult forecast(const Source& source, const ForecastOptions& options) {
  return answers(question_of(source, options), devices_of(options), nullptr);
}

class KernelForecaster::Impl {
 public:
  Impl(Source source, ForecastOptions options)
      : question_(question_of(std::move(source), options)), devices_(devices_of(options)) {}

  ForecastResult on(const Dim3& grid, const Launch& launch) const {
    ForecastQuestion question = question_;
    question.grid = grid;
    question.global.reset();
    question.launch = launch;
    return answers(question, devices_, analysed_);
  }

 private:
  ForecastQuestion question_;
  std::vector<Device> devices_;
  std::shared_ptr<AnalysedKernels> analysed_ = std::make_shared<AnalysedKernels>();
};

KernelForecaster::KernelForecaster(Source source, ForecastOptions options)
    : impl_(std::make_unique<Impl>(std::move(source), std::move(options))) {}
KernelForecaster::~KernelForecaster() = default;
KernelForecaster::KernelForecaster(KernelForecaster&&) noexcept = default;
KernelForecaster& KernelForecaster::operator=(KernelForecaster&&) noexcept = default;
ForecastResult KernelForecaster::on(const Dim3& grid, const Launch& launch) const { return impl_->on(grid, launch); }

}  // namespace kernelcast
