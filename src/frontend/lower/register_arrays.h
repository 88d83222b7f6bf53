// Small private arrays that NVIDIA's assembler keeps in registers although their index is known only at run time.
#pragma once

namespace llvm {
class Function;
}  // namespace llvm

namespace kernelcast::frontend {

/// ptxas replaces accesses to a small array of 32-bit elements by a comparison and a predicated move for each element
/// that the index may mean, where that is little enough. Does the same to the kernel by selections; SROA then makes
/// values of the array. Call it on optimised code. Returns whether an array was replaced.
///
/// When, was measured on generated kernels (NVRTC and ptxas 12.4, sm_75 and sm_80; docs/lab/registers.md): by the
/// number of accesses of unknown index, neighbours that make one wide access counted once, and the number of elements
/// that each may mean (the passages of the loop whose counter is the index; all elements otherwise). ptxas 11.8 goes a
/// little further (9 elements instead of 7 for one load and one store). Arrays of 64-bit elements stay in memory.
bool keep_small_arrays_in_registers(llvm::Function& kernel);

}  // namespace kernelcast::frontend
