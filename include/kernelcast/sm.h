// A cycle-level streaming multiprocessor: what it is made of (Spec), what runs on it (Program, SmLaunch), what comes
// out (Result), and who may watch (Listener). Times are cycles of the SM's clock throughout.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelcast/device.h"
#include "kernelcast/tensor.h"

namespace kernelcast::sm {

/// What an instruction does, as far as timing goes.
enum class Op : std::uint8_t {
#define KC_SM_OP(op, name, sources, memory, meaning) op,
#include "kernelcast/sm_ops.def"
#undef KC_SM_OP
  count_
};
inline constexpr std::size_t op_count = static_cast<std::size_t>(Op::count_);

struct OpInfo {
  std::string_view name;  // as the assembly text writes it
  int max_sources;
  bool memory;
  std::string_view meaning;
};
const OpInfo& info(Op op);
std::optional<Op> op_named(std::string_view name);

/// How the lane addresses of a memory instruction go: base + warp * warp_step + (k * step mod span) + lane * lane_step
/// for its k-th execution by a warp, lanes 0 to `lanes` - 1. `sectors`, `passes` and the hit shares replace that where
/// a caller knows them.
struct Access {
  std::int64_t base = 0, warp_step = 0, step = 0, span = 0, lane_step = 4;
  int bytes = 4;                           // per lane
  int lanes = 0;                           // 0: all of the warp
  std::optional<double> sectors;           // sectors of one request
  std::optional<double> lines;             // lines of one request; nothing: as few as its sectors fill
  std::optional<double> passes;            // shared memory: passes of one request (1: no bank conflict); global: of the L1
  std::optional<double> shared_passes;     // of a copy to shared memory, there
  std::optional<double> l1_hits, l2_hits;  // shares of the sectors, 0..1
  bool operator==(const Access&) const = default;
};

/// What one execution of a matrix instruction by a warp multiplies.
struct Product {
  TensorType type = TensorType::f16_f32;
  double multiply_adds = 0;
  double shared_bytes = 0;  // of operands in shared memory; asynchronous products only
  bool whole = false;       // on the pipes of all schedulers (tcgen05), not on that of the warp alone
  bool operator==(const Product&) const = default;
};

/// A ring of mbarriers of a block, as one that goes through phases. Phase k is complete when so many warps have arrived
/// for the k-th time and the copies in bulk before these arrivals are in shared memory. A warp's k-th wait is for phase
/// k - ahead; before phase 0 nothing is waited for.
struct Mbarrier {
  int arrivals = 1, ahead = 0;
  bool operator==(const Mbarrier&) const = default;
};

/// Warps of a block that begin at an instruction other than the first.
struct Role {
  int warps = 1, start = 0;
};

struct Instruction {
  Op op = Op::nop;
  std::int16_t destination = -1;  // register; -1: none
  std::array<std::int16_t, 3> sources{-1, -1, -1};
  std::optional<std::uint32_t> control;  // control code as the architecture encodes it; nothing: the safe default
  int access = -1;                       // index in Program::accesses
  int product = -1;                      // of a matrix instruction: index in Program::products
  int mbarrier = -1;                     // index in Program::mbarriers
  int open = 0;                          // of a wait for groups: those that may be in flight
  // Branch. Back to `target` until the loop has run `trips` times, once more in the share `fraction` of its entries; or
  // forward to `target` in the share `fraction` of its executions. Each warp spreads that evenly over its executions.
  int target = -1, trips = 0;
  double fraction = 0;
  int line = 0;  // of the text
};

struct Program {
  std::string name;
  std::vector<Instruction> instructions;
  std::vector<Access> accesses;
  std::vector<Product> products;
  std::vector<Mbarrier> mbarriers;
  std::vector<Role> roles;  // of the warps of a block in order; empty: all begin at the first instruction
  bool joint = false;       // barriers join all warps of a block, whatever their role; false: those of a role
  int registers = 0;  // highest register used + 1
};

/// The assembly text of docs/model/sm.md. Throws UserError "NAME:LINE: ...".
Program assemble(std::string_view text, const std::string& name);
/// The text of a program; assemble(disassemble(p)) is p but for line numbers.
std::string disassemble(const Program& program);

/// How the schedulers and decoders come to issue two instructions of a warp at once.
enum class DualIssue : std::uint8_t { none, by_control_code, by_hardware };
enum class ControlKind : std::uint8_t { none, eight_bit, twenty_one_bit };
enum class OperandCache : std::uint8_t { none, last_read_per_bank, by_reuse_flags };

/// stall = scale * (code & mask) + offset for first <= code <= last, cap where code & mask >= cap_from.
struct ControlRange {
  std::uint32_t first = 0, last = 0, mask = 0;
  int scale = 1, offset = 0, cap_from = 0, cap = 0;
};

/// Lanes that execute instructions: one set of them for each scheduler, each pair of schedulers or the whole SM.
struct Unit {
  std::string name;
  std::vector<Op> ops;
  int schedulers = 1;  // how many neighbouring schedulers share one set
  int interval = 1;    // cycles until it takes the next warp instruction
};

/// A number of a spec, with where it comes from.
struct SpecNumber {
  std::string key;
  double value = 0;
  std::string source;      // citation; empty: a hypothesis
  std::string hypothesis;  // what is supposed, and why
};

struct Spec {
  std::string id, name, file;
  std::vector<std::string> architectures;  // Device::architecture that it models
  std::vector<SpecNumber> numbers;         // every number of the file, in its order

