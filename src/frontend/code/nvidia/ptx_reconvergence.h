// Where warps that have diverged meet again.
#pragma once

#include <vector>

namespace kernelcast::frontend {

struct ReconvergencePoint {
  int at, from;  // where warps meet, and a block in which they diverge
  friend bool operator==(const ReconvergencePoint&, const ReconvergencePoint&) = default;
};

/// The immediate post-dominators of the blocks that `diverge`, each once, in ascending order. `next[b]` are the
/// successors of block b; block 0 is the entry. Blocks whose ways meet only at the kernel's end have none: their lanes
/// just leave.
std::vector<ReconvergencePoint> reconvergence_points(const std::vector<std::vector<int>>& next,
                                                     const std::vector<bool>& diverge);

/// Instructions that one such point costs a warp, on its way in and out: BSSY and BSYNC from Volta on, with a BMOV
/// before Ampere; SSY and SYNC on Maxwell and Pascal; SSY before, where the join is a flag of an instruction. Seen in
/// code of ptxas 11.8 and 12.4.
double reconvergence_instructions(int sm);

}  // namespace kernelcast::frontend
