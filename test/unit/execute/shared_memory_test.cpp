#include "execute/shared_memory.h"

namespace kernelcast::interpreter {
namespace {

using T = SharedTrouble;

struct Fixture {
  explicit Fixture(bool independent = false) : memory(256, 4, true, independent) { memory.begin_block(); }
  // Threads 0..31 are warp 0.
  T load(std::int64_t at, int thread) {
    memory.instruction();
    return memory.load(at, 4, thread, thread / 32, other);
  }
  T store(std::int64_t at, int thread, bool changes = true) {
    memory.instruction();
    return memory.store(at, 4, thread, thread / 32, changes, other);
  }
  SharedMemory memory;
  int other = -1;
};

TEST(SharedMemory, ReadingWhatNobodyWrote) {
  Fixture f;
  EXPECT_EQ(f.load(8, 0), T::uninitialised);
  f.store(8, 0);
  EXPECT_EQ(f.load(8, 0), T::none);
  f.memory.begin_block();  // the next block starts anew
  EXPECT_EQ(f.load(8, 0), T::uninitialised);
}

TEST(SharedMemory, WriteThenReadByAnotherWarpNeedsABarrier) {
  Fixture f;
  f.store(8, 3);
  EXPECT_EQ(f.load(8, 40), T::race);
  EXPECT_EQ(f.other, 3);
  f.memory.barrier();
  EXPECT_EQ(f.load(8, 40), T::none);
}

TEST(SharedMemory, ReadThenWriteByAnotherWarpNeedsABarrier) {
  Fixture f;
  f.store(8, 3);
  f.memory.barrier();
  f.load(8, 3);
  EXPECT_EQ(f.store(8, 40), T::race);
  f.memory.barrier();
  EXPECT_EQ(f.store(8, 40), T::none);
}

TEST(SharedMemory, WritingTheSameValueIsNoConflict) {
  Fixture f;
  f.store(8, 3);
  EXPECT_EQ(f.store(8, 40, false), T::none);
  EXPECT_EQ(f.store(8, 40, true), T::none);  // its own
  EXPECT_EQ(f.store(8, 70, true), T::race);
}

TEST(SharedMemory, LockStepOrdersInstructionsOfAWarp) {
  Fixture f;
  f.store(8, 3);
  EXPECT_EQ(f.load(8, 5), T::none);  // a later instruction of the same warp
  Fixture g(true);
  g.store(8, 3);
  EXPECT_EQ(g.load(8, 5), T::race);
  g.store(12, 3);
  g.memory.warp_barrier(0);
  EXPECT_EQ(g.load(12, 5), T::none);
}

TEST(SharedMemory, TwoLanesOfOneInstructionConflict) {
  Fixture f;
  f.memory.instruction();
  EXPECT_EQ(f.memory.store(8, 4, 3, 0, true, f.other), T::none);
  EXPECT_EQ(f.memory.store(8, 4, 5, 0, true, f.other), T::race);
}

TEST(SharedMemory, AtomicsDoNotConflictWithEachOther) {
  Fixture f;
  for (int thread : {0, 40, 80}) f.store(16 + 4 * thread / 40, thread);
  f.store(8, 0);
  f.memory.barrier();
  EXPECT_EQ(f.memory.atomic(8, 4, 3, 0, f.other), T::none);
  EXPECT_EQ(f.memory.atomic(8, 4, 40, 1, f.other), T::none);
  EXPECT_EQ(f.load(8, 40), T::race);
}

}  // namespace
}  // namespace kernelcast::interpreter
