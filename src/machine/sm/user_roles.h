// Roles of the warps of a block: who fills stages of shared memory by copies in bulk, and who multiplies.
#pragma once

#include <vector>

#include "kernelcast/profile.h"
#include "kernelcast/workload.h"

namespace kernelcast::sm {

/// Neighboring warps of a block that do the same.
struct UserRole {
  int warps = 1;
  std::vector<double> share;  // of each block of code: executions of a warp of the role over those of the mean warp
  // Of one warp, in all: stages that it fills, products, waits for mbarriers and arrivals at them, barriers.
  double fills = 0, products = 0, waits = 0, arrivals = 0, barriers = 0;
};

/// At least one. Where no copies in bulk complete on mbarriers all warps have one role, the mean warp's.
std::vector<UserRole> roles_of(const KernelProfile& profile, const Workload& workload);

}  // namespace kernelcast::sm
