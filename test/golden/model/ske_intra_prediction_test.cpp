// SKE's two studies of H.264 intra prediction (src/model/ske_intra.h).
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "model/ske.h"
#include "model/ske_intra.h"
#include "model/ske_paper.h"
#include "model/ske_studies.h"

namespace kernelcast::ske {
namespace {

using namespace intra;

constexpr double value_cycles = 5 * cost::simple;

TEST(IntraPrediction, SharedMemoryHoldsThePapersNumberOfMacroblocks) {
  EXPECT_EQ(macroblock_bytes, 1156);
  EXPECT_EQ(capacity(gtx_280).sm, 14);
  EXPECT_EQ(capacity(gtx_280).gpu, 420);
  EXPECT_EQ(capacity(gtx_280).together, 425);  // 480 KB
  EXPECT_EQ(capacity(gtx_480).together, 637);  // 720 KB
  EXPECT_EQ(capacity(gtx_670).together, 297);  // 336 KB
}

// The same number out of (14): blocks of one thread and no limit on blocks.
TEST(IntraPrediction, ActiveBlocksOfOneThreadAgree) {
  SkeDevice m = gtx_280;
  m.max_blocks_per_sm = no_limit;
  Kernel k;
  k.threads = 1;
  k.registers = 20;
  k.shared_bytes = macroblock_bytes;
  EXPECT_EQ(active_blocks(m, k), 14);
}

const std::vector<bool> advice{true, false};  // inputs in shared, outputs in global memory

// Threads of a pixel: shared memory limits no placement, so accesses decide: inputs 501 + 3 against 1,500 cycles,
// outputs 500 against 502.
TEST(IntraPrediction, AdviceIsInputsInSharedOutputsInGlobalMemory) {
  for (const SkeDevice& m : {gtx_280, gtx_480, gtx_670}) {
    const auto ranked = thread_per_pixel(m);
    ASSERT_EQ(ranked.size(), 4U);
    EXPECT_EQ(ranked[0].in_shared, advice);
    EXPECT_EQ(ranked[0].point.kernel.memory_cycles.value(), 504 + 500);
    EXPECT_EQ(ranked[1].in_shared, (std::vector<bool>{true, true}));
    EXPECT_EQ(ranked[1].point.kernel.memory_cycles.value(), 504 + 502);
    EXPECT_EQ(ranked[2].in_shared, (std::vector<bool>{false, false}));
    EXPECT_EQ(ranked[3].in_shared, (std::vector<bool>{false, true}));
  }
}

// A thread a macroblock, block size free: shared memory leaves few warps to hide anything, and the hiding factor makes
// everything in global memory look best. Of the placements with inputs in shared memory the advice still wins.
TEST(IntraPrediction, HidingOutweighsAccessesForAThreadPerMacroblock) {
  for (const SkeDevice& m : {gtx_280, gtx_480, gtx_670}) {
    const auto ranked = thread_per_macroblock(m);
    ASSERT_EQ(ranked.size(), 4U);
    EXPECT_EQ(ranked[0].in_shared, (std::vector<bool>{false, false}));
    EXPECT_EQ(ranked[1].in_shared, advice);
    EXPECT_EQ(ranked[2].in_shared, (std::vector<bool>{true, true}));
    EXPECT_LT(ranked[1].point.kernel.memory_cycles, ranked[0].point.kernel.memory_cycles);
    EXPECT_LT(ranked[1].point.forecast.active_warps, ranked[0].point.forecast.active_warps);
  }
}

// With the 14 macroblocks at once that all data in shared memory allow, hiding is equal and the advice is best again.
TEST(IntraPrediction, AdviceHoldsAtEqualOccupancy) {
  SkeDevice m = gtx_280;
  m.max_blocks_per_sm = 14;
  const std::vector<double> one{1};
  Kernel k;
  k.instruction_cycles = Cycles<per::Thread>(16 * 7 * value_cycles);
  k.registers = 20;
  const std::vector<DataSet> sets{{"inputs", input_bytes, 33, 16 * 7 * 3, 0, 0},
                                  {"outputs", output_bytes, 0, 0, 256, 256}};
  const auto ranked = choose_memory(m, k, sets, streams, cost::uncoalesced, one);
  ASSERT_EQ(ranked.size(), 4U);
  EXPECT_EQ(ranked[0].in_shared, advice);
  for (const Placement& p : ranked) EXPECT_EQ(p.point.forecast.active_blocks, 14);
}

// Memory cycles of a thread in the four placements, by hand: inputs in shared: 33 * 501 + 336; in global: 336 * 500;
// outputs in global: 256 * 500; in shared: 256 * 501 + 256.
TEST(IntraPrediction, MemoryCyclesOfThePlacements) {
  for (const Placement& p : thread_per_macroblock(gtx_280)) {
    const double in = p.in_shared[0] ? 33 * 501 + 336 : 168000;
    const double out = p.in_shared[1] ? 256 * 501 + 256 : 128000;
    EXPECT_EQ(p.point.kernel.memory_cycles.value(), in + out);
    EXPECT_EQ(p.point.kernel.instruction_cycles.value(), 2240);
  }
}

std::string ranking(const SkeDevice& m) {
  std::string names;
  for (const RankedPlan& r : rank_plans(m, plans(), 20, all_sizes(m))) names += (names.empty() ? "" : " < ") + r.name;
  return names;
}

// What the model says, each plan at its own best block size; the paper's answer is lost. No plan wins everywhere.
TEST(IntraPrediction, RankOfThePlans) {
  EXPECT_EQ(ranking(gtx_280), "pixel < macroblock < set of equal pixels");
  EXPECT_EQ(ranking(gtx_480), "macroblock < pixel < set of equal pixels");
  EXPECT_EQ(ranking(gtx_670), "pixel < set of equal pixels < macroblock");
}

// The winner on GTX 670 by hand: 48,000 threads in blocks of 127: 378 blocks, 54 rounds; n_b = min(16, 2048/127 = 16,
// 64/4 = 16, 65536/2540 = 25) = 16, n_w = 64. 54 * (1 * 20 + 4 * 1004) = 217,944 ns before hiding.
TEST(IntraPrediction, TheBestPlanOnGtx670ByHand) {
  const auto best_plan = rank_plans(gtx_670, plans(), 20, all_sizes(gtx_670)).front();
  EXPECT_EQ(best_plan.point.threads, 127);
  EXPECT_NEAR(best_plan.point.forecast.total().value(), 217944e-9 * std::pow(0.95, 64) * std::pow(0.96, 16), 1e-15);
}

}  // namespace
}  // namespace kernelcast::ske
