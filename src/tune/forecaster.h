// Times of launches of one analysed kernel on one device.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernelcast/bind.h"
#include "kernelcast/device.h"
#include "kernelcast/model.h"
#include "tune/feasible.h"
#include "tune/trial_time.h"
#include "tune/tuner.h"

namespace kernelcast::tune {

/// Counts of one launch after the other, for all devices that compile the kernel alike and access memory alike: what
/// the next device asks for again is not counted again. One for each thread.
class LaunchCounts {
 public:
  /// `base` has the arguments; `first_window`: the smallest DeviceTimes::first_window() of the devices.
  LaunchCounts(std::shared_ptr<const KernelProfile> profile, const MemoryGeometry& geometry, const Model& model,
               Launch base, int first_window);
  /// Holds until the next call. Registers are those of the profile, whatever a caller made of them for its device.
  /// Throws what Binder::bind throws.
  Workload& of(const LaunchShape& shape);
  [[nodiscard]] const Launch& launch() const { return launch_; }
  [[nodiscard]] const std::shared_ptr<const KernelProfile>& profile() const { return profile_; }

 private:
  std::shared_ptr<const KernelProfile> profile_;
  Launch launch_;
  Binder binder_;
  Workload work_;
  std::optional<LaunchShape> counted_;  // what work_ holds
};

/// Counts of a launch whose closed forms are known: count() in count/count.h, with the kernel and its budget bound.
using Recount = std::function<Workload(const Launch& launch, Workload closed)>;

/// Keeps memo tables: one for each thread.
class LaunchForecaster {
 public:
  /// `risk`: see TuneOptions. Keeps references to device, model and limits.
  LaunchForecaster(std::shared_ptr<LaunchCounts> counts, const Device& device, const LaunchLimits& limits,
                   const Model& model, double risk, bool ske_as_printed = false);
  /// Registers that probably do not fit make a refusal, or else are taken as the most that fit: an estimate must not
  /// decide alone. Throws nothing but bugs: errors of binding and of the model are refusals of kind `forecast`.
  TrialTime time(const LaunchShape& shape);
  /// The same with everything that there is to say. The shape must have a time. Throws what the model throws.
  /// With `recount` the counts are what it says, and a shape without a time throws the reason.
  void describe(const LaunchShape& shape, Candidate& out, const Recount& recount = {});
  [[nodiscard]] const KernelProfile& profile() const { return *profile_; }
  /// Of the counts of the last describe().
  [[nodiscard]] const std::vector<Assumption>& assumptions() const { return assumptions_; }

 private:
  TrialTime forecast(const LaunchShape& shape);
  Workload& workload(const LaunchShape& shape);
  double most_for(const LaunchShape& shape);
  TrialTime time_as_printed(const LaunchShape& shape);
  void describe_as_printed(const Workload& work, Candidate& out) const;
  std::shared_ptr<LaunchCounts> counts_;
  std::shared_ptr<const KernelProfile> profile_;
  const Device& device_;
  const LaunchLimits& limits_;
  const Model& model_;
  std::unique_ptr<DeviceTimes> times_;
  double risk_;
  bool ske_as_printed_;
  bool registers_matter_ = true;
  double last_threads_ = -1, last_most_ = 0;
  std::vector<Assumption> assumptions_;
  /// Times of the last launches, each in the place that its shape says: parameters that only shape the grid often lead
  /// to the same launch again.
  struct Known {
    LaunchShape shape;
    double time_s = 0, cannot_run = 0;
  };
  std::vector<Known> known_;
  std::size_t asked_ = 0;
};

/// The launch of a kernel that requires a block size, or whose loops give the grid. Throws UserError when neither the
/// space nor the kernel says them.
LaunchShape completed(LaunchShape shape, const KernelProfile& profile, const Launch& launch);

}  // namespace kernelcast::tune
