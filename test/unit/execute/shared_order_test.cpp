#include "execute/shared_order.h"

#include <gtest/gtest.h>

namespace kernelcast::interpreter {
namespace {

using T = SharedTrouble;

/// Two warps of 32 threads: 0 to 31 are warp 0.
struct Warps {
  explicit Warps(bool independent = false) : order(64, 64, 32, independent) { order.begin_block(); }
  T load(std::int64_t at, int thread) {
    order.instruction();
    return order.load(at, thread, thread / 32, other);
  }
  T store(std::int64_t at, int thread, bool changes = true) {
    order.instruction();
    return order.store(at, thread, thread / 32, changes, other);
  }
  T copy(std::int64_t at, int thread, bool changes = true) {
    order.instruction();
    order.begin_copy(thread);
    return order.copy(at, thread, thread / 32, changes, other);
  }
  SharedOrder order;
  int other = -1;
};

TEST(SharedOrder, PlainAccessesAreOrderedByTheBarrierAsWithoutCopies) {
  Warps f;
  EXPECT_EQ(f.load(8, 0), T::uninitialised);
  EXPECT_EQ(f.store(8, 3), T::none);
  EXPECT_EQ(f.load(8, 4), T::none);  // a later instruction of the same warp
  EXPECT_EQ(f.load(8, 40), T::race);
  EXPECT_EQ(f.other, 3);
  f.order.barrier();
  EXPECT_EQ(f.load(8, 40), T::none);
  EXPECT_EQ(f.store(8, 3), T::race);
  EXPECT_EQ(f.other, 40);
  f.order.barrier();
  EXPECT_EQ(f.store(8, 41), T::none);
  f.order.begin_block();
  EXPECT_EQ(f.load(8, 0), T::uninitialised);
  EXPECT_EQ(f.store(8, 1), T::none);
}

TEST(SharedOrder, CopyIsThereForItsThreadOnceItsGroupHasBeenWaitedFor) {
  Warps f;
  EXPECT_EQ(f.copy(0, 1), T::none);
  EXPECT_EQ(f.load(0, 1), T::copy_pending);
  f.order.commit_copies(1);
  EXPECT_EQ(f.copy(1, 1), T::none);
  f.order.commit_copies(1);
  f.order.wait_for_copies(1, 2);
  EXPECT_EQ(f.load(0, 1), T::copy_pending);
  f.order.wait_for_copies(1, 1);
  EXPECT_EQ(f.load(0, 1), T::none);
  EXPECT_EQ(f.load(1, 1), T::copy_pending);
  f.order.wait_for_copies(1, 0);
  EXPECT_EQ(f.load(1, 1), T::none);
}

TEST(SharedOrder, CopyThatIsInNoGroupIsNotWaitedFor) {
  Warps f;
  f.copy(0, 1);
  f.order.wait_for_copies(1, 0);
  EXPECT_EQ(f.load(0, 1), T::copy_pending);
  f.order.commit_copies(1);  // as wait_all does
  f.order.wait_for_copies(1, 0);
  EXPECT_EQ(f.load(0, 1), T::none);
}

TEST(SharedOrder, OtherWarpsNeedTheWaitAndThenABarrier) {
  Warps f;
  f.copy(0, 1);
  f.order.commit_copies(1);
  f.order.barrier();  // too early
  EXPECT_EQ(f.load(0, 40), T::copy_pending);
  f.order.wait_for_copies(1, 0);
  EXPECT_EQ(f.load(0, 40), T::copy_unordered);
  EXPECT_EQ(f.other, 1);
  EXPECT_EQ(f.load(0, 2), T::none);  // of the same warp, in lock-step
  f.order.barrier();
  EXPECT_EQ(f.load(0, 40), T::none);
}

TEST(SharedOrder, IndependentLanesNeedABarrierOfTheWarp) {
  Warps f(true);
  f.copy(0, 1);
  f.order.commit_copies(1);
  f.order.wait_for_copies(1, 0);
  EXPECT_EQ(f.load(0, 1), T::none);
  EXPECT_EQ(f.load(0, 2), T::copy_unordered);
  f.order.warp_barrier(0);
  EXPECT_EQ(f.load(0, 2), T::none);
  EXPECT_EQ(f.load(0, 40), T::copy_unordered);
}

TEST(SharedOrder, WriteOverAPendingCopyAndCopyOverWhatIsRead) {
  Warps f;
  f.copy(0, 1);
  EXPECT_EQ(f.store(0, 1, false), T::copy_pending);
  f.order.begin_block();
  f.store(0, 1);
  f.order.barrier();
  f.load(0, 40);
  EXPECT_EQ(f.copy(0, 1), T::race);
  EXPECT_EQ(f.other, 40);
  f.order.begin_block();
  f.copy(0, 1);
  EXPECT_EQ(f.copy(0, 2, false), T::none);  // the same bytes from the same place
  EXPECT_EQ(f.copy(0, 2), T::copy_pending);
}

TEST(SharedOrder, QuietWritesHideOnlyWhatAllHaveSeen) {
  Warps f;
  f.store(0, 1);
  f.order.barrier();
  f.store(0, 1, false);
  EXPECT_EQ(f.load(0, 40), T::none);
  f.store(0, 1);
  f.store(0, 1, false);
  EXPECT_EQ(f.load(0, 40), T::race);
}

TEST(SharedOrder, WhoWaitsForAnArrivalHasSeenWhatCameBeforeIt) {
  Warps f;
  f.store(0, 1);
  f.copy(1, 1);
  Clock handed;
  f.order.release(0, handed);
  f.store(2, 1);
  EXPECT_EQ(f.load(0, 40), T::race);
  f.order.acquire(1, handed);
  EXPECT_EQ(f.load(0, 40), T::none);
  EXPECT_EQ(f.load(1, 40), T::copy_pending);
  EXPECT_EQ(f.load(2, 40), T::race);
  EXPECT_EQ(f.store(0, 40), T::none);
  f.order.release_copies(1, handed);
  f.order.acquire(1, handed);
  EXPECT_EQ(f.load(1, 40), T::none);
}

TEST(SharedOrder, ReadsOfEachWarpMustHaveBeenSeenBeforeTheyAreOverwritten) {
  SharedOrder order(4, 96, 32, false);
  order.begin_block();
  int other = -1;
  bool changes = true;
  order.instruction();
  order.store(0, 0, 0, changes, other);
  order.barrier();
  Clock handed;
  for (const int warp : {1, 2}) {
    order.instruction();
    EXPECT_EQ(order.load(0, 32 * warp, warp, other), T::none);
    if (warp == 2) order.release(warp, handed);
  }
  order.acquire(0, handed);
  order.instruction();
  EXPECT_EQ(order.store(0, 0, 0, changes, other), T::race);  // warp 1 has not been heard of
  EXPECT_EQ(other, 32);
}

TEST(SharedOrder, CopyInBulkIsThereForThoseWhoHaveSeenItsPhase) {
  Warps f;
  f.order.instruction();
  EXPECT_EQ(f.order.bulk_write(0, 0, 0, 5, 2, f.other), T::none);
  EXPECT_EQ(f.load(0, 40), T::bulk_pending);
  EXPECT_EQ(f.load(0, 0), T::bulk_pending);
  Clock complete;
  f.order.note_phase(complete, 5, 2);  // phases 0 and 1
  f.order.acquire(1, complete);
  EXPECT_EQ(f.load(0, 40), T::bulk_pending);
  f.order.note_phase(complete, 5, 3);
  f.order.acquire(1, complete);
  EXPECT_EQ(f.load(0, 40), T::none);
  EXPECT_EQ(f.load(0, 0), T::bulk_pending);
  f.order.barrier();
  EXPECT_EQ(f.load(0, 0), T::none);
}

TEST(SharedOrder, SourceOfACopyInBulkIsFreeOnceItsGroupHasBeenWaitedFor) {
  Warps f;
  f.store(0, 40);
  f.order.instruction();
  f.order.begin_bulk(1);
  EXPECT_EQ(f.order.bulk_read(0, 1, 0, f.other), T::race);  // of what another thread has just written
  f.order.barrier();
  EXPECT_EQ(f.store(0, 1), T::read_pending);
  f.order.commit_bulk(1);
  f.order.wait_for_bulk(1, 0);
  EXPECT_EQ(f.store(0, 1), T::none);
  EXPECT_EQ(f.store(0, 40), T::read_pending);
  f.order.barrier();
  EXPECT_EQ(f.store(0, 40), T::none);
}

}  // namespace
}  // namespace kernelcast::interpreter
