// What each source line costs beyond its instructions: conflicts of shared memory, and the stops of a warp.
#pragma once

#include <map>

#include "kernelcast/device.h"
#include "kernelcast/profile.h"
#include "kernelcast/workload.h"

namespace kernelcast::picture {

struct LineCost {
  double conflicts = 0;     // shared-memory wavefronts beyond those of requests without conflicts, whole launch
  double stall_cycles = 0;  // of a warp that runs alone, summed over all warps
};

/// Stops are known for a block of code and a class of latency (Stalls). They fall to the lines whose instructions of
/// that class the block waits for, in proportion to how many these are. `resident_blocks`: of one unit.
std::map<SourceLine, LineCost> line_costs(const KernelProfile& profile, const Workload& workload, const Device& device,
                                          double resident_blocks);

}  // namespace kernelcast::picture