  int warp_size = 32, schedulers = 4;
  double clock_hz = 0;  // from the device; 0: not known

  // issue
  int dispatch_per_turn = 1;     // instructions of one warp that a scheduler can issue in a turn
  int turn_cycles = 1;           // cycles between turns of a scheduler
  bool turns_alternate = false;  // schedulers take their turns one after the other, not all in the same cycle
  DualIssue dual = DualIssue::none;
  bool dual_needs_other_unit = false;  // the two must go to units of different names
  bool dual_slot0_leads = true;        // the first slot of an instruction group can lead a pair
  int warps_per_turn = 1;              // different warps that may issue to different units in one turn (GCN)

  // control codes
  ControlKind control = ControlKind::none;
  std::vector<ControlRange> control_ranges;
  std::uint32_t dual_code = 0, suspend_code = 0, default_code = 0;
  int suspend_cycles = 0, unpaired_stall_cycles = 0;
  bool interlock = true;  // hardware waits for registers that are not ready

  // fetch and decode
  int group_instructions = 1, group_bytes = 8;  // a group is what one control word covers
  int line_bytes = 128, icache_bytes = 8192, icache_miss_cycles = 0, branch_cycles = 0;
  bool turn_ends_with_line = false;

  // registers
  std::vector<int> bank_bits;  // bank = bits of the register number, lowest first
  int ports_per_bank = 0;      // 0: no conflicts
  OperandCache operand_cache = OperandCache::none;
  int late_request_cycles = 0;  // until shared lanes are granted that were asked for because of a bank conflict

  std::vector<Unit> units;
  std::array<int, op_count> latency{};  // issue to dependent issue; memory: see below
  std::array<int, op_count>
      interval{};  // cycles that an instruction takes its lanes (memory: at least); 0: Unit::interval

  // memory, from the device unless the file says otherwise
  int shared_banks = 32, shared_bank_bytes = 4, shared_latency = 24;
  int shared_pairs = 0;                 // as in MemoryGeometry
  double shared_bytes_per_cycle = 128;  // of the SM
  int sector_bytes = 32, line_bytes_l1 = 128;
  MemoryGeometry l1;             // of the device: banks and tags of its L1; l1_banks 0: a line a cycle
  double l1_bytes_per_cycle = 0;  // that it moves to or from registers; 0: what a pass holds
  double l1_bytes = 0, l2_bytes = 0;
  int l1_latency = 0, l2_latency = 0, dram_latency = 0;
  double l2_bytes_per_cycle = 64, dram_bytes_per_cycle = 16;  // this SM's share
  int max_requests = 64;                                      // memory requests of the SM that can be outstanding
  // Atomic operations: issue to the returned value when no other lane updates the word (0: a load of shared memory, a
  // load that L2 holds), and how long a word is taken by the update of one lane.
  int atomic_shared_latency = 0, atomic_shared_cycles = 1;
  int atomic_global_latency = 0, atomic_global_cycles = 1;

  // matrix pipes, from the device: multiply-adds a cycle of the SM by type (NaN: not known; 0: the SM does not have it)
  // and the shares of these that instructions on registers reach where asynchronous ones have the whole rate
  std::array<double, tensor_type_count> tensor_fma{};
  double tensor_warp_share = 1, tensor_warp_f8_share = 1;

  // blocks
  int max_warps = 64, max_blocks = 16;

