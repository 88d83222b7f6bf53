// Registers that hold two numbers of 16 bits.
#pragma once

namespace llvm {
class Function;
}

namespace kernelcast::frontend {

/// Where a loop carries both halves of a register apart, as LLVM does for an accumulator of two halves that a matrix
/// instruction reads and writes as one register, it carries the register. NVIDIA's compilers do. Returns whether
/// anything changed; shifts and masks that take the register apart and join it again are then left to be simplified.
bool carry_whole_registers(llvm::Function& function);

}  // namespace kernelcast::frontend
