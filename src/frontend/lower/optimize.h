// From the module as Clang emits it to the module that a device compiler would generate code from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernelcast/launch.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace kernelcast::frontend {

/// A code generator for sm_NN or gfxNNN with the settings that kernelcast always uses. Throws LimitError when this LLVM
/// does not know the target. `fast_math` allows approximate division and contraction.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const std::string& target, bool fast_math);

/// Whether NVIDIA's assembler sees the module's shared arrays before they have addresses, so that it cannot widen
/// accesses beyond the alignment of the source: OpenCL, whose programs are linked when they are built. Source:
/// ptxas 11.7 to 13.0 merge neighbouring accesses of a float array to 128 bits, with `-c` (relocatable code) they do
/// not; the times of CLBlast's xgemm with OpenCL on Tesla V100, RTX 2080 Ti and Tesla K20 are those of separate
/// accesses (docs/lab/registers.md). The module's triple must be the target's.
bool is_relocatable(const llvm::Module& module);

/// Runs passes named as LLVM's textual pipelines are; `machine` may be null for passes that need no target.
void run_passes(llvm::Module& module, llvm::TargetMachine* machine, const std::string& pipeline);

/// Keeps one kernel and what it needs, inlines everything, optimises at -O3 for the target (no vectorisers but the
/// load/store one), and gives every basic block of the kernel a unique name. Throws UserError for recursion and
/// indirect calls in the kernel.
void optimize_for_target(llvm::Module& module, const std::string& kernel_symbol, llvm::TargetMachine& machine,
                         const Dim3& cluster);

/// Replaces each 64-bit division and remainder by the way that it is likely to go at run time, with the compiler's
/// test, so that the code generator does not write both. Short where no operand is likely to exceed 32 bits. Returns
/// whether any is short by that guess. Divisions by constants and those that are known to be short stay as they are.
bool choose_ways_of_divisions(llvm::Function& kernel, bool nvidia);

}  // namespace kernelcast::frontend
