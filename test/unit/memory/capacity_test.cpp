// The capacity rule on passages that fit on paper.
#include "memory/capacity.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kernelcast::memory::capacity_test {
namespace {

Workload known() {
  Workload w;
  w.reuse.known = true;
  return w;
}

void touch(Workload& w, int depth, double footprint, double traffic) {
  for (auto& level : w.reuse.level[Reuse::read][static_cast<std::size_t>(depth)]) level = {footprint, traffic};
}

// Roots of 1 - m = exp(-m x), by hand with Newton's method: m(2) = 0.79681213, m(5) = 0.99302285.
constexpr double lost_at_2 = 0.79681213, lost_at_5 = 0.99302285;

TEST(Capacity, WhatFitsIsThere) {
  Workload w = known();
  for (int d = 0; d < Reuse::depths; ++d) touch(w, d, 900, 900);
  EXPECT_EQ(lines_missed(w, {64e3, 64}, 0), 0);
  EXPECT_EQ(lines_missed(w, {64 * 900, 64}, 0), 0);
}

TEST(Capacity, APassageLargerThanTheCacheIsKeptInPart) {
  Workload w = known();
  for (int d = 0; d < Reuse::depths; ++d) touch(w, d, 1000, 1e6);
  EXPECT_NEAR(lines_missed(w, {64 * 500, 64}, 0), lost_at_2 * 1e6, 1);
  EXPECT_NEAR(lines_missed(w, {64 * 200, 64}, 0), lost_at_5 * 1e6, 1);
  // A line too many costs a few lines, not all: m is 2 (x - 1) for x just above 1.
  EXPECT_NEAR(lines_missed(w, {64 * 999, 64}, 0), 2.0 / 999 * 1e6, 10);
  EXPECT_NEAR(lines_missed(w, {64 * 20, 64}, 0), 1e6, 1);
}

TEST(Capacity, LinesThatSeveralAccessesTouchAreThereOnce) {
  Workload w = known();
  for (int d = 0; d < Reuse::depths; ++d) touch(w, d, 1600, 1e6);
  EXPECT_GT(lines_missed(w, {64e3, 64}, 0), 1e5);
  w.footprint_bytes = 64 * 800;  // of all buffers
  EXPECT_EQ(lines_missed(w, {64e3, 64}, 0), 0);
}

TEST(Capacity, AKeptPassageServesTheReuseOfTheNextLoop) {
  Workload w = known();
  touch(w, 0, 1, 1e6);
  touch(w, 1, 500, 5e5);
  touch(w, 2, 5000, 5e4);
  for (int d = 3; d < Reuse::depths; ++d) touch(w, d, 50000, 5e4);
  // One iteration fits; of the innermost loop, five times too large, the little that such a loop keeps.
  EXPECT_NEAR(lines_missed(w, {64.0 * 100, 64}, 0), 5e5 - (1 - lost_at_5) * (5e5 - 5e4), 1);
  EXPECT_NEAR(lines_missed(w, {64.0 * 500, 64}, 0), 5e4, 1);  // the innermost loop fits
  EXPECT_EQ(lines_missed(w, {64.0 * 50000, 64}, 0), 0);
}

// What n neighbors share follows the square root of n, as tiles of a product do; a cache holds an iteration, no life.
TEST(Capacity, BlocksBetweenTwoWindowsShareByTheirNumber) {
  constexpr double blocks = 4096, lines = 1000;
  Workload w = known();
  for (int window = 0; window < Reuse::windows; ++window) {
    const double shared = lines * std::sqrt(Reuse::blocks_in(window, blocks));
    for (int d = 0; d < Reuse::depths; ++d)
      w.reuse.level[Reuse::read][static_cast<std::size_t>(d)][static_cast<std::size_t>(window)] = {
          d + 1 < Reuse::depths ? 1 : shared, shared};
  }
  const auto past = [&](double together) {
    return past_grid(w.reuse, Reuse::read, blocks, together, blocks * lines, {64 * 10, 64});
  };
  for (const double n : {1.0, 5.0, 16.0, 17.0, 32.0, 63.0, 64.0, 276.0, 4096.0})
    EXPECT_NEAR(past(n), lines * blocks / std::sqrt(n), 1e-6 * lines * blocks) << n;
}

// A grid and a core are asked by one rule: what a block's passages leave is what a core's leave, but for the first
// touch.
TEST(Capacity, AWindowOfBlocksAndACoreAreServedAlike) {
  Workload w = known();
  touch(w, 0, 1, 1e6);
  touch(w, 1, 500, 5e5);
  for (int d = 2; d < Reuse::depths; ++d) touch(w, d, 5000, 5e3);
  for (const double lines : {0.5, 100.0, 700.0, 4000.0})
    EXPECT_NEAR(past_window(w.reuse, Reuse::read, 0, 1e6, {32 * lines, 32}, 1), lines_missed(w, {64 * lines, 64}, 0),
                5e3);
  EXPECT_NEAR(past_window(w.reuse, Reuse::read, 0, 1e6, {32 * 500, 32}, 1), 5e3, 1e-6);
  EXPECT_NEAR(past_window(w.reuse, Reuse::read, 0, 1e6, {32 * 500, 32}, 2), 5e5 - (1 - lost_at_2) * (5e5 - 5e3),
              1);  // another block wants as much
}

// The iteration of an inner loop cannot touch more than the loop does, whatever its accesses add up to.
TEST(Capacity, APassageTouchesNoMoreThanTheOneAroundIt) {
  Workload w = known();
  touch(w, 0, 800, 1e6);
  for (int d = 1; d < Reuse::depths; ++d) touch(w, d, 400, 400);
  EXPECT_NEAR(past_window(w.reuse, Reuse::read, 0, 1e6, {32 * 400, 32}, 1), 400, 1e-6);
}

}  // namespace
}  // namespace kernelcast::memory::capacity_test
