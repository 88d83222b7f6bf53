// What ptxas makes of PTX instructions: 64-bit integers of which half counts, and three-input additions and logic,
// multiply-adds, scaled addresses.
#pragma once

#include <string_view>
#include <vector>

#include "frontend/ir/assembly.h"

namespace kernelcast::frontend {

/// Changes `costs` (one entry an instruction, from ptx_cost of the same sm) to what is left after merging on sm_`sm`;
/// see the rules in ptx_fusion.cpp.
void fuse_ptx(const AsmFunction& kernel, int sm, std::vector<OpCounts>& costs);

/// Adds to `costs` the moves before matrix instructions whose operands loads leave in another order (ptx_tuples.cpp).
void copy_tuples(const AsmFunction& kernel, std::vector<OpCounts>& costs);

/// One entry an instruction of `kernel`, narrowed (narrow_ptx) and merged. `unknown` gets the instructions that the
/// table does not have.
std::vector<OpCounts> ptx_costs(const AsmFunction& kernel, int sm,
                                std::vector<const AsmInstruction*>* unknown = nullptr);

/// The same instructions, one for one, with 32-bit opcodes where of a 64-bit integer only the lower half counts: what
/// is left of address arithmetic on shared and local memory, whose accesses take 32-bit addresses.
AsmFunction narrow_ptx(const AsmFunction& kernel);

/// Whether an operand is a number and a power of two: a factor that is a shift.
bool is_power_of_two(std::string_view number);

/// The registers of `kernel` that serve only as addresses of shared and local memory, directly or through additions.
/// Sorted.
std::vector<std::string_view> short_addresses(const AsmFunction& kernel);

}  // namespace kernelcast::frontend
