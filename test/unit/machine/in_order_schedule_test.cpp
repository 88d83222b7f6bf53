// Stalls of hand-made code: each number can be followed on paper. Nominal latencies: arithmetic 4, global loads 350.
#include "machine/schedules.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kernelcast::machine {
namespace {

TimedInstruction op(OpClass c, std::vector<int> defs, std::vector<int> uses, double n = 1) {
  TimedInstruction t{{std::move(uses), std::move(defs)}, {}};
  t.ops[c] = n;
  return t;
}
double waits(const Stalls& s, Latency l) { return s.waits[static_cast<std::size_t>(l)]; }
double hidden(const Stalls& s, Latency l) { return s.hidden[static_cast<std::size_t>(l)]; }

TEST(Waits, AChainWaitsAtEachLink) {
  std::vector<TimedBlock> code(1);
  for (int i = 0; i < 4; ++i) code[0].code.push_back(op(OpClass::fp32_add, {i + 1}, {i}));
  const Stalls s = find_stalls(code, 8, Timing{}).at(0);
  EXPECT_EQ(waits(s, Latency::alu), 3);   // the first has its operand
  EXPECT_EQ(hidden(s, Latency::alu), 3);  // the producer's own issue slot each
}

TEST(Waits, IndependentInstructionsDoNotWait) {
  std::vector<TimedBlock> code(1);
  for (int i = 0; i < 8; ++i) code[0].code.push_back(op(OpClass::fp32_add, {i}, {}));
  const Stalls s = find_stalls(code, 8, Timing{}).at(0);
  EXPECT_EQ(waits(s, Latency::alu), 0);
}

TEST(Waits, LoadsBeforeTheirFirstUseWaitOnce) {
  std::vector<TimedBlock> code(1);
  for (int i = 0; i < 8; ++i) {  // as a source has it: load, use, load, use
    code[0].code.push_back(op(OpClass::global_load, {i}, {}));
    code[0].code.push_back(op(OpClass::fp32_add, {8 + i}, {i}));
  }
  const Stalls s = find_stalls(code, 16, Timing{}).at(0);
  EXPECT_EQ(waits(s, Latency::global), 1);
  EXPECT_EQ(s.loads, 8);
  Timing in_order;
  in_order.reschedule = false;
  EXPECT_EQ(waits(find_stalls(code, 16, in_order).at(0), Latency::global), 8);
}

// Loads that were issued 10 cycles apart come back 10 cycles apart, whatever a load takes: two whole latencies would be
// wrong, and so would be two that are hidden by what was counted for another latency.
TEST(Waits, LoadsThatAreUnderWayTogetherWaitForOneLatency) {
  std::vector<TimedBlock> code(1);
  code[0].code.push_back(op(OpClass::global_load, {0}, {}));
  for (int i = 0; i < 9; ++i) code[0].code.push_back(op(OpClass::fp32_add, {10 + i}, {}));
  code[0].code.push_back(op(OpClass::global_load, {1}, {}));
  code[0].code.push_back(op(OpClass::fp32_add, {2}, {0}));
  code[0].code.push_back(op(OpClass::fp32_add, {3}, {1}));
  Timing in_order;
  in_order.reschedule = false;
  const Stalls s = find_stalls(code, 32, in_order).at(0);
  EXPECT_EQ(waits(s, Latency::global), 1);
  EXPECT_EQ(hidden(s, Latency::global), 11 - 9);  // to the first use; the second comes 10 after it, one of them issued
}

// A way that is hardly ever taken waits for the load; the way around it finds it under way.
TEST(Waits, AWayThatABranchSkipsWaitsForItselfOnly) {
  std::vector<TimedBlock> code(3);
  code[0].code.push_back(op(OpClass::global_load, {0}, {}));
  code[0].successors = {1, 2};
  code[1].code.push_back(op(OpClass::fp32_add, {1}, {0}));
  code[1].successors = {2};
  code[2].code.push_back(op(OpClass::fp32_add, {2}, {0}));
  const std::vector<Stalls> s = find_stalls(code, 4, Timing{});
  EXPECT_EQ(waits(s.at(1), Latency::global), 1);
  EXPECT_EQ(waits(s.at(2), Latency::global), 1);
}

TEST(Waits, LoadsStayBehindBarriersAndStores) {
  std::vector<TimedBlock> code(1);
  for (int i = 0; i < 4; ++i) {
    code[0].code.push_back(op(OpClass::shared_load, {i}, {}));
    code[0].code.push_back(op(OpClass::shared_store, {}, {i}));
    code[0].code.push_back(op(OpClass::barrier, {}, {}));
  }
  EXPECT_EQ(waits(find_stalls(code, 16, Timing{}).at(0), Latency::shared), 4);
}

TEST(Waits, RegistersLimitTheLoadsUnderWay) {
  std::vector<TimedBlock> code(1);
  for (int i = 0; i < 8; ++i) {
    code[0].code.push_back(op(OpClass::global_load, {i}, {}));
    code[0].code.push_back(op(OpClass::fp32_add, {8 + i}, {i}));
  }
  Timing few;
  few.registers_in_flight = 2;
  EXPECT_GE(waits(find_stalls(code, 16, few).at(0), Latency::global), 2);
}

TEST(Waits, AnAccumulatorIsARecurrenceOfItsLoop) {
  std::vector<TimedBlock> code(1);
  code[0].code.push_back(op(OpClass::fp32_fma, {0}, {0}));
  code[0].successors = {0};
  const Stalls once = find_stalls(code, 2, Timing{}).at(0);
  EXPECT_EQ(waits(once, Latency::alu), 1);  // for the iteration before
  code[0].successors = {};
  EXPECT_EQ(waits(find_stalls(code, 2, Timing{}).at(0), Latency::alu), 0);
}

TEST(Waits, ResultsOfOneBlockAreAwaitedInTheNext) {
  std::vector<TimedBlock> code(2);
  code[0].code.push_back(op(OpClass::global_load, {0}, {}));
  code[0].successors = {1};
  code[1].code.push_back(op(OpClass::fp32_add, {1}, {0}));
  const auto s = find_stalls(code, 2, Timing{});
  EXPECT_EQ(waits(s[0], Latency::global), 0);
  EXPECT_EQ(waits(s[1], Latency::global), 1);
}

TEST(Waits, FreeCopiesPassTheLatencyOn) {
  std::vector<TimedBlock> code(1);
  code[0].code.push_back(op(OpClass::global_load, {0}, {}));
  code[0].code.push_back({{{0}, {1}}, {}});  // a move that costs nothing
  code[0].code.push_back(op(OpClass::fp32_add, {2}, {1}));
  const Stalls s = find_stalls(code, 3, Timing{}).at(0);
  EXPECT_EQ(waits(s, Latency::global), 1);
  EXPECT_EQ(waits(s, Latency::alu), 0);
}

TEST(Waits, AnExpandedInstructionWaitsForItself) {
  std::vector<TimedBlock> code(1);
  code[0].code.push_back(op(OpClass::fp32_fma, {0}, {}, 10));
  EXPECT_NEAR(waits(find_stalls(code, 1, Timing{}).at(0), Latency::alu), 7, 1e-12);
}

TEST(Waits, ClassOfAResult) {
  const auto of = [](OpClass c) { return latency_class(op(c, {}, {}).ops); };
  EXPECT_EQ(of(OpClass::global_load), Latency::global);
  EXPECT_EQ(of(OpClass::fp64_fma), Latency::fp64);
  EXPECT_EQ(of(OpClass::convert), Latency::special);
  EXPECT_EQ(of(OpClass::shared_load), Latency::shared);
  EXPECT_EQ(of(OpClass::local_load), Latency::local);
  EXPECT_EQ(of(OpClass::constant_load), Latency::constant);
  EXPECT_EQ(of(OpClass::int_add), Latency::alu);
}

TEST(BarrierPhases, ABarrierPartsABlock) {
  std::vector<TimedBlock> code(1);
  code[0].code.push_back(op(OpClass::global_load, {0}, {}));
  code[0].code.push_back(op(OpClass::shared_store, {}, {0}));
  code[0].code.push_back(op(OpClass::barrier, {}, {}));
  code[0].code.push_back(op(OpClass::shared_load, {1}, {}));
  code[0].code.push_back(op(OpClass::fp32_add, {2}, {1}));
  const Walk w = walk(code, 3, Timing{});
  ASSERT_EQ(w.phases[0].size(), 2U);
  const BarrierPhase &first = w.phases[0][0], &second = w.phases[0][1];
  EXPECT_EQ(first.global, 1);
  EXPECT_EQ(first.shared, 1);
  EXPECT_EQ(first.arithmetic, 0);
  EXPECT_EQ(first.barriers, 1);
  EXPECT_EQ(first.instructions, 3);
  EXPECT_EQ(first.waits[static_cast<std::size_t>(Latency::global)], 1);
  EXPECT_EQ(second.arithmetic, 1);
  EXPECT_EQ(second.shared, 1);
  EXPECT_EQ(second.waits[static_cast<std::size_t>(Latency::shared)], 1);
  EXPECT_EQ(second.barriers, 0);
}

TEST(BarrierPhases, TheEndOfALoopAndItsStartAreOne) {
  std::vector<TimedBlock> code(3);
  code[0].code.push_back(op(OpClass::int_add, {0}, {}));
  code[0].successors = {1};
  for (int barrier = 0; barrier < 2; ++barrier) {
    code[1].code.push_back(op(OpClass::shared_load, {}, {}));
    code[1].code.push_back(op(OpClass::barrier, {}, {}));
  }
  code[1].code.push_back(op(OpClass::shared_load, {}, {}));
  code[1].successors = {1, 2};
  code[2].code.push_back(op(OpClass::int_add, {0}, {}));
  const Walk w = walk(code, 1, Timing{});
  ASSERT_EQ(w.phases[1].size(), 2U);
  EXPECT_EQ(w.phases[1][0].shared, 2);
  EXPECT_EQ(w.phases[1][1].shared, 1);
  ASSERT_EQ(w.phases[0].size(), 1U);
  EXPECT_EQ(w.phases[0][0].id, w.phases[1][0].id);
  ASSERT_EQ(w.phases[2].size(), 1U);
  EXPECT_EQ(w.phases[2][0].id, w.phases[1][0].id);
}

TEST(BarrierPhases, ThereAreNoneWithoutABarrier) {
  std::vector<TimedBlock> code(2);
  code[0].code.push_back(op(OpClass::fp32_add, {}, {}));
  code[0].successors = {1};
  code[1].code.push_back(op(OpClass::fp32_add, {}, {}));
  for (const auto& phases : walk(code, 1, Timing{}).phases) EXPECT_TRUE(phases.empty());
}

TEST(BarrierPhases, AMatrixInstructionStaysBetweenItsBarriers) {
  std::vector<TimedBlock> code(1);
  code[0].code.push_back(op(OpClass::global_load, {0}, {}));
  code[0].code.push_back(op(OpClass::tensor, {1}, {0}));  // ready long after the barrier could be issued
  code[0].code.push_back(op(OpClass::barrier, {}, {}));
  code[0].code.push_back(op(OpClass::tensor, {2}, {}));  // ready long before it
  const Walk w = walk(code, 3, Timing{});
  ASSERT_EQ(w.phases[0].size(), 2U);
  EXPECT_EQ(w.phases[0][0].products, 1);
  EXPECT_EQ(w.phases[0][1].products, 1);
}

/// The most values alive at a time; live-out ones stay.
int pressure_of(const TimedBlock& block, const std::vector<std::size_t>& order, int registers) {
  std::vector<int> users(static_cast<std::size_t>(registers), 0);
  for (const TimedInstruction& t : block.code)
    for (int u : t.uses) ++users[static_cast<std::size_t>(u)];
  int alive = 0, most = 0;
  for (std::size_t i : order) {
    for (int u : block.code[i].uses) alive -= --users[static_cast<std::size_t>(u)] == 0 ? 1 : 0;
    alive += static_cast<int>(block.code[i].defs.size());
    most = std::max(most, alive);
  }
  return most;
}

// Two sums over the same values, the second 100 values behind, as a filter that is unrolled for two outputs: in the
// order of the text, which goes step by step, each value waits 100 steps for its second user.
TEST(Waits, ANarrowOrderReadsAValueWhenAllItsUsersCanTakeIt) {
  constexpr int values = 200, apart = 100;
  TimedBlock block;
  int next = values;
  std::vector<bool> loaded(values, false);
  const auto load = [&](int v) {
    if (!loaded[static_cast<std::size_t>(v)]) block.code.push_back(op(OpClass::shared_load, {v}, {}));
    loaded[static_cast<std::size_t>(v)] = true;
  };
  int sums[2] = {-1, -1};
  for (int step = 0; step < values - apart; ++step)
    for (int s = 0; s < 2; ++s) {
      const int v = step + s * apart;
      load(v);
      std::vector<int> uses{v};
      if (sums[s] >= 0) uses.push_back(sums[s]);
      sums[s] = next++;
      block.code.push_back(op(OpClass::fp32_fma, {sums[s]}, uses));
    }
  // A second use of each value of the other sum's range.
  for (int step = 0; step < apart; ++step) {
    const int v = step + apart;
    block.code.push_back(op(OpClass::fp32_fma, {next}, {v, sums[0]}));
    sums[0] = next++;
  }
  block.code.push_back(op(OpClass::control, {}, {}));
  std::vector<std::size_t> text(block.code.size());
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = i;
  const std::vector<int> weight(static_cast<std::size_t>(next), 1);
  std::vector<bool> live_out(static_cast<std::size_t>(next), false);
  live_out[static_cast<std::size_t>(sums[0])] = live_out[static_cast<std::size_t>(sums[1])] = true;
  const auto order = narrow_order(block, weight, live_out, 5);
  ASSERT_EQ(order.size(), block.code.size());
  std::vector<std::size_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, text);
  EXPECT_GT(pressure_of(block, text, next), apart);
  EXPECT_LE(pressure_of(block, order, next), 5);
}

