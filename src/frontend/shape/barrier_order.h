// Which barriers follow a store to shared memory with no computation between: the flat barriers of
// docs/model/opencl-quantitative.md. A property of each barrier, decided from the order of instructions on all paths to
// it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
}  // namespace llvm

namespace kernelcast::frontend {

/// What a block does that matters to barriers, in order.
enum class BarrierStep : std::uint8_t { store, compute, barrier };
using BarrierSteps = std::unordered_map<const llvm::BasicBlock*, std::vector<BarrierStep>>;

/// Floating-point arithmetic. Integers are addresses and counters, as far as can be told.
bool is_computation(const llvm::Instruction& i);

/// Flat barriers of each block that has any: on some path the last step before the barrier is a store, on none a
/// computation.
std::unordered_map<const llvm::BasicBlock*, int> flat_barriers(const llvm::Function& kernel, const BarrierSteps& steps);

}  // namespace kernelcast::frontend
