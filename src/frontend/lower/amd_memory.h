// AMD's memory instructions that LLVM has as intrinsics.
#pragma once

namespace llvm {
class Function;
class Value;
}  // namespace llvm

namespace kernelcast::frontend {

/// Buffer loads and stores through a resource that the kernel makes of a pointer, and direct loads to LDS, become loads
/// and stores. The range check of a resource is left out. Values should be in registers.
void access_through_pointers(llvm::Function& kernel);

/// Name of an intrinsic of AMD's that accesses memory and whose address is not known here; empty: another instruction.
const char* unknown_amd_access(const llvm::Value& instruction);

}  // namespace kernelcast::frontend
