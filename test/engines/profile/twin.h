// The slow, obvious twin of Binder: every block, warp, iteration and lane in turn, with Expr::evaluate only.
#pragma once

#include "kernelcast/workload.h"

namespace kernelcast::twin {

struct Counts {
  std::vector<BlockCount> block_counts;
  std::vector<std::vector<double>> by_warp;  // [block of code][warp of a block]: executions, all blocks of the launch
  std::vector<AccessCount> access_counts;
  std::vector<BranchCount> branch_counts;
  OpCounts warp_ops, thread_ops;
  double barriers = 0, flat_barriers = 0;
  /// Exactly the distinct bytes (Binder may report more, never less).
  double footprint_bytes = 0, footprint_read_bytes = 0, footprint_write_bytes = 0;
};

Counts count(const KernelProfile& profile, const Launch& launch, const MemoryGeometry& geometry);

}  // namespace kernelcast::twin
