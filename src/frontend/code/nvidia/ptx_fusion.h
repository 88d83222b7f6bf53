// PTX instructions that ptxas merges: three-input additions and logic, multiply-adds, scaled addresses.
#pragma once

#include <vector>

#include "frontend/ir/assembly.h"

namespace kernelcast::frontend {

/// Changes `costs` (one entry an instruction, from ptx_cost of the same sm) to what is left after merging on sm_`sm`;
/// see the rules in ptx_fusion.cpp.
void fuse_ptx(const AsmFunction& kernel, int sm, std::vector<OpCounts>& costs);

/// One entry an instruction of `kernel`, narrowed (ptx_narrow.h) and merged. `unknown` gets the instructions that the
/// table does not have.
std::vector<OpCounts> ptx_costs(const AsmFunction& kernel, int sm,
                                std::vector<const AsmInstruction*>* unknown = nullptr);

}  // namespace kernelcast::frontend
