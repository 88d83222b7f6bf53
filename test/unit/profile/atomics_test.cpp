// What atomics and waits for other blocks cost, from profiles made by hand.
#include <gtest/gtest.h>

#include "kernelcast/bind.h"

namespace kernelcast::atomics_test {
namespace {

const Expr lid = local_id(0), wg = group_id(0);

KernelProfile atomic_kernel(MemorySpace space, const Expr& offset, AtomicKind kind, int bytes = 4) {
  KernelProfile p;
  p.kernel = "k";
  p.buffers = {{.name = "a", .space = space}};
  Block b;
  Access a;
  a.space = space;
  a.kind = AccessKind::atomic;
  a.bytes = bytes;
  a.buffer = 0;
  a.offset = offset;
  a.atomic = kind;
  b.accesses.push_back(a);
  p.blocks.push_back(b);
  return p;
}

Workload bound(const KernelProfile& p, std::int64_t blocks = 10, std::int64_t threads = 256) {
  Launch l;
  l.grid = {blocks};
  l.block = {threads};
  return Binder(p, {}).bind(l);
}

const AtomicCount& of(const Workload& w, AtomicKind kind) { return w.atomics[static_cast<std::size_t>(kind)]; }

TEST(Atomics, OneWordTakesAllUpdates) {
  const Workload w = bound(atomic_kernel(MemorySpace::global, Expr(0), AtomicKind::real));
  EXPECT_EQ(of(w, AtomicKind::real).updates, 2560);
  EXPECT_EQ(of(w, AtomicKind::real).hottest, 2560);
  EXPECT_EQ(of(w, AtomicKind::real).bytes, 4);
  EXPECT_EQ(of(w, AtomicKind::real).sectors, 80);
  EXPECT_EQ(of(w, AtomicKind::integer).updates, 0);
}

TEST(Atomics, WordsOfABlockShareTheUpdates) {
  const Workload w = bound(atomic_kernel(MemorySpace::global, lid * 8, AtomicKind::real, 8));
  EXPECT_EQ(of(w, AtomicKind::real).hottest, 10);
  EXPECT_EQ(of(w, AtomicKind::real).bytes, 2048);
}

TEST(Atomics, OfAJoinedRequestOneLaneUpdates) {
  KernelProfile p = atomic_kernel(MemorySpace::global, wg * 4, AtomicKind::integer);
  p.blocks[0].accesses[0].joined = true;
  const Workload w = bound(p);
  EXPECT_EQ(of(w, AtomicKind::integer).updates, 80);
  EXPECT_EQ(of(w, AtomicKind::integer).hottest, 8);  // ten words
  EXPECT_EQ(w.access_counts[0].lanes, 2560);         // the source's
  EXPECT_EQ(w.access_counts[0].sectors, 80);
}

TEST(Atomics, AJoinedRequestToSharedMemoryIsOnePass) {
  KernelProfile p = atomic_kernel(MemorySpace::shared, Expr(0), AtomicKind::integer);
  EXPECT_EQ(bound(p).access_counts[0].bank_passes, 2560);
  p.blocks[0].accesses[0].joined = true;
  EXPECT_EQ(bound(p).access_counts[0].bank_passes, 80);
}

TEST(Atomics, BuffersAreUpdatedAtTheSameTime) {
  KernelProfile p = atomic_kernel(MemorySpace::global, Expr(0), AtomicKind::integer);
  p.buffers.push_back({.name = "b"});
  p.blocks[0].accesses.push_back(p.blocks[0].accesses[0]);
  p.blocks[0].accesses[1].buffer = 1;
  EXPECT_EQ(of(bound(p), AtomicKind::integer).hottest, 2560);
  p.blocks[0].accesses[1].buffer = 0;
  EXPECT_EQ(of(bound(p), AtomicKind::integer).hottest, 5120);
}

// Eight warps of a block that try at once: the first needs one attempt, the last eight.
TEST(Atomics, WarpsThatRetryWaitForEachOther) {
  KernelProfile p = atomic_kernel(MemorySpace::shared, mod(lid, 32) * 8, AtomicKind::real, 8);
  p.buffers[0].bytes = 256;
  p.blocks[0].accesses[0].retried = true;
  const RetryCount r = bound(p).retries;
  EXPECT_EQ(r.requests, 80);
  EXPECT_EQ(r.rounds, 80 * 4.5);
  EXPECT_EQ(r.fp64, 80 * 4.5);
  EXPECT_EQ(bound(p, 10, 32).retries.rounds, 10);  // one warp is alone
}

TEST(Atomics, LanesThatRetryOnOneWordSucceedOneByOne) {
  KernelProfile p = atomic_kernel(MemorySpace::shared, Expr(0), AtomicKind::real);
  p.blocks[0].accesses[0].retried = true;
  EXPECT_EQ(bound(p, 10, 32).retries.rounds, 320);
  EXPECT_EQ(bound(p, 10, 32).retries.fp64, 0);
  EXPECT_EQ(bound(p).retries.rounds, 2560 * 4.5);
}

TEST(Atomics, BlocksWaitForAFlagOneAfterAnother) {
  KernelProfile p = atomic_kernel(MemorySpace::global, Expr(0), AtomicKind::integer);
  Loop waiting;
  waiting.counter = Symbol("c");
  waiting.trips = Expr(1);
  waiting.wait = Loop::Wait::flag;
  p.loops.push_back(waiting);
  p.blocks[0].loop = 0;
  EXPECT_EQ(bound(p).handovers, 10);
  p.loops[0].wait = Loop::Wait::lock;
  EXPECT_EQ(bound(p).handovers, 2560);
  p.loops[0].wait = Loop::Wait::none;
  EXPECT_EQ(bound(p).handovers, 0);
}

// A word is swapped once in a round trip at most: half of the way to and fro that a wait counts.
double waits(const KernelProfile& p) {
  Workload w = bound(p);
  w.counts_method = CountsMethod::executed;
  sum_atomics(p, w);
  return w.handovers;
}

TEST(Atomics, LoopsThatCompareAndSwapOneWordSucceedOneAfterAnother) {
  KernelProfile p = atomic_kernel(MemorySpace::global, Expr(0), AtomicKind::compare);
  EXPECT_EQ(waits(p), 0);  // tried once
  Unknown attempts{};
  attempts.default_value = 1;
  p.unknowns.push_back(attempts);
  Loop again;
  again.counter = Symbol("c");
  again.trips = Expr(1);
  again.unknown = 0;
  p.loops.push_back(again);
  p.blocks[0].loop = 0;
  EXPECT_EQ(waits(p), 1280);
  EXPECT_EQ(bound(p).handovers, 0);  // attempts that nobody has seen
  p.blocks.push_back(p.blocks[0]);   // the first attempt stands before the loop
  p.blocks[0].loop = -1;
  p.blocks[1].accesses[0].buffer = 1;
  p.buffers.push_back({.name = "other"});
  EXPECT_EQ(waits(p), 1280);
  p.blocks[1].accesses[0].buffer = 0;
  EXPECT_EQ(waits(p), 2560);
  p.blocks[1].accesses[0].atomic = AtomicKind::integer;
  EXPECT_EQ(waits(p), 0);
}

// Ten blocks of eight warps; in block 3 alone, and in the last two, a piece of code of 100 instructions runs.
KernelProfile uneven(const Expr& condition, double more = 100) {
  KernelProfile p;
  p.kernel = "k";
  Block everywhere, somewhere;
  everywhere.ops[OpClass::fp32_add] = 10;
  somewhere.ops[OpClass::fp32_add] = more;
  somewhere.guard = {{Path{condition, {}}}};
  p.blocks = {everywhere, somewhere};
  return p;
}

TEST(LongestBlock, IsTheOneWithMoreCode) {
  const Workload w = bound(uneven(equal(wg, 3)));
  EXPECT_EQ(w.longest.instructions, 10 * (10 + 100));
  EXPECT_EQ(bound(uneven(less(7, wg))).longest.instructions, 10 * (10 + 100));
}

TEST(LongestBlock, IsNoneWhereAllAreAlike) {
  EXPECT_EQ(bound(uneven(Expr(1))).longest.instructions, 0);
  EXPECT_EQ(bound(uneven(less(lid, 16))).longest.instructions, 0);
}

TEST(LongestBlock, TakesItsSlowestWarp) {
  const Workload w = bound(uneven(equal(wg * 256 + lid, 0)));
  EXPECT_EQ(w.longest.instructions, 10 * (10 + 100));
  EXPECT_EQ(w.slowest.instructions, 10 * 10 + 100);
}

TEST(LongestBlock, DoesNotAddUpWhatRunsInDifferentBlocks) {
  KernelProfile p = uneven(less(wg, 2), 50);
  p.blocks.push_back(p.blocks[1]);
  p.blocks[2].guard = {{Path{less(5, wg), {}}}};
  EXPECT_EQ(bound(p).longest.instructions, 10 * (10 + 50));
}

}  // namespace
}  // namespace kernelcast::atomics_test
