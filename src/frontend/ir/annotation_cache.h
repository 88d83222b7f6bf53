// What LLVM remembers of a module beyond the module's life.
#pragma once

namespace llvm {
class Module;
}  // namespace llvm

namespace kernelcast::frontend {

/// Empties a module that is about to end, and makes LLVM's back end for NVIDIA forget it. LLVM keeps the annotations of
/// kernels (bounds of the block, "is a kernel") by the addresses of module and function, and only the end of code
/// generation drops them: a later module at the same address would be optimized with the bounds of another kernel. Does
/// nothing for modules of other back ends.
void end_module(llvm::Module& module);

}  // namespace kernelcast::frontend
