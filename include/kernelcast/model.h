// A model turns a Workload on a Device into an Estimate. Models are stateless and thread-safe.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "kernelcast/device.h"
#include "kernelcast/estimate.h"
#include "kernelcast/workload.h"

namespace kernelcast {

/// Model::seconds() on one device, with what depends on the device alone worked out beforehand. May remember the last
/// launch: one for each thread.
class DeviceTimes {
 public:
  virtual ~DeviceTimes() = default;
  /// To the last bit what Model::seconds() gives; throws what it throws.
  [[nodiscard]] virtual double seconds(const Workload&) const = 0;
  /// Windows of Workload::reuse between the first and this one are not read (Binder::skip_windows).
  [[nodiscard]] virtual int first_window() const { return 1; }
};

class Model {
 public:
  virtual ~Model() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view summary() const = 0;  // one line, with the paper
  /// The full answer with bounds and reasons. Throws UserError when the launch cannot run on the device.
  [[nodiscard]] virtual Estimate estimate(const KernelProfile&, const Workload&, const Device&) const = 0;
  /// The same, with the time unknown where the answer would take longer than `seconds` (0: no limit) of this machine.
  [[nodiscard]] virtual Estimate estimate_within(const KernelProfile& profile, const Workload& workload,
                                                 const Device& device, double /*seconds*/) const {
    return estimate(profile, workload, device);
  }
  /// The time alone, in seconds: the hot path of tuning. Equal to estimate().time_s; NaN where that is unknown.
  [[nodiscard]] virtual double seconds(const Workload&, const Device&) const = 0;
  /// For many workloads on one device. Model and device must outlive it; several threads may share it.
  [[nodiscard]] virtual std::unique_ptr<DeviceTimes> on(const Device&) const;
  /// Whether Workload::reuse matters to the answer: finding it costs time (Binder::set_reuse).
  [[nodiscard]] virtual bool reads_reuse() const { return false; }
  /// Whether BranchCount::divergent matters to the answer: likewise (Binder::set_divergence).
  [[nodiscard]] virtual bool reads_divergence() const { return true; }
};

/// All models in the order in which they are shown: what `--model all` means.
std::span<const Model* const> all_models();
/// Other readings of the same papers, found by name only: "opencl-quantitative:printed", "ske:corrected-a", ...
std::span<const Model* const> model_variants();
/// By exact name, of models and variants; throws UsageError that names the nearest and lists all.
const Model& model_named(std::string_view name);
/// Whether any of them reads Workload::reuse.
bool any_reads_reuse(std::span<const Model* const> models);

/// Blocks resident on one compute unit under the device's limits (threads, warps, blocks, registers with their
/// allocation granularity, shared memory). Throws UserError naming the limit if not even one block fits; registers alone,
/// which are an estimate, never refuse: the block then runs by itself.
Occupancy occupancy(const Workload&, const Device&);

}  // namespace kernelcast
