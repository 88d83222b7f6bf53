// The table of targets: complete, in order, and the newest row that is not newer than what is asked for.
#include "machine/nvidia_targets.h"

#include <gtest/gtest.h>

namespace kernelcast::machine {
namespace {

TEST(NvidiaTargets, AscendAndKnowEveryNumber) {
  int last = 0;
  for (const NvidiaTarget& t : nvidia_targets()) {
    EXPECT_GT(t.sm, last);
    last = t.sm;
    EXPECT_GT(t.alu_cycles, 0) << t.sm;
    EXPECT_GE(t.reconvergence_instructions, 1) << t.sm;
    EXPECT_LT(t.full_occupancy_registers, t.registers_per_thread + 2) << t.sm;
    EXPECT_GE(t.registers_per_unit, 32768) << t.sm;
  }
}

TEST(NvidiaTargets, NewestThatIsNotNewer) {
  EXPECT_EQ(nvidia_target(75).sm, 75);
  EXPECT_EQ(nvidia_target(75).full_occupancy_registers, 48);
  EXPECT_EQ(nvidia_target(76).sm, 75);
  EXPECT_EQ(nvidia_target(120).sm, 90);
  EXPECT_EQ(nvidia_target(13).sm, 20);
}

}  // namespace
}  // namespace kernelcast::machine
