// Which branches of PTX ptxas leaves out: short guarded paths become predicated instructions.
#pragma once

#include <vector>

#include "frontend/ir/assembly.h"

namespace kernelcast::frontend {

/// A kernel's instructions with what each costs.
struct CostedCode {
  AsmFunction code;
  std::vector<OpCounts> costs;
};

struct PtxPredication {
  /// As it is scheduled: what a block branched around stands in that block, behind its condition, and the branch is
  /// gone.
  CostedCode scheduled;
  /// As it is counted, instruction for instruction as in the kernel, with what reconvergence takes at the end: what now
  /// runs whenever the branch would have been reached counts for the block of the branch. Accesses to memory stay where
  /// they are: lanes that are off request nothing.
  CostedCode counted;
  std::vector<bool> removed;  // of each instruction: a branch that is not made
};

/// `costs[i]` are the SASS instructions of instruction i. The rules and their source are in ptx_predication.cpp.
PtxPredication predicate_short_paths(const AsmFunction& kernel, const std::vector<OpCounts>& costs, int sm);

}  // namespace kernelcast::frontend
