// Stalls of hand-made code: each number can be followed on paper. Nominal latencies: arithmetic 4, global loads 350.
#include "frontend/waits.h"

#include <gtest/gtest.h>

namespace kernelcast::frontend {
namespace {

TimedInstruction op(OpClass c, std::vector<int> defs, std::vector<int> uses, double n = 1) {
  TimedInstruction t{std::move(uses), std::move(defs), {}};
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

TEST(Waits, LoadsStayBehindBarriersAndStores) {
  std::vector<TimedBlock> code(1);
  for (int i = 0; i < 4; ++i) {
    code[0].code.push_back(op(OpClass::shared_load, {i}, {}));
    code[0].code.push_back(op(OpClass::fp32_add, {8 + i}, {i}));
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
  code[0].code.push_back({{0}, {1}, {}});  // a move that costs nothing
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

TEST(Waits, NothingWaitsForNothing) { EXPECT_TRUE(find_stalls({}, 0, Timing{}).empty()); }

}  // namespace
}  // namespace kernelcast::frontend
