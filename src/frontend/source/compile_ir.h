// LLVM IR as input, as text or bitcode.
#pragma once

#include "frontend/source/compile.h"

namespace kernelcast::frontend {

/// Parses and verifies; throws UserError with LLVM's message, which names line and column for text.
CompiledUnit read_llvm_ir(const Source& source);

}  // namespace kernelcast::frontend
