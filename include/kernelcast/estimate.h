// Estimate: what a model says of a workload on a device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernelcast/launch.h"
#include "kernelcast/units.h"

namespace kernelcast {

/// What programs tell apart; names are for readers.
enum class BoundKind : std::uint8_t { other, launch, floor };

/// One named bound of the time, with the sentence that explains it.
struct Bound {
  std::string name;  // "dram_bandwidth"
  Seconds time;
  std::string why;   // "4.19 GB at 141.7 GB/s"
  std::optional<Seconds> without = std::nullopt;  // the whole time if this bound did not exist; nothing: the model does not say
  BoundKind kind = BoundKind::other;
};

/// How many blocks and warps one compute unit holds, and what stops it from holding more.
struct Occupancy {
  double blocks_per_unit = 0, warps_per_unit = 0, fraction = 0;
  std::string limiter;  // "registers", "shared memory", "threads", "warps", "blocks", "grid"
};

/// A value that may be unknown, with the reason.
struct Maybe {
  std::optional<double> value;
  std::string reason;
};

/// What the launch reaches if it takes the estimated time. Nothing: the time or the rate is unknown.
struct Achieved {
  std::optional<double> flop_per_s;         // scalar floating-point operations and those of matrix instructions
  std::optional<double> tensor_flop_per_s;  // of matrix instructions alone
  std::optional<double> dram_bytes_per_s;   // of the bytes that the kernel must move
  std::optional<double> fraction_of_peak;   // floor over time: of the peak of the resource that gives the floor
};

struct Estimate {
  std::string model;
  Maybe time_s;
  Maybe launch_overhead_s;     // of the host, beside time_s, which is the GPU's duration
  std::optional<double> interval_lo_s, interval_hi_s;  // 90 %; nothing: see interval_reason
  std::string interval_reason;
  std::string limiter;         // name of the binding bound
  std::vector<Bound> bounds;   // binding one first
  Occupancy occupancy;
  Maybe energy_j;
  std::optional<double> energy_lo_j, energy_hi_j;  // 90 %, where energy_j is known
  /// The least time on this device: each type of operation at its peak, each byte of the footprint once at the peak DRAM
  /// bandwidth. No estimate lies below it (model/models.h).
  Maybe floor_s;
  std::string floor_why;       // "550 GFLOP of FP64 matrix products at 1.29 TFLOP/s"
  Achieved achieved;
  std::vector<Assumption> assumptions;  // the model's own, beyond the workload's
};

}  // namespace kernelcast
