// Additions that ptxas writes into the offset of a memory access.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "frontend/code/nvidia/ptx_flow.h"

namespace kernelcast::frontend {

/// Of each instruction, where it adds a constant to a register and the sum is only the address of accesses while
/// that register holds what it held: that register. Empty for all others. `accesses` are those of the instructions.
std::vector<std::string_view> offset_bases(const AsmFunction& kernel, std::span<const PtxAccesses> accesses);

}  // namespace kernelcast::frontend
