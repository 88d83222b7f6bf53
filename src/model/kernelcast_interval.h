// How far a forecast may be off, and what the compiler may have done that the model cannot know.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernelcast/device.h"
#include "kernelcast/launch.h"
#include "kernelcast/profile.h"
#include "kernelcast/workload.h"
#include "model/kernelcast.h"

namespace kernelcast::forecast {

/// The 90 % interval as factors: [time / factor_below, time * factor_above].
struct Spread {
  double factor_below = 1, factor_above = 1;
  std::string reasons;  // what was assumed; empty: nothing
};
Spread spread_of(const KernelProfile&, const Workload&, const KernelcastDevice&, const BoundTimes&, CountsBasis basis);

/// Where defaults widen an interval beyond a factor of 10: the settings that replace them.
std::optional<Assumption> what_narrows(const Workload&, const Spread&);

/// The launch if the compiler keeps to the order of the text and spills what does not fit (Registers::in_text_order).
/// Nothing where it fits.
std::optional<Workload> in_text_order(const KernelProfile&, const Workload&, const Device&);

/// Findings: arrays that stay in local memory, spills, register caps, loops that were expected to unroll.
void add_cliffs(const KernelProfile&, const Workload&, const Device&, std::vector<Assumption>& out);

}  // namespace kernelcast::forecast
