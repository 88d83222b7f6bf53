// PTX instructions that ptxas merges: three-input additions and logic, multiply-adds, scaled addresses.
#pragma once

#include <vector>

#include "frontend/assembly.h"

namespace kernelcast::frontend {

/// Changes `costs` (one entry an instruction, from ptx_cost) to what is left after merging; see the rules in
/// ptx_fusion.cpp.
void fuse_ptx(const AsmFunction& kernel, std::vector<OpCounts>& costs);

}  // namespace kernelcast::frontend
