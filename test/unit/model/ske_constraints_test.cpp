// Constraints (10)-(16) of SKE: numbers, status, and n_b by (14).
#include <gtest/gtest.h>

#include "model/ske.h"
#include "model/ske_paper.h"

namespace kernelcast::ske {
namespace {

Kernel block_of(double threads, double registers, double shared) {
  Kernel k;
  k.threads = threads;
  k.registers = registers;
  k.shared_bytes = shared;
  k.instruction_cycles = Cycles<per::Thread>(100);
  k.memory_cycles = Cycles<per::Thread>(100);
  return k;
}

Constraint at(std::size_t index, const SkeDevice& m, const Kernel& k, double n_b) {
  return constraints(m, k, n_b).at(index);
}

void expect(const Constraint& c, int number, double left, double right, Status status) {
  EXPECT_EQ(c.number, number);
  EXPECT_EQ(c.left, left) << c.name;
  EXPECT_EQ(c.right, right) << c.name;
  EXPECT_EQ(c.status, status) << c.name;
}

TEST(SkeConstraints, ThreadsPerBlock) {
  expect(at(0, gtx_670, block_of(512, 20, 0), 1), 10, 512, 1024, Status::satisfied);
  expect(at(0, gtx_670, block_of(1024, 20, 0), 1), 10, 1024, 1024, Status::active);
  expect(at(0, gtx_670, block_of(1025, 20, 0), 1), 10, 1025, 1024, Status::violated);
}

TEST(SkeConstraints, ThreadsPerMultiprocessor) {
  expect(at(1, gtx_670, block_of(128, 20, 0), 15), 11, 1920, 2048, Status::satisfied);
  expect(at(1, gtx_670, block_of(128, 20, 0), 16), 11, 2048, 2048, Status::active);
  expect(at(1, gtx_670, block_of(384, 20, 0), 5), 11, 1920, 2048, Status::active);  // a sixth block does not fit
  expect(at(1, gtx_670, block_of(384, 20, 0), 6), 11, 2304, 2048, Status::violated);
}

TEST(SkeConstraints, Registers) {
  expect(at(2, gtx_280, block_of(256, 20, 0), 2), 12, 10240, 16384, Status::satisfied);
  expect(at(2, gtx_280, block_of(256, 20, 0), 3), 12, 15360, 16384, Status::active);
  expect(at(2, gtx_280, block_of(256, 20, 0), 4), 12, 20480, 16384, Status::violated);
  expect(at(3, gtx_280, block_of(32, 64, 0), 1), 12, 64, 124, Status::satisfied);
  expect(at(3, gtx_280, block_of(32, 124, 0), 1), 12, 124, 124, Status::active);
  expect(at(3, gtx_280, block_of(32, 125, 0), 1), 12, 125, 124, Status::violated);
}

TEST(SkeConstraints, SharedMemory) {
  expect(at(4, gtx_280, block_of(32, 8, 1156), 13), 13, 15028, 16384, Status::satisfied);
  expect(at(4, gtx_280, block_of(32, 8, 1156), 14), 13, 16184, 16384, Status::active);
  expect(at(4, gtx_280, block_of(32, 8, 1156), 15), 13, 17340, 16384, Status::violated);
}

TEST(SkeConstraints, ActiveBlocksAreTheSmallestOfFiveFloors) {
  EXPECT_EQ(active_blocks(gtx_670, block_of(32, 20, 0)), 16);      // blocks
  EXPECT_EQ(active_blocks(gtx_670, block_of(384, 20, 0)), 5);      // 2048/384
  EXPECT_EQ(active_blocks(gtx_670, block_of(1000, 20, 0)), 2);     // 64/32 warps, 2048/1000
  EXPECT_EQ(active_blocks(gtx_670, block_of(256, 63, 0)), 4);      // 65536/16128
  EXPECT_EQ(active_blocks(gtx_670, block_of(128, 20, 20000)), 2);  // 49152/20000
  EXPECT_EQ(active_blocks(gtx_280, block_of(1, 1, 0)), 8);
  SkeDevice warps = gtx_670;
  warps.max_warps_per_sm = 10;
  EXPECT_EQ(active_blocks(warps, block_of(96, 20, 0)), 3);  // 10/3
  expect(at(5, gtx_670, block_of(384, 20, 0), 5), 14, 5, 5, Status::active);
  expect(at(5, gtx_670, block_of(384, 20, 0), 4), 14, 4, 5, Status::satisfied);
  expect(at(5, gtx_670, block_of(384, 20, 0), 6), 14, 6, 5, Status::violated);
}

TEST(SkeConstraints, ConstantAndGlobalMemory) {
  Kernel k = block_of(32, 8, 0);
  k.constant_bytes = 49152;
  expect(at(6, gtx_670, k, 1), 15, 49152, 49152, Status::active);
  k.constant_bytes = 49153;
  expect(at(6, gtx_670, k, 1), 15, 49153, 49152, Status::violated);
  EXPECT_FALSE(feasible(gtx_670, k));
  SkeDevice m = gtx_670;
  m.constant_bytes = 65536;  // 64 KB on real devices
  m.global_bytes = 2e9;
  k.global_bytes = 1e9;
  EXPECT_TRUE(feasible(m, k));
  expect(at(7, m, k, 1), 16, 1e9, 2e9, Status::satisfied);
  k.global_bytes = 2e9 + 1;
  expect(at(7, m, k, 1), 16, 2e9 + 1, 2e9, Status::violated);
  EXPECT_FALSE(feasible(m, k));
}

TEST(SkeConstraints, NotOneBlockFits) {
  EXPECT_EQ(active_blocks(gtx_280, block_of(32, 8, 16385)), 0);
  EXPECT_FALSE(feasible(gtx_280, block_of(32, 8, 16385)));
}

// (7): k = 3 barriers, 4 cycles a warp, 2 warps, ceil(15/7) = 3 rounds, 1 ns: 72 ns; not hidden.
TEST(Ske, Barriers) {
  Kernel k = block_of(40, 20, 0);
  k.blocks = 15;
  k.barriers = 3;
  EXPECT_NEAR(forecast(gtx_670, k).barriers.value(), 72e-9, 1e-18);
  k.critical_share = 0.5;
  EXPECT_NEAR(forecast(gtx_670, k).barriers.value(), 36e-9, 1e-18);
}

TEST(Ske, ConflictsAndWideData) {
  Kernel k = block_of(64, 20, 0);
  k.blocks = 7;
  const double once = forecast(gtx_670, k).memory.value();
  EXPECT_NEAR(once, 200e-9, 1e-18);  // ceil(64/32) * 100 cycles
  k.access_conflicts = 4;
  EXPECT_NEAR(forecast(gtx_670, k).memory.value(), 4 * once, 1e-18);
  EXPECT_EQ(words(1), 1);
  EXPECT_EQ(words(4), 1);
  EXPECT_EQ(words(6), 2);
  EXPECT_EQ(words(16), 4);
}

}  // namespace
}  // namespace kernelcast::ske
