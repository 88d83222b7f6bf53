// Shared memory of other blocks of a cluster. While a kernel is optimized such an address is a pointer into an address
// space of its own, which shows where it is used: LLVM infers address spaces. In the end each of them is the address in
// the block's own memory that it was made from, which has the same place, and what accesses it is marked.
#pragma once

namespace llvm {
class Function;
class Instruction;
class IRBuilderBase;
class Value;
}  // namespace llvm

namespace kernelcast::frontend {

/// LLVM's later versions give the state space .shared::cluster this number.
inline constexpr unsigned cluster_address_space = 7;

/// The generic pointer `own`, into the block's shared memory, as mapa maps it to another block.
llvm::Value* mapped_to_cluster(llvm::IRBuilderBase& b, llvm::Value* own);

/// Ends this: no pointer into the address space is left in the function.
void settle_cluster_memory(llvm::Function& function);

/// Whether it accesses memory of another block; after settle_cluster_memory().
bool is_in_cluster(const llvm::Instruction& access);

}  // namespace kernelcast::frontend
