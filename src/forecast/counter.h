// One launch on one device to counts: closed forms, execution, or both joined, as --counts asks.
#pragma once

#include <array>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "forecast/pipeline.h"
#include "forecast/results.h"
#include "kernelcast/bind.h"

namespace kernelcast {

/// For the closed forms of `result`'s profile, which it refers to, on its device; with what `models` read.
Binder binder_for(const DeviceResult& result, const std::vector<const Model*>& models);

/// Keeps what it executed: devices of one target, launch and memory geometry share it. Locality is that of the first of
/// them; those that share SMs in another way have none.
class Counter {
 public:
  explicit Counter(const ForecastQuestion& request) : request_(request) {}
  /// Sets workload, origin and execution of `result`, whose device, launch and profile are set. Throws UsageError for
  /// what is wrong on the command line, LimitError where --counts executed meets a limit. Under --counts auto a kernel
  /// that cannot be executed keeps its closed forms, with an assumption that says why.
  void count(const Kernel& kernel, DeviceResult& result);
  /// Where no thread of a counted launch gets to a store because of generated contents: counts again with zeros in
  /// those buffers, as flags hold that nothing has raised, which an assumption says. False, and `result` as it was,
  /// where no thread gets to a store then either.
  bool count_with_zeros(const Kernel& kernel, DeviceResult& result);
  /// Of everything that ran, each kind of trouble once a source line.
  [[nodiscard]] const std::vector<FindingReport>& findings() const { return findings_; }

 private:
  struct Ran {
    std::shared_ptr<const Execution> execution;
    std::exception_ptr trouble;  // instead
    Sharing sharing;
  };
  const Ran& executed(const Kernel& kernel, const DeviceResult& result, const Sharing& sharing);
  Ran run(const Kernel& kernel, const DeviceResult& result, const Sharing& sharing) const;

  const ForecastQuestion& request_;
  bool zeros_ = false, files_checked_ = false;
  std::map<std::tuple<const KernelProfile*, MemoryGeometry, std::array<std::int64_t, 3>, /*zeros=*/bool>, Ran> ran_;
  std::vector<FindingReport> findings_;
};

}  // namespace kernelcast
