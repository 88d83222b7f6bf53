// A plain C or C++ loop nest as one CPU core runs it: structure, and the core's cycles for each piece of code.
#pragma once

#include <string>
#include <vector>

#include "kernelcast/frontend.h"

namespace kernelcast {

struct CpuCodeOptions {
  std::string kernel;                 // as FrontendOptions::kernel
  std::string cpu = "host";           // as LLVM names it: "haswell"; "host": the machine we run on
  int optimization = 3;               // -O0 to -O3
  bool baseline = false;              // code for any x86-64 CPU (no -march), run on `cpu`
  std::string made_for;               // code for this CPU, as LLVM names it, run on `cpu`; empty: for `cpu`
  bool simd = true;                   // off: no loop and no straight-line vectorisation
  std::vector<std::string> parallel;  // counter of the loop that threads share, as --map; empty: the marked one
  /// Code for several threads: the shared loop is a function of its own, as OpenMP's is. Off: the loop in place.
  bool threads = false;
  /// Latency of multiply-adds on the core where it is measured, in place of that of the scheduling model; 0: not known.
  double fp32_fma_cycles = 0, fp64_fma_cycles = 0;
  /// Micro-operations that the core takes in a cycle, in place of the scheduling model's number; 0: not known.
  double issue_width = 0;
  /// Multiply-adds that the core begins in a cycle where it is measured, in place of the model's number; 0: not known.
  double scalar_fma_per_cycle = 0;
  /// Cycles of a gather for each of its values, where they are measured, in place of those of the model; 0: not known.
  double gather_element_cycles = 0;
  double scatter_element_cycles = 0;  // the same of a scatter
  double time_limit_s = 30;
};

/// Loads and stores of arrays that an execution of a block makes, by width.
struct L1Accesses {
  double to_16 = 0, to_32 = 0, to_64 = 0;  // of up to 16, 32 and 64 bytes
  double crossings =
      0;  // of these, how many touch a second line of 64 bytes, for data that lie anywhere their alignment allows
};

/// What the core does with one block of the profile.
struct CpuBlockCode {
  double cycles = 0;        // of one execution in the steady state of its loop, all data in the L1
  double uops = 0;          // micro-operations of one execution
  double width_cycles = 0;  // of `cycles`, what the front end or the ports alone would take
  L1Accesses accesses = {};
};

/// What the vectoriser decided about one loop of the source.
struct CpuLoopCode {
  SourceLine line;
  int width = 1;       // elements of a vector
  int interleave = 1;  // vectors of an iteration
  std::string reason;  // LLVM's, when it is not vectorised
};

/// What the source does with the array behind a pointer parameter, whatever the optimiser makes of it.
struct ArrayUse {
  std::string name;
  bool read_first = false;  // some load may see what was there before: no store of
                            // the nest to that place is sure to come first
  bool stored = false;
};

/// A loop nest for one target CPU.
struct CpuCode {
  /// As of one thread: no ids. Behind the blocks of the code stand blocks without code, one a loop in the order of
  /// `profile.loops`, that run once each time the loop is entered.
  KernelProfile profile;
  std::vector<CpuBlockCode> blocks;  // parallel to profile.blocks
  std::size_t first_entry = 0;       // where the blocks that count entries begin
  /// Where, after those, one block a loop begins that counts entries of innermost loops whose trips are not those of
  /// the entry before, or not known. 0: there are none.
  std::size_t first_change = 0;
  /// Parallel to profile.loops: cycles by which one passage of an innermost loop overlaps with the next.
  std::vector<double> overlap_cycles;
  std::vector<CpuLoopCode> loops;
  std::vector<ArrayUse> arrays;     // that are loaded or stored
  std::vector<int> parallel_loops;  // indices into profile.loops: loops whose iterations threads share
  std::string cpu;                  // what runs it: "sapphirerapids"
  double issue_width = 0;           // micro-operations a cycle
  double mispredict_cycles = 0;
  std::vector<Diagnostic> diagnostics;
  std::string assembly;
};

/// Compiles the nest for the CPU with LLVM's own pipeline and vectoriser, and schedules each loop on LLVM's model of
/// the core: ports, latencies, width and window, with stores forwarded to loads of the same address. Throws UserError
/// for bad source, LimitError for CPUs of which LLVM has no scheduling model.
CpuCode analyze_cpu(const Source& source, const CpuCodeOptions& options);

/// The core of the machine we run on, as LLVM names it.
std::string host_cpu_name();

}  // namespace kernelcast
