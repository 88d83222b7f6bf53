// The hierarchical roofline (Ilic, Pratas, Sousa, "Cache-aware Roofline model", 2014; Yang, Kurth, Williams, 2020): a
// roof for each level of memory and each type of operation in use, and the kernel's intensity at each level.
#pragma once

#include <string>
#include <vector>

#include "kernelcast/device.h"
#include "kernelcast/estimate.h"
#include "kernelcast/workload.h"

namespace kernelcast::picture {

/// What the kernel asks of one resource and what that gives at most. Operations or bytes.
struct Use {
  std::string name;   // "FP32", "L2"
  double amount = 0;  // of the launch: operations, bytes
  double peak = 0;    // a second; NaN: the device file does not say
};

struct Roofline {
  double clock_hz = 0;       // that the peaks are at: the model's
  std::string operations;    // what the vertical axis counts: "FLOP", or "integer operations" of a kernel without any
  double total = 0;          // operations of the launch
  std::vector<Use> compute;  // types in use
  std::vector<Use> memory;   // L1, L2, L3 where there is one, DRAM; bytes between a level and what is above it
};

/// Traffic is the model kernelcast's. `resident_blocks`: of one unit.
Roofline roofline_of(const Workload& workload, const Device& device, double resident_blocks);

}  // namespace kernelcast::picture
