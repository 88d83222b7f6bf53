// How long kernels took by the GPU's own clock, from CUPTI's activity records. The library comes with NVIDIA's toolkit
// and is opened at run time; without it times are those of events, which include some microseconds of the launch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace kernelcast::probe::cuda {

/// One record: the struct CUpti_ActivityKernel4 and its successors of CUPTI's documentation, as far as their fields
/// lie alike (CUDA 9 to 13).
struct KernelRecord {
  std::string name;  // as it stands in the module, or "?"
  double start_s = 0, seconds = 0;
  int registers = 0, static_shared_bytes = 0, dynamic_shared_bytes = 0;
  int grid[3] = {}, block[3] = {};
};

class KernelTimes {
 public:
  /// Opens `library`, or the first of the usual names if it is empty, and starts recording. To be called before the
  /// driver is started. Null where there is no such library; one object at a time. `each` is called for every kernel,
  /// in a thread of CUPTI's or of flush().
  static std::unique_ptr<KernelTimes> open(const std::string& library, std::function<void(const KernelRecord&)> each);
  virtual ~KernelTimes() = default;
  /// Every kernel that has ended by now has been given to `each` when this returns.
  virtual void flush() = 0;
};

}  // namespace kernelcast::probe::cuda
