// Latency: one chain of dependent operations. Throughput: twelve chains (eight of integers) side by side. Both over the
// time of a dependent integer addition, which is a clock cycle.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "probe/cost_table.h"
#include "probe/host/bench.h"

namespace kernelcast::probe::host {
namespace {

using native::Loop;
using native::Op;
using native::Type;
using View = Measurement::View;

std::string name_of(Op op, Type type) {
  static const std::map<Op, std::string> ops = {{Op::add, "add"}, {Op::mul, "mul"},   {Op::fma, "fma"},
                                                {Op::div, "div"}, {Op::sqrt, "sqrt"}, {Op::fma_and_add, "fma_and_add"}};
  static const std::map<Type, std::string> types = {
      {Type::f32, "f"}, {Type::f64, "d"}, {Type::i32, "i"}, {Type::i64, "l"}};
  return types.at(type) + ops.at(op);
}

std::string words_of(Op op, Type type) {
  static const std::map<Op, std::string> ops = {
      {Op::add, "additions"}, {Op::mul, "multiplications"}, {Op::fma, "multiply-adds"},
      {Op::div, "divisions"}, {Op::sqrt, "square roots"},   {Op::fma_and_add, "multiply-adds and additions in turn"}};
  static const std::map<Type, std::string> types = {
      {Type::f32, "FP32 "}, {Type::f64, "FP64 "}, {Type::i32, "32-bit integer "}, {Type::i64, "64-bit integer "}};
  return types.at(type) + ops.at(op);
}

constexpr const char* cycles = "cycles";
constexpr const char* rate = "operations per cycle and core";

class Arithmetic {
 public:
  explicit Arithmetic(Bench& b) : b_(b), measure_(b.measure) {}

  void run() {
    clock();
    const native::Kernels& widest = b_.widest();
    for (int i = 0; i < widest.count; ++i)
      if (widest.loops[i].lanes == 1) scalar(widest, widest.loops[i]);
    for (int s = 0; s < b_.sets.count; ++s)
      for (int i = 0; i < b_.sets.sets[s]->count; ++i)
        if (b_.sets.sets[s]->loops[i].lanes > 1) vector(*b_.sets.sets[s], b_.sets.sets[s]->loops[i]);
    library();
    add_cost_table(
        measure_, chains_,
        "one thread, dependent operations (special functions: with the addition before each); mean of the ten "
        "fastest repeats",
        "");
  }

 private:
  void clock() {
    measure_.clock(repeated(native::clock_loop, native::clock_ops, 20e-6));
    const auto cycle = measure_.series(repeated(native::clock_loop, native::clock_ops));
    measure_.figure(row("clock.core_hz", "Hz", "dependent additions of integer registers, one cycle each",
                        "Clock of a core that computes.", {Field::clock_sustained_clock_hz}),
                    [cycle](const View& v) { return 1 / v(cycle); });
  }

  void scalar(const native::Kernels& set, const Loop& loop) {
    const std::string name = name_of(loop.op, loop.type), words = words_of(loop.op, loop.type);
    const auto chain = measure_.series(repeated(loop.chain, loop.chain_ops));
    const auto parallel = measure_.series(repeated(loop.parallel, loop.parallel_ops));
    chains_[name] = chain;
    std::vector<Field> latency_fields;
    if (name == "ffma") latency_fields = {Field::latency_fp32_cycles};
    if (name == "dfma") latency_fields = {Field::latency_fp64_cycles};
    if (name == "iadd") latency_fields = {Field::latency_int_cycles};
    std::string method = fmt::format("chain of dependent scalar {}", words);
    std::optional<Measurement::Handle> less;  // what the chain holds beside the operation
    if (loop.op == Op::sqrt) {
      method += ", each of a sum, less the addition's latency";
      less = chains_.at(loop.type == Type::f32 ? "fadd" : "dadd");
    }
    if (loop.op == Op::fma && !set.fused) method += " (this processor has none: a multiplication and an addition)";
    measure_.figure(row(name + ".latency_cycles", cycles, method,
                        "Cycles from one of the " + words + " to the next that needs its result.", latency_fields),
                    [chain, less](const View& v) { return v.cycles(chain) - (less ? v.cycles(*less) : 0); });
    measure_.figure(row(name + ".throughput_per_cycle", rate,
                        fmt::format("{} chains of scalar {} side by side", loop.type < Type::i32 ? 12 : 8, words),
                        "Scalar " + words + " that a core completes in a cycle."),
                    [parallel](const View& v) { return 1 / v.cycles(parallel); });
    if (name == "dfma" && set.fused)
      measure_.figure(row("fma.scalar.instructions_per_cycle", "instructions per cycle and core",
                          fmt::format("12 chains of scalar {} side by side", words),
                          "Scalar multiply-add instructions that a core begins in a cycle.",
                          fields({{"cpu", "scalar_fma_per_core"}})),
                      [parallel](const View& v) { return 1 / v.cycles(parallel); });
  }

