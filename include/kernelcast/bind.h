// From profile and launch to workload, in closed form and exact to the lane.
#pragma once

#include <memory>

#include "kernelcast/profile.h"
#include "kernelcast/workload.h"

namespace kernelcast {

/// A profile prepared for many launches on devices of one memory geometry. Keeps memo tables, so use one per thread.
class Binder {
 public:
  /// Keeps a reference to the profile.
  Binder(const KernelProfile& profile, const MemoryGeometry& geometry);
  ~Binder();
  Binder(Binder&&) noexcept;
  /// Counts of one launch. Throws UserError when an argument is missing or misspelt (with the flag to give), sizes are
  /// not positive, or the kernel's required block size is violated.
  [[nodiscard]] Workload bind(const Launch& launch);
  /// The same into an existing workload of the same profile: no allocation in steady state.
  void bind(const Launch& launch, Workload& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelcast
