// Whole workloads of launches that come back: a tuner asks about the same launch for several devices or models.
#pragma once

#include <span>
#include <vector>

#include "kernelcast/workload.h"

namespace kernelcast {

/// A direct-mapped table. A launch is kept from the second time it is seen on, so that launches that never return cost
/// a few nanoseconds only.
class LaunchMemo {
 public:
  /// The workload bound to these launch parameters, or nullptr.
  [[nodiscard]] const Workload* find(std::span<const std::int64_t> key);
  /// Call with the key of the last find() that failed.
  void remember(std::span<const std::int64_t> key, const Workload& workload);
  /// Forgets everything (something that is not part of the key has changed).
  void clear();

 private:
  struct Entry {
    std::vector<std::int64_t> key;
    Workload workload;
  };
  static constexpr std::size_t entries = 1024, seen = 8192;
  std::vector<Entry> table_;
  std::vector<std::uint64_t> seen_;
  std::uint64_t hash_ = 0;
};

}  // namespace kernelcast
