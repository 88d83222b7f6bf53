// How long a warp that runs alone waits in each block of a target's code.
#pragma once

#include <vector>

#include "frontend/ir/assembly.h"
#include "frontend/ir/machine_code.h"

namespace kernelcast::frontend {

Timing nvidia_timing(int sm);
Timing amd_timing();

/// Stalls of each block (find_stalls); `costs[i]` belongs to instruction i.
std::vector<Stalls> ptx_stalls(const AsmFunction& kernel, const std::vector<OpCounts>& costs, int sm);
std::vector<Stalls> amdgcn_stalls(const AsmFunction& kernel, const std::vector<OpCounts>& costs);

}  // namespace kernelcast::frontend
