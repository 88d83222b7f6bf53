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

/// The blocks of the grid in which code runs: the smallest box of block numbers that holds them all.
struct BlockRange {
  std::array<std::int64_t, 3> first{}, last{-1, -1, -1};
  [[nodiscard]] bool empty() const { return last[0] < first[0]; }
  [[nodiscard]] double count() const;
  [[nodiscard]] bool contains(const std::array<std::int64_t, 3>& block) const;
  void clear() { *this = {}; }
  /// Adds the blocks of a leaf's box; of a sheared one all blocks of the grid along the sheared axis.
  void add(const Box& box, const Dim3& grid);
};

/// Code with the executions that its warps share.
struct SharedPath {
  const WarpPath* once = nullptr;  // of one warp in one execution
  double cycles = 0;               // usual_length() of that
  const WarpShares* shares = nullptr;
  const BlockRange* blocks = nullptr;
};

/// Adds what a block of code asks of a warp in one execution.
void add_block(const Block& block, WarpPath& path);

/// Cycles of a path where a stop takes what its kind of latency usually does. It decides which warp is the slowest and
/// nothing else.
double usual_length(const WarpPath& path);

/// The path of the warp for which that is longest, summed over all blocks; nothing where all warps take the same path.
WarpPath slowest_path(std::span<const SharedPath> code, std::size_t warps);

/// Likewise of the block with the longest path, times the number of blocks: the code that runs in a block runs in each
/// block of its range alike. Nothing where all code runs in all blocks.
WarpPath longest_path(std::span<const SharedPath> code, std::size_t warps, const Dim3& grid);

}  // namespace kernelcast
