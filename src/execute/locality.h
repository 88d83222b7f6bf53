// Locality of the blocks that ran: recorded block by block while they run, put together afterwards.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "execute/trace.h"
#include "kernelcast/workload.h"
#include "memory/stack_distances.h"

namespace kernelcast::interpreter {

/// How much is kept. Where a bound is met, one sector in 2, 4, 8 ... is followed further.
struct LocalityLimits {
  std::int64_t block_bytes = std::int64_t{4} << 20;  // of one block's packed requests, kept and while recording
  std::int64_t max_keys = memory::StackDistances::default_max_keys;  // distinct sectors of one stream
  std::int64_t max_touches = std::int64_t{4} << 20;  // sectors touched that are analysed for residents and for the grid

  /// Shares `bytes` of memory among `blocks` blocks.
  static LocalityLimits of(std::int64_t bytes, std::int64_t blocks);
};

/// What one block did.
struct BlockTrace {
  std::int64_t block = 0;  // linear index in the grid
  Trace trace;             // its requests, warps interleaved
  int shift = 0;           // one sector in 2^shift is in the trace
  double touches = 0;      // sectors touched, all of them
  ReuseDistances alone;    // of the block by itself
  double sectors = 0;      // distinct
  double alone_rate = 1;   // part of the sectors that `alone` followed
};

/// Records one block after the other; one recorder a thread. What a block's trace holds depends on that block alone.
class LocalityRecorder {
 public:
  explicit LocalityRecorder(const LocalityLimits& limits = {});

  void begin_block(std::int64_t block);
  /// One memory request: its distinct sectors. Requests of different warps (0, 1, ...) between two barriers are taken
  /// to happen in turn, whichever was executed first; with one number for all warps they stay as they come.
  void touch(int warp, std::span<const std::uint64_t> sectors);
  /// All warps have come this far.
  void barrier();
  BlockTrace end_block();

 private:
  void halve();

  LocalityLimits limits_;
  BlockTrace current_;
  std::vector<Trace> warps_;  // since the last barrier
  std::int64_t pending_bytes_ = 0;
  memory::StackDistances distances_;
  std::vector<std::uint64_t> kept_;
};

/// Blocks that share an SM at a time. Blocks go to the SMs in turn, and a wave is processors * resident blocks; of
/// those that ran (`blocks`, ascending), the ones of one wave and SM are together. Groups in the order of their first
/// block.
std::vector<std::vector<std::int64_t>> resident_groups(std::span<const std::int64_t> blocks, std::int64_t resident,
                                                       std::int64_t processors);

struct LocalityResult {
  Locality locality;
  double block_rate = 1, resident_rate = 1, grid_rate = 1;  // part of the sectors that was followed; 1: exact
};

/// Puts the blocks together, whatever order they come in. `residents`: blocks, by index, that shared an SM; those that
/// were not recorded are passed over. `wave_blocks`: blocks on the whole device at a time, interleaved in the grid's
/// stream; the next ones follow when these are done. `threads`: how many may work on it; the result is the same.
LocalityResult locality_of(std::vector<BlockTrace> traces, const std::vector<std::vector<std::int64_t>>& residents,
                           std::int64_t wave_blocks, const LocalityLimits& limits = {}, int threads = 1);

}  // namespace kernelcast::interpreter
