#include "tune/recount.h"

#include <algorithm>

#include "execute/mix.h"
#include "kernelcast/error.h"
#include "kernelcast/model.h"

namespace kernelcast::tune {
namespace {

constexpr double most_resident_blocks = 1024;  // more than any device has: where limits are unknown, all are infinite

Workload run(const Executable& kernel, const Device& device, ExecuteOptions options, const Launch& launch,
             const Workload& closed) {
  if (!kernel.program) {
    throw LimitError("kernel " + kernel.profile->kernel + " cannot be executed: " +
                     (kernel.no_program.empty() ? "it was not made ready for it" : kernel.no_program));
  }
  options.processors = static_cast<int>(std::max(1.0, device.get_or(Field::compute_units, 1)));
  options.resident_blocks = std::clamp(occupancy(closed, device).blocks_per_unit, 1.0, most_resident_blocks);
  return execute(*kernel.profile, *kernel.program, launch, device.geometry(), options).workload;
}

bool contents_given(const Launch& launch) {
  return std::any_of(launch.buffers.begin(), launch.buffers.end(),
                     [](const auto& b) { return !b.second.fill.empty(); });
}

}  // namespace

Recount recount_by(const Executable& kernel, const Device& device, Counts counts, const ExecuteOptions& options) {
  return [=](const Launch& launch, Workload closed) -> Workload {
    if (counts == Counts::symbolic) return closed;
    if (counts == Counts::executed) {
      Workload w = run(kernel, device, options, launch, closed);
      w.registers_per_thread = closed.registers_per_thread;  // as many as fit, see LaunchForecaster
      return w;
    }
    CountOrigin origin = count_origin(*kernel.profile, launch, closed);
    if (origin.all_closed()) return closed;
    try {
      const Workload executed = run(kernel, device, options, launch, closed);
      return mixed(*kernel.profile, launch, closed, executed, std::move(origin)).workload;
    } catch (const Error& e) {
      if (contents_given(launch)) throw;
      closed.assumptions.push_back({"what data decide", std::string("by default, not executed: ") + message_of(e), ""});
      return closed;
    }
  };
}

}  // namespace kernelcast::tune
