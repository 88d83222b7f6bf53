// The worked example of Hong and Kim: 80 blocks of 128 threads, 5 blocks a multiprocessor, 27 computations and 6
// uncoalesced accesses a warp, 1 GHz, 80 GB/s, 16 multiprocessors. The paper prints 50738 cycles.
#include <gtest/gtest.h>

#include "model/mwp_cwp.h"

namespace kernelcast::mwp_cwp {
namespace {

MwpCwpDevice example_machine() { return {16, 1e9, 80e9, 420, 10, 4, 4}; }

Kernel example_kernel() {
  Kernel k;
  k.comp_insts = 27;
  k.uncoal_mem_insts = 6;
  k.synch_insts = 6;
  k.uncoal_per_mw = 32;
  k.load_bytes_per_warp = 128;
  k.active_warps = 20;
  k.active_blocks = 5;
  k.active_multiprocessors = 16;
  k.blocks = 80;
  return k;
}

TEST(MwpCwp, WorkedExampleOfThePaper) {
  const MwpCwpCycles f = forecast(example_machine(), example_kernel());
  EXPECT_EQ(f.mem_l, 730);
  EXPECT_EQ(f.departure_delay, 320);
  EXPECT_NEAR(f.mwp_without_bw, 2.28, 0.005);
  EXPECT_NEAR(f.mwp_peak_bw, 28.5, 0.1);
  EXPECT_NEAR(f.mwp, 2.28, 0.005);
  EXPECT_EQ(f.comp_cycles, 132);
  EXPECT_EQ(f.mem_cycles, 4380);
  EXPECT_EQ(f.cwp, 20);
  EXPECT_EQ(f.repetitions, 1);
  EXPECT_NEAR(f.exec_cycles, 38450, 50);
  EXPECT_NEAR(f.synch_cycles, 12288, 20);
  EXPECT_NEAR(f.total_cycles(), 50738, 60);
}

TEST(MwpCwp, FewWarpsTakeCase22) {
  Kernel k = example_kernel();
  k.active_warps = 1;
  k.active_blocks = 1;
  k.synch_insts = 0;
  const MwpCwpCycles f = forecast(example_machine(), k);
  EXPECT_EQ(f.which, MwpCwpCycles::Case::enough_of_neither);
  EXPECT_DOUBLE_EQ(f.exec_cycles, (4380 + 132) * 5);
}

TEST(MwpCwp, ComputationTakesCase24) {
  Kernel k = example_kernel();
  k.uncoal_mem_insts = 0;
  k.coal_mem_insts = 1;
  k.comp_insts = 99;  // 400 cycles, less than the 420 of memory: CWP 2.05 < MWP
  k.synch_insts = 0;
  const MwpCwpCycles f = forecast(example_machine(), k);
  EXPECT_EQ(f.which, MwpCwpCycles::Case::computation);
  EXPECT_DOUBLE_EQ(f.exec_cycles, 420 + 400 * 20);
}

TEST(MwpCwp, NoMemoryIsComputationAlone) {
  Kernel k = example_kernel();
  k.uncoal_mem_insts = 0;
  EXPECT_DOUBLE_EQ(forecast(example_machine(), k).total_cycles(), 4 * 27 * 20);
}

}  // namespace
}  // namespace kernelcast::mwp_cwp
