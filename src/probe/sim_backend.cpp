// The back end that measures the cycle-level SM. It hands programs over and gets clock readings back; of the spec it
// uses only what vendors publish: schedulers, lanes, how control codes are laid out.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "kernelcast/error.h"
#include "kernelcast/probe.h"
#include "kernelcast/setting.h"
#include "probe/cost_table.h"
#include "probe/ffma_search.h"
#include "probe/sim_figures.h"
#include "probe/steps.h"

namespace kernelcast::probe {
namespace {

using Clock = std::chrono::steady_clock;

class SimProbe {
 public:
  SimProbe(const Device& device, const Options& options)
      : device_(device), options_(options), spec_(sm::spec_of(device, options.device_folder)), start_(Clock::now()) {
    if (options.registers < 8 || options.registers > 64)
      throw UsageError(KC_SETTING(registers) " " + std::to_string(options.registers) + ": expected 8 to 64");
    machine_.run = [this](const sm::Program& program, int warps) {
      if (std::chrono::duration<double>(Clock::now() - start_).count() > options_.time_limit_s)
        throw LimitError(
            fmt::format(KC_SETTING(time_limit) " {:g}: not over in time; a larger limit or fewer " KC_SETTING(
                            registers) " would do",
                        options_.time_limit_s));
      sm::SmLaunch launch;
      launch.warps_per_block = warps;
      return sm::simulate(spec_, program, launch).clocks;
    };
    machine_.schedulers = spec_.schedulers;
    machine_.warp_size = spec_.warp_size;
    machine_.lanes = static_cast<int>(device.require(Field::compute_fp32_lanes_per_unit));
    machine_.warps = 4 * spec_.schedulers;
    machine_.encoding.group = spec_.group_instructions;
    if (spec_.control == sm::ControlKind::eight_bit) {
      machine_.encoding.neutral = spec_.default_code;
      machine_.codes = 256;
    }
    if (spec_.control == sm::ControlKind::twenty_one_bit) {
      machine_.codes = 16;
      machine_.reuse = [](int stall, std::uint8_t flags) {
        sm::Control control;
        control.stall = stall;
        control.reuse = flags;
        return sm::encode_control(control);
      };
      machine_.barrier = [](int write, int read) {
        sm::Control control;
        control.write_barrier = write;
        control.read_barrier = read;
        return sm::encode_control(control);
      };
      machine_.code = [this](int stall) { return machine_.reuse(stall, 0); };
    }
    // Room for the loop around the body; whole groups of three and of seven.
    const int capacity = spec_.icache_bytes / spec_.group_bytes * spec_.group_instructions;
    if (capacity > 0) machine_.body = std::clamp((capacity - 32) / 21 * 21, 21, machine_.body);
  }

  Report run() {
    report_.backend = "sim";
    report_.device = device_;
    say("latency and throughput");
    step_1();
    costs();
    say("register banks");
    step_2();
    say("control codes");
    step_3();
    say("orders of single and dual issue");
    step_4();
    say("fastest order of FFMA");
    search();
    say("memory");
    append(shared_memory_figures(machine_));
    append(global_memory_figures(machine_, static_cast<int>(device_.get_or(Field::memory_l1_line_bytes, 128)),
                                 device_.get_or(Field::memory_l1_caches_global_loads, 0) != 0));
    say("barriers and atomic operations");
    // At least sixteen warps, which every GPU's hardware has as a block, whatever its compilers allow.
    const auto threads = static_cast<int>(device_.get_or(Field::limits_max_threads_per_block, 1024));
    append(barrier_figures(machine_, std::min(std::max(threads / machine_.warp_size, 16), spec_.max_warps)));
    append(atomic_figures(machine_));
    append(figures_of_a_host());
    return std::move(report_);
  }

 private:
  void say(const std::string& what) const {
    if (options_.progress) options_.progress("probe: " + what);
  }

  Result& add(std::string id, std::optional<double> value, std::string unit, std::string method, std::string what) {
    report_.results.push_back(exact_figure(std::move(id), value, std::move(unit), std::move(method), std::move(what)));
    return report_.results.back();
  }

