// The best launch configuration of a kernel on one or several devices, by a model: enumerate, refuse what cannot run,
// analyse each distinct specialisation once, forecast every configuration, rank.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "count/count.h"
#include "kernelcast/device.h"
#include "kernelcast/estimate.h"
#include "kernelcast/frontend.h"
#include "kernelcast/model.h"
#include "tune/analysis_memory.h"
#include "tune/feasible.h"
#include "tune/space.h"

namespace kernelcast::tune {

/// How the configurations are found.
enum class Search : unsigned char { automatic, enumerate, optimise };

/// What the best have least of. Energy is forecast for the fastest configurations only (TuneOptions::most_weighed).
enum class Order : unsigned char { time, energy, energy_delay };

struct Progress {
  std::size_t done = 0, all = 0;  // configurations
  double best_s = 0;              // on the first device; 0: none yet
};

/// Compiled code of one configuration, and what is known of its launches.
struct VariantFile {
  std::string text;
  std::optional<std::int64_t> threads, shared_bytes;
};

struct TuneOptions {
  Source source;
  /// Where it is set, source.path is a template: the file of a configuration has the values of its parameters in place
  /// of {NAME}.
  std::function<VariantFile(const std::string& path)> variant_file;
  FrontendOptions frontend;  // kernel, map
  Launch launch;             // arguments, buffers and assumptions; grid and block come from the space
  std::vector<Device> devices;
  const Model* model = nullptr;
  std::size_t top = 10;  // configurations that are returned in full, for each device
  int jobs = 1;
  Search search = Search::automatic;
  std::uint64_t budget =
      0;  // configurations that an optimiser may try; 0: 4,000 with compile-time parameters, else 100,000
  std::uint64_t most_variants = 10000;  // Search::automatic: more specialisations than these are not all compiled
  double risk = 0.5;                // configurations that need too many registers with a higher probability are refused
  std::size_t most_refused = 1000;  // refused configurations that are listed
  std::uint64_t seed = 1;
  Counting counts = Counting::symbolic;  // of the best; the search itself always uses closed forms
  std::size_t most_recounts = 100;       // configurations that are executed for each device
  ExecuteOptions execute;
  Order order = Order::time;
  std::size_t most_weighed = 100;  // the fastest configurations, of which those with the least energy are chosen
  bool portable = false;
  bool ske_as_printed = false;  // SKE's formula (9) under its own constraints (10)-(16), in place of model and limits
  std::function<void(const Progress&)> progress;  // calls do not overlap; may be empty
  const std::atomic<bool>* stop = nullptr;        // set: return what is known
};

/// One of SKE's constraints, left <= right.
struct SkeConstraint {
  int number = 0;
  std::string name, status;  // satisfied, active (nothing is left), violated
  double left = 0, right = 0;
};

/// One configuration in full.
struct Candidate {
  std::vector<std::pair<std::string, Value>> parameters;
  LaunchShape shape;
  std::vector<std::string> defines;
  Launch launch;                                 // arguments and buffers under the kernel's names
  std::shared_ptr<const KernelProfile> profile;  // of this variant
  double time_s = 0;
  double cannot_run = 0;  // probability that it needs more registers than there are
  Estimate estimate;
  double registers = 0, shared_bytes = 0;
  CountsMethod counts_method = CountsMethod::symbolic;
  std::vector<SkeConstraint> constraints;  // with TuneOptions::ske_as_printed
  bool tied = false;                       // with the best of its device, see ties.h
  double chance = 0;  // probability that it is at least as fast as the best of its device, 0.5 for the best itself
};

struct Refused {
  std::vector<std::pair<std::string, Value>> parameters;
  LaunchShape shape;
  Refusal kind = Refusal::none;
  std::string reason;
};

struct RefusalCount {
  Refusal kind = Refusal::none;
  std::uint64_t count = 0;
};

/// What was found on one device.
struct DeviceTuning {
  Device device;
  std::vector<Candidate> best;          // fastest first
  std::vector<Refused> refused;         // at most TuneOptions::most_refused of them
  std::vector<RefusalCount> refusals;   // all, by kind
  std::uint64_t evaluated = 0;          // configurations with a time
  std::size_t recounted = 0;            // configurations whose counts are as TuneOptions::counts wants them
  std::uint64_t tied = 0;               // of these, tied with the best, the best included
  std::string failure;                  // why there is no configuration
  std::vector<Assumption> assumptions;  // of the best
};

/// One configuration for all devices.
struct PortableChoice {
  Candidate candidate;         // parameters and launch; times as below
  std::vector<double> time_s;  // parallel to TuneResult::devices
  std::vector<double> loss;    // time over the device's best, minus 1
  double worst_loss = 0;
};

struct TuneResult {
  std::string kernel, model;
  std::vector<DeviceTuning> devices;
  std::vector<PortableChoice> portable;             // smallest worst loss first; empty unless asked for
  std::uint64_t combinations = 0;                   // before constraints
  std::uint64_t configurations = 0;                 // after them
  std::uint64_t variants = 0;                       // distinct specialisations
  std::size_t compiled = 0, shared = 0, found = 0;  // analyses made, of these of known modules, found in the cache
  std::size_t alike = 0;                            // variants whose source is another's after preprocessing
  bool complete = true;                             // false: interrupted or searched by an optimiser
  bool interrupted = false, optimised = false;
  double seconds = 0;
  std::vector<std::string> messages;
};

/// Throws UserError or UsageError when not a single configuration could be tried because of the source, the arguments
/// or the space. Forecasts come from closed forms, those of the best from TuneOptions::counts (docs/reference/tune.md).
TuneResult tune(const Space& space, const TuneOptions& options, AnalysisMemory& memory);

}  // namespace kernelcast::tune
