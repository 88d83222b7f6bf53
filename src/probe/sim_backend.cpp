// The back end that measures the cycle-level SM. It hands programs over and gets clock readings back; of the spec it
// uses only what vendors publish: schedulers, lanes, how control codes are laid out.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "kernelcast/error.h"
#include "kernelcast/probe.h"
#include "probe/cost_table.h"
#include "probe/memory_steps.h"
#include "probe/steps.h"

namespace kernelcast::probe {
namespace {

using Clock = std::chrono::steady_clock;

class SimProbe {
 public:
  SimProbe(const Device& device, const Options& options)
      : device_(device), options_(options), spec_(sm::spec_of(device, options.device_folder)), start_(Clock::now()) {
    if (options.registers < 8 || options.registers > 64)
      throw UsageError("--registers " + std::to_string(options.registers) + ": expected 8 to 64");
    machine_.run = [this](const sm::Program& program, int warps) {
      if (std::chrono::duration<double>(Clock::now() - start_).count() > options_.time_limit_s)
        throw LimitError(
            fmt::format("--time-limit {:g}: not over in time; a larger limit or fewer --registers would do",
                        options_.time_limit_s));
      sm::Launch launch;
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
      machine_.code = [](int stall) {
        sm::Control control;
        control.stall = stall;
        return sm::encode_control(control);
      };
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
    say("memory");
    shared_memory();
    global_memory();
    return std::move(report_);
  }

 private:
  void say(const std::string& what) const {
    if (options_.progress) options_.progress("probe: " + what);
  }

  Result& add(std::string id, std::optional<double> value, std::string unit, std::string method, std::string what) {
    Result r;
    r.id = std::move(id);
    r.value = value;
    r.unit = std::move(unit);
    r.method = std::move(method);
    r.samples = 1;
    r.confidence = "exact";
    r.what = std::move(what);
    report_.results.push_back(std::move(r));
    return report_.results.back();
  }

  Result& unknown(std::string id, std::string unit, std::string reason) {
    Result& r = add(std::move(id), std::nullopt, std::move(unit), "", "not measured");
    r.samples = 0;
    r.confidence = "none";
    r.reason = std::move(reason);
    return r;
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
        unknown(k.id, "cycles", "the model has no division: compilers make it of other instructions");
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
    }
    const LinearField field = linear_field(codes_);
    add("control.stall_slope", field.slope, "cycles per step", method,
        fmt::format("Values 0x{:02x} to 0x{:02x}: the interval rises linearly.", field.first, field.last));
    add("control.stall_intercept", field.intercept, "cycles", method,
        fmt::format("Interval under value 0x{:02x}, where the linear field begins.", field.first));
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
          "105 control groups of six FFMA and a filler, registers of the measured banks",
          "FFMA throughput with " + name + " (1: issued alone, 2: a pair).");
      if (f > fraction) best = order;
      fraction = std::max(fraction, f);
    }
    Result& r = add("ffma.best_order", std::nullopt, "", "the six orders above",
                    fmt::format("The fastest order reaches {:.1f} % of peak.", 100 * fraction));
    r.lists.emplace_back(best.begin(), best.end());
  }

  // Memory. What is measured here came from the device file or is a hypothesis of the spec: no field is written back.

  void shared_memory() {
    add("shared.latency_cycles", shared_latency_cycles(machine_), "cycles",
        "chains of 64 and 128 loads of one warp, all lanes from one word, second of two passes",
        "Cycles from a load of shared memory to the next one that needs its result.");
    const SharedBanks found = shared_banks(machine_);
    const std::string steps =
        fmt::format("chains of one warp and loads of {} warps, lanes 4 to 1024 bytes apart", machine_.warps);
    if (found.banks == 0) {
      unknown("shared.bank_bytes", "bytes", "the time does not depend on the step between lanes");
      unknown("shared.banks", "", "the time does not depend on the step between lanes");
      return;
    }
    add("shared.bank_bytes", found.bank_bytes, "bytes", steps, "Width of a bank of shared memory; at least 4.");
    add("shared.banks", found.banks, "", steps, "Banks of shared memory.");
  }

  void global_memory() {
    const int line = static_cast<int>(device_.get_or(Field::memory_l1_line_bytes, 128));
    const std::string method = fmt::format("one warp walks line by line ({} bytes), second of two passes", line);
    const std::vector<CurvePoint> curve = latency_by_size(machine_, line, largest_walk);
    Result& list = add("memory.latency_by_size", std::nullopt, "bytes, cycles", method,
                       "Cycles of a load by the size that is walked through.");
    list.samples = static_cast<int>(curve.size());
    for (const CurvePoint& p : curve) list.lists.push_back({p.bytes, p.latency});
    const double behind = cold_latency_cycles(machine_, line);
    std::vector<Plateau> levels = plateaus(curve);
    // The curve may end behind all caches.
    const bool ends = !levels.empty() && std::abs(levels.back().latency - behind) < 0.02 * behind;
    if (ends) levels.pop_back();
    const bool l1 = device_.get_or(Field::memory_l1_caches_global_loads, 0) != 0;
    level("l1", l1 && !levels.empty() ? &levels.front() : nullptr, levels.size() > 1 || ends, method);
    const std::size_t second = l1 ? 1 : 0;
    level("l2", levels.size() > second ? &levels[second] : nullptr, ends, method);
    add("dram.latency_cycles", behind, "cycles", "chains of 64 and 128 loads of lines that were never read before",
        "Cycles of a load that misses all caches.");
    add("dram.read_bytes_per_cycle", stream_bytes_per_cycle(machine_, machine_.warps), "bytes per cycle and SM",
        fmt::format("128 and 256 loads of {} warps, lines that were never read before", machine_.warps),
        "Bytes that one SM reads from DRAM in a cycle, with its share of the bandwidth.");
  }

  void level(const std::string& name, const Plateau* found, bool has_end, const std::string& method) {
    if (found == nullptr) {
      unknown(name + ".latency_cycles", "cycles", "no such level shows in memory.latency_by_size");
      unknown(name + ".size_bytes", "bytes", "no such level shows in memory.latency_by_size");
      return;
    }
    add(name + ".latency_cycles", found->latency, "cycles", method, "Cycles of a load that this cache holds.");
    if (has_end) {
      add(name + ".size_bytes", found->last_bytes, "bytes", method, "Largest walk that the cache holds, to the step.");
    } else {
      unknown(name + ".size_bytes", "bytes", fmt::format("it holds the largest walk, {} bytes", largest_walk));
    }
  }

  static constexpr std::int64_t largest_walk = std::int64_t{8} << 20U;

  Device device_;
  Options options_;
  sm::Spec spec_;
  Clock::time_point start_;
  Machine machine_;
  Banks banks_;
  std::vector<CodeMeaning> codes_;
  std::optional<std::uint32_t> dual_;
  Report report_;
};

}  // namespace

const Result* Report::find(std::string_view id) const {
  const auto found = std::ranges::find(results, id, &Result::id);
  return found == results.end() ? nullptr : &*found;
}

Report probe_sim(const Device& device, const Options& options) { return SimProbe(device, options).run(); }

}  // namespace kernelcast::probe
