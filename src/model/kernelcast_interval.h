// How far a forecast may be off, and what the compiler may have done that the model cannot know.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernelcast/device.h"
#include "kernelcast/launch.h"
#include "kernelcast/profile.h"
#include "kernelcast/workload.h"
#include "model/kernelcast.h"

namespace kernelcast::forecast {

/// What numbers that the device file does not have make of a time. Each is taken for a factor of 2 larger and smaller,
/// and the larger change counts: of 528 numbers that device files have, nine in ten lie within 2.00 of what would stand
/// in for them (fit_model fallbacks). Their logarithms add in quadrature.
struct DeviceDoubt {
  double log_factor = 0;
  int numbers = 0;   // that change the time by a per cent
  std::string most;  // "memory.l2_bandwidth_bytes_per_s": the one that changes it most
};
/// `seconds`: of a device on which the launch takes `time`. `m` is machine_of() of `d`, with its text.
DeviceDoubt doubt_of(const Device& d, const KernelcastDevice& m, double time,
                     const std::function<double(const Device&)>& seconds);

/// The 90 % interval as factors: [time / factor_below, time * factor_above].
struct Spread {
  double factor_below = 1, factor_above = 1;
  std::string reasons;  // what was assumed; empty: nothing
};
Spread spread_of(const KernelProfile&, const Workload&, const DeviceDoubt&, const BoundTimes&, CountsBasis basis);

/// Where defaults widen an interval beyond a factor of 10: the settings that replace them.
std::optional<Assumption> what_narrows(const Workload&, const Spread&);

/// The launch if the compiler keeps to the order of the text and spills what does not fit (Registers::in_text_order).
/// Nothing where it fits.
std::optional<Workload> in_text_order(const KernelProfile&, const Workload&, const Device&);

/// Findings: arrays that stay in local memory, spills, register caps, loops that were expected to unroll.
void add_cliffs(const KernelProfile&, const Workload&, const Device&, std::vector<Assumption>& out);

}  // namespace kernelcast::forecast
