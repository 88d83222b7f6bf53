// What an Evaluator keeps: profiles prepared for binding.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "kernelcast/bind.h"
#include "kernelcast/execute.h"
#include "kernelcast/offload_region.h"

namespace kernelcast::offload {

/// Bytes of each message to the GPU and back: buffers that are neither resident nor temporary.
struct Messages {
  std::vector<double> in, out;
};
Messages messages_of(const std::vector<BufferUse>& buffers);

struct Evaluator::Impl {
  Impl(const Region& region, const Device& cpu, const Device& gpu);

  /// Buffers of all kernels with their roles and sizes, in order of appearance.
  std::vector<BufferUse> buffers(const OffloadRequest& q);
  /// UsageError for an argument or a buffer that no kernel of the region has.
  void check_launch(const Launch& launch) const;
  /// `trips`: mean trip counts of loops that data decide, as execution on the other side found them.
  Workload on_cpu(std::size_t kernel, const OffloadRequest& q, const std::map<std::string, double>& trips);
  double uneven_on_cpu(std::size_t kernel, const OffloadRequest& q) const;
  /// Sets `trips` to what execution found where data decide trip counts.
  Workload on_gpu(std::size_t kernel, const OffloadRequest& q, std::map<std::string, double>& trips);
  /// The answer of the model of 2017, with our counts (docs/model/offload-2017.md).
  OffloadDecision answer_2017(const OffloadRequest& q);

  const Region& region;
  const Device& cpu;
  const Device& gpu;

 private:
  /// One buffer in one kernel: the kernel's profile without the accesses to other buffers.
  struct Touch {
    std::size_t kernel;
    bool read_first = false, stored = false;  // as ArrayUse has it
    std::unique_ptr<KernelProfile> profile;
    std::unique_ptr<Binder> binder;
  };
  struct Known {
    std::string name;
    double element_bytes = 1;
    std::vector<Touch> touches;
  };
  void check_roles() const;  // those of the region name buffers
  Known& known(const std::string& name);
  void add_touch(std::size_t kernel, int buffer);
  Launch cpu_launch(std::size_t kernel, const OffloadRequest& q) const;

  using ExecutionKey = std::tuple<std::size_t, std::array<std::int64_t, 3>, std::array<std::int64_t, 3>,
                                  std::map<std::string, ArgValue>, double>;
  std::map<ExecutionKey, std::shared_ptr<const Execution>> executions_;
  std::vector<std::unique_ptr<Binder>> cpu_binders_, gpu_binders_;
  std::vector<Known> buffers_;
};

}  // namespace kernelcast::offload
