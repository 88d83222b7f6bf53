// Which pairs of accesses to a word of global memory are a conflict.
#include "execute/global_watch.h"

#include <gtest/gtest.h>

namespace kernelcast::interpreter {
namespace {

constexpr auto read = GlobalAccess::read, write = GlobalAccess::write, atomic = GlobalAccess::atomic;

WatchedThread thread(std::uint32_t block, std::uint32_t number, std::uint32_t phase = 0, std::uint32_t order = 0) {
  return {block, number, phase, order, 32, false};
}

/// Whether `second` is in conflict behind `first`.
bool clash(GlobalAccess a, const WatchedThread& first, GlobalAccess b, const WatchedThread& second,
           bool changes = true) {
  GlobalUnit unit(0);
  EXPECT_FALSE(unit.note(a, first, true).found);
  return unit.note(b, second, changes).found;
}

TEST(GlobalWatch, OneThreadIsInOrder) {
  for (const auto a : {read, write, atomic})
    for (const auto b : {read, write, atomic}) EXPECT_FALSE(clash(a, thread(1, 5), b, thread(1, 5)));
}

TEST(GlobalWatch, BlocksAreNotOrdered) {
  EXPECT_FALSE(clash(read, thread(0, 0), read, thread(1, 0)));
  EXPECT_FALSE(clash(atomic, thread(0, 0), atomic, thread(1, 0)));
  for (const auto& [a, b] :
       {std::pair{write, read}, {read, write}, {write, write}, {write, atomic}, {atomic, write}, {atomic, read}})
    EXPECT_TRUE(clash(a, thread(0, 0, 3), b, thread(1, 0, 9)));
  EXPECT_FALSE(clash(write, thread(0, 0), write, thread(1, 0), false));  // the same value again
  WatchedThread later = thread(1, 0);
  later.looked_at_a_flag = true;
  EXPECT_FALSE(clash(write, thread(0, 0), read, later));
}

TEST(GlobalWatch, ABarrierOrdersABlockAndLockStepAWarp) {
  EXPECT_TRUE(clash(write, thread(2, 1), read, thread(2, 40)));
  EXPECT_FALSE(clash(write, thread(2, 1, 0), read, thread(2, 40, 1)));
  EXPECT_FALSE(clash(write, thread(2, 1, 0, 3), read, thread(2, 2, 0, 4)));
  EXPECT_TRUE(clash(write, thread(2, 1, 0, 3), write, thread(2, 2, 0, 3)));  // by one instruction
}

TEST(GlobalWatch, ReadersAreRemembered) {
  GlobalUnit unit(0);
  unit.note(read, thread(4, 0, 0, 1), false);
  unit.note(read, thread(4, 1, 0, 1), false);
  GlobalUnit of_warp = unit;
  EXPECT_FALSE(of_warp.note(write, thread(4, 0, 0, 2), true).found);
  EXPECT_TRUE(unit.note(write, thread(4, 33, 0, 9), true).found);
  GlobalUnit of_block(0);
  of_block.note(read, thread(4, 0), false);
  of_block.note(read, thread(4, 33), false);
  EXPECT_TRUE(of_block.note(write, thread(4, 0, 0, 5), true).found);
  GlobalUnit of_grid(0);
  of_grid.note(read, thread(4, 0), false);
  of_grid.note(read, thread(5, 0), false);
  const GlobalConflict c = of_grid.note(write, thread(5, 0, 7), true);
  EXPECT_TRUE(c.found);
  EXPECT_TRUE(c.other_block);
}

TEST(GlobalWatch, CountsThatHaveRunOverGiveNoFalseAlarm) {
  EXPECT_FALSE(clash(write, thread(0, 1, 20000), read, thread(0, 40, 30000)));
  EXPECT_FALSE(clash(write, thread(0, 1, 0, 5000), read, thread(0, 2, 0, 9000)));
}

}  // namespace
}  // namespace kernelcast::interpreter
