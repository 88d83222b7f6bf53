// KernelProfile: what the front end knows of a kernel, symbolic and free of LLVM.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernelcast/expr.h"
#include "kernelcast/launch.h"
#include "kernelcast/ops.h"

namespace kernelcast {

/// The symbols that every profile shares. Ids in threads and blocks, sizes likewise; `axis` is 0, 1, 2.
Symbol local_id(int axis);    // "lid.x"
Symbol group_id(int axis);    // "wg.x"
Symbol local_size(int axis);  // "lsz.x"
Symbol num_groups(int axis);  // "nwg.x"
Symbol dynamic_shared();      // "dynamic_shared": bytes of the launch
Symbol argument(std::string_view parameter_name);  // "arg:NAME": value of a scalar integer parameter
/// "real:NAME": the `order_of` a floating-point parameter's value, so that comparisons of it are conditions like others.
Symbol real_argument(std::string_view parameter_name);
/// An integer in the order of the value (IEEE 754's bits, -0 as 0), half of the 64 bits: values that differ in the last
/// bit of a double alone may share one; those of floats never do. NaN has none.
std::optional<std::int64_t> order_of(double value);
/// Adds the symbols of the launch's arguments and their values.
void add_arguments(const Launch& launch, std::map<Symbol, Expr>& known);

struct SourceLine {
  int file = -1;  // index into KernelProfile::files, -1: unknown
  int line = 0;
  friend auto operator<=>(const SourceLine&, const SourceLine&) = default;
};

enum class MemorySpace : std::uint8_t { global, shared, local, constant, texture };
enum class AccessKind : std::uint8_t { load, store, atomic };
/// What an atomic does, as far as its cost goes: integer arithmetic and logic, floating-point arithmetic, an exchange, a
/// compare-and-swap.
enum class AtomicKind : std::uint8_t { integer, real, exchange, compare, count_ };
inline constexpr std::size_t atomic_kind_count = static_cast<std::size_t>(AtomicKind::count_);
std::string_view name_of(MemorySpace s);
std::string_view name_of(AccessKind k);
std::string_view name_of(AtomicKind k);

/// What stands in for a trip count that data decide; nine in ten lie within the factor of it, by judgement.
constexpr double default_trips = 16, default_trips_factor = 16;

/// Something data decide: a value that closed forms cannot give.
struct Unknown {
  enum class Kind : std::uint8_t { trip_count, probability, address } kind;
  std::string key;       // "trips:14", "branch:20", "access:9": what --assume takes
  SourceLine line;
  double default_value;  // trips, probability of the branch being taken, or bytes between neighbouring lanes (address)
  bool uniform = false;  // probability: all lanes of a warp decide alike
  std::string reason;    // "bound is loaded from memory (spmv.cl:14)"
};

/// One way to reach a block: a known 0/1 condition and data-decided branches, all of which must hold.
struct Path {
  Expr condition = 1;  // over ids, sizes, arguments and loop counters
  struct Factor { int unknown; bool taken; friend bool operator==(const Factor&, const Factor&) = default; };
  std::vector<Factor> factors;
};

/// When a block runs, relative to one iteration of its innermost loop (or the kernel's entry): disjoint paths.
struct Guard {
  std::vector<Path> paths{Path{}};
  [[nodiscard]] bool always() const;
};

struct Access {
  MemorySpace space = MemorySpace::global;
  AccessKind kind = AccessKind::load;
  int bytes = 4;                     // per lane: 1, 2, 4, 8, 16; of a copy in bulk all that it moves
  int buffer = -1;                   // index into KernelProfile::buffers, -1: unknown base
  Expr offset;                       // bytes from the buffer's base
  std::vector<std::int64_t> also;    // further constant offsets relative to `offset` with the same pattern (unrolled copies)
  int unknown = -1;                  // index of an Unknown of kind address when data decide the offset
  bool read_only = false;            // a load that NVIDIA's compiler may send through the read-only data cache
  bool async = false;                // a copy by the lanes (cp.async), or what of it lies in one space
  bool past_l1 = false;              // a load that the L1 does not keep (.cg), of cp.async also its store
  bool in_cluster = false;           // of shared memory: of another block of the cluster
  bool bulk = false;                 // a copy in bulk (cp.async.bulk): one lane asks for it, no warp's request, past the L1
  int row_bytes = 0;                 // bulk, of a box that is given: what of it lies side by side
  bool by_coordinates = false;       // bulk, through a tensor map: `offset` tells its boxes apart and is no address
  AtomicKind atomic = AtomicKind::integer;  // of kind atomic only, like the next two
  bool joined = false;               // the target's code has one lane of a warp update for all: they share the address
  bool retried = false;              // on shared memory, which has no such instruction: load, compute, compare and swap,
                                     // again until nobody was faster
  SourceLine line;
  [[nodiscard]] double copies() const { return 1.0 + static_cast<double>(also.size()); }
};

/// What a dependent instruction waits for: the classes of latency that a device file gives numbers for.
enum class Latency : std::uint8_t { alu, fp64, special, shared, constant, global, local, tensor, count_ };
inline constexpr std::size_t latency_count = static_cast<std::size_t>(Latency::count_);
std::string_view name_of(Latency l);

/// How one warp that runs alone goes through one execution of a block, instructions issued in order: it stops
/// `waits[c]` times for a result of latency class c, and of these latencies `hidden[c]` issue slots are filled with
/// other instructions. On a device the stops last sum over c of max(0, waits[c] * latency - hidden[c] * cycles per
/// issue) cycles. In a loop the numbers are those of an iteration in the steady state, so that recurrences
/// (accumulators) count and loads of the next iteration do not. `loads` is the number of global loads, so that
/// loads / waits[global] is the memory-level parallelism of a warp.
struct Stalls {
  std::array<double, latency_count> waits{}, hidden{};
  double loads = 0;
  double text_order_spills = 0;  // see Registers::in_text_order: words that each lane stores or loads again
  double fills = 0;     // times that an mbarrier is told what will arrive (expect_tx): stages of copies in bulk
  double products = 0;  // multiply-adds of asynchronous matrix instructions that the warp issues, each in whole
  double cluster_barriers = 0;  // arrivals at the barrier of a cluster that release what was written (not .relaxed)
  Stalls& operator+=(const Stalls& o);
  /// Adds o so many times.
  void add(const Stalls& o, double times);
};

/// What a warp does between two barriers of its block. No two of a block's phases run at a time, so a pipe that one of
/// them does not use stands idle meanwhile, whatever another would have for it. Only the proportions among the phases
/// of one kernel matter.
struct BarrierPhase {
  int id = 0;  // of code that no barrier parts on some path: pieces of several blocks, in a loop the end and the start
  double instructions = 0, branches = 0, barriers = 0;  // barriers: that end it
  double arithmetic = 0;                                // instructions of the arithmetic pipes
  double shared = 0, global = 0;                        // memory instructions
  double products = 0;                                  // instructions of the matrix pipes
  std::array<double, latency_count> waits{}, hidden{};  // see Stalls
  void add(const BarrierPhase& o, double times);
};
/// Adds `from`, so many times, to the phases of the same id in `to`.
void add_phases(std::vector<BarrierPhase>& to, const std::vector<BarrierPhase>& from, double times);

/// What runs beside a warp, and what its order in the block says: copies by the lanes (cp.async) and matrix products
/// (wgmma, tcgen05) with the ends of their groups and the waits for them, copies in bulk, what mbarriers are told, and
/// between these the products on registers and the barriers of the block. Neighbors of one kind are one event.
struct AsyncEvent {
  enum class Kind : std::uint8_t {
    none, copy, copy_commit, copy_wait, matrix, product, product_commit, product_wait, bulk, expect, arrive,
    mbarrier_wait, barrier
  };
  Kind kind = Kind::none;
  int open = 0;                  // of a wait: groups that may be in flight; -1: none, nor what was not committed
  double count = 1;
  double first = 0, last = 0;    // issue slots of the block before the first and the last of them
};
/// Adds those of code that stands `slots` behind the start of the block.
void add_events(std::vector<AsyncEvent>& to, const std::vector<AsyncEvent>& from, double slots);

struct LineOps { SourceLine line; OpCounts ops; };

/// A basic block of the optimised kernel, with what the target's code generator made of it.
struct Block {
  std::string name;
  int loop = -1;                 // innermost loop, index into loops
  Guard guard;
  OpCounts ops;                  // lane operations of one execution
  /// What its lanes do besides, issued under a predicate by another block; negative in that one.
  OpCounts issued_elsewhere;
  std::vector<LineOps> lines;    // the same, by source line (sums to ops)
  Stalls stalls;                 // of one warp in one execution
  std::vector<BarrierPhase> phases;     // likewise; empty: barriers do not part the kernel, or too often to tell
  std::vector<AsyncEvent> events;       // in order; empty: nothing runs beside the warps here
  std::vector<Access> accesses;
  int barriers = 0;
  int flat_barriers = 0;         // of these, after a store to shared memory with no floating-point arithmetic between
  SourceLine line;
};

/// Header blocks run trips + 1 times when the exit test is in the header; the front end has already placed each block
/// with the right guard, so `trips` is the number of executions of a block that belongs to the loop unguarded.
struct Loop {
  int parent = -1;               // enclosing loop
  Symbol counter{"?"};           // 0, 1, ... trips - 1; unique in the profile
  Expr trips;                    // per lane, over ids, sizes, arguments and outer counters; >= 0 after clamping
  int unknown = -1;              // index of an Unknown of kind trip_count when the trip count is not computable
  Guard guard;                   // when the loop is entered, relative to the parent
  SourceLine line;
  /// Repeats a look at global memory until others have written there: a flag (its address differs between blocks), or a
  /// lock (one address for all).
  enum class Wait : std::uint8_t { none, flag, lock } wait = Wait::none;
};

struct Branch {
  enum class Verdict : std::uint8_t { uniform, divergent, unknown } verdict;
  std::string reason;            // "depends on lid.x", "compares data loaded at line 12"
  int block = -1;                // block that ends in it
  Expr condition;                // known condition (0/1), if unknown < 0
  int unknown = -1;
  bool loop_exit = false;
  bool predicated = false;       // the target's code has predicated instructions instead: nothing branches
  SourceLine line;
};

struct Parameter {
  std::string name;
  std::string type;              // as the source or the IR says it
  bool pointer = false;
  bool integer = false;          // an integer scalar: needed by closed forms when used
  bool used = false;             // counts, addresses or conditions depend on its value
  int bytes = 0;                 // of the scalar, or of the pointee where known
  bool structure = false;        // by value
};

struct Buffer {
  std::string name;              // the parameter's, global's or shared array's
  MemorySpace space = MemorySpace::global;
  std::int64_t bytes = -1;       // static size, -1: unknown or dynamic
  std::int64_t alignment = 256;  // of the base
  int parameter = -1;
};

struct Registers {
  double per_thread = 0, low = 0, high = 0;
  std::string method;            // "code generator", "max-live estimate", "ptxas", "NVRTC 12.4"
  double spill_bytes = 0;
  // Registers if the instructions stay in the order of the text, and the bytes that then are spilled, where that is more
  // than a thread can have and another order fits: 0 otherwise. The compiler finds such an order, or does not.
  double in_text_order = 0, text_order_spill_bytes = 0;
};

/// Instructions of one kind whose cost is not in the profile: no operation, no access stands for them.
struct Unmodeled {
  std::string what;              // "tcgen05.mma.cta_group::1.kind::f16", "asm: v_mad_mix_f32"
  int count = 0;                 // places in the code
  SourceLine line;               // of the first
  friend bool operator==(const Unmodeled&, const Unmodeled&) = default;
};

/// setmaxnreg: the warps that execute a block hold so many registers a thread from there on.
struct SetRegisters {
  int block = 0;                 // index into KernelProfile::blocks
  int registers = 0;
  SourceLine line;
  friend bool operator==(const SetRegisters&, const SetRegisters&) = default;
};

struct KernelProfile {
  std::string kernel;            // as the user names it
  std::string symbol;            // mangled
  std::string target;            // code generation target: sm_70, gfx90a
  std::vector<std::string> files;
  std::vector<Parameter> parameters;
  std::vector<Buffer> buffers;
  std::vector<Loop> loops;       // parents before children
  std::vector<Block> blocks;
  std::vector<Branch> branches;
  std::vector<Unknown> unknowns;
  Registers registers;
  std::int64_t static_shared_bytes = 0;
  bool uses_dynamic_shared = false;
  std::int64_t stack_bytes = 0;              // private memory per thread that stays in local memory
  std::int64_t max_threads_per_block = 0;    // __launch_bounds__, 0: none
  Dim3 cluster{0, 0, 0};                     // blocks of a cluster where the code fixes them, 0: it does not
  std::vector<SetRegisters> set_registers;   // setmaxnreg
  Dim3 required_block{0, 0, 0};              // reqd_work_group_size, 0: none
  int mapped_axes = 0;                       // loop nests: number of loops that became work-items
  std::vector<Expr> mapped_extent;           // and their trip counts, x first
  std::vector<Assumption> assumptions;
  std::vector<Unmodeled> unmodeled;          // what costs nothing here
  std::vector<std::string> notes;            // for people: skipped headers, stand-ins
};

}  // namespace kernelcast
