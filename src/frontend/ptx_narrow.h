// 64-bit integers of PTX whose upper half nobody uses.
#pragma once

#include "frontend/assembly.h"

namespace kernelcast::frontend {

/// The same instructions, one for one, with 32-bit opcodes where of a 64-bit integer only the lower half counts: what
/// is left of address arithmetic on shared and local memory, whose accesses take 32-bit addresses.
AsmFunction narrow_ptx(const AsmFunction& kernel);

/// The registers of `kernel` that serve only as addresses of shared and local memory, directly or through additions.
/// Sorted.
std::vector<std::string_view> short_addresses(const AsmFunction& kernel);

}  // namespace kernelcast::frontend