  Result& unknown(std::string id, std::string unit, std::string reason) {
    report_.results.push_back(unknown_figure(std::move(id), std::move(unit), std::move(reason)));
    return report_.results.back();
  }

  void append(std::vector<Result> figures) {
    for (Result& r : figures) report_.results.push_back(std::move(r));
  }

  [[nodiscard]] bool executes(sm::Op op) const {
    return std::ranges::any_of(spec_.units,
                               [&](const sm::Unit& u) { return std::ranges::find(u.ops, op) != u.ops.end(); });
  }

  void step_1() {
    struct Row {
      sm::Op op;
      const char* name;
      std::vector<Field> latency;
    };
    const Row rows[] = {{sm::Op::ffma, "ffma", {Field::latency_fp32_cycles}},
                        {sm::Op::fadd, "fadd", {}},
                        {sm::Op::fmul, "fmul", {}},
                        {sm::Op::iadd, "iadd", {Field::latency_int_cycles}},
                        {sm::Op::imul, "imad", {}},
                        {sm::Op::shift, "ishift", {}},
                        {sm::Op::convert, "cvt", {}},
                        {sm::Op::dadd, "dadd", {}},
                        {sm::Op::dmul, "dmul", {}},
                        {sm::Op::dfma, "dfma", {Field::latency_fp64_cycles}},
                        {sm::Op::special, "mufu", {Field::latency_special_cycles}}};
    for (const Row& row : rows) {
      const std::string name = row.name;
      if (!executes(row.op)) {
        unknown(name + ".latency_cycles", "cycles", "the model has no unit for it");
        continue;
      }
      add(name + ".latency_cycles", latency_cycles(machine_, row.op, machine_.encoding.neutral), "cycles",
          "dependence chains of 64 and 128 instructions, one warp, second of two passes",
          "Cycles from an instruction to the next one that needs its result.")
          .fields = row.latency;
      const auto body =
          independent(row.op, {0}, {32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43}, 252, machine_.encoding.neutral);
      add(name + ".throughput_per_cycle", throughput(machine_, body, 252), "thread instructions per cycle and SM",
          fmt::format("252 independent instructions, {} warps, second of two passes", machine_.warps),
          "Thread instructions an SM completes in a cycle.");
    }
    for (const bool fp64 : {false, true}) division_figures(fp64);
  }

  [[nodiscard]] bool divides(bool fp64) const {
    return std::ranges::all_of(division(fp64), [&](sm::Op op) { return executes(op); });
  }

  void division_figures(bool fp64) {
    const std::string name = fp64 ? "ddiv" : "fdiv";
    if (!divides(fp64)) {
      unknown(name + ".latency_cycles", "cycles", "the model has no unit for an instruction of it");
      return;
    }
    const std::string what = fmt::format("division as {} instructions (a reciprocal, {} and corrections)",
                                         division(fp64).size(), fp64 ? "DFMA" : "FFMA");
    add(name + ".latency_cycles", division_latency_cycles(machine_, fp64, machine_.encoding.neutral), "cycles",
        what + ", dependence chains of two lengths, one warp, second of two passes",
        "Cycles from a division to the next one that needs its quotient.");
    constexpr int count = 24, chains = 12;
    const auto body = divisions(fp64, count, chains, machine_.encoding.neutral);
    add(name + ".throughput_per_cycle", throughput(machine_, body, count), "thread divisions per cycle and SM",
        fmt::format("{}, {} in {} chains, {} warps, second of two passes", what, count, chains, machine_.warps),
        "Thread divisions an SM completes in a cycle.");
  }

