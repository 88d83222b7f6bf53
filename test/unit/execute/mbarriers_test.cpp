#include "execute/mbarriers.h"

#include <gtest/gtest.h>

namespace kernelcast::interpreter {
namespace {

TEST(Mbarriers, PhaseIsCompleteWhenAllHaveArrivedAndAllBytesHaveCome) {
  Mbarriers all;
  all.begin_block();
  EXPECT_EQ(all.at(8), nullptr);
  Mbarrier& m = all.make(8, 2);
  EXPECT_EQ(all.at(8), &m);
  const std::uint64_t state = m.state();
  EXPECT_FALSE(m.completed_state(state));
  EXPECT_FALSE(m.completed_parity(0));
  EXPECT_TRUE(m.completed_parity(1));  // the phase before the first
  EXPECT_TRUE(all.arrive(m, 1));
  all.expect(m, 64);
  EXPECT_TRUE(all.arrive(m, 1));
  EXPECT_FALSE(m.completed_state(state));
  all.complete(m, 64);
  EXPECT_TRUE(m.completed_state(state));
  EXPECT_TRUE(m.completed_parity(0));
  EXPECT_FALSE(m.completed_parity(1));
  EXPECT_EQ(m.pending, 2);
  EXPECT_EQ(all.phases(), 1U);
}

TEST(Mbarriers, BytesMayComeBeforeTheyAreExpected) {
  Mbarriers all;
  Mbarrier& m = all.make(0, 1);
  all.complete(m, 32);
  all.expect(m, 32);
  EXPECT_EQ(m.phase, 0U);
  all.arrive(m, 1);
  EXPECT_EQ(m.phase, 1U);
}

TEST(Mbarriers, TooManyArrivalsAreToldAndEachChangeIsSeen) {
  Mbarriers all;
  Mbarrier& m = all.make(0, 2);
  const std::uint64_t before = all.changes();
  EXPECT_FALSE(all.arrive(m, 3));
  EXPECT_GT(all.changes(), before);
  all.invalidate(0);
  EXPECT_EQ(all.at(0), nullptr);
}

TEST(Mbarriers, LaterPhasesHandOnWhatEarlierOnesHadSeen) {
  Mbarriers all;
  Mbarrier& m = all.make(0, 1);
  m.arrived.raise(3, 7);
  all.arrive(m, 1);
  EXPECT_EQ(m.complete.at(3), 7U);
  EXPECT_EQ(m.arrived.at(3), 0U);
  m.arrived.raise(2, 5);
  EXPECT_EQ(m.complete.at(2), 0U);
  all.arrive(m, 1);
  EXPECT_EQ(m.complete.at(2), 5U);
  EXPECT_EQ(m.complete.at(3), 7U);
}

TEST(Mbarriers, OneThatIsInitialisedAnewCountsItsPhasesOn) {
  Mbarriers all;
  Mbarrier& m = all.make(16, 1);
  all.arrive(m, 1);
  EXPECT_EQ(m.phases(), 1U);
  all.invalidate(16);
  Mbarrier& other = all.make(8, 1);
  Mbarrier& again = all.make(16, 1);
  EXPECT_EQ(again.number, 0);
  EXPECT_EQ(other.number, 1);
  EXPECT_EQ(again.phase, 0U);
  EXPECT_FALSE(again.completed_parity(0));
  EXPECT_EQ(again.phases(), 2U);  // the phase that was under way is over, but not complete
  EXPECT_EQ(all.make(16, 1).phases(), 3U);
}

}  // namespace
}  // namespace kernelcast::interpreter
