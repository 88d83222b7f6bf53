// A piece of work that may move to the GPU: loop nests or kernels in sequence, over named buffers.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernelcast/busy_power.h"
#include "kernelcast/cpu_model.h"
#include "kernelcast/launch.h"
#include "kernelcast/offload.h"
#include "kernelcast/profile.h"
#include "kernelcast/program.h"

namespace kernelcast::offload {

/// What happens to a buffer around the region. temp: only the region needs it.
enum class Role : std::uint8_t { in, out, inout, temp };
std::string_view name_of(Role r);
std::optional<Role> role_named(std::string_view name);

struct RegionKernel {
  std::string name;
  CpuCode cpu;
  std::shared_ptr<const KernelProfile> gpu;
  std::shared_ptr<const Program> program;  // of the GPU's side, executed where data decide; null: it cannot be
  std::string no_program;                  // why not
};

struct Region {
  std::vector<RegionKernel> kernels;  // in the order in which they run
  std::map<std::string, Role> roles;  // as the user says; others follow from loads and stores
  std::set<std::string> resident;     // stay on the device: never moved
};

/// A power in watt that does not come from the device file, and how it was got; without a value why there is none.
struct Given {
  std::optional<double> watts;
  std::string how;
};

/// Who weighs: our forecasts of both sides, or the published model of 2017 with our counts.
enum class DecisionModel : std::uint8_t { kernelcast, offload_2017 };
std::string_view name_of(DecisionModel m);

struct OffloadRequest {
  DecisionModel model = DecisionModel::kernelcast;
  Faults2017 faults;         // of the model of 2017
  Launch launch;             // arguments, buffers, answers, and the GPU's block
  bool fit_block = false;    // a loop shorter than the block gets a smaller one, in whole warps
  std::optional<Dim3> grid;  // for kernels that are no loop nests
  int threads = 0;           // of the CPU; 0: one a core
  double sample_work = 0;    // of an execution where data decide, in lanes of arithmetic; 0: as predict
  double reps = 1;           // the region runs so often between the transfers
  HostMemory memory = HostMemory::pageable;
  bool overlap = false;  // transfers in pieces that overlap with execution, at best
  Weights weights;
  BusyPower busy_power = BusyPower::tdp_times;
  double confidence = 0.5;             // below this probability the decision is "too close to call"
  Given cpu_idle, cpu_busy, gpu_idle;  // in place of the device files'; cpu_busy in place of the power models too
};

struct BufferUse {
  std::string name;
  Role role = Role::inout;
  double bytes = 0;
  bool resident = false;
  bool by_user = false;  // the role
};

struct KernelTimes {
  std::string name;
  CpuEstimate cpu;
  Estimate gpu;
};

/// One side, for all repetitions.
struct Side {
  SideTime time;
  std::string limiter;                                                          // the model of 2017: which roof
  double transfer_in_s = 0, transfer_out_s = 0, launch_s = 0, execution_s = 0;  // CPU: launch is the start of threads
  Maybe idle_w, busy_w;
  std::string idle_method, busy_method;  // how each power was got
  Maybe energy_j, cost;
};

struct OffloadDecision {
  Side cpu, gpu;
  std::vector<BufferUse> buffers;
  std::vector<KernelTimes> kernels;  // of one repetition; the model of 2017 has sums only
  Verdict verdict;                   // by cost; by time where weights.energy is 0
  int threads = 1;
  std::vector<Assumption> assumptions;
};

/// What would change: the same question with one thing different.
struct Change {
  std::string what;  // "pinned memory"
  double gpu_s = 0;
  Verdict verdict;
};

struct BreakEven {
  std::optional<double> reps;  // from so many repetitions on the GPU is faster
  std::string reps_reason;     // why there is none
  std::string parameter;       // argument that was varied; empty: none
  struct Crossing {
    std::int64_t value = 0;  // from here on, up to the next crossing
    Decision faster = Decision::gpu;
  };
  Decision at_smallest = Decision::cpu;  // who is faster at `lowest`
  std::int64_t lowest = 0, highest = 0;  // range that was looked at
  double highest_bytes = 0;              // of all buffers there
  std::string highest_reason;            // why not further: a device's memory, an error, the largest number
  std::vector<Crossing> crossings;
  std::string size_reason;  // why it was not looked at
};

/// Answers questions about one region on one pair of devices; keeps the prepared profiles.
class Evaluator {
 public:
  /// Throws UserError naming the flag when a role names no buffer, or the devices' kinds are wrong.
  Evaluator(const Region& region, const Device& cpu, const Device& gpu);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  /// Throws UserError and LimitError as binding and models do, UsageError for an argument or a buffer of no kernel.
  [[nodiscard]] OffloadDecision answer(const OffloadRequest& question);
  [[nodiscard]] std::vector<Change> changes(const OffloadRequest& question, const OffloadDecision& now);
  /// `parameter`: integer argument to vary; empty: not.
  [[nodiscard]] BreakEven break_even(const OffloadRequest& question, const std::string& parameter);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// "--cpu DEV is a GPU" and the like: UsageError.
void check_kinds(const Device& cpu, const Device& gpu);

}  // namespace kernelcast::offload
