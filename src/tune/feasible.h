// Whether a configuration can run on a device: what is decided for certain, before and after compilation, and the
// registers, of which only a probability is known.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernelcast/device.h"
#include "kernelcast/profile.h"
#include "kernelcast/workload.h"
#include "tune/space.h"

namespace kernelcast::tune {

/// Why a configuration is out.
enum class Refusal : unsigned char {
  none,
  constraint,
  threads,
  block_shape,
  grid,
  shared_memory,
  launch_bounds,
  registers,
  source,
  forecast,
  count_
};
std::string_view name_of(Refusal);

/// The limits of a device that a launch is checked against; what a device file does not know does not limit.
class LaunchLimits {
 public:
  explicit LaunchLimits(const Device& device);
  /// Threads of a block, its shape, the grid and dynamic shared memory: what no source is needed for.
  [[nodiscard]] Refusal check(const LaunchShape& shape) const;
  /// The same with what the kernel says: launch bounds, its required block, static shared memory.
  [[nodiscard]] Refusal check(const KernelProfile& profile, const Dim3& block, double shared_bytes) const;
  /// The sentence for a refusal.
  [[nodiscard]] std::string why(Refusal refusal, const LaunchShape& shape) const;
  [[nodiscard]] std::string why(Refusal refusal, const KernelProfile& profile, const Dim3& block,
                                double shared_bytes) const;

 private:
  std::string name_;
  double threads_, shared_;
  std::array<double, 3> block_, grid_;
};

/// The largest number of registers a thread may have so that one block of so many threads fits a compute unit; infinite
/// where the device file knows no limit.
double most_registers(const Device& device, double threads);

/// The probability that the kernel needs more than `most` registers a thread. `registers.low` and `high` are taken as
/// the 5th and 95th percentile (docs/lab/registers.md), with half a normal distribution on either side of the estimate.
/// 0 where the compiler has kept to the limit itself: launch bounds, and targets whose registers are the code
/// generator's own choice (AMD), made for the largest block that it was told of.
double probability_above(const Registers& registers, double most);

}  // namespace kernelcast::tune
