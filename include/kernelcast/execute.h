// Runs a sample of a launch's blocks, lane by lane, and counts what the hardware would see.
//
// The interpreter executes the optimised kernel (program.h) one warp instruction at a time for all lanes; nothing of the
// user's code runs natively. Warps run in lock-step with an active mask and reconverge at immediate post-dominators, or
// with independent threads as from Volta on (ExecuteOptions::independent_threads). Every access is checked.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernelcast/launch.h"
#include "kernelcast/profile.h"
#include "kernelcast/program.h"
#include "kernelcast/workload.h"

namespace kernelcast {

/// Limits and choices of an execution; each has a flag of the command line.
struct ExecuteOptions {
  /// most_sample_work where nobody asked for the execution: about half a second of one thread.
  static constexpr double unasked_work = 3e8;
  std::int64_t sample = 0;             // blocks to run; 0: as many as the default budget allows; -1: all (--sample)
  double sample_work = 0;              // of a default sample, in lanes of arithmetic; 0: half a second of one thread
  double most_sample_work = 0;         // one block of a default sample that needs more fails; 0: however long it takes
  bool independent_threads = false;    // --threads independent: diverged paths take turns, no implied reconvergence
  int jobs = 0;                        // threads that interpret; 0: one a core (--jobs)
  double max_lane_instructions = 0;    // lanes of warp instructions, active or not; 0: 2e11 (--max-instructions)
  std::int64_t max_memory_bytes = std::int64_t{4} << 30;  // buffers and what is kept about them (--max-memory)
  double max_seconds = 60;             // 0: no limit (--max-seconds)
  bool check_shared = true;            // races, uninitialised reads, operands (--no-checks)
  bool locality = true;                // reuse distances
  std::uint64_t seed = 1;              // of random fills (--seed)
  double resident_blocks = 1;          // blocks of one SM at a time, for the locality of residents
  int processors = 1;                  // SMs of the device, likewise
  std::map<std::string, std::vector<unsigned char>> contents;  // buffers given byte by byte: overrides any fill
  bool keep_buffers = false;           // return the buffers' contents afterwards
};

/// Trouble found while running, with the place in the source. The same trouble at one line is one finding.
struct Finding {
  enum class Kind : std::uint8_t {
    out_of_bounds, misaligned, uninitialised, race, divergent_barrier, endless_wait, assertion, division_by_zero,
    wide_shift, limit
  } kind{};
  SourceLine line;
  std::string text;      // one sentence with buffer, offset, size
  Dim3 block, thread;    // ids of the first lane that was seen doing it
  Dim3 other_thread;     // race: the other one
  Dim3 other_block;      // of a race between blocks: its block
  bool between_blocks = false;
  double count = 0;      // lanes, over the blocks that ran
};
std::string_view name_of(Finding::Kind k);
/// The tool of NVIDIA's compute-sanitizer that looks for such trouble ("memcheck"); empty: none does.
std::string_view tool_of(Finding::Kind k);

/// Instructions, accesses and branches of one source line, over the whole launch (extrapolated).
struct LineExecution {
  SourceLine line;
  OpCounts warp_ops;
  double lanes = 0;          // lane instructions / warp instructions is the mean number of active lanes
  AccessCount accesses[5];   // [MemorySpace]
  double branches = 0, divergent = 0;
};

/// What the execution measured, beyond the Workload.
struct Execution {
  Workload workload;                 // counts_method "executed"
  std::vector<Finding> findings;
  std::vector<LineExecution> lines;
  double blocks_run = 0;
  std::vector<double> blocks_by_thread;  // those among them, and neighbours for the locality; the calling thread first
  double warp_instructions_run = 0, lane_instructions_run = 0;  // of the interpreter
  double seconds = 0;
  bool complete = true;              // false: a limit struck; the counts are those until then
  bool unfinished = false;           // not even one block ended: as if all were one as far as it came
  std::map<std::string, std::int64_t> touched_elements;  // buffers without a declared size: elements they must have
  std::map<std::string, std::vector<unsigned char>> buffers;  // keep_buffers
};

/// Executes `launch` of the kernel. Throws UserError for missing arguments, bad fills and buffers whose size cannot be
/// guessed, naming the flag; LimitError when not even one block could be finished within the limits.
Execution execute(const KernelProfile& profile, const Program& program, const Launch& launch,
                  const MemoryGeometry& geometry, const ExecuteOptions& options);

}  // namespace kernelcast
