// What a cache of some capacity holds: the one capacity rule. The default model, the CPU model and, through the default
// model's hit rates, `sm` ask it. Distinct lines (footprint) and moved lines (traffic) of passages are Workload::reuse.
// Its twins are the stack distances of the same accesses and a simulated cache: test/engines/memory.
#pragma once

#include <cstdint>

#include "kernelcast/workload.h"

namespace kernelcast::memory {

/// Of the lines of a passage of `bytes`, the share that a cache of `capacity` bytes still holds when it comes again:
/// each miss evicts any line. 1 where the passage fits.
double retained_share(double bytes, double capacity);

/// A cache between the blocks of a grid and what is behind it.
struct BlockCache {
  double capacity = 0;      // bytes
  double sector_bytes = 0;  // of a sector of Reuse
};

/// Sectors that go past the cache for a window of blocks, of `requested`: the traffic at the deepest level whose
/// passages fit; of a passage that does not fit, the retained share is served. `sharers`: blocks that touch as much
/// each and share the cache.
double past_window(const Reuse& reuse, Reuse::Direction direction, int window, double requested,
                   const BlockCache& cache, double sharers);

/// Sectors that go past the cache for a grid of `blocks`, of which `together` run at a time, of `requested`: by the
/// largest window, from the blocks that run together on, whose whole life fits; else what fits of their passages.
/// Between two windows, what blocks touch and move follows a power of their number.
double past_grid(const Reuse& reuse, Reuse::Direction direction, double blocks, double together, double requested,
                 const BlockCache& cache);

/// Of what a launch touches, the share that the cache still holds from an earlier launch over the same data.
double left_by_earlier_launch(const Workload& work, const BlockCache& cache);

/// A cache of a CPU core. `ways` 0: not known, one set.
struct CoreCache {
  double bytes = 0, line_bytes = 0, ways = 0;
};

/// Lines that the cache misses over the whole run of a nest. A cache that holds a passage of depth d serves the reuse
/// that the loop around it carries, so it misses what moves at depth d + 1; data are there when the run begins, if they
/// fit. A line that is only written (`write_only`: share of the stored bytes that no load reads) is fetched first. With
/// `ways` and Workload::streams, streams that leave sets out are told from others.
double lines_missed(const Workload& work, const CoreCache& cache, double write_only);

}  // namespace kernelcast::memory