  [[nodiscard]] int latency_of_shared_atomic() const {
    return atomic_shared_latency > 0 ? atomic_shared_latency : shared_latency;
  }
  [[nodiscard]] int latency_of_global_atomic() const {
    return atomic_global_latency > 0 ? atomic_global_latency : l2_latency;
  }
  /// Cycles until lanes of `unit` take the next warp instruction after one of `op`.
  [[nodiscard]] int interval_of(const Unit& unit, Op op) const {
    const int own = interval[static_cast<std::size_t>(op)];
    return own > 0 ? own : unit.interval;
  }
  /// Multiply-adds of a product a cycle, on the pipes of the whole SM.
  [[nodiscard]] double tensor_rate(Op op, TensorType type) const {
    const double rate = tensor_fma[static_cast<std::size_t>(type)];
    if (op == Op::matrix_async || !has_async_form(type)) return rate;
    const bool eight_bits = type == TensorType::f8_f16 || type == TensorType::f8_f32;
    return rate * (eight_bits ? tensor_warp_f8_share : tensor_warp_share);
  }
  [[nodiscard]] int banks() const { return 1 << bank_bits.size(); }
  [[nodiscard]] int bank_of(int reg) const {
    int bank = 0;
    for (std::size_t i = 0; i < bank_bits.size(); ++i) bank |= ((reg >> bank_bits[i]) & 1) << i;
    return bank;
  }
};

/// Reads `devices/sm/ID.toml`. Throws UserError "FILE:LINE: ...".
Spec load_spec(const std::string& path);
/// The spec whose `architectures` names the device's, with clock, caches, latencies and bandwidths of the device.
/// Throws UserError that lists what there is when no spec models the architecture.
Spec spec_of(const Device& device, const std::string& device_folder = {});

/// Meaning of a control code under a spec.
struct Control {
  int stall = 1;      // cycles until the warp may issue its next instruction
  bool dual = false;  // issue together with the next instruction
  int write_barrier = -1, read_barrier = -1;
  std::uint8_t wait_mask = 0, reuse = 0;
  bool yield = false;
};
Control decode_control(const Spec& spec, std::uint32_t code);
/// The 21-bit field of Maxwell and later: stall 4, yield 1 (0: yield), write and read barrier 3 (7: none), mask 6,
/// reuse 4.
std::uint32_t encode_control(const Control& control);

struct SmLaunch {
  int blocks = 1, warps_per_block = 1;
  int resident_blocks = 0;  // at most that many at a time; 0: what the spec's limits allow
  std::uint64_t max_cycles = 1'000'000'000;
  double deadline_s = 0;    // of the steady clock; 0: none
  /// Where no warp can go on, one that waits for an mbarrier does (Result::passed_waits); false: an error.
  bool pass_waits = false;
};

/// Why a warp did not issue in a cycle, or that it did.
enum class Stall : std::uint8_t {
  issued,
  fetch,
  control,
  dependency,
  unit,
  arbitration,
  memory,
  copy,
  product,
  barrier,
  mbarrier,
  not_selected,
  count_
};
std::string_view name_of(Stall stall);

/// Sees what happens; all calls come in order of cycles.
class Listener {
 public:
  virtual ~Listener() = default;
  struct Issue {
    std::uint64_t cycle;
    int scheduler, warp, instruction, unit;  // unit: index in Spec::units; -1: none needed
    bool second;                             // second of a dual issue
    int reads;                               // cycles that collecting the operands took
    int busy;                                // cycles that its set of lanes is taken; 0: none needed
  };
  virtual void on_issue(const Issue&) {}
  /// Warp `warp` did not issue from `cycle` on for `cycles` cycles.
  virtual void on_stall(std::uint64_t /*cycle*/, std::uint64_t /*cycles*/, int /*warp*/, Stall) {}
};

struct Result {
  std::uint64_t cycles = 0, warp_instructions = 0, dual_issues = 0, bank_conflict_cycles = 0, icache_misses = 0;
  std::uint64_t hazards = 0;  // registers read before they were ready: a real GPU would compute something else
  int first_hazard_line = 0;  // of the text
  std::uint64_t passed_waits = 0;  // waits for phases that nobody completed
  double l1_hits = 0, l1_sectors = 0, l2_hits = 0, dram_sectors = 0;
  std::vector<std::vector<std::uint64_t>> clocks;  // per warp, what its clock reads saw
  std::vector<std::uint64_t> unit_busy;            // cycles, per Spec::units, summed over its sets
};

/// Runs blocks of the program on one SM until all have ended. Throws UserError for a program or launch that the spec
/// cannot run, LimitError after `max_cycles` and at the deadline.
Result simulate(const Spec& spec, const Program& program, const SmLaunch& launch, Listener* listener = nullptr);

}  // namespace kernelcast::sm
