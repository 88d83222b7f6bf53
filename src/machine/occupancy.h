// Resident blocks of one compute unit, as plain numbers. Header model.h has the form that takes Workload and Device.
#pragma once

#include <limits>
#include <string_view>

#include "kernelcast/device.h"
#include "kernelcast/estimate.h"
#include "kernelcast/workload.h"
#include "machine/launch_limits.h"

namespace kernelcast {

/// What one compute unit has, or the `units` that hold blocks together. Unknown limits stay infinite: they do not
/// limit.
struct UnitLimits {
  static constexpr double none = std::numeric_limits<double>::infinity();
  double warp_size = 32;
  double units = 1;                                    // compute units that share the limits below
  double threads = none, warps = none, blocks = none;  // resident at once
  double registers = none;                             // 32-bit registers of the unit
  double registers_per_thread = none;                  // beyond this the compiler spills: demand is cut to it
  double register_allocation_unit = 1;                 // registers
  bool registers_per_block = false;                    // GT200: one allocation a block; else one a warp
  double warp_allocation_granularity = 1;  // partitions of the register file (blocks: warps rounded up to it)
  double shared_bytes = none;
  double shared_allocation_unit = 1;     // bytes
  double shared_reserved_per_block = 0;  // bytes
};
UnitLimits unit_limits(const Device&);

/// What one block asks for.
struct BlockDemand {
  double threads = 1;
  double registers_per_thread = 0;
  double shared_bytes = 0;
  friend bool operator==(const BlockDemand&, const BlockDemand&) = default;
};
BlockDemand block_demand(const Workload&);

enum class Limiter { threads, warps, blocks, registers, shared_memory, grid, none };
std::string_view name_of(Limiter);

struct ResidentBlocks {
  double blocks = 0;  // of UnitLimits::units, the smallest of the limits below; infinite when no limit is known
  Limiter limiter = Limiter::none;
  double by_threads = 0, by_warps = 0, by_blocks = 0, by_registers = 0, by_shared_memory = 0;
};
/// Of equal limits the first in the order blocks, warps, threads, registers, shared memory is named.
ResidentBlocks resident_blocks(const UnitLimits&, const BlockDemand&);

/// Fills out.occupancy; adds an assumption where the estimate of registers says that not one block fits. Throws like
/// occupancy().
void put_occupancy(const Workload&, const Device&, Estimate& out);

/// Warps resident on one unit in this launch (grid included); throws like occupancy(). No allocation.
double resident_warps(const Workload&, const Device&);

/// resident_warps() for many launches on one device, which must outlive it. Remembers the last block: one for each
/// thread.
class WarpResidency {
 public:
  explicit WarpResidency(const Device&);
  [[nodiscard]] double warps(const Workload&) const;

 private:
  const Device& device_;
  LaunchBounds bounds_;
  UnitLimits unit_;
  double units_;
  mutable BlockDemand last_{-1, 0, 0};
  mutable ResidentBlocks room_{};  // for last_, as is the next
  mutable double warps_ = 0;
};

}  // namespace kernelcast