  // One warp; the machine is deterministic, so the mean of ten repeats is any of them.
  void costs() {
    const std::map<std::string, sm::Op> chains = {{"cost.add_cycles", sm::Op::fadd},
                                                  {"cost.mul_cycles", sm::Op::fmul},
                                                  {"cost.special_cycles", sm::Op::special},
                                                  {"cost.double_add_cycles", sm::Op::dadd}};
    for (const CostClass& k : cost_classes()) {
      const auto found = chains.find(k.id);
      if (found == chains.end()) {
        const bool fp64 = std::string_view(k.id) == "cost.double_div_cycles";
        if (!divides(fp64)) {
          unknown(k.id, "cycles", "the model has no unit for an instruction of it");
          continue;
        }
        add(k.id, division_latency_cycles(machine_, fp64, machine_.encoding.neutral), "cycles",
            "dependence chains of divisions, of one warp; ten repeats would be alike", cost_sentence(k))
            .fields = k.fields;
        continue;
      }
      const sm::Op op = found->second;
      if (!executes(op)) {
        unknown(k.id, "cycles", "the model has no unit for it");
        continue;
      }
      Result& r = add(k.id, latency_cycles(machine_, op, machine_.encoding.neutral), "cycles",
                      "dependence chains of one warp; ten repeats would be alike", cost_sentence(k));
      r.fields = k.fields;
    }
  }

  void step_2() {
    const double theoretical = std::min(machine_.lanes, machine_.schedulers * machine_.warp_size);
    banks_ = register_banks(machine_, options_.registers, theoretical);
    std::string method = fmt::format("FMUL on all {} pairs of R0 to R{}; free of conflict from 99.5 % of {:g} a cycle",
                                     banks_.pairs, options_.registers - 1, theoretical);
    const auto alone = [&] { return banks_.classes.size() == static_cast<std::size_t>(options_.registers); };
    const bool no_pair = alone();
    const double free_rate = banks_.free_rate, pair_rate = banks_.conflict_rate;
    const std::string pairs_method = method;
    if (no_pair) {
      banks_ = register_banks_by_triples(machine_, options_.registers, theoretical);
      method += fmt::format("; no pair conflicts, so FFMA on {} triples", banks_.pairs);
    }
    Result& list = add("register.banks", std::nullopt, "", method + "; union-find",
                       fmt::format("{} classes of registers that conflict with each other{}.", banks_.classes.size(),
                                   banks_.transitive ? ", transitive in every test" : ""));
    for (const std::vector<int>& members : banks_.classes) list.lists.emplace_back(members.begin(), members.end());
    list.samples = banks_.pairs;
    if (!banks_.transitive) {
      list.confidence = "unstable";
      list.reason = "conflict is not transitive: a class holds registers that do not conflict";
    }
    if (alone()) {
      list.lists.clear();
      list.confidence = "none";
      list.reason = "no pair and no triple of registers conflicts";
    }
    add("fmul.conflict_free.fraction_of_peak", free_rate / machine_.lanes, "fraction of peak", pairs_method,
        "Throughput of FMUL whose operands lie in different banks.");
    if (no_pair) {
      unknown("fmul.conflict_2way.fraction_of_peak", "fraction of peak", "no pair of registers conflicts");
    } else {
      add("fmul.conflict_2way.fraction_of_peak", pair_rate / machine_.lanes, "fraction of peak", pairs_method,
          "Throughput of FMUL with both operands in one bank.");
    }
    three_way();
  }

  void three_way() {
    const auto found = std::ranges::find_if(banks_.classes, [](const auto& c) { return c.size() >= 3; });
    if (found == banks_.classes.end()) {
      unknown("ffma.conflict_3way.fraction_of_peak", "fraction of peak", "no three registers of one bank are known");
      return;
    }
    const auto body = independent(sm::Op::ffma, {(*found)[0], (*found)[1], (*found)[2]},
                                  {70, 71, 72, 73, 74, 75, 76, 77, 78, 79}, machine_.body, machine_.encoding.neutral);
    add("ffma.conflict_3way.fraction_of_peak", throughput(machine_, body, machine_.body) / machine_.lanes,
        "fraction of peak",
        fmt::format("{} FFMA on R{}, R{}, R{}", machine_.body, (*found)[0], (*found)[1], (*found)[2]),
        "Throughput of FFMA with all three operands in one bank.");
  }

