// LLVM IR as input, as text or bitcode.
#pragma once

#include <string>

#include "frontend/source/compile.h"

namespace llvm {
class Module;
}  // namespace llvm

namespace kernelcast::frontend {

/// Parses and verifies; throws UserError with LLVM's message, which names line and column for text.
CompiledUnit read_llvm_ir(const Source& source);

/// What is malformed in the module's notes about kernels; empty: nothing.
std::string malformed_metadata(const llvm::Module& module);

}  // namespace kernelcast::frontend
