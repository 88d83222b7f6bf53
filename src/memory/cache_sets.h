// How many sets of a cache a regular walk touches.
#pragma once

#include <cstdint>
#include <span>

#include "kernelcast/workload.h"

namespace kernelcast::memory {

/// Bytes after which the sets of a cache come again, as a program knows its addresses: a way of the cache, or a page
/// of 4 KiB where a way is larger, since caches behind the L1 go by physical addresses and pages lie anywhere. 0 where
/// `ways` is not known (0) or a way is no whole number of lines.
std::int64_t set_period(double cache_bytes, double line_bytes, double ways);

/// Share of the sets that hold the lines which one passage of `depth` touches: of the period / line lines of a period,
/// those that an address of the walk falls into. Exact; the buffer starts at a line. `period` a multiple of `line`.
double share_of_sets(const AccessStream& walk, int depth, std::int64_t line, std::int64_t period);

}  // namespace kernelcast::memory
