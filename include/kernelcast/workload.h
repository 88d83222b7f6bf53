// Workload: a profile bound to one launch. Concrete counts that every model reads; two engines produce it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernelcast/launch.h"
#include "kernelcast/profile.h"

namespace kernelcast {

/// How a launch was counted: in closed form, by executing blocks, or by both, each where it is right.
enum class CountsMethod : std::uint8_t { symbolic, executed, mixed };
constexpr std::string_view name_of(CountsMethod method) {
  return method == CountsMethod::symbolic ? "symbolic" : method == CountsMethod::executed ? "executed" : "mixed";
}

/// What the counts of a launch rest on: the source and the launch alone; an execution with the contents that were given
/// or that no count depends on; or a default: a trip count, a probability, an address pattern, generated contents.
enum class CountsBasis : std::uint8_t { closed_form, executed, defaults };
constexpr std::string_view name_of(CountsBasis basis) {
  return basis == CountsBasis::closed_form ? "closed form" : basis == CountsBasis::executed ? "executed" : "defaults";
}

/// The parts of a device that counting depends on.
struct MemoryGeometry {
  int warp_size = 32;       // lanes in lock-step
  int sector_bytes = 32;    // smallest unit that L2 or DRAM moves
  int segment_bytes = 128;  // what one coalesced transaction covers
  int shared_banks = 32;
  int bank_bytes = 4;
  // How the L1 serves one request of a warp (bind.h).
  int l1_banks = 0;      // words of 4 bytes that it reads at once, each from its own bank; 0: a segment after the other
  int l1_tags = 0;       // segments that it looks up at once
  int l1_tag_banks = 0;  // segments of one residue modulo this are looked up one after another; 0: any can go together
  int l1_group = 0;      // lanes that it serves at once where they are not side by side; 0: all
  int shared_pairs = 0;  // 1: wide loads of shared memory return two lanes at a time where they read one address (bind.h)
  friend auto operator<=>(const MemoryGeometry&, const MemoryGeometry&) = default;
};

/// Totals of one access over the whole launch. Whole numbers wherever no unknown is involved (exact below 2^53).
struct AccessCount {
  double requests = 0;     // warp instructions with at least one active lane
  double lanes = 0;        // active lanes, summed
  double sectors = 0;      // distinct sectors touched, summed over requests (global, local)
  double segments = 0;     // distinct segments, likewise
  double bank_passes = 0;  // shared memory: passes through the banks (1 = no conflict); global and texture: passes
                           // of the L1 (bind.h); summed over requests
  double bytes = 0;        // lanes * width
  double words = 0;        // 32-bit registers that lanes fill or empty: one even for a byte
  double distinct = 0;     // atomics whose addresses are known: different words that are updated, of the launch (shared
                           // memory: of a block); 0: not known. Not part of sums
  AccessCount& operator+=(const AccessCount& o);
  friend bool operator==(const AccessCount&, const AccessCount&) = default;
};

/// 32-bit registers of one lane's access of `bytes` bytes.
constexpr int words_of(int bytes) { return (bytes + 3) / 4; }

/// Whether all active lanes n and n ^ 1, or all active n and n ^ 2, have the same `at(lane)`.
template <class At>
bool lanes_are_pairs(std::uint64_t active, const At& at) {
  for (const int other : {1, 2}) {
    bool all = true;
    for (std::uint64_t rest = active; rest != 0 && all; rest &= rest - 1) {
      const int lane = std::countr_zero(rest), partner = lane ^ other;
      all = (active >> partner & 1) == 0 || at(lane) == at(partner);
    }
    if (all) return true;
  }
  return false;
}

/// Lanes of a warp whose accesses of `bytes` bytes go to global memory at once: all for up to 4 bytes, half of them for
/// 8, a quarter for 16. Source: CUDA C++ Programming Guide, Compute Capability 2.x, Global Memory.
constexpr int lanes_of_part(int warp_size, int bytes) {
  return std::max(1, warp_size / static_cast<int>(std::bit_ceil(static_cast<unsigned>(words_of(bytes)))));
}

/// Updates of global memory by atomics of one kind.
struct AtomicCount {
  double updates = 0;  // lanes; of a request that the compiler joins (Access::joined), one
  double sectors = 0;  // touched, summed over requests
  double hottest = 0;  // updates of the word that is updated most, where the words of a buffer are updated alike
  double bytes = 0;    // that the updated words take
};

/// Updates of shared memory that the target's code repeats until nobody was faster (Access::retried).
struct RetryCount {
  double requests = 0;
  double passes = 0;  // bank passes of one attempt each, part of by_space
  double rounds = 0;  // attempts of warps
  double fp64 = 0;    // of these, with FP64 arithmetic
};

/// Accesses of Access::in_cluster. Updates are both read and written there: they count as reads, which are slower.
struct ClusterCount {
  double read_bytes = 0, written_bytes = 0;  // of all lanes
  double read_requests = 0;
};

/// How often one profile block ran.
struct BlockCount {
  double warps = 0;  // warp executions
  double lanes = 0;  // lane executions
};

/// How one branch went, over all warp executions of its block.
struct BranchCount {
  double warps = 0;      // executions
  double divergent = 0;  // of these, with lanes on both sides
};

/// How long ago, in distinct sectors, a sector was last touched: LRU stack distances (Mattson et al., "Evaluation
/// techniques for storage hierarchies", 1970). A fully associative LRU cache of n sectors hits what is nearer than n.
struct ReuseDistances {
  std::vector<double> nearer;  // [k]: touches with a distance in [2^k, 2^(k+1)) sectors; [0] holds 0 and 1
  double cold = 0;             // first touches
  double touches = 0;          // all
  /// Fraction of touches that a cache of `sectors` finds; linear within a bucket. 0 when nothing was touched.
  [[nodiscard]] double hit_rate(double sectors) const;
};

/// Locality of global memory as executed, in sectors of the geometry. Loads and stores alike.
struct Locality {
  ReuseDistances block;         // each block by itself
  ReuseDistances resident;      // the blocks that share an SM at a time, their requests interleaved
  ReuseDistances grid;          // all blocks that ran, in waves
  double block_sectors = 0;     // distinct sectors of a block, mean
  double resident_sectors = 0;  // distinct sectors of the blocks that share an SM, mean
  double resident_blocks = 1;   // how many those were
};

/// How counts were extrapolated from the blocks that ran.
struct SampleError {
  double blocks_run = 0;
  /// Half of a 95 % interval, relative to the total: warp instructions, global sectors. NaN: unknown, too few ran.
  double instructions = 0, sectors = 0;
};

/// What caches could keep: distinct sectors of global memory, by how long one waits and how many blocks one watches.
/// Depth 0: one iteration of all loops around each access. Depth 1: as many iterations of its innermost loop as one
/// sector serves. Depth d from 2: the d - 1 innermost loops run to their end, loops outside stand at one iteration (the
/// last depth: everything that a block does). Window w: min(4^w, blocks) blocks that follow one another, x fastest (the
/// last window: all blocks). Reads and writes (atomics included) apart. Closed form from the addresses' strides: exact
/// for dense boxes and regular strides, an upper bound where accesses of different strides overlap; never more than
/// what is requested.
struct Reuse {
  static constexpr int depths = 5, windows = 8;
  enum Direction { read, write };
  struct Level {
    double footprint = 0;  // sectors touched in one passage at this depth, of the outermost loop that touches most
                           // (last depth: of all together)
    double traffic = 0;    // sectors moved over the window's whole life when a passage is kept, nothing longer
  };
  bool known = false;
  std::string_view reason;  // why not, a constant; all levels are 0 then
  std::array<std::array<std::array<Level, windows>, depths>, 2> level{};
  /// Of the sectors requested, the share that is left when a warp's touches of the same or a neighbouring address find
  /// the sector that an access of the same straight code, at most Reuse::reach accesses away, brought. By direction.
  std::array<double, 2> near{1, 1};
  double stored_again = 0;  // share of the stored sectors, likewise, of stores outside loops; of all stores
  static constexpr int reach = 200;
  [[nodiscard]] const Level& at(Direction d, int depth, int window) const {
    return level[static_cast<std::size_t>(d)][static_cast<std::size_t>(depth)][static_cast<std::size_t>(window)];
  }
  /// Blocks in window w of a grid of `blocks`.
  static double blocks_in(int window, double blocks) {
    double n = 1;
    for (int i = 0; i < window; ++i) n *= 4;
    return window == windows - 1 || n > blocks ? blocks : n;
  }
};

/// Regular accesses to one buffer that differ by constants only: where they go, and their part of Reuse. What another
/// loop's accesses to the same data are counted with (see Reuse) is in the level of one of both.
struct AccessStream {
  struct Step {
    std::int64_t stride = 0, count = 1;  // bytes, values of the variable
    int depth = 0;                       // passages of this depth and deeper run through it
  };
  Reuse::Direction direction = Reuse::read;
  int bytes = 0;  // of one access
  std::vector<Step> steps;
  std::vector<std::int64_t> offsets;                // bytes from the start of the buffer
  std::array<Reuse::Level, Reuse::depths> level{};  // all blocks
};

/// What one warp issues and where it stops.
struct WarpPath {
  double instructions = 0, branches = 0;  // branches: of class control, among the instructions
  Stalls stalls;
};

struct Workload {
  Dim3 grid, block;
  MemoryGeometry geometry;
  double blocks = 0, threads = 0, warps_per_block = 0, warps = 0;

