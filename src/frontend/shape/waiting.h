// Loops that wait for other blocks.
#pragma once

#include "frontend/shape/kernel_model.h"

namespace kernelcast::frontend {

struct Waiting {
  kernelcast::Loop::Wait wait = kernelcast::Loop::Wait::none;
  bool for_all = false;  // for a counter that all blocks share to reach what all blocks share: a barrier of the grid
};

/// Whether the loop does nothing but look at global memory that others write: its end depends on a volatile or atomic
/// load, or an atomic, at an address that it does not change.
Waiting waiting_of(const llvm::Loop& loop, KernelModel& model);

}  // namespace kernelcast::frontend
