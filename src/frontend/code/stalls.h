// How long a warp that runs alone waits in each block of a target's code.
#pragma once

#include <vector>

#include "frontend/ir/assembly.h"
#include "frontend/ir/machine_code.h"

namespace kernelcast::frontend {

Timing nvidia_timing(int sm);
Timing amd_timing();

/// `costs[i]` belongs to instruction i.
Walk ptx_walk(const AsmFunction& kernel, const std::vector<OpCounts>& costs, int sm);
Walk amdgcn_walk(const AsmFunction& kernel, const std::vector<OpCounts>& costs);

}  // namespace kernelcast::frontend