// A matrix product as its source is often written: the fragments of all eight steps are loaded, those of A before those
// of B, then all are multiplied; a sum is added to in place. 16 sums and the fragments of one step are enough.
TEST(Waits, FragmentsAreLoadedWhereTheyAreNeededWhenRegistersRunOut) {
  constexpr int sums = 16, side = 4, steps = 8, of_a = 4, of_b = 2, of_sum = 4;
  constexpr int first_a = sums, first_b = first_a + steps * side, registers = first_b + steps * side;
  TimedBlock block;
  std::vector<int> weight(registers, of_sum);
  for (int f = first_a; f < registers; ++f) {
    block.code.push_back(op(OpClass::shared_load, {f}, {}));
    weight[static_cast<std::size_t>(f)] = f < first_b ? of_a : of_b;
  }
  for (int step = 0; step < steps; ++step)
    for (int s = 0; s < sums; ++s)
      block.code.push_back(
          op(OpClass::tensor, {s}, {s, first_a + step * side + s / side, first_b + step * side + s % side}));
  std::vector<bool> live_out(registers, false);
  LiveSets live(1, std::vector<std::uint64_t>((registers + 63) / 64));
  for (int s = 0; s < sums; ++s) {
    live_out[static_cast<std::size_t>(s)] = true;
    live[0][0] |= std::uint64_t{1} << s;
  }
  const auto pressure = [&](int most) {
    const auto order = narrow_order(block, weight, live_out, most);
    EXPECT_EQ(order.size(), block.code.size());
    FlowGraph graph{std::vector<FlowBlock>(1), weight};
    for (const std::size_t i : order) graph.blocks[0].code.push_back(block.code[i]);
    return max_pressure(graph, live, 0);
  };
  EXPECT_GT(pressure(1000), 120);  // what fits is left
  EXPECT_LE(pressure(100), sums * of_sum + side * (of_a + of_b) + of_a);
}

