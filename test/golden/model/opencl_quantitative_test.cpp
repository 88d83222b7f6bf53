// The four kernels of the OpenCL paper on GeForce GTX 280, to the cycle, in all configurations and all three readings.
// The expected numbers are worked out by hand in the comments and written as whole cycles; times follow from them with
// exact fractions: 1.296 GHz shader clock, 1.107 GHz memory clock, 30 units.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "model/opencl_quantitative.h"
#include "model/opencl_quantitative_paper.h"

namespace kernelcast::opencl_quantitative {
namespace {

using paper::gtx_280;
using paper::hd_5870;
using paper::KernelLaunch;

constexpr double shader = 1.296e9, memory = 1.107e9;

/// What the hand computation gives: cycles of one batch, cycles at barriers of one group.
struct Hand {
  double batches_per_group;  // N_batch/WG, whole
  double batches;            // N_batch of the whole launch, whole; a unit has a thirtieth of it
  double groups;             // N_WG
  double compute, branch;    // cycles of a batch
  double global, local;      // likewise; global in memory cycles
  double barriers;           // cycles of a group
};

void expect_exactly(const KernelLaunch& k, const Hand& hand) {
  const QuantitativeDevice m = gtx_280();
  const BatchCost cost = batch_cost(m, k.kernel);
  EXPECT_EQ(cost.compute.value(), hand.compute);
  EXPECT_NEAR(cost.branch.value(), hand.branch, 1e-9);  // a fifth of a cycle is no binary fraction
  EXPECT_EQ(cost.global.value(), hand.global);
  EXPECT_EQ(cost.local.value(), hand.local);

  const double n = hand.batches / 30;
  const double computation = (hand.compute + hand.branch) / shader;
  const double waiting = hand.global / memory + hand.local / shader;
  const double barriers = hand.groups / 30 * hand.barriers / shader;

  const QuantitativeTimes settled = forecast(m, cost, k.launch, Variant::settled);
  EXPECT_EQ(settled.batches_per_group, hand.batches_per_group);
  EXPECT_DOUBLE_EQ(settled.batches_per_unit, n);
  EXPECT_FALSE(settled.serial);
  // Barrier time back in cycles of one group: must be whole and equal.
  EXPECT_NEAR(settled.barriers.value() * shader * 30 / hand.groups, hand.barriers, 1e-6);
  EXPECT_DOUBLE_EQ(settled.total().value(), n * computation + waiting + barriers);
  EXPECT_DOUBLE_EQ(forecast(m, cost, k.launch, Variant::printed).total().value(),
                   n * (n * computation + waiting) + barriers);
  EXPECT_DOUBLE_EQ(forecast(m, cost, k.launch, Variant::no_overlap).total().value(),
                   n * (computation + waiting) + barriers);
}

TEST(OpenclQuantitativeGtx280, OneAddOfAWarpCosts96Cycles) {
  EXPECT_EQ(compute_cycles(gtx_280(), {1, 0, 0, 0}).value(), 96);   // 32/8 * 24
  EXPECT_EQ(compute_cycles(gtx_280(), {0, 1, 0, 0}).value(), 140);  // 32/8 * 35
  EXPECT_EQ(compute_cycles(gtx_280(), {0, 0, 1, 0}).value(), 548);  // 32/8 * 137
  EXPECT_EQ(compute_cycles(gtx_280(), {0, 0, 0, 1}).value(), 180);  // 32/8 * 45
}

// 1024 * (24 + 35) = 60,416 cycles a work-item, * 32/8 = 241,664 a batch. 1024 * (2 + 32) = 34,816 transactions of 440
// cycles = 15,319,040. 1024 * 1024 / 32 = 32,768 batches. No barrier.
TEST(OpenclQuantitativeGtx280, MatrixProductGlobal) {
  expect_exactly(paper::mm_global(64), {2, 32768, 16384, 241664, 0, 15319040, 0, 0});
  expect_exactly(paper::mm_global(128), {4, 32768, 8192, 241664, 0, 15319040, 0, 0});
  expect_exactly(paper::mm_global(256), {8, 32768, 4096, 241664, 0, 15319040, 0, 0});
}

// 3 * 1024 transactions of 440 = 1,351,680; 2 * 1024 local accesses of 2 * 38 = 155,648. Multiply-adds: 1024/8 * 8 and
// 1024/16 * 16 = 1024 as above, but 1024/8 * 16 = 2048 for 8x16: 483,328 cycles.
// Barriers: 1024/8 = 128 (8x8, 8x16) or 1024/16 = 64 (16x16) flat ones of 50, and as many by (12), which together wait
// for the computation of all other batches of the group once.
//   8x8, 2 batches:    128 * 50 + 1 * 241,664 =   248,064
//   8x16, 4 batches:   128 * 50 + 3 * 483,328 = 1,456,384
//   16x16, 8 batches:   64 * 50 + 7 * 241,664 = 1,694,848
TEST(OpenclQuantitativeGtx280, MatrixProductLocal) {
  expect_exactly(paper::mm_local(8, 8), {2, 32768, 16384, 241664, 0, 1351680, 155648, 248064});
  expect_exactly(paper::mm_local(8, 16), {4, 32768, 8192, 483328, 0, 1351680, 155648, 1456384});
  expect_exactly(paper::mm_local(16, 16), {8, 32768, 4096, 241664, 0, 1351680, 155648, 1694848});
}

// 15 additions, each by (7): one ADD of 96 cycles or nothing; 0.2 * 96 + 0.8 * 96/2 = 57.6, * 15 = 864 cycles.
// Global: the write: 440. Local: 2 in each of 16 copies, 3 in each addition, 1 for the write: 78 * 76 = 5,928.
// Barriers: 50 flat, and (N - 1) * 864: 864, 2,592, 6,048 for 2, 4, 8 batches. 2,048 batches.
TEST(OpenclQuantitativeGtx280, PrefixSumWithBranches) {
  expect_exactly(paper::pps_br(64), {2, 2048, 1024, 0, 864, 440, 5928, 914});
  expect_exactly(paper::pps_br(128), {4, 2048, 512, 0, 864, 440, 5928, 2642});
  expect_exactly(paper::pps_br(256), {8, 2048, 256, 0, 864, 440, 5928, 6098});
}

// 32 ADDs of 96 = 3,072. Global: 4 accesses of two words' stride: 2 transactions each, 8 * 440 = 3,520.
// Local: conflicts of 2, 4, 8, 16 (nine times), 8, 4, 2, 1 ways = 173 in 16 rounds, 3 accesses up and 4 down, and four
// two-way ones at the ends: (7 * 173 + 4 * 2) * 76 = 92,644. 1,024 batches.
// Barriers: 2 * 50 flat and (N - 1) * 3,072: 3,172, 9,316, 21,604.
TEST(OpenclQuantitativeGtx280, PrefixSumWithBankConflicts) {
  expect_exactly(paper::pps_conf(64), {2, 1024, 512, 3072, 0, 3520, 92644, 3172});
  expect_exactly(paper::pps_conf(128), {4, 1024, 256, 3072, 0, 3520, 92644, 9316});
  expect_exactly(paper::pps_conf(256), {8, 1024, 128, 3072, 0, 3520, 92644, 21604});
}

double seconds(const QuantitativeDevice& m, const KernelLaunch& k, Variant v) {
  return forecast(m, batch_cost(m, k.kernel), k.launch, v).total().value();
}

// Milliseconds as printed in docs/model/opencl-quantitative.md, computed apart with exact fractions.
TEST(OpenclQuantitativeGtx280, TheTableOfTheDocumentation) {
  const auto ms = [](const KernelLaunch& k, Variant v) { return 1e3 * seconds(gtx_280(), k, v); };
  using enum Variant;
  EXPECT_NEAR(ms(paper::mm_global(256), settled), 217.51235924922213, 1e-9);
  EXPECT_NEAR(ms(paper::mm_global(256), printed), 237581.49959595036, 1e-6);
  EXPECT_NEAR(ms(paper::mm_global(256), no_overlap), 15318.829177075178, 1e-8);
  EXPECT_NEAR(ms(paper::mm_local(8, 8), settled), 309.5491154070059, 1e-9);
  EXPECT_NEAR(ms(paper::mm_local(8, 16), settled), 715.5486808391047, 1e-9);
  EXPECT_NEAR(ms(paper::mm_local(16, 16), settled), 383.5670380407508, 1e-9);
  EXPECT_NEAR(ms(paper::mm_local(16, 16), printed), 224109.76636732442, 1e-6);
  EXPECT_NEAR(ms(paper::mm_local(16, 16), no_overlap), 1847.0959484492623, 1e-8);
  EXPECT_NEAR(ms(paper::pps_br(64), settled), 0.07455508381009736, 1e-12);
  EXPECT_NEAR(ms(paper::pps_br(256), settled), 0.09063409615577638, 1e-12);
  EXPECT_NEAR(ms(paper::pps_conf(64), settled), 0.1973441684231657, 1e-12);
  EXPECT_NEAR(ms(paper::pps_conf(256), no_overlap), 2.7005754893104488, 1e-11);
}

// The finding that the documentation reports: the paper says that the tiled product is faster; the settled reading
// calls it slower because (12) outweighs the memory that tiles save. The other two readings have the stated order.
TEST(OpenclQuantitativeGtx280, OrderOfTheMatrixProducts) {
  for (const double tile : {8.0, 16.0}) {
    const KernelLaunch global = paper::mm_global(tile * tile), local = paper::mm_local(tile, tile);
    EXPECT_GT(seconds(gtx_280(), local, Variant::settled), seconds(gtx_280(), global, Variant::settled));
    EXPECT_LT(seconds(gtx_280(), local, Variant::printed), seconds(gtx_280(), global, Variant::printed));
    EXPECT_LT(seconds(gtx_280(), local, Variant::no_overlap), seconds(gtx_280(), global, Variant::no_overlap));
  }
}

TEST(OpenclQuantitativeGtx280, BankConflictsMakeTheTreeScanSlowerInAllReadings) {
  for (const Variant v : {Variant::settled, Variant::printed, Variant::no_overlap}) {
    for (const double group : {64.0, 128.0, 256.0}) {
      EXPECT_LT(seconds(gtx_280(), paper::pps_br(group), v), seconds(gtx_280(), paper::pps_conf(group), v));
    }
  }
}

// Tiles of 8x16 compute twice as much, as the paper counts them, and are the slowest in all three readings.
TEST(OpenclQuantitativeGtx280, OrderOfTheTiles) {
  for (const Variant v : {Variant::settled, Variant::printed, Variant::no_overlap}) {
    EXPECT_LT(seconds(gtx_280(), paper::mm_local(8, 8), v), seconds(gtx_280(), paper::mm_local(16, 16), v));
    EXPECT_LT(seconds(gtx_280(), paper::mm_local(16, 16), v), seconds(gtx_280(), paper::mm_local(8, 16), v));
  }
}

// HD 5870. The paper prints no cost for it, so what is checked is what holds over costs that vary independently (729
// machines, paper::hd_5870_costs). The numbers are those of the formulas written once more, outside this program.
TEST(OpenclQuantitativeHd5870, TheGroupSizeOfMmGlobalNeverMatters) {
  for (const QuantitativeDevice& m : paper::hd_5870_costs())
    for (const Variant v : {Variant::settled, Variant::printed, Variant::no_overlap})
      for (const double group : {128.0, 256.0})
        EXPECT_DOUBLE_EQ(seconds(m, paper::mm_global(group, 64), v), seconds(m, paper::mm_global(64, 64), v));
}

TEST(OpenclQuantitativeHd5870, OrderingsOverTheRangeOfCosts) {
  std::vector<std::string> rows;
  for (const paper::Ordering& o : paper::hd_5870_orderings())
    rows.push_back(o.faster + " < " + o.slower + ": " + std::to_string(o.holds[0]) + " " + std::to_string(o.holds[1]) +
                   " " + std::to_string(o.holds[2]));
  EXPECT_THAT(rows, ::testing::ElementsAre(
                        "MM_Local 8x8 < MM_Local 16x16: 729 729 729", "MM_Local 16x16 < MM_Local 8x16: 729 729 729",
                        "MM_Local 8x8 < MM_Global 64: 324 729 729", "MM_Local 8x16 < MM_Global 128: 36 90 669",
                        "MM_Local 16x16 < MM_Global 256: 90 712 712", "PPS_Br 64 < PPS_Conf 64: 729 618 729",
                        "PPS_Br 128 < PPS_Conf 128: 729 631 729", "PPS_Br 256 < PPS_Conf 256: 729 646 729"));
}

}  // namespace
}  // namespace kernelcast::opencl_quantitative
