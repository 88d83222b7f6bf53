// The four steps of the method on any machine that runs our instructions. They see clock readings and what is public
// (schedulers, lanes, the encoding), nothing of a spec's microarchitecture.
#pragma once

#include <functional>

#include "probe/programs.h"

namespace kernelcast::probe {

/// Runs one block of `warps` warps; the clock readings of each warp.
using Clocks = std::vector<std::vector<std::uint64_t>>;
using Runner = std::function<Clocks(const sm::Program&, int warps)>;

struct TestedSm {
  Runner run;
  Encoding encoding;
  int schedulers = 4, warp_size = 32, lanes = 192;  // lanes: FP32 multiply-adds a cycle, what 100 % of peak is
  int warps = 16;                                   // of throughput tests: four a scheduler
  int body = 735;                                   // instructions that the first instruction cache holds, of a test
  int codes = 0;                                    // values of a control code; 0: there is none
  std::function<std::uint32_t(int)> code;           // the one of that value; nothing: the value itself
  // The code of a stall with reuse flags, and that of an instruction that sets a barrier (-1: none) when its result is
  // there and when its operands are read; nothing: the encoding has no such fields.
  std::function<std::uint32_t(int stall, std::uint8_t flags)> reuse;
  std::function<std::uint32_t(int write, int read)> barrier;
};

/// Step 1: cycles between an instruction and one that needs its result, with `code` on all of them.
double latency_cycles(const TestedSm& m, sm::Op op, std::optional<std::uint32_t> code);
/// The same of whole divisions.
double division_latency_cycles(const TestedSm& m, bool fp64, std::optional<std::uint32_t> code);
/// Cycles from one issue to the next of a single warp whose instructions do not depend on each other.
double issue_interval_cycles(const TestedSm& m, std::optional<std::uint32_t> first,
                             std::optional<std::uint32_t> second);
/// Thread instructions a cycle of the SM.
double throughput(const TestedSm& m, const std::vector<sm::Instruction>& body, int counted);

/// Step 2.
struct Banks {
  std::vector<std::vector<int>> classes;
  double free_rate = 0, conflict_rate = 0;  // best and worst throughput of a pair
  int pairs = 0;
  bool transitive = true;  // every pair of a class conflicts, no pair of two classes does
};
Banks register_banks(const TestedSm& m, int registers, double theoretical);
/// The same where a bank delivers two registers a cycle, so that no pair conflicts: FFMA on three registers, which
/// conflict when all lie in one bank. `pairs` counts triples; more than eight banks are not found; `transitive` is
/// checked on all triples of the first twelve registers.
Banks register_banks_by_triples(const TestedSm& m, int registers, double theoretical);

/// Step 3: what each code does to the issue of a warp.
struct CodeMeaning {
  double interval = 0;  // cycles to the next issue
  bool dual = false;    // goes together with the next instruction
};
std::vector<CodeMeaning> control_codes(const TestedSm& m);
/// Whether an FFMA with `code` goes together with a special function behind it, which another unit executes.
bool pairs_with_other_unit(const TestedSm& m, std::uint32_t code);
/// The longest run of codes whose interval rises linearly.
struct LinearField {
  int first = 0, last = -1;
  double slope = 0, intercept = 0;  // interval = slope * (code - first) + intercept
};
LinearField linear_field(const std::vector<CodeMeaning>& codes);

/// Control groups of the six orders' programs: as long as the published loops, whose 127.50 of 128 multiplications a
/// clock are 255 of 256 instructions.
inline constexpr int order_groups = 36;
/// The instructions of step 4: one product on registers of two banks, sums in the other two in turn.
std::vector<Ffma> order_tile(const Banks& banks);
/// Step 4: throughput of one order of single and dual issues, as a fraction of peak. Registers come from the banks.
double order_fraction(const TestedSm& m, const std::vector<int>& order, std::uint32_t dual, const Banks& banks);
/// All orders of two singles and two duals.
std::vector<std::vector<int>> all_orders();

/// A bit of an instruction's code that makes it wait for a barrier.
struct WaitBit {
  int barrier = 0, bit = 0;
  bool operator==(const WaitBit&) const = default;
};
inline constexpr int barriers = 6;  // that the encoding has room for
enum class Barrier : std::uint8_t { write, read };
/// A load sets each barrier of that kind, for its result or for its operands; the instruction behind it, which needs
/// neither, carries each bit of the code in turn. Those that make it slower. `m.barrier` must be set.
std::vector<WaitBit> wait_bits(const TestedSm& m, Barrier kind);

/// Throughput of FFMA on three registers of one bank as a fraction of peak under each set of reuse flags, 0 to 7.
/// `m.reuse` must be set.
std::vector<double> reuse_fractions(const TestedSm& m, const std::vector<int>& one_bank);

}  // namespace kernelcast::probe
