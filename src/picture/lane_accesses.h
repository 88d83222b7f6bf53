// One request of each access as lanes see it: which byte each lane of one warp touches.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernelcast/profile.h"
#include "kernelcast/workload.h"

namespace kernelcast::picture {

struct LanePicture {
  std::string reason;  // why there is none; empty: there is one
  std::int64_t block[3] = {0, 0, 0};
  std::int64_t warp = 0;                            // of the block
  std::vector<std::optional<std::int64_t>> offset;  // of each lane, bytes from the buffer's start; nothing: inactive
};

/// Parallel to the accesses of all blocks of the profile, in order. Loop counters are 0, `copies` beyond the first are
/// left out, and branches that data decide are taken. The warp is the first with an active lane, of the block in the
/// middle of the grid, else of the first.
std::vector<LanePicture> lane_pictures(const KernelProfile& profile, const Workload& workload, const Launch& launch);

}  // namespace kernelcast::picture
