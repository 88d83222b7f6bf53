// Pointers found in numbers: lifted code adds addresses as integers.
#pragma once

namespace llvm {
class Function;
}

namespace kernelcast::frontend {

/// Rewrites what casts a sum of an address and other numbers to a pointer as an offset from that pointer, in the space
/// that the access names. Registers must be values already (SROA).
void recover_pointers(llvm::Function& kernel);

/// Makes pointers of the kernel's 64-bit integer parameters that accesses have for their base. Returns the kernel,
/// which is another function then, of the same name.
llvm::Function* with_pointer_parameters(llvm::Function& kernel);

}  // namespace kernelcast::frontend
