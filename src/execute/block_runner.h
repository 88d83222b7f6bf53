// Runs one block at a time: its warps in turn until each waits at a barrier or is done. One runner a thread; what it
// counts is added up by block.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "execute/address_scan.h"
#include "execute/global_watch.h"
#include "execute/locality.h"
#include "execute/mbarriers.h"
#include "execute/memory.h"
#include "execute/prepared.h"
#include "execute/request_count.h"
#include "execute/shared_memory.h"
#include "execute/work_counters.h"
#include "kernelcast/execute.h"
#include "kernelcast/setting.h"

namespace kernelcast::interpreter {

/// What one block did. Whole numbers, kept as doubles because they become Workload.
struct BlockCounts {
  std::vector<BlockCount> blocks;     // parallel to profile.blocks
  std::vector<AccessCount> accesses;  // parallel to all accesses
  std::vector<BranchCount> branches;  // parallel to profile.branches
  double barriers = 0, flat_barriers = 0;
  double phase_longest = 0,
         phase_mean = 0;  // warp instructions between barriers: slowest warp's and the mean's, summed
  double warp_instructions = 0, lane_instructions = 0;  // interpreted
  void clear();
  /// Adds other * times / over.
  void add(const BlockCounts& other, double times = 1, double over = 1);
};

/// What all runners of a launch share; constant while they run.
struct LaunchPlan {
  const KernelProfile* profile;
  const PreparedProgram* program;
  Launch launch;
  MemoryGeometry geometry;
  ExecuteOptions options;
  Memory* memory;
  std::vector<std::int64_t> shared_place;  // of each profile buffer in shared memory, -1: not there
  std::int64_t shared_bytes = 0;
  std::vector<std::int64_t> shared_size;    // of each profile buffer in shared memory
  std::vector<unsigned char> parameters;    // by-value parameters, one after the other
  std::map<std::string, ArgValue> scalars;  // of inputs by name
  int watch_unit = 4;                       // bytes of shared memory watched together
  int total_accesses = 0;
  bool watches_global = false;
  bool in_order = false;   // copies asynchronously, has mbarriers or comes to barriers without waiting (shared_order.h)
  bool mbarriers = false;  // some are initialised or waited for by their own instructions, not as cuda::barrier
  bool some_only_arrive = false;    // comes to barriers without waiting
  std::vector<bool> work_counters;  // by instruction, see work_counters(); empty: blocks run one after the other
  bool warps_apart = false;         // no warp of a block waits for another one or shares memory with it
};

/// Why a block is not run to its end by default.
inline constexpr std::string_view more_work_than_unasked =
    "a block needs more work than is done unasked; " KC_SETTING(sample) " 1 runs one however long it takes";

class BlockRunner {
 public:
  explicit BlockRunner(const LaunchPlan& plan);
  /// Memory that a runner of the plan takes: shared and private arrays with what is noted about them, and registers.
  static std::int64_t bytes_for(const LaunchPlan& plan);
  /// Runs block number `index` (x fastest). Throws LimitReached; the counts then hold what was done.
  void run(std::int64_t index);
  [[nodiscard]] const BlockCounts& counts() const { return counts_; }
  LocalityRecorder* recorder = nullptr;  // learns the sectors of each request to global memory
  [[nodiscard]] std::vector<Finding> take_findings();
  /// Lanes of global atomics by the address that they update, since the last call; nothing beyond a million addresses.
  [[nodiscard]] std::unordered_map<std::uint64_t, double> take_updates() { return std::exchange(updates_, {}); }
  bool alone = true;  // no other runner: atomics need no locks
  /// For plans whose warps are apart: run so many of the block's, drawn at random for each block; 0: all. And once
  /// work_of a block exceeds `enough` (0: never), none begins any more. counts() are of the warps that ran.
  int most_warps = 0;
  double enough = 0;
  double most_instructions = 0;  // likewise: a warp ends after so many (at the end of a block of code); 0: none
  double work_limit = 0;         // of a block whose data are partly generated; 0: none
  double known_work_limit = 0;   // of one whose data are all known
  [[nodiscard]] int warps_run() const { return warps_run_; }
  [[nodiscard]] int warps() const { return warps_; }
  double instruction_limit = 0;  // warp instructions a block; 0: none

