// Roofline (Williams, Waterman, Patterson, CACM 52(4), 2009): peaks of a device and what a kernel needs of them.
#pragma once

#include <array>

#include "kernelcast/device.h"
#include "kernelcast/workload.h"

namespace kernelcast::roofline {

/// Peaks in SI units; NaN where the device file does not give them. An FP64 peak of 0: no FP64 units.
struct Peaks {
  double clock_hz = 0;          // boost clock where known, else base
  double fp32_flops_per_s = 0;  // units * lanes * 2 (a fused multiply-add is two) * clock
  double fp64_flops_per_s = 0;
  double fp16_flops_per_s = 0;                               // packed: a fused multiply-add of two halves is four
  std::array<double, tensor_type_count> tensor_ops_per_s{};  // matrix instructions, by type; a multiply-add is two
  double dram_bytes_per_s = 0;
};
Peaks peaks_of(const Device&);

/// What one launch needs at least.
struct Demand {
  double fp32_flops = 0, fp64_flops = 0, fp16_flops = 0;
  TensorOps tensor;
  double dram_bytes = 0;  // compulsory: each byte read is fetched once, each byte written is written once
};
Demand demand_of(const Workload&);

struct Times {
  double fp32_s = 0, fp64_s = 0, dram_s = 0;  // 0 where nothing is needed, NaN where needed but unknown
  double fp16_s = 0;                          // 0 also where the rate is unknown
  std::array<double, tensor_type_count> tensor_s{};
  /// The largest; NaN if one is unknown or nothing is needed at all.
  [[nodiscard]] double largest() const;
};
Times times(const Demand&, const Peaks&);

}  // namespace kernelcast::roofline