  void step_3() {
    if (machine_.codes == 0) {
      unknown("control.stall_slope", "cycles", "the architecture has no control codes");
      return;
    }
    codes_ = control_codes(machine_);
    const std::string method =
        spec_.control == sm::ControlKind::eight_bit
            ? "FFMA of one warp under each of the 256 codes, alone and between neutral codes"
            : "FFMA of one warp under each value of the stall field, alone and between stalls of 1";
    Result& list = add("control.intervals", std::nullopt, "cycles", method,
                       "Cycles to the next issue under each code; 0: issued together with the next instruction.");
    list.samples = machine_.codes;
    list.lists.emplace_back();
    for (const CodeMeaning& c : codes_) list.lists.back().push_back(c.interval);
    for (std::size_t i = 0; i < codes_.size(); ++i)
      if (codes_[i].dual && !dual_) dual_ = static_cast<std::uint32_t>(i);
    if (dual_) {
      add("control.dual_code", static_cast<double>(*dual_), "", method,
          "The code that issues two instructions at once.");
    } else {
      unknown("control.dual_code", "", "no code issues two FFMA at once");
      dual_to_other_unit();
    }
    const LinearField field = linear_field(codes_);
    add("control.stall_slope", field.slope, "cycles per step", method,
        fmt::format("Values 0x{:02x} to 0x{:02x}: the interval rises linearly.", field.first, field.last));
    add("control.stall_intercept", field.intercept, "cycles", method,
        fmt::format("Interval under value 0x{:02x}, where the linear field begins.", field.first));
    other_fields();
  }

  void dual_to_other_unit() {
    if (!machine_.code || !executes(sm::Op::special)) return;
    for (int stall = 0; stall < machine_.codes; ++stall) {
      if (!pairs_with_other_unit(machine_, machine_.code(stall))) continue;
      add("control.dual_other_unit_stall", stall, "cycles",
          "one warp, an FFMA before a special function, one in 16 instructions",
          "Value of the stall field that issues an instruction together with one of another unit.");
      return;
    }
    unknown("control.dual_other_unit_stall", "cycles", "no value of the stall field issues two instructions at once");
  }

  /// Of codes whose fields do not depend on each other.
  void other_fields() {
    if (!machine_.barrier) return;
    const auto waits = [&](const char* id, Barrier kind, const char* what) {
      Result& r =
          add(id, std::nullopt, "barrier, bit",
              "a load that sets each barrier, an addition that carries each bit of the code and needs nothing", what);
      r.samples = barriers * 21;
      for (const WaitBit& w : wait_bits(machine_, kind))
        r.lists.push_back({static_cast<double>(w.barrier), static_cast<double>(w.bit)});
    };
    waits("control.write_barrier_bits", Barrier::write,
          "Bits that wait for the barrier that a load sets with its result.");
    waits("control.read_barrier_bits", Barrier::read,
          "Bits that wait for the barrier that a load sets when its operands are read.");
    const auto found = std::ranges::find_if(banks_.classes, [](const auto& c) { return c.size() >= 3; });
    if (found == banks_.classes.end()) {
      unknown("reuse.fraction_of_peak", "flags, fraction of peak", "no three registers of one bank are known");
      return;
    }
    Result& reuse = add("reuse.fraction_of_peak", std::nullopt, "flags, fraction of peak",
                        fmt::format("FFMA on R{}, R{}, R{} of one bank under each set of reuse flags (1: first, 2: "
                                    "second, 4: third operand)",
                                    (*found)[0], (*found)[1], (*found)[2]),
                        "Throughput of FFMA by reuse flags: flags, then fractions.");
    reuse.samples = 8;
    reuse.lists.resize(2);
    for (const double fraction : reuse_fractions(machine_, *found)) {
      reuse.lists[0].push_back(static_cast<double>(reuse.lists[0].size()));
      reuse.lists[1].push_back(fraction);
    }
  }

