// Which branches of PTX ptxas leaves out: short guarded paths become predicated instructions; and where warps that have
// diverged meet again.
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

struct ReconvergencePoint {
  int at, from;  // where warps meet, and a block in which they diverge
  friend bool operator==(const ReconvergencePoint&, const ReconvergencePoint&) = default;
};

/// The immediate post-dominators of the blocks that `diverge`, each once, in ascending order. `next[b]` are the
/// successors of block b; block 0 is the entry. Blocks whose ways meet only at the kernel's end have none: their lanes
/// just leave.
std::vector<ReconvergencePoint> reconvergence_points(const std::vector<std::vector<int>>& next,
                                                     const std::vector<bool>& diverge);

}  // namespace kernelcast::frontend
