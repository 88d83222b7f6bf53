// Which warp of a block has the longest path, where code runs in some warps of a block only: a branch on the warp's
// number, the last steps of a tree, one thread that stores the result.
#pragma once

#include <span>
#include <vector>

#include "kernelcast/workload.h"
#include "profile/domain.h"

namespace kernelcast {

/// Executions of one piece of code by each warp of a block, summed over all blocks of a launch.
struct WarpShares {
  double each = 0;             // by every warp alike
  std::vector<double> beyond;  // by each warp, beyond that; empty: all alike
  void clear();
  /// The lanes of one leaf, so many times; `warps`: of a block.
  void add(const LanePart& part, double times, std::size_t warps);
  [[nodiscard]] double of(std::size_t warp) const { return each + (beyond.empty() ? 0 : beyond[warp]); }
};

/// Code with the executions that its warps share.
struct SharedPath {
  const WarpPath* once = nullptr;  // of one warp in one execution
  const WarpShares* shares = nullptr;
};

/// Adds what a block of code asks of a warp in one execution.
void add_block(const Block& block, WarpPath& path);

/// Cycles of a path where a stop takes what its kind of latency usually does. It decides which warp is the slowest and
/// nothing else.
double usual_length(const WarpPath& path);

/// The path of the warp for which that is longest, summed over all blocks; nothing where all warps take the same path.
WarpPath slowest_path(std::span<const SharedPath> code, std::size_t warps);

}  // namespace kernelcast
