// Where the work goes: a workload's totals laid on the profile's loops, branches, accesses and source lines.
// Plain sums and ratios of what the binder counted; the views print them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "count/mix.h"
#include "kernelcast/profile.h"
#include "kernelcast/workload.h"

namespace kernelcast::report {

/// One source line's part in the whole launch.
struct LineShare {
  SourceLine line;
  double instruction_share = 0;    // of all warp instructions, 0..1
  double sector_share = 0;         // of all sectors moved by global and local accesses, 0..1
  double active_lanes = 0;         // of a warp instruction, mean; 0: no instruction of the target stands here
  Origin origin = Origin::closed;  // both: blocks of code or accesses of either
};

/// One loop's trip count under the launch.
struct LoopTrips {
  std::optional<std::int64_t> exact;  // the same for all lanes
  std::optional<Interval> between;    // otherwise, where it can be bounded
  std::optional<double> assumed;      // data decide: the value that was taken
  std::optional<double> measured;     // data decide: the mean of the execution, where blocks of code tell it
  bool executed = false;              // data decide, and were asked
};

/// One access under the launch: the pattern in words, with the figures behind it.
struct AccessPattern {
  std::string words;                        // "coalesced", "stride of 64 bytes", "broadcast", "no bank conflict"
  std::optional<std::int64_t> lane_stride;  // bytes from one work-item to the next in x
  double sectors_per_request = 0;           // global, local
  double passes_per_request = 0;            // shared
  AccessCount count;
  Origin origin = Origin::closed;
};

struct Breakdown {
  std::vector<LineShare> lines;          // by falling instruction share; lines without any part are left out
  std::vector<LoopTrips> loops;          // parallel to profile.loops
  std::vector<AccessPattern> accesses;   // blocks in order, accesses in order within them
  double instructions = 0, sectors = 0;  // whole launch
  bool executed = false;                 // some part is not in closed form
};

/// Shapes: the workload's vectors must be parallel to the profile's (as Binder makes them); InternalError otherwise.
/// `origin` is empty for closed forms throughout.
Breakdown breakdown(const KernelProfile& profile, const Workload& workload, const Launch& launch,
                    const CountOrigin& origin = {});

/// "matmul.cl:14"; "unknown line" without one.
std::string line_text(const KernelProfile& profile, SourceLine line);

}  // namespace kernelcast::report