  OpCounts warp_ops;    // warp instructions, whole grid
  OpCounts thread_ops;  // lane operations, whole grid
  // Of warp_ops: blocks under branches that data decide and of which neither --assume nor execution told more; both
  // sides counted in full. Formula (7) of opencl-quantitative takes its default share of divergent warps for these.
  OpCounts data_branch_ops;

  std::vector<BlockCount> block_counts;    // parallel to profile.blocks
  std::vector<AccessCount> access_counts;  // blocks in order, accesses in order within them
  std::vector<BranchCount> branch_counts;  // parallel to profile.branches

  AccessCount by_space[5][3];    // [MemorySpace][AccessKind]
  std::array<AtomicCount, atomic_kind_count> atomics;  // of global memory
  RetryCount retries;            // of shared memory
  double read_only_sectors = 0;  // of the global loads' sectors: those of Access::read_only
  double bulk_sectors = 0;       // likewise of Access::bulk
  double past_l1_sectors = 0;    // likewise of Access::past_l1
  double bulk_bytes = 0;         // that copies in bulk write to shared memory
  ClusterCount in_cluster;       // shared memory of other blocks
  double barriers = 0;           // barrier executions by whole blocks, whole grid
  double flat_barriers = 0;      // of these, right after a shared store (opencl-quantitative's flat cost)
  double footprint_bytes = 0;    // distinct global bytes touched, an upper bound where unknown
  double footprint_read_bytes = 0, footprint_write_bytes = 0;
  /// Of the bytes read and written, those of accesses whose addresses are known: what must move whatever data decide.
  double compulsory_bytes = 0;

