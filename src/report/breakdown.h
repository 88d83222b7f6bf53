// Where the work goes: a workload's totals laid on the profile's loops, branches, accesses and source lines.
// Plain sums and ratios of what the binder counted; the views print them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernelcast/profile.h"
#include "kernelcast/workload.h"

namespace kernelcast::report {

/// One source line's part in the whole launch.
struct LineShare {
  SourceLine line;
  double instruction_share = 0;  // of all warp instructions, 0..1
  double sector_share = 0;       // of all sectors moved by global and local accesses, 0..1
};

/// One loop's trip count under the launch.
struct LoopTrips {
  std::optional<std::int64_t> exact;  // the same for all lanes
  std::optional<Interval> between;    // otherwise, where it can be bounded
  std::optional<double> assumed;      // data decide: the value that was taken
};

/// One access under the launch: the pattern in words, with the figures behind it.
struct AccessPattern {
  std::string words;                        // "coalesced", "stride of 64 bytes", "broadcast", "no bank conflict"
  std::optional<std::int64_t> lane_stride;  // bytes from one work-item to the next in x
  double sectors_per_request = 0;           // global, local
  double passes_per_request = 0;            // shared
  AccessCount count;
};

struct Breakdown {
  std::vector<LineShare> lines;          // by falling instruction share; lines without any part are left out
  std::vector<LoopTrips> loops;          // parallel to profile.loops
  std::vector<AccessPattern> accesses;   // blocks in order, accesses in order within them
  double instructions = 0, sectors = 0;  // whole launch
};

/// Shapes: the workload's vectors must be parallel to the profile's (as Binder makes them); InternalError otherwise.
Breakdown breakdown(const KernelProfile& profile, const Workload& workload, const Launch& launch);

/// "matmul.cl:14"; "unknown line" without one.
std::string line_text(const KernelProfile& profile, SourceLine line);

}  // namespace kernelcast::report
