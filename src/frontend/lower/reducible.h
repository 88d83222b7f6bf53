// Loops with several entries (a jump into a loop, Duff's device): they are no loops to the analyses.
#pragma once

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace kernelcast::frontend {

/// Whether control flow enters some cycle of the function in more than one block.
bool has_irreducible_flow(llvm::Function& function);

/// Gives every cycle of the function one entry, which tests where to go on; switches become branches then. Does nothing
/// to a function whose cycles have one entry each. Marks what it changed (was_made_reducible).
void make_reducible(llvm::Module& module, llvm::Function& function);
bool was_made_reducible(const llvm::Function& function);

}  // namespace kernelcast::frontend
