// Code generation for a target: from a kernel's module to its counted code.
#pragma once

#include <optional>
#include <string>

#include "frontend/code/nvidia/nvrtc.h"
#include "frontend/code/target_code.h"

namespace llvm {
class Module;
}  // namespace llvm

namespace kernelcast::frontend {

/// Makes code for `target` (sm_NN, gfxNNN) from a clone of the module, whose triple must be the target's, and counts
/// it. Blocks of the kernel need unique names. `ptxas`: path of NVIDIA's
/// assembler for analyze_ptx(), empty: none. `nvrtc`: see there. Throws LimitError with LLVM's message when
/// code cannot be generated.
TargetCode generate_target_code(const llvm::Module& module, const std::string& kernel_symbol, const std::string& target,
                                bool fast_math, const std::string& ptxas = "",
                                const std::optional<NvrtcCode>& nvrtc = {});

}  // namespace kernelcast::frontend
