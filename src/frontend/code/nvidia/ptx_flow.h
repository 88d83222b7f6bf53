// Registers that a PTX instruction reads and writes, the kernel's flow graph, and the additions that ptxas writes into
// the offset of a memory access.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "frontend/ir/assembly.h"
#include "frontend/ir/machine_code.h"

namespace kernelcast::frontend {

/// Names as the text has them: "%r12", "%p1"; special registers (%tid.x) are not among them.
struct PtxAccesses {
  std::vector<std::string_view> reads, writes;
};
PtxAccesses ptx_accesses(const AsmInstruction& instruction);
std::vector<PtxAccesses> all_accesses(const AsmFunction& kernel);

/// Whether the instruction accesses memory and reads register `name` as the address and nothing else.
bool only_addresses(const AsmInstruction& instruction, std::string_view name);
/// Whether it reads `name` as the address of shared or local memory, 32 bits of SASS, and as nothing else.
bool only_short_addresses(const AsmInstruction& instruction, std::string_view name);

/// By instruction: whether only the lower 32 bits of its 64-bit result are wanted and computed (ptx_narrow.cpp).
std::vector<bool> narrowed_instructions(const AsmFunction& kernel, const std::vector<PtxAccesses>& accesses);

/// The kernel's blocks with their registers numbered; `names[r]` is register r. Weights: two for 64-bit registers (one
/// where half is wanted), none for predicates and for values that need no register (parameters, constants, what is
/// computed from these by copies).
/// Additions that become offsets (offset_bases) read and write nothing; the accesses read what they add to.
struct PtxFlow {
  FlowGraph graph;
  std::vector<std::string_view> names;
};
PtxFlow ptx_flow(const AsmFunction& kernel);

/// Of each instruction, where it adds a constant to a register and the sum is only the address of accesses while
/// that register holds what it held: that register. Empty for all others. `accesses` are those of the instructions.
std::vector<std::string_view> offset_bases(const AsmFunction& kernel, std::span<const PtxAccesses> accesses);

}  // namespace kernelcast::frontend
