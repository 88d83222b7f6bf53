// Notes of intermediate code that LLVM's verifier does not look at, and that code generators take for granted.
#pragma once

#include <string>

namespace llvm {
class Module;
}

namespace kernelcast::frontend {

/// What is malformed in the module's notes about kernels; empty: nothing.
std::string malformed_metadata(const llvm::Module& module);

}  // namespace kernelcast::frontend
