// What was executed is cached; what binding and execution reject is the question's mistake.
#include "forecast/counter.h"

#include <algorithm>

#include "execute/fill.h"
#include "kernelcast/error.h"
#include "kernelcast/model.h"
#include "kernelcast/setting.h"

namespace kernelcast {
namespace {

/// Contents on which nothing depends are never read; a file that does not fit its buffer is a mistake all the same.
/// NumPy files say themselves how long an element is: they are checked where they are read.
void check_files(const KernelProfile& profile, const Launch& launch) {
  for (const auto& [name, spec] : launch.buffers) {
    if (!spec.fill.starts_with("file:") || spec.fill.ends_with(".npy")) continue;
    const auto parameter = std::ranges::find(profile.parameters, name, &Parameter::name);
    if (parameter == profile.parameters.end() || parameter->bytes <= 0) continue;
    interpreter::FillTarget target;
    target.buffer = name;
    target.elements = spec.elements;
    target.element_bytes = parameter->bytes;
    try {
      interpreter::make_fill(spec.fill, target);
    } catch (const UserError& e) {
      throw UsageError(message_of(e));
    }
  }
}

}  // namespace

Binder binder_for(const DeviceResult& result, const std::vector<const Model*>& models) {
  Binder binder(*result.profile, result.device.geometry());
  binder.set_reuse(any_reads_reuse(models));
  return binder;
}

void Counter::count(const Kernel& kernel, DeviceResult& result) {
  if (!files_checked_) check_files(*result.profile, result.launch);
  files_checked_ = true;
  bool other_sharing = false;
  Binder binder = binder_for(result, request_.models);
  Counted c = kernelcast::count(*result.profile, result.launch, bind_asked(binder, result.launch), result.device,
                                request_.counts, [&](const Sharing& sharing) {
                                  const Ran& ran = executed(kernel, result, sharing);
                                  other_sharing = ran.sharing != sharing;
                                  return ran.execution;
                                });
  result.workload = std::move(c.workload);
  if (c.origin) result.origin = std::move(*c.origin);
  result.execution = std::move(c.execution);
  if (result.execution && other_sharing) result.workload->locality = nullptr;
}

bool Counter::count_with_zeros(const Kernel& kernel, DeviceResult& result) {
  DeviceResult trial = result;
  std::vector<Assumption> assumed;
  for (const std::string& buffer : generated_contents(*result.workload)) {
    const auto given = trial.launch.buffers.find(buffer);
    if (given == trial.launch.buffers.end() || !given->second.fill.empty()) return false;
    given->second.fill = "zero";
    assumed.push_back({"contents of " + buffer + ", with which a thread gets to a store", "0",
                       KC_SETTING(buffer) " " + buffer + "=COUNT:FILL", Assumption::Kind::contents, buffer});
  }
  zeros_ = true;
  try {
    count(kernel, trial);
  } catch (const Error&) {
    trial.workload = result.workload;
  }
  zeros_ = false;
  if (note_on_idle_launch(*trial.profile, *trial.workload)) return false;
  trial.launch = result.launch;
  result = std::move(trial);
  result.workload->assumptions.insert(result.workload->assumptions.end(), assumed.begin(), assumed.end());
  return true;
}

const Counter::Ran& Counter::executed(const Kernel& kernel, const DeviceResult& result, const Sharing& sharing) {
  const auto key = std::tuple(kernel.profile.get(), result.device.geometry(), result.launch.grid.array(), zeros_);
  auto found = ran_.find(key);
  if (found == ran_.end()) {
    found = ran_.emplace(key, run(kernel, result, sharing)).first;
    if (found->second.execution) add_findings(findings_, *kernel.profile, *found->second.execution);
  }
  if (found->second.trouble) std::rethrow_exception(found->second.trouble);
  return found->second;
}

Counter::Ran Counter::run(const Kernel& kernel, const DeviceResult& result, const Sharing& sharing) const {
  try {
    try {
      return {execute_on(kernel, result.launch, result.device.geometry(), sharing, request_.execute), nullptr, sharing};
    } catch (const UserError& e) {
      throw UsageError(message_of(e));  // arguments and buffers are on the command line
    }
  } catch (const Error&) {
    return {nullptr, std::current_exception(), sharing};
  }
}

}  // namespace kernelcast
