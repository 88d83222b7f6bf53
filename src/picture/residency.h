// Warps that one compute unit holds, over the sizes that decide it: the curves of NVIDIA's occupancy spreadsheet.
#pragma once

#include <string>
#include <vector>

#include "kernelcast/device.h"
#include "kernelcast/workload.h"

namespace kernelcast::picture {

struct ResidencyCurve {
  std::string of;                     // "threads per block", ...
  double here = 0;                    // the kernel's
  std::vector<double> at, warps;      // sizes, and warps of one unit
  std::vector<std::string> limiters;  // parallel: what stops it from holding more
};

struct Residency {
  double most_warps = 0;  // of one unit; 0: the device file does not say
  std::vector<ResidencyCurve> curves;
};

/// Block sizes, registers per thread and shared memory per block, one changed at a time. The grid does not limit.
Residency residency_of(const Workload& workload, const Device& device);

}  // namespace kernelcast::picture
