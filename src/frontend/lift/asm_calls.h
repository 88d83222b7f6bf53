// Inline PTX in place of which analysis sees LLVM IR.
#pragma once

#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace kernelcast::frontend {

/// Replaces every asm statement whose text the reader knows by a call of a function with the same meaning. The others
/// stay. Returns how many were replaced.
int lift_asm_statements(llvm::Module& module);

}  // namespace kernelcast::frontend
