// How large the integers in a kernel's registers can be.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>

#include "frontend/code/nvidia/ptx_flow.h"

namespace kernelcast::frontend {

/// The largest value, read without a sign, of each register that integer instructions write; the largest of its width
/// where nothing is known. From constants, from the limits of %tid and the like (CUDA C++ Programming Guide, table
/// "Technical Specifications per Compute Capability") and through arithmetic. `accesses` are those of the instructions.
std::unordered_map<std::string_view, std::uint64_t> largest_values(const AsmFunction& kernel,
                                                                   std::span<const PtxAccesses> accesses);

}  // namespace kernelcast::frontend
