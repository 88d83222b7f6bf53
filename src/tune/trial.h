// From a configuration's number to its time on every device: one thread's share of a search.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tune/forecaster.h"
#include "tune/kept_forecasts.h"
#include "tune/space.h"
#include "tune/tuner.h"

namespace kernelcast::tune {

/// Devices of one kind share the counts of a launch: they have the same code generation target and access memory alike.
using CodeKind = std::pair<std::string, MemoryGeometry>;

/// What all threads share.
struct TrialContext {
  const Space& space;
  const TuneOptions& options;
  AnalysisMemory& memory;
  std::vector<LaunchLimits> limits;  // parallel to the devices
  std::vector<int> first_window;     // likewise: the smallest of those devices that share counts
  bool one_variant = false;          // no define differs between configurations
  std::vector<std::string> about;    // parallel to the devices: digests of all that a forecast depends on beside the
                                     // analysis, the shape and positional arguments; empty: forecasts are not kept
};
TrialContext context_of(const Space& space, const TuneOptions& options, AnalysisMemory& memory);

/// Keeps the kernel of the configuration before: those of one specialisation should follow each other. One for each
/// thread.
class Trial {
 public:
  explicit Trial(const TrialContext& context) : context_(context), reader_(context.space) {}
  /// As far as the space says it; nothing where a constraint excludes it. Throws UserError for sizes that are none.
  std::optional<LaunchShape> launch(Configuration configuration);
  /// On device number `device`. Refuses what can be decided before compilation without compiling. Reasons of refusals
  /// by the device's limits are left out unless `explain`: space after space of them would take longer than the
  /// forecasts.
  TrialTime time(Configuration configuration, std::size_t device, bool explain = true);
  /// In full; the configuration must have a time there.
  Candidate describe(Configuration configuration, std::size_t device);
  /// The same with counts as TuneOptions::counts wants them. Throws UserError or LimitError where that is not possible.
  Candidate recount(Configuration configuration, std::size_t device);
  /// Parameters and launch, completed as far as the space says it.
  Refused described(Configuration configuration);
  /// The text that tells specialisations apart.
  std::string variant(Configuration configuration);
  /// Keeps the forecasts of the variant for the next run.
  void flush();
  [[nodiscard]] const std::vector<Assumption>& assumptions() const { return assumptions_; }
  [[nodiscard]] const std::string& kernel() const { return kernel_; }

 private:
  void choose(Configuration configuration);
  const LaunchShape& shape_of_choice();
  [[nodiscard]] std::string file_of_choice() const;
  void complete_from_file(LaunchShape& shape) const;
  void enter(const LaunchShape& shape);
  LaunchForecaster& forecaster(std::size_t device);
  std::shared_ptr<LaunchCounts> counts(std::size_t device);
  Candidate described_by(LaunchForecaster& f, const LaunchShape& shape, const Recount& recount);
  const Kernel& executable(const Device& device);
  KeptForecasts* kept(std::size_t device);
  std::shared_ptr<const KernelProfile> analyse(const Device& device);
  const Source& source();
  FrontendOptions frontend(const Device& device) const;
  Launch launch_for(const KernelProfile& profile);

  const TrialContext& context_;
  SpaceReader reader_;
  std::optional<Configuration> chosen_;  // of reader_
  std::optional<LaunchShape> shape_;     // of chosen_, once it was asked for
  bool entered_ = false;
  std::string variant_;  // of what follows
  std::vector<std::string> defines_;
  std::optional<Source> source_;
  std::map<std::size_t, std::unique_ptr<KeptForecasts>> kept_;            // by device; null: nothing to hold them by
  std::map<std::size_t, std::unique_ptr<LaunchForecaster>> forecasters_;  // by device
  std::map<CodeKind, std::shared_ptr<LaunchCounts>> counts_;
  std::map<std::string, std::shared_ptr<const KernelProfile>> profiles_;  // of this variant, by target
  std::map<std::string, Kernel> executables_;                             // likewise
  std::map<std::string, std::string> failures_;                           // likewise
  std::vector<Assumption> assumptions_;
  std::string kernel_;
};

}  // namespace kernelcast::tune
