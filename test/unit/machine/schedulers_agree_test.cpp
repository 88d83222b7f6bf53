// Two schedulers on the same straight code: one warp on the cycle-level SM, and the in-order scheduler's stalls at the
// same latency. Registers are written once, so that only results are waited for.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "kernelcast/sm.h"
#include "machine/schedules.h"

namespace kernelcast::machine {
namespace {

constexpr int latency_cycles = 6;

struct Straight {
  std::string text;  // for the SM
  TimedBlock block;
  int registers = 4;
};

Straight random_code(unsigned seed, int instructions) {
  std::mt19937 random(seed);
  Straight s;
  for (int i = 0; i < instructions; ++i) {
    // Of the last few values or of the first: chains, independent instructions and all between.
    const auto source = [&] {
      const int first = std::max(0, s.registers - 6);
      return random() % 3 == 0 ? static_cast<int>(random() % 4)
                               : first + static_cast<int>(random() % static_cast<unsigned>(s.registers - first));
    };
    const int a = source(), b = source(), d = s.registers++;
    s.text += "FFMA R" + std::to_string(d) + ", R" + std::to_string(a) + ", R" + std::to_string(b) + "\n";
    TimedInstruction t{{{a, b}, {d}}, {}};
    t.ops[OpClass::fp32_fma] = 1;
    s.block.code.push_back(std::move(t));
  }
  return s;
}

/// Cycles from the first instruction to the one behind the last.
double simulated(const Straight& s) {
  sm::Spec spec;
  spec.id = spec.name = "plain";
  spec.schedulers = 1;
  spec.units = {{"cores", {sm::Op::ffma}, 1, 1}};
  spec.latency[static_cast<std::size_t>(sm::Op::ffma)] = latency_cycles;
  const sm::Result r = sm::simulate(spec, sm::assemble("CLK\n" + s.text + "CLK\n", "t"), {});
  return static_cast<double>(r.clocks.at(0).at(1) - r.clocks.at(0).at(0)) - 1;
}

double scheduled(const Straight& s) {
  Timing timing;
  timing.reschedule = false;
  timing.latency[0] = latency_cycles;
  const Stalls stalls = find_stalls({s.block}, s.registers, timing).at(0);
  return static_cast<double>(s.block.code.size()) + stalls.waits[0] * latency_cycles - stalls.hidden[0];
}

TEST(Schedulers, AgreeOnStraightCodeOfOneWarp) {
  double slowest = 0, quickest = 1e9;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const Straight s = random_code(seed, 5 + static_cast<int>(seed));
    EXPECT_EQ(scheduled(s), simulated(s)) << s.text;
    slowest = std::max(slowest, simulated(s) / static_cast<double>(s.block.code.size()));
    quickest = std::min(quickest, simulated(s) / static_cast<double>(s.block.code.size()));
  }
  EXPECT_GT(slowest, 2.5);  // there were chains, and code that hides most of them
  EXPECT_LT(quickest, 2.5);
}

}  // namespace
}  // namespace kernelcast::machine