 private:
  struct Path {  // lanes that go the same way
    int block;
    int reconvergence;
    std::uint64_t lanes;
    std::uint32_t resume = 0;  // instruction to go on with, when it was left in the middle of a block; 0: its start
    bool stands = false;       // independent: at an mbarrier
  };
  enum class State : std::uint8_t { ready, at_barrier, at_mbarrier, done };
  struct Warp {
    std::unique_ptr<unsigned char[]> storage;
    unsigned char* file = nullptr;
    std::vector<Path> paths;  // lock-step: a stack, the last runs; independent: all are alive
    std::uint64_t members = 0, exited = 0;
    State state = State::ready;
    std::uint64_t waiting = 0;  // independent: lanes at the barrier
    // Independent, for check_barrier(): lanes that ran each block since the last barrier, that had ended before it, and
    // the block in which each was then (-1: the start).
    std::vector<std::uint64_t> passed;
    std::uint64_t exited_before = 0;
    std::array<int, 64> began{};
    std::uint64_t stored = 0, computed = 0;  // lanes by what they did last since the barrier, see PreparedProgram
    double instructions = 0, phase_start = 0;
    int turn = 0;
    // Since the last barrier of the block: requests, or barriers of the warp where threads are independent.
    std::uint32_t order = 0;
    // At an mbarrier: which, where in the source, who; what had changed before; whether the wait fails next time. And
    // what `before_` held, of the block of code that it stands in.
    std::int64_t waits_at = 0;
    SourceLine wait_line;
    int waiting_lane = 0;
    std::uint64_t seen_changes = 0;
    bool gives_up = false;
    std::vector<std::pair<int, AccessCount>> before;
  };

  // block_start.cpp
  void set_inputs(Warp& warp);
  void begin(std::int64_t index);
  void fill_local_ids(Warp& warp, int number);
  void fill_group_ids(Warp& warp);
  // block_paths.cpp
  void step(int number);  // one basic block (or the rest of it) of a warp
  void step_independent(int number);
  /// Executes from `first`; false when it stopped at a barrier (path.resume is where to go on, or to try again).
  bool run_code(Warp& warp, Path& path, const ProgramBlock& block, int number);
  static void note_last(Warp& warp, std::uint64_t lanes, PreparedProgram::Last last);
  std::uint64_t ballot(const Warp& warp, std::uint32_t condition, std::uint64_t lanes) const;
  void follow(Warp& warp, int block, std::size_t edge, std::uint64_t lanes);
  /// Lanes that take each edge of the block's end.
  void choose(const Warp& warp, const ProgramBlock& block, std::uint64_t lanes,
              std::vector<std::uint64_t>& taken) const;
  void finish_block(Warp& warp, const ProgramBlock& block, std::uint64_t lanes,
                    const std::vector<std::uint64_t>& taken);
  void count_last_test(const ProgramBlock& block, bool stays, double gone);
  // block_runner.cpp
  void run_together();
  void run_apart(std::int64_t index);
  void release_barrier();
  void check_limits();
  void special(Warp& warp, std::uint64_t lanes, const PreparedOp& op, int number);
  // block_memory.cpp
  void load(Warp& warp, std::uint64_t lanes, const PreparedOp& op, int number);
  void store(Warp& warp, std::uint64_t lanes, const PreparedOp& op, int number);
  template <class T>
  void store_shared(Warp& warp, std::uint64_t lanes, const PreparedOp& op, int number);
  void atomic(Warp& warp, std::uint64_t lanes, const PreparedOp& op, int number);
  void take_work(Warp& warp, std::uint64_t lanes, const PreparedOp& op);
  static void combine_bulk(AtomicOp op, ValueType type, unsigned char* to, const unsigned char* from, int bytes);
  /// Host addresses of `bytes` for each lane; lanes with trouble are taken out of the result, which is reported.
  std::uint64_t translate(Warp& warp, std::uint64_t lanes, const PreparedOp& op, int number, int bytes,
                          AccessKind kind);
  bool translate_together(const std::uint64_t* a, std::uint64_t lanes, std::uint64_t displacement,
                          const SimtInstruction& i, int bytes);
  void check_private(const SimtInstruction& i, int number, int lane, std::int64_t offset, int bytes, AccessKind kind);
  void store_watched(Warp& warp, std::uint64_t lanes, const PreparedOp& op, int number);
  void check_shared_load(const SimtInstruction& i, std::uint64_t lanes, int bytes, int number);
  void count_request(const SimtInstruction& i, std::uint64_t lanes);
  unsigned char* stack_of(int thread) { return stacks_.data() + static_cast<std::ptrdiff_t>(thread) * stack_bytes_; }
  void report_access(Finding::Kind kind, const SimtInstruction& i, int number, int lane, const std::string& text);
  // block_async.cpp
  void copy_group(const SimtInstruction& i, std::uint64_t lanes, int number);
  bool meet_some(Warp& warp, std::uint64_t lanes, const PreparedOp& op, int number, bool waits);
  bool mbarrier(Warp& warp, std::uint64_t lanes, const PreparedOp& op, int number);
  Mbarrier* mbarrier_of(const SimtInstruction& i, int number, int lane);
  void arrive(Mbarrier& m, const SimtInstruction& i, std::int64_t count, int number, int lane);
  void note_phase(Mbarrier& m, std::uint32_t before);
  void bulk_read(Warp& warp, std::uint64_t lanes, const PreparedOp& op, int number);
  void bulk_write(Warp& warp, std::uint64_t lanes, const PreparedOp& op, int number);
  void count_bulk(const SimtInstruction& i, int lane, std::int64_t bytes);
  [[nodiscard]] bool all_stand() const;
  bool end_waits();
  void report_shared(SharedTrouble trouble, AccessKind kind, SourceLine line, int number, int lane, int other);
  // block_checks.cpp
  void check_operands(Warp& warp, std::uint64_t lanes, const PreparedOp& op, int number);
  void check_barrier(Warp& warp, int number);
  void begin_phase(Warp& warp);
  [[nodiscard]] SourceLine line_of_barrier(const Path& path) const;
  [[nodiscard]] bool reaches(int from, int to) const;
  [[nodiscard]] WatchedThread watched(int number, int lane) const;
  void check_global(const SimtInstruction& i, int number, int lane, int bytes, int kind, bool changes);
  // block_lanes.cpp
  void vote(Warp& warp, std::uint64_t lanes, const PreparedOp& op);
  void shuffle(Warp& warp, std::uint64_t lanes, const PreparedOp& op);
  void permute(Warp& warp, std::uint64_t lanes, const PreparedOp& op);
  void reduce(Warp& warp, std::uint64_t lanes, const PreparedOp& op);

