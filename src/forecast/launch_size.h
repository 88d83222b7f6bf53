// The grid of a launch from what the user said: --grid, --global, or the extents of a loop nest.
#pragma once

#include <vector>

#include "forecast/pipeline.h"
#include "kernelcast/profile.h"

namespace kernelcast {

/// Sets launch.grid; returns what had to be assumed. Throws UsageError naming the flag when a global size cannot be
/// divided: only OpenCL 2.0 and later allow work-groups that are smaller at the edge.
std::vector<Assumption> set_grid(const ForecastQuestion& request, const KernelProfile& profile, Launch& launch);

}  // namespace kernelcast
