// The four kernels of the OpenCL paper on GeForce GTX 280, to the cycle, in all configurations and all three readings.
// The expected numbers are worked out by hand in the comments and written as whole cycles; times follow from them with
// exact fractions: 1.296 GHz shader clock, 1.107 GHz memory clock, 30 units.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/opencl_quantitative.h"
#include "model_golden_kernels.h"

namespace kernelcast::opencl_quantitative {
namespace {

using golden::gtx_280;
using golden::KernelLaunch;

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
  const Machine m = gtx_280();
  const BatchCost cost = batch_cost(m, k.kernel);
  EXPECT_EQ(cost.compute.value(), hand.compute);
  EXPECT_NEAR(cost.branch.value(), hand.branch, 1e-9);  // a fifth of a cycle is no binary fraction
  EXPECT_EQ(cost.global.value(), hand.global);
  EXPECT_EQ(cost.local.value(), hand.local);

  const double n = hand.batches / 30;
  const double computation = (hand.compute + hand.branch) / shader;
  const double waiting = hand.global / memory + hand.local / shader;
  const double barriers = hand.groups / 30 * hand.barriers / shader;

  const Forecast settled = forecast(m, cost, k.launch, Variant::settled);
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
  expect_exactly(golden::mm_global(64), {2, 32768, 16384, 241664, 0, 15319040, 0, 0});
  expect_exactly(golden::mm_global(128), {4, 32768, 8192, 241664, 0, 15319040, 0, 0});
  expect_exactly(golden::mm_global(256), {8, 32768, 4096, 241664, 0, 15319040, 0, 0});
}

// The same computation; 3 * 1024 transactions of 440 = 1,351,680; 2 * 1024 local accesses of 2 * 38 = 155,648.
// Barriers: 1024/8 = 128 (8x8, 8x16) or 1024/16 = 64 (16x16) flat ones of 50, and as many by (12), which together wait
// for the computation of all other batches of the group once.
//   8x8, 2 batches:    128 * 50 + 1 * 241,664 =   248,064
//   8x16, 4 batches:   128 * 50 + 3 * 241,664 =   731,392
//   16x16, 8 batches:   64 * 50 + 7 * 241,664 = 1,694,848
TEST(OpenclQuantitativeGtx280, MatrixProductLocal) {
  expect_exactly(golden::mm_local(8, 8), {2, 32768, 16384, 241664, 0, 1351680, 155648, 248064});
  expect_exactly(golden::mm_local(8, 16), {4, 32768, 8192, 241664, 0, 1351680, 155648, 731392});
  expect_exactly(golden::mm_local(16, 16), {8, 32768, 4096, 241664, 0, 1351680, 155648, 1694848});
}

// 16 rounds. The branch: one ADD of 96 cycles or nothing; 0.2 * 96 + 0.8 * 96/2 = 57.6, * 16 = 921.6 cycles.
// Global: one load, one store: 880. Local: two at the ends and in each round 2 (copy) and 3 (add): 82 * 76 = 6,232.
// Barriers: 16 * 50 = 800 flat, and (N - 1) * 921.6: 921.6, 2,764.8, 6,451.2 for 2, 4, 8 batches. 2,048 batches.
TEST(OpenclQuantitativeGtx280, PrefixSumWithBranches) {
  expect_exactly(golden::pps_br(64), {2, 2048, 1024, 0, 921.6, 880, 6232, 1721.6});
  expect_exactly(golden::pps_br(128), {4, 2048, 512, 0, 921.6, 880, 6232, 3564.8});
  expect_exactly(golden::pps_br(256), {8, 2048, 256, 0, 921.6, 880, 6232, 7251.2});
}

// 32 ADDs of 96 = 3,072. Global: 4 accesses of two words' stride: 2 transactions each, 8 * 440 = 3,520.
// Local: conflicts of 2, 4, 8, 16 (nine times), 8, 4, 2, 1 ways = 173 in 16 rounds, 3 accesses up and 4 down, and four
// two-way ones at the ends: (7 * 173 + 4 * 2) * 76 = 92,644. 1,024 batches.
// Barriers: 2 * 50 flat and (N - 1) * 3,072: 3,172, 9,316, 21,604.
TEST(OpenclQuantitativeGtx280, PrefixSumWithBankConflicts) {
  expect_exactly(golden::pps_conf(64), {2, 1024, 512, 3072, 0, 3520, 92644, 3172});
  expect_exactly(golden::pps_conf(128), {4, 1024, 256, 3072, 0, 3520, 92644, 9316});
  expect_exactly(golden::pps_conf(256), {8, 1024, 128, 3072, 0, 3520, 92644, 21604});
}

double seconds(const Machine& m, const KernelLaunch& k, Variant v) {
  return forecast(m, batch_cost(m, k.kernel), k.launch, v).total().value();
}

// Milliseconds as printed in docs/model/opencl-quantitative.md, computed apart with exact fractions.
TEST(OpenclQuantitativeGtx280, TheTableOfTheDocumentation) {
  const auto ms = [](const KernelLaunch& k, Variant v) { return 1e3 * seconds(gtx_280(), k, v); };
  using enum Variant;
  EXPECT_NEAR(ms(golden::mm_global(256), settled), 217.51235924922213, 1e-9);
  EXPECT_NEAR(ms(golden::mm_global(256), printed), 237581.49959595036, 1e-6);
  EXPECT_NEAR(ms(golden::mm_global(256), no_overlap), 15318.829177075178, 1e-8);
  EXPECT_NEAR(ms(golden::mm_local(8, 8), settled), 309.5491154070059, 1e-9);
  EXPECT_NEAR(ms(golden::mm_local(8, 16), settled), 359.119143390545, 1e-9);
  EXPECT_NEAR(ms(golden::mm_local(16, 16), settled), 383.5670380407508, 1e-9);
  EXPECT_NEAR(ms(golden::mm_local(16, 16), printed), 224109.76636732442, 1e-6);
  EXPECT_NEAR(ms(golden::mm_local(16, 16), no_overlap), 1847.0959484492623, 1e-8);
  EXPECT_NEAR(ms(golden::pps_br(64), settled), 0.09949131988356921, 1e-12);
  EXPECT_NEAR(ms(golden::pps_conf(64), settled), 0.1973441684231657, 1e-12);
  EXPECT_NEAR(ms(golden::pps_conf(256), no_overlap), 2.7005754893104488, 1e-11);
}

// The finding that the documentation reports: the paper measured the tiled product faster; the settled reading calls it
// slower because (12) outweighs the memory that tiles save. The other two readings have the measured order.
TEST(OpenclQuantitativeGtx280, OrderOfTheMatrixProducts) {
  for (const double tile : {8.0, 16.0}) {
    const KernelLaunch global = golden::mm_global(tile * tile), local = golden::mm_local(tile, tile);
    EXPECT_GT(seconds(gtx_280(), local, Variant::settled), seconds(gtx_280(), global, Variant::settled));
    EXPECT_LT(seconds(gtx_280(), local, Variant::printed), seconds(gtx_280(), global, Variant::printed));
    EXPECT_LT(seconds(gtx_280(), local, Variant::no_overlap), seconds(gtx_280(), global, Variant::no_overlap));
  }
}

TEST(OpenclQuantitativeGtx280, BankConflictsMakeTheTreeScanSlowerInAllReadings) {
  for (const Variant v : {Variant::settled, Variant::printed, Variant::no_overlap}) {
    for (const double group : {64.0, 128.0, 256.0}) {
      EXPECT_LT(seconds(gtx_280(), golden::pps_br(group), v), seconds(gtx_280(), golden::pps_conf(group), v));
    }
  }
}

/// HD 5870 with one cost for everything (an instruction, a transaction, a transfer): the paper prints none.
Machine hd_5870(double cost) {
  Machine m;
  m.compute_units = 20;
  m.processing_elements = 16;
  m.batch = 64;
  m.banks = 32;
  m.shader_clock = Hertz(0.85e9);
  m.memory_clock = Hertz(1.2e9);
  m.add = m.mul = m.div = m.special = Cycles<per::Thread>(cost);
  m.global_latency = m.local_latency = Cycles<per::None>(cost);
  return m;
}

constexpr double costs[] = {2, 5, 10, 24, 100, 440, 1000};
constexpr Variant variants[] = {Variant::settled, Variant::printed, Variant::no_overlap};

TEST(OpenclQuantitativeHd5870, TheGroupSizeOfMmGlobalDoesNotMatterAndSmallTilesAreFastest) {
  for (const double cost : costs) {
    const Machine m = hd_5870(cost);
    for (const Variant v : variants) {
      EXPECT_DOUBLE_EQ(seconds(m, golden::mm_global(64, 64), v), seconds(m, golden::mm_global(128, 64), v));
      EXPECT_DOUBLE_EQ(seconds(m, golden::mm_global(64, 64), v), seconds(m, golden::mm_global(256, 64), v));
      EXPECT_LT(seconds(m, golden::mm_local(8, 8, 64), v), seconds(m, golden::mm_local(8, 16, 64), v)) << cost;
      EXPECT_LT(seconds(m, golden::mm_local(8, 16, 64), v), seconds(m, golden::mm_local(16, 16, 64), v)) << cost;
    }
  }
}

TEST(OpenclQuantitativeHd5870, OrderOfTheMatrixProducts) {
  for (const double cost : costs) {
    const Machine m = hd_5870(cost);
    for (const double height : {8.0, 16.0}) {
      for (const double width : {8.0, height}) {
        const KernelLaunch global = golden::mm_global(width * height, 64), local = golden::mm_local(width, height, 64);
        EXPECT_LT(seconds(m, local, Variant::printed), seconds(m, global, Variant::printed)) << cost;
        EXPECT_LT(seconds(m, local, Variant::no_overlap), seconds(m, global, Variant::no_overlap)) << cost;
        if (height > 8) {
          EXPECT_GT(seconds(m, local, Variant::settled), seconds(m, global, Variant::settled)) << cost;
        }
      }
    }
    // A tile of 8x8 is one wavefront, so that no batch waits by (12): only the flat 128 * 50 cycles remain, which weigh
    // more than the memory saved while everything costs less than 126 cycles.
    const double local = seconds(m, golden::mm_local(8, 8, 64), Variant::settled);
    const double global = seconds(m, golden::mm_global(64, 64), Variant::settled);
    EXPECT_EQ(local < global, cost > 126) << cost;
  }
}

TEST(OpenclQuantitativeHd5870, TheTreeScanIsSlowerOnceCostsExceedTheFlatBarriers) {
  for (const double cost : costs) {
    if (cost < 10) continue;  // below, the naive scan's 16 flat barriers decide
    for (const Variant v : variants) {
      for (const double group : {64.0, 128.0, 256.0}) {
        EXPECT_LT(seconds(hd_5870(cost), golden::pps_br(group, 64), v),
                  seconds(hd_5870(cost), golden::pps_conf(group, 64), v))
            << cost << " " << group;
      }
    }
  }
}

}  // namespace
}  // namespace kernelcast::opencl_quantitative
