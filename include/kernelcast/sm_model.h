// A user's kernel on the cycle-level SM: the program made of profile and counts, and the model `sm`.
#pragma once

#include <vector>

#include "kernelcast/model.h"
#include "kernelcast/sm.h"

namespace kernelcast::sm {

/// A loop of a user's kernel in its program.
struct UserLoop {
  int branch = -1;          // index of its BRA
  int parent = -1;          // index into UserProgram::loops
  int role = 0;             // whose it is
  double trips = 0;         // of one entry, mean over all warps
  double iterations = 0;    // of one warp, all entries together, mean
  double instructions = 0;  // of one iteration, without those of inner loops
};

/// What one warp executes on average, as a program.
struct UserProgram {
  Program program;
  int warps = 0;                    // of a block, where roles differ; 0: all run the same
  std::vector<UserLoop> loops;      // parents before children
  double instructions = 0;          // warp instructions of one warp, mean
  double outside_instructions = 0;  // of these, outside of all loops
};

/// Where the sectors of a launch are found: shares of those of loads, stores and atomics, and of local memory.
struct HitShares {
  double load_l1 = 0, load_l2 = 0, store_l2 = 0, local_l1 = 1;
  double stages = 1;  // of shared memory that copies in bulk fill
};

/// The program of a warp. `workload` must be of `profile`. Throws LimitError where the spec cannot run what the kernel
/// executes or the program is beyond a million instructions.
UserProgram user_program(const KernelProfile& profile, const Workload& workload, const Spec& spec,
                         const HitShares& hits);

/// The same program with other mean trip counts (at least 1), parallel to UserProgram::loops.
UserProgram with_trips(const UserProgram& program, const std::vector<double>& trips);

/// The same program with its loops shortened, outer ones first, to about so many instructions of a warp, as far as loops
/// can be shortened.
UserProgram shortened_to(const UserProgram& program, double instructions);

/// How long one SM takes for `blocks` blocks of `warps_per_block` warps, `resident` of them at a time.
struct UserLaunch {
  double blocks = 1, resident = 1;
  int warps_per_block = 1;
  double deadline_s = 0;  // as SmLaunch::deadline_s
};

struct Extrapolation {
  double cycles = 0;
  std::uint64_t simulated_instructions = 0;  // warp instructions of all runs
  int runs = 0;
  std::vector<int> shortened;  // loops, each with those that run in step with it that ran fewer trips
  bool blocks_shortened = false;
  std::uint64_t passed_waits = 0;  // Result::passed_waits of all runs
  Result sample;               // of the longest run
};

/// Simulates in full what fits into `most_instructions` warp instructions. Otherwise loops run fewer trips and fewer
/// rounds of blocks run, and the time is continued along straight lines: docs/model/sm.md. Throws LimitError when even
/// the shortest form does not fit.
Extrapolation simulate_shortened(const Spec& spec, const UserProgram& program, const UserLaunch& launch,
                                 double most_instructions);

/// The model `sm`: the cycle-level SM of the device's architecture runs the kernel. Found by name only, and not for the
/// search over configurations: seconds() is always unknown (NaN), because it needs the profile.
const Model& cycle_level_model();
/// Like kernelcast::model_named, with this model among those known.
const Model& any_model_named(std::string_view name);

}  // namespace kernelcast::sm
