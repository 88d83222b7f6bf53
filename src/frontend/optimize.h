// From the module as Clang emits it to the module that a device compiler would generate code from.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace kernelcast::frontend {

/// A code generator for sm_NN or gfxNNN with the settings that kernelcast always uses. Throws LimitError when this LLVM
/// does not know the target. `fast_math` allows approximate division and contraction.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const std::string& target, bool fast_math);

/// Runs passes named as LLVM's textual pipelines are; `machine` may be null for passes that need no target.
void run_passes(llvm::Module& module, llvm::TargetMachine* machine, const std::string& pipeline);

/// Keeps one kernel and what it needs, inlines everything, optimises at -O3 for the target (no vectorisers but the
/// load/store one), and gives every basic block of the kernel a unique name. Throws UserError for recursion and
/// indirect calls in the kernel.
void optimize_for_target(llvm::Module& module, const std::string& kernel_symbol, llvm::TargetMachine& machine);

}  // namespace kernelcast::frontend
