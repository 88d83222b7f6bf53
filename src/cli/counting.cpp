// Closed forms come first in any case: they check the launch, and give sizes and footprints.
#include "cli/counting.h"

#include <algorithm>

#include "execute/mix.h"
#include "kernelcast/bind.h"
#include "kernelcast/error.h"
#include "kernelcast/model.h"

namespace kernelcast::cli {
namespace {

constexpr double most_resident_blocks = 1024;  // more than any device has: where limits are unknown, all are infinite

/// What binding rejects is on the command line: arguments, sizes, answers.
Workload bound(const report::DeviceResult& result, const std::vector<const Model*>& models) {
  try {
    Binder binder(*result.profile, result.device.geometry());
    binder.set_reuse(any_reads_reuse(models));
    return binder.bind(result.launch);
  } catch (const UserError& e) {
    throw UsageError(message_of(e));
  }
}

Sharing sharing_of(const Workload& closed, const Device& device) {
  Sharing s;
  s.processors = static_cast<int>(std::max(1.0, device.get_or(Field::compute_units, 1)));
  try {
    s.resident_blocks = std::clamp(occupancy(closed, device).blocks_per_unit, 1.0, most_resident_blocks);
  } catch (const Error&) {  // no block fits: the models will say so
  }
  return s;
}

CountOrigin all_executed(const Workload& w) {
  return {std::vector(w.block_counts.size(), Origin::executed), std::vector(w.access_counts.size(), Origin::executed),
          std::vector(w.branch_counts.size(), Origin::executed)};
}

/// Who says what a buffer holds wants it used: then a failure is no matter to pass over.
bool contents_given(const Launch& launch) {
  return std::any_of(launch.buffers.begin(), launch.buffers.end(),
                     [](const auto& b) { return !b.second.fill.empty(); });
}

}  // namespace

void Counter::count(const Analysed& analysed, report::DeviceResult& result) {
  Workload closed = bound(result, request_.models);
  if (request_.counts == Counts::executed) {
    execute_all(analysed, closed, result);
  } else if (request_.counts == Counts::automatic) {
    mix(analysed, std::move(closed), result);
  } else {
    result.workload = std::move(closed);
  }
}

void Counter::execute_all(const Analysed& analysed, const Workload& closed, report::DeviceResult& result) {
  const Sharing sharing = sharing_of(closed, result.device);
  const Ran& ran = executed(analysed, result, sharing);
  result.execution = ran.execution;
  result.workload = ran.execution->workload;
  result.origin = all_executed(*result.workload);
  if (ran.sharing != sharing) result.workload->locality = nullptr;
}

void Counter::mix(const Analysed& analysed, Workload closed, report::DeviceResult& result) {
  CountOrigin origin = count_origin(*result.profile, result.launch, closed);
  if (!origin.all_closed()) {
    try {
      const Sharing sharing = sharing_of(closed, result.device);
      const Ran& ran = executed(analysed, result, sharing);
      result.execution = ran.execution;
      Mixed m = mixed(*result.profile, result.launch, closed, result.execution->workload, std::move(origin));
      result.workload = std::move(m.workload);
      result.origin = std::move(m.origin);
      if (ran.sharing != sharing) result.workload->locality = nullptr;
      return;
    } catch (const Error& e) {
      if (contents_given(result.launch)) throw;
      closed.assumptions.push_back({"what data decide", std::string("by default, not executed: ") + message_of(e), ""});
    }
  }
  result.workload = std::move(closed);
}

const Counter::Ran& Counter::executed(const Analysed& analysed, const report::DeviceResult& result,
                                      const Sharing& sharing) {
  if (!analysed.program) {
    throw LimitError("kernel " + analysed.profile->kernel + " cannot be executed: " +
                     (analysed.no_program.empty() ? "it was not made ready for it" : analysed.no_program));
  }
  const auto key = std::tuple(analysed.profile.get(), result.device.geometry(), result.launch.grid.array());
  auto found = ran_.find(key);
  if (found == ran_.end()) {
    found = ran_.emplace(key, run(analysed, result, sharing)).first;
    if (found->second.execution) report::add_findings(findings_, *analysed.profile, *found->second.execution);
  }
  if (found->second.trouble) std::rethrow_exception(found->second.trouble);
  return found->second;
}

Counter::Ran Counter::run(const Analysed& analysed, const report::DeviceResult& result, const Sharing& sharing) const {
  ExecuteOptions options = request_.execute;
  options.resident_blocks = sharing.resident_blocks;
  options.processors = sharing.processors;
  try {
    try {
      return {std::make_shared<const Execution>(
                  execute(*analysed.profile, *analysed.program, result.launch, result.device.geometry(), options)),
              nullptr, sharing};
    } catch (const UserError& e) {
      throw UsageError(message_of(e));  // arguments and buffers are on the command line
    }
  } catch (const Error&) {
    return {nullptr, std::current_exception(), sharing};
  }
}

}  // namespace kernelcast::cli
