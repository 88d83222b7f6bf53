// The memory accesses and barriers of one basic block.
#pragma once

#include "frontend/kernel_model.h"

namespace kernelcast::frontend {

/// Fills `block.accesses`, `block.barriers` and `block.barrier_after_shared_store`; adds unknowns and assumptions to
/// the profile for addresses that data decide.
void collect_accesses(llvm::BasicBlock& source, KernelModel& model, KernelProfile& profile, Block& block);

}  // namespace kernelcast::frontend
