// Order among configurations whose times are known.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tune/tuner.h"

namespace kernelcast::tune {

/// Orders configurations of equal times.
struct TieOrder {
  std::function<std::string(std::size_t)> name;  // must not depend on the order of the configurations
  /// Of more that are equal at the last place, those with the smallest indices are named: a name takes a microsecond.
  std::size_t most_named = std::numeric_limits<std::size_t>::max();
};

/// Indices of the `top` smallest positive times, fastest first; equal times in the order of their names.
std::vector<std::size_t> fastest(const std::vector<float>& times, std::size_t top, const TieOrder& ties);

struct PortableIndex {
  std::size_t index = 0;
  double worst_loss = 0;
  std::vector<double> loss;  // by device
};
/// The `top` configurations with the smallest worst loss over all devices (time over the device's best, minus 1), among
/// those that run on every device that can run any.
std::vector<PortableIndex> smallest_worst_loss(const std::vector<std::vector<float>>& times, std::size_t top,
                                               const TieOrder& ties);

/// Sets chances and ties of the best, and counts the ties and the times of the device.
void mark_ties(DeviceTuning& device, const std::vector<float>& times, std::string_view model);

}  // namespace kernelcast::tune
