// What a run of the cycle-level SM shows: when what was issued, why warps did not issue, how busy the pipes were.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernelcast/profile.h"
#include "kernelcast/sm.h"
#include "kernelcast/workload.h"

namespace kernelcast::sm {

inline constexpr std::size_t stall_count = static_cast<std::size_t>(Stall::count_);
/// Warp-cycles by Stall: of one warp in all cycles that it lived, or of all warps in a window.
using StallCycles = std::array<std::uint64_t, stall_count>;

struct ViewOptions {
  std::size_t most_issues = 2000;  // of the timeline; all are counted
  std::size_t most_spans = 2000;
  int windows = 50;                // equal parts of the run
};

/// Neighbouring cycles that a warp spent alike: issuing, or waiting for one reason.
struct Span {
  std::uint64_t cycle = 0, cycles = 0;
  int warp = 0;                            // its number in the launch
  Stall why = Stall::issued;
};

struct Views {
  std::string program;                     // its text (disassemble)
  std::vector<std::string> instructions;   // name of each
  SmLaunch launch;
  Result result;
  std::vector<Listener::Issue> timeline;   // the first issues
  std::vector<Span> spans;                 // the first, by where they begin: what each warp did in each cycle
  std::uint64_t window_cycles = 1;         // the last window may be shorter
  std::vector<StallCycles> by_warp;        // by number of the warp in the launch
  std::vector<StallCycles> by_window;
  struct UnitView {
    std::string name;
    int sets = 1;                          // of lanes
    std::vector<std::uint64_t> by_window;  // cycles that its sets were busy, summed; counted where they began
  };
  std::vector<UnitView> units;
};

/// Runs the program twice: to learn how long it takes, and to watch. Throws what simulate() throws.
Views watch(const Spec& spec, const Program& program, const SmLaunch& launch, const ViewOptions& options = {});

/// The blocks of a user's kernel that one SM holds at a time, its loops shortened to what fits into a short run: what
/// the model `sm` sees in its steady state. Throws UserError without an SM spec of the device, LimitError where the
/// model gives no time.
Views watch_kernel(const KernelProfile& profile, const Workload& workload, const Device& device,
                   const ViewOptions& options = {});

}  // namespace kernelcast::sm