  /// Counts a finding; the first of its kind at its line comes back, for its text.
  Finding* count(Finding::Kind kind, SourceLine line, int number, int lane, int other = -1);
  void report(Finding::Kind kind, SourceLine line, std::string_view text, int number, int lane, int other = -1);
  [[nodiscard]] Dim3 thread_of(int linear) const;
  template <class T>
  static T* row(Warp& w, std::uint32_t at) {
    return reinterpret_cast<T*>(w.file + at);
  }
  static std::uint64_t bits_at(const Warp& w, std::uint32_t at, int size, int lane);
  static void set_bits(Warp& w, std::uint32_t at, int size, int lane, std::uint64_t value);

  const LaunchPlan& plan_;
  const PreparedProgram& prepared_;
  const Program& program_;
  int threads_, warps_, width_;
  int rows_;  // of lanes_at_once lanes in a warp
  BlockCounts counts_;
  RequestCounter requests_;
  SharedMemory shared_;
  Mbarriers mbarriers_;
  struct Meeting {  // at a barrier of a part of the block
    int threads = 0;
    std::uint64_t warps = 0;  // that wait
    Clock seen;
  };
  std::map<int, Meeting> meetings_;  // by number of the barrier
  bool met_ = false;                 // the barrier at hand was complete at once
  std::uint64_t last_changes_ = 0;
  int fruitless_ = 0;  // times that all warps stood and their waits failed
  static constexpr std::int64_t most_bulk_bytes = std::int64_t{1} << 20;
  std::uint64_t bulk_lanes_ = 0;  // of the copy in bulk at hand, whose source is good
  unsigned char* bulk_from_[64] = {};
  std::int64_t bulk_target_[64] = {};
  std::vector<unsigned char> stacks_;
  std::int64_t stack_bytes_;
  std::vector<unsigned char> stack_written_;  // a byte a byte of the stacks; empty: not looked at
  std::vector<Warp> warp_;
  Dim3 group_;
  ScanAddresses scan_ = address_scan();
  std::uint64_t address_[64] = {};  // of the request at hand, in its space
  unsigned char* host_[64] = {};
  WorkShares shares_;
  MemorySpace space_ = MemorySpace::global;  // of the request at hand
  std::uint64_t shared_lanes_ = 0;           // of the request at hand: whose address is in shared memory
  enum class Pattern : std::uint8_t { any, same, consecutive } pattern_ = Pattern::any;  // likewise, over its lanes
  std::uint64_t span_ = 0;  // bytes from the first to the last touched, likewise; all ones: not known
  std::vector<std::uint64_t> taken_;
  struct BarrierValue {
    const PreparedOp* op = nullptr;
    BarrierOp what = BarrierOp::none;
  };
  BarrierValue barrier_value_;
  double barrier_count_ = 0, barrier_lanes_ = 0;
  std::map<std::pair<int, std::pair<int, int>>, Finding> findings_;  // by kind and line
  std::unordered_map<std::uint64_t, double> updates_;
  unsigned steps_ = 0;
  std::int64_t block_ = 0;
  bool looked_at_a_flag_ = false;
  int running_ = 0;  // warp at hand
  int warps_run_ = 0;
  // Headers of loops with a last test: what their accesses had counted before this execution.
  std::vector<std::pair<int, AccessCount>> before_;
};

/// In lanes of arithmetic instructions, of which an interpreter's thread does several hundred million a second: all
/// lanes of a warp count, active or not, memory instructions by lane and sector (more where the locality is recorded),
/// and the pages of buffers filled.
double work_of(const BlockCounts& counts, const KernelProfile& profile, int warp_size, bool locality);
double work_of_pages(std::int64_t bytes);
/// Of multiply-adds of matrix instructions, which are taken apart.
double work_of_products(double multiply_adds);
/// Of keeping how often each of so many words was updated by atomics.
double work_of_updated_words(std::size_t words);

}  // namespace kernelcast::interpreter
