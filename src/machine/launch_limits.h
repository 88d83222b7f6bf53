// Can this launch run on this device at all?
#pragma once

#include <array>

#include "kernelcast/device.h"
#include "kernelcast/workload.h"

namespace kernelcast {

/// The limits of a launch as numbers; what the device file does not know is infinite.
struct LaunchBounds {
  explicit LaunchBounds(const Device&);
  double threads, shared_bytes;
  std::array<double, 3> block, grid;
  /// Whether check_launch() would not throw.
  [[nodiscard]] bool admit(const Workload&) const;
};

/// Throws UserError that names the limit with its value, the device and the flag to change when a block is larger than
/// the device allows (threads, each axis), a grid dimension is too big, or a block asks for more shared memory than a
/// block may have. Limits that the device file does not know are not checked. No allocation when all is well.
void check_launch(const Workload&, const Device&);

}  // namespace kernelcast
