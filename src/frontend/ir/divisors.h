// Remainders by powers of two that NVIDIA's compilers do not see.
#pragma once

namespace llvm {
class Function;
}  // namespace llvm

namespace kernelcast::frontend {

/// LLVM 19 turns x % (2 * s) into a mask where s is 1, 2, 4 and so on by way of a loop; NVRTC 11.8, 12.4 and 13.0
/// divide
/// (`tid % (2 * s) == 0` of the first sum of every course on CUDA: 28 instructions a step instead of 8). Hides the
/// divisors of all remainders that are no constants from what follows, before anything is optimised.
void hide_divisors(llvm::Function& kernel);

/// Once variables are values: shows the divisors that LLVM would not see through, or NVIDIA's compilers would as well.
void show_other_divisors(llvm::Function& kernel);

/// Shows all divisors, after the last pass that would make a mask of one. Constants that they became by unrolling are
/// left to code generation.
void show_divisors(llvm::Function& kernel);

}  // namespace kernelcast::frontend
