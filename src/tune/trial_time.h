// What a search keeps of a configuration.
#pragma once

#include <cstddef>
#include <string>

#include "tune/feasible.h"
#include "tune/space.h"

namespace kernelcast::tune {

/// A time, or why there is none.
struct TrialTime {
  double time_s = 0;      // 0: none
  double cannot_run = 0;  // probability that it needs more registers than there are
  Refusal refusal = Refusal::none;
  std::string reason;         // of a refusal
  std::string argument = {};  // of the kernel, whose value is missing or fits nothing; empty: another reason
};

struct ShapeHash {
  std::size_t operator()(const LaunchShape& s) const {
    std::size_t h = 0;
    for (const std::int64_t n : {s.grid.x, s.grid.y, s.grid.z, s.block.x, s.block.y, s.block.z, s.dynamic_shared_bytes})
      h = (h ^ static_cast<std::size_t>(n)) * 0x9e3779b97f4a7c15ULL;
    return h ^ (h >> 29U);
  }
};

}  // namespace kernelcast::tune