  Reuse reuse;
  std::vector<AccessStream> streams;  // where Binder::set_streams asks for them
  Stalls stalls;            // sum over all warps: see profile.h
  std::vector<BarrierPhase> phases;  // likewise, each id once; empty: not known, or barriers do not part the kernel
  double spill_bytes = 0;   // registers that the compiler spills, bytes per thread
  double stack_bytes = 0;   // arrays that stay in local memory, bytes per thread
  /// What a thread keeps in local memory, in bytes.
  [[nodiscard]] double local_bytes() const { return stack_bytes + spill_bytes; }

  double registers_per_thread = 0;
  double set_registers_per_block = 0;  // that setmaxnreg asks for at most at a time; 0: the kernel has none
  double shared_bytes_per_block = 0;
  Dim3 cluster{0, 0, 0};               // KernelProfile::cluster
  CountsMethod counts_method = CountsMethod::symbolic;
  CacheState cache = CacheState::cold;  // the launch's, like the next
  double launch_overhead_s = 0;
  // Executed counts only, else null or 1.
  std::shared_ptr<const Locality> locality;
  std::shared_ptr<const SampleError> sampled;  // null: every block ran
  /// Of the lanes that update global memory by atomics, the share that updates the same word as most others do, over
  /// the blocks that ran; 0: not known.
  double hottest_atomic_share = 0;
  /// Waits for other blocks that follow one another (Loop::wait): blocks that wait for a flag, warps that take a lock.
  double handovers = 0;
  /// Warp instructions of blocks of code that data decide and no executed thread reached, as often as closed forms have
  /// them by default: other contents may reach them.
  double unreached_ops = 0;
  double warp_imbalance = 1;  // slowest warp's instructions over the mean of its block, between barriers, weighted
  /// Closed forms only, where warps of a block take unequal paths: the path of that number of the warps of a block
  /// which takes longest, summed over all blocks. Without instructions: all take the same. Which one it is does not
  /// change from block to block or barrier to barrier, so this is a lower bound. See profile/slowest_warp.h.
  WarpPath slowest;
  /// Closed forms only, where some code runs in some blocks of the grid only: the path of the slowest warp of the block
  /// that has the longest one, times the number of blocks. Without instructions: code runs in all blocks alike.
  WarpPath longest;
  std::vector<Assumption> assumptions;
  [[nodiscard]] CountsBasis basis() const {
    if (std::ranges::any_of(assumptions, &Assumption::is_default)) return CountsBasis::defaults;
    return counts_method == CountsMethod::symbolic ? CountsBasis::closed_form : CountsBasis::executed;
  }
  [[nodiscard]] const AccessCount& at(MemorySpace s, AccessKind k) const {
    return by_space[static_cast<int>(s)][static_cast<int>(k)];
  }
};

/// Adds to the sums of accesses that go another way than through L1 or the block's own shared memory: in bulk, past the
/// L1, to other blocks of the cluster.
void add_other_ways(const Access& access, const AccessCount& count, Workload& work);
/// Sets these sums to zero.
void clear_other_ways(Workload& work);

/// Sums up what atomics and waits cost (`atomics`, `retries`, `handovers`) from the counts of accesses and blocks and
/// from hottest_atomic_share.
void sum_atomics(const KernelProfile& profile, Workload& work);

/// Says so where the kernel stores to global memory and no thread of this launch, as it was counted, does: sizes may be
/// negative, or others than were meant. Nothing otherwise.
std::optional<Assumption> note_on_idle_launch(const KernelProfile& profile, const Workload& work);

/// The buffers on whose generated contents executed counts rest.
std::set<std::string> generated_contents(const Workload& work);
/// For a launch that stores nothing because of generated contents: throws UserError with the buffers and the flag.
void refuse_idle_by_contents(const Workload& work);

}  // namespace kernelcast
