#include "tune/feasible.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernelcast/device.h"
#include "machine/occupancy.h"

namespace kernelcast::tune {
namespace {

Device device(const char* name) { return DeviceCatalog(KERNELCAST_SOURCE_DIR "/devices").find(name); }

LaunchShape shape(Dim3 block, Dim3 grid = {1, 1, 1}, std::int64_t shared = 0) {
  LaunchShape s;
  s.block = block;
  s.grid = grid;
  s.dynamic_shared_bytes = shared;
  return s;
}

TEST(LaunchLimits, AreExactAtTheirEdges) {
  const LaunchLimits v100(device("v100"));
  EXPECT_EQ(v100.check(shape({1024, 1, 1})), Refusal::none);
  EXPECT_EQ(v100.check(shape({32, 33, 1})), Refusal::threads);
  EXPECT_EQ(v100.check(shape({1, 1, 64})), Refusal::none);
  EXPECT_EQ(v100.check(shape({1, 1, 65})), Refusal::block_shape);
  EXPECT_EQ(v100.check(shape({1, 1, 1}, {2147483647, 65535, 65535})), Refusal::none);
  EXPECT_EQ(v100.check(shape({1, 1, 1}, {1, 65536, 1})), Refusal::grid);
  EXPECT_EQ(v100.check(shape({1, 1, 1}, {1, 1, 1}, 98304)), Refusal::none);
  EXPECT_EQ(v100.check(shape({1, 1, 1}, {1, 1, 1}, 98305)), Refusal::shared_memory);
  EXPECT_NE(v100.why(Refusal::threads, shape({32, 33, 1})).find("1056 threads"), std::string::npos);
}

TEST(LaunchLimits, OfTheKernel) {
  const LaunchLimits v100(device("v100"));
  KernelProfile p;
  p.max_threads_per_block = 256;
  EXPECT_EQ(v100.check(p, {256, 1, 1}, 0), Refusal::none);
  EXPECT_EQ(v100.check(p, {257, 1, 1}, 0), Refusal::launch_bounds);
  p = {};
  p.required_block = {16, 16, 1};
  EXPECT_EQ(v100.check(p, {16, 16, 1}, 0), Refusal::none);
  EXPECT_EQ(v100.check(p, {16, 8, 1}, 0), Refusal::launch_bounds);
}

// 65,536 registers, allocated by 256 a warp: 1,024 threads may have 64 each, 512 may have 128, 256 as many as a thread
// can have.
TEST(Registers, TheMostThatFitsIsWhatOccupancySays) {
  const Device a100 = device("a100");
  EXPECT_EQ(most_registers(a100, 1024), 64);
  EXPECT_EQ(most_registers(a100, 512), 128);
  EXPECT_EQ(most_registers(a100, 256), std::numeric_limits<double>::infinity());
  for (double threads = 32; threads <= 1024; threads += 32) {
    const double most = most_registers(a100, threads);
    if (std::isinf(most)) continue;
    EXPECT_GE(resident_blocks(unit_limits(a100), {threads, most, 0}).by_registers, 1) << threads;
    EXPECT_LT(resident_blocks(unit_limits(a100), {threads, most + 1, 0}).by_registers, 1) << threads;
  }
}

TEST(Registers, ProbabilityIsThatOfTheInterval) {
  const Registers r{60, 52, 71, "max-live estimate", 0};
  EXPECT_NEAR(probability_above(r, 70.5), 0.05, 0.01);
  EXPECT_NEAR(probability_above(r, 51.5), 0.95, 0.01);
  EXPECT_NEAR(probability_above(r, 59.5), 0.5, 1e-9);
  EXPECT_LT(probability_above(r, 128), 1e-6);
  EXPECT_EQ(probability_above(r, std::numeric_limits<double>::infinity()), 0);
  const Registers exact{64, 64, 64, "ptxas", 0};
  EXPECT_EQ(probability_above(exact, 64), 0);
  EXPECT_EQ(probability_above(exact, 63), 1);
  const Registers chosen{250, 250, 250, "code generator", 0};
  EXPECT_EQ(probability_above(chosen, 64), 0);
  for (double most = 30; most < 90; ++most) EXPECT_GE(probability_above(r, most), probability_above(r, most + 1));
}

}  // namespace
}  // namespace kernelcast::tune
