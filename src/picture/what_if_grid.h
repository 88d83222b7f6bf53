// The model over a grid of changes of device and launch: what the sliders of a report show.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernelcast/device.h"
#include "kernelcast/model.h"

namespace kernelcast::picture {

/// One slider. `values` are factors of the kernel's device, or sizes; `base` is the index of what was asked for.
struct Axis {
  std::string name, label, unit;  // "clock", "clock of the SMs", "x"
  std::vector<double> values;
  std::size_t base = 0;
  std::string note;  // what the axis takes for granted, or why it has one value only
};

struct WhatIfGrid {
  std::vector<Axis> axes;             // the first one slowest
  std::vector<float> seconds;         // one for each point; NaN: the launch does not fit
  std::vector<std::string> limiters;  // names that `limiter` counts
  std::vector<std::uint8_t> limiter;  // parallel to seconds
};

/// Axes: block, registers, clock, bandwidth, units, l2, l1. `free_blocks`: threads can be cut into blocks of another
/// size, else `why_not` says why that axis has one value.
WhatIfGrid what_if_grid(const KernelProfile& profile, const Workload& workload, const Launch& launch,
                        const Device& device, const Model& model, bool free_blocks, const std::string& why_not);

}  // namespace kernelcast::picture