  void vector(const native::Kernels& set, const Loop& loop) {
    const std::string name = fmt::format("{}.simd{}", name_of(loop.op, loop.type), set.bits);
    std::string words = fmt::format("{} on {}-bit registers ({})", words_of(loop.op, loop.type), set.bits, set.name);
    if (loop.op == Op::fma && !set.fused) words += ", which are a multiplication and an addition";
    const auto parallel = measure_.series(repeated(loop.parallel, loop.parallel_ops));
    const double lanes = loop.lanes;
    // What compilers use unless told otherwise is what a forecast of compiled code wants.
    const bool usual = b_.base.get(Field::cpu_simd_bits) == set.bits;
    const auto lane_field = [&]() -> std::vector<Field> {
      if (!usual) return {};
      if (loop.op == Op::fma && loop.type == Type::f32) return {Field::compute_fp32_lanes_per_unit};
      if (loop.op == Op::fma && loop.type == Type::f64) return {Field::compute_fp64_lanes_per_unit};
      if (loop.op == Op::add && loop.type == Type::i32) return {Field::compute_int_add_lanes_per_unit};
      if (loop.op == Op::mul && loop.type == Type::i32) return {Field::compute_int_mul_lanes_per_unit};
      return {};
    };
    const std::string method = fmt::format("12 chains of {} side by side", words);
    measure_.figure(row(name + ".throughput_per_cycle", rate, method,
                        fmt::format("Results of {} that a core completes in a cycle.", words), lane_field()),
                    [parallel, lanes](const View& v) { return lanes / v.cycles(parallel); });
    if (usual && loop.op == Op::fma_and_add && loop.type == Type::f32)
      measure_.figure(row(fmt::format("fp_issue.simd{}.per_cycle", set.bits), "instructions per cycle and core",
                          "multiply-adds and additions in turn, or multiply-adds alone where those are faster",
                          "Vector instructions of floating point that a core completes in a cycle.",
                          {Field::cpu_fp_issue_per_core}),
                      [parallel, fma = fma_](const View& v) {
                        return 1 / (fma ? std::min(v.cycles(parallel), v.cycles(*fma)) : v.cycles(parallel));
                      });
    if (loop.op != Op::fma) return;
    if (loop.type == Type::f32) fma_ = parallel;
    const auto chain = measure_.series(repeated(loop.chain, loop.chain_ops));
    measure_.figure(row(name + ".latency_cycles", cycles, "chain of dependent " + words,
                        "Cycles from one to the next that needs its result."),
                    [chain](const View& v) { return v.cycles(chain); });
    if (usual && loop.type == Type::f32 && set.fused)
      measure_.figure(
          row(fmt::format("fma.simd{}.instructions_per_cycle", set.bits), "instructions per cycle and core", method,
              "Vector multiply-add instructions that a core completes in a cycle.", {Field::cpu_fma_per_core}),
          [parallel](const View& v) { return 1 / v.cycles(parallel); });
  }

  // exp(1 - x), log(x + 2), sin(x + 2), cos(x + 2): all values stay between 0 and 3, none of them special.
  template <class T, class F>
  void function(const std::string& name, const std::string& words, const std::string& addition, F f) {
    const auto keep = [](T& x) { asm volatile("" : "+m"(x)); };
    const auto chain = measure_.series(repeated(
        [f, keep](std::int64_t n) {
          T x = T(0.5);
          for (; n > 0; --n) {
            x = f(x);
            keep(x);
          }
        },
        1));
    const auto parallel = measure_.series(repeated(
        [f, keep](std::int64_t n) {
          T x[4] = {T(0.5), T(0.6), T(0.7), T(0.8)};
          for (; n > 0; --n)
            for (T& value : x) {
              value = f(value);
              keep(value);
            }
        },
        4));
    chains_[name] = chain;
    measure_.figure(row(name + ".latency_cycles", cycles,
                        "chain of dependent calls through memory, each of a sum, less the addition's latency",
                        "Cycles of " + words + " of the mathematical library whose result the next call needs."),
                    [chain, add = chains_.at(addition)](const View& v) { return v.cycles(chain) - v.cycles(add); });
    measure_.figure(row(name + ".throughput_per_cycle", "calls per cycle and core", "four chains of calls side by side",
                        "Calls of " + words + " of the mathematical library that a core completes in a cycle."),
                    [parallel](const View& v) { return 1 / v.cycles(parallel); });
  }

  void library() {
    function<float>("fexp", "expf", "fadd", [](float x) { return std::exp(1.0F - x); });
    function<float>("flog", "logf", "fadd", [](float x) { return std::log(x + 2.0F); });
    function<float>("fsin", "sinf", "fadd", [](float x) { return std::sin(x + 2.0F); });
    function<float>("fcos", "cosf", "fadd", [](float x) { return std::cos(x + 2.0F); });
    function<double>("dexp", "exp", "dadd", [](double x) { return std::exp(1.0 - x); });
    function<double>("dlog", "log", "dadd", [](double x) { return std::log(x + 2.0); });
    function<double>("dsin", "sin", "dadd", [](double x) { return std::sin(x + 2.0); });
    function<double>("dcos", "cos", "dadd", [](double x) { return std::cos(x + 2.0); });
  }

  Bench& b_;
  Measurement& measure_;
  std::map<std::string, Measurement::Handle> chains_;
  std::optional<Measurement::Handle> fma_;
};

}  // namespace

void add_arithmetic(Bench& b) { Arithmetic(b).run(); }

}  // namespace kernelcast::probe::host