  void step_4() {
    if (!dual_ || banks_.classes.size() != 4) {
      unknown("ffma.best_order", "", "needs a code for dual issue and four banks");
      return;
    }
    std::vector<int> best;
    double fraction = 0;
    for (const std::vector<int>& order : all_orders()) {
      const double f = order_fraction(machine_, order, *dual_, banks_);
      const std::string name = fmt::format("{}", fmt::join(order, ""));
      add("ffma.order." + name + ".fraction_of_peak", f, "fraction of peak",
          fmt::format("{} control groups of six FFMA and a filler, registers of the measured banks", order_groups),
          "FFMA throughput with " + name + " (1: issued alone, 2: a pair).");
      if (f > fraction) order_ = best = order;
      fraction = std::max(fraction, f);
    }
    Result& r = add("ffma.best_order", std::nullopt, "", "the six orders above",
                    fmt::format("The fastest order reaches {:.1f} % of peak.", 100 * fraction));
    r.lists.emplace_back(best.begin(), best.end());
  }

  // The generalisation of step 4.
  void search() {
    FfmaKnown known;
    if (const Result* list = report_.find("register.banks"); !list->lists.empty()) known.banks = banks_;
    known.registers = options_.registers;
    known.latency = *report_.find("ffma.latency_cycles")->value;
    if (!order_.empty()) {
      known.dual = dual_;
      known.order = pattern_of(order_);
      known.order_tile = order_tile(banks_);
    }
    const FfmaSearch found = search_ffma(machine_, known);
    const std::string method = fmt::format("greedy search over {} programs: order, registers{}", found.tried,
                                           known.dual       ? ", pairs and filler"
                                           : machine_.reuse ? " and reuse flags"
                                                            : "");
    add("ffma.best_order.fraction_of_peak", found.fraction, "fraction of peak", method,
        fmt::format("FFMA throughput of the fastest program found; row by row on registers as they come: {:.1f} %.",
                    100 * found.first_fraction));
    Result& program = add("ffma.best_program", std::nullopt, "", method,
                          "Registers of a, b and c of each c += a * b of that program, in its order.");
    for (const Ffma& f : found.tile)
      program.lists.push_back({static_cast<double>(f.a), static_cast<double>(f.b), static_cast<double>(f.c)});
    if (!known.dual) return;
    group_figures(found, method);
  }

  void group_figures(const FfmaSearch& found, const std::string& method) {
    Result& pattern = add("ffma.best_pattern", std::nullopt, "", method,
                          "Control code of each slot of a group, and 1 where an FFMA stands, 0 for the filler.");
    pattern.lists.resize(2);
    for (int slot = 0; slot < machine_.encoding.group; ++slot) {
      const bool leads = ((found.pattern.pairs >> slot) & 1U) != 0;
      pattern.lists[0].push_back(leads ? *dual_ : *machine_.encoding.neutral);
      pattern.lists[1].push_back(slot == found.pattern.filler ? 0 : 1);
    }
    const auto by_slot = [&](const std::string& id, const std::vector<double>& fractions, const std::string& how,
                             const std::string& what) {
      Result& r = add(id, std::nullopt, "slot, fraction of peak", how, what);
      r.samples = static_cast<int>(fractions.size());
      for (std::size_t slot = 0; slot < fractions.size(); ++slot)
        r.lists.push_back({static_cast<double>(slot), fractions[slot]});
    };
    by_slot("ffma.filler.fraction_of_peak", found.by_filler, "all pairings of the slots with a filler in one of them",
            "FFMA throughput by the slot that the filler takes, paired in the way that suits it.");
    by_slot("ffma.displaced.fraction_of_peak", found.by_displacement, "the fastest program behind so many fillers",
            "FFMA throughput when the program begins so many slots behind a group's: pairs straddle the boundary.");
  }

  Device device_;
  Options options_;
  sm::Spec spec_;
  Clock::time_point start_;
  TestedSm machine_;
  Banks banks_;
  std::vector<CodeMeaning> codes_;
  std::optional<std::uint32_t> dual_;
  std::vector<int> order_;  // the fastest of the six
  Report report_;
};

}  // namespace

const Result* Report::find(std::string_view id) const {
  const auto found = std::ranges::find(results, id, &Result::id);
  return found == results.end() ? nullptr : &*found;
}

Report probe_sim(const Device& device, const Options& options) { return SimProbe(device, options).run(); }

}  // namespace kernelcast::probe
