// How blocks of threads wait: which barriers follow a store to shared memory with no computation between (the flat
// barriers of docs/model/opencl-quantitative.md, a property of each barrier, decided from the order of instructions on
// all paths to it), and which loops wait for other blocks.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "frontend/shape/kernel_model.h"

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

struct Waiting {
  kernelcast::Loop::Wait wait = kernelcast::Loop::Wait::none;
  bool for_all = false;  // for a counter that all blocks share to reach what all blocks share: a barrier of the grid
};

/// Whether the loop does nothing but look at global memory that others write: its end depends on a volatile or atomic
/// load, or an atomic, at an address that it does not change.
Waiting waiting_of(const llvm::Loop& loop, KernelModel& model);

}  // namespace kernelcast::frontend
