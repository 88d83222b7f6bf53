// Loops whose time follows from width, ports or latency alone.
#include "machine/schedules.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace kernelcast::machine {
namespace {

const Core core{.width = 4, .window = 100, .ports = 4, .registers = 40};

CoreInstruction op(int latency, std::vector<int> reads, std::vector<int> writes, std::uint64_t ports = 0b1111) {
  CoreInstruction i;
  i.latency = latency;
  for (const int r : reads) i.reads.push_back({r, 0});
  i.writes = std::move(writes);
  if (ports != 0) i.uses.push_back({ports, 1});
  return i;
}

CoreInstruction memory(bool load, int reg, int base, std::uint64_t displacement) {
  CoreInstruction i;
  i.loads = load;
  i.stores = !load;
  i.latency = load ? 5 : 1;
  i.base = base;
  i.address_text = displacement;
  i.reads.push_back({base, 0});
  (load ? i.writes : [&]() -> std::vector<int>& {
    i.reads.push_back({reg, 0});
    return i.writes;
  }())
      .push_back(load ? reg : 39);
  return i;
}

TEST(Schedule, IndependentWorkGoesAtTheWidth) {
  std::vector<CoreInstruction> body;
  for (int k = 0; k < 8; ++k) body.push_back(op(3, {}, {k}));
  EXPECT_NEAR(schedule_loop(body, core).cycles, 2, 0.05);
}

TEST(Schedule, OnePortTakesOneACycle) {
  std::vector<CoreInstruction> body;
  for (int k = 0; k < 3; ++k) body.push_back(op(1, {}, {k}, 0b0001));
  const LoopCycles c = schedule_loop(body, core);
  EXPECT_NEAR(c.cycles, 3, 0.05);
  EXPECT_DOUBLE_EQ(c.width_cycles, 3);
}

TEST(Schedule, ARecurrenceTakesItsLatency) {
  EXPECT_NEAR(schedule_loop({op(5, {1}, {1})}, core).cycles, 5, 0.05);
  EXPECT_NEAR(schedule_loop({op(5, {1}, {2}), op(4, {2}, {1})}, core).cycles, 9, 0.1);
}

TEST(Schedule, AnOperandThatIsNeededLateShortensTheChain) {
  CoreInstruction i = op(8, {1}, {1});
  i.reads[0].ahead = 5;
  EXPECT_NEAR(schedule_loop({i}, core).cycles, 3, 0.05);
}

TEST(Schedule, AnAccumulatorInMemoryWaitsForTheStore) {
  // load 5, add 3, store 1: the next iteration's load finds the value of the store.
  const std::vector<CoreInstruction> body{memory(true, 1, 10, 7), op(3, {1}, {1}), memory(false, 1, 10, 7)};
  EXPECT_NEAR(schedule_loop(body, core).cycles, 9, 0.1);
  const std::vector<CoreInstruction> elsewhere{memory(true, 1, 10, 7), op(3, {1}, {1}), memory(false, 1, 10, 8)};
  EXPECT_LT(schedule_loop(elsewhere, core).cycles, 2);
}

TEST(Schedule, AddressesAreTheSameWhenTheirValuesAre) {
  // The base is loaded anew in each iteration, always from the same place.
  const std::vector<CoreInstruction> body{memory(true, 2, 10, 100), memory(true, 1, 2, 7), op(3, {1}, {1}),
                                          memory(false, 1, 2, 7)};
  EXPECT_NEAR(schedule_loop(body, core).cycles, 9, 0.1);
}

// A chain of `latency` beside what does not wait runs ahead until its queue is full; the next passage begins then.
TEST(Schedule, AFullQueueEndsTheOverlapOfPassages) {
  CoreInstruction link = op(4, {1}, {1}, 0b0001);
  const CoreInstruction counter = op(1, {2}, {2}, 0b0110);
  Core queued = core;
  queued.window = 1000;
  const double free = schedule_loop({link, counter}, queued).overlap;
  EXPECT_GT(free, 4 * 150);  // two of a window of 1,000
  queued.queues = {20, 50};
  link.queued = {{0, 1}};
  EXPECT_NEAR(schedule_loop({link, counter}, queued).overlap, 4 * 20, 8);
  CoreInstruction kept = memory(false, 1, 3, 1);  // what each stores waits in the same queue
  kept.queued = {{0, 1}};
  EXPECT_NEAR(schedule_loop({link, kept, counter}, queued).overlap, 4 * 10, 8);
  kept.queued = {{1, 1}};
  EXPECT_NEAR(schedule_loop({link, kept, counter}, queued).overlap, 4 * 20, 8);
}

TEST(Schedule, NothingTakesNoTime) { EXPECT_EQ(schedule_loop({}, core).cycles, 0); }

RC_GTEST_PROP(Schedule, NeverBeatsWidthAndPortsAndMoreCodeIsNeverFaster, ()) {
  std::vector<CoreInstruction> body;
  const int n = *rc::gen::inRange(1, 20);
  for (int k = 0; k < n; ++k)
    body.push_back(op(*rc::gen::inRange(1, 8), {*rc::gen::inRange(0, 10)}, {*rc::gen::inRange(0, 10)},
                      static_cast<std::uint64_t>(*rc::gen::inRange(1, 16))));
  const LoopCycles all = schedule_loop(body, core);
  RC_ASSERT(all.cycles >= all.width_cycles - 1e-9);
  RC_ASSERT(all.width_cycles >= n / 4.0 - 1e-9);
  double longest = 0;
  for (const CoreInstruction& i : body) longest += i.latency + 1;
  RC_ASSERT(all.cycles <= longest + 1);
}

}  // namespace
}  // namespace kernelcast::machine