TEST(Waits, NothingWaitsForNothing) { EXPECT_TRUE(find_stalls({}, 0, Timing{}).empty()); }

/// A loop of one block that copies, closes the group, waits until `open_groups` are under way and computes a while.
Stalls copy_loop(int open_groups, int instructions) {
  std::vector<TimedBlock> code(1);
  TimedInstruction copy = op(OpClass::async_copy, {}, {}), commit = op(OpClass::other, {}, {}), wait = commit;
  copy.async = Async::copy;
  commit.async = Async::commit;
  wait.async = Async::wait;
  wait.open_groups = open_groups;
  code[0].code = {copy, copy, commit, wait};
  for (int i = 0; i < instructions; ++i) code[0].code.push_back(op(OpClass::fp32_add, {i}, {}));
  code[0].successors = {0};
  return find_stalls(code, instructions, Timing{}).at(0);
}

TEST(Waits, CopiesBesideTheWarpStopItWhereItWaitsForThem) {
  const Stalls at_once = copy_loop(0, 100);
  EXPECT_EQ(waits(at_once, Latency::global), 1);
  EXPECT_EQ(at_once.loads, 2);
  EXPECT_LT(hidden(at_once, Latency::global), 5);
}

TEST(Waits, APipelineOfCopiesHidesItsIterations) {
  const Stalls two_stages = copy_loop(1, 100);
  EXPECT_EQ(waits(two_stages, Latency::global), 1);
  EXPECT_GE(hidden(two_stages, Latency::global), 100);
  EXPECT_LT(hidden(two_stages, Latency::global), 350);
  EXPECT_GE(hidden(copy_loop(1, 400), Latency::global), 350) << "the latency is over before the wait";
}

}  // namespace
}  // namespace kernelcast::machine
