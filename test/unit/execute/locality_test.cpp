#include "execute/locality.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <vector>

namespace kernelcast::interpreter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Keys = std::vector<std::uint64_t>;
using Requests = std::vector<Keys>;

Requests read_back(const Trace& trace) {
  Requests all;
  Trace::Reader reader(trace);
  Keys request;
  while (reader.next(request)) {
    all.push_back(request);
    request.clear();
  }
  return all;
}

RC_GTEST_PROP(TraceProperty, GivesBackWhatWasPutIn, (const std::vector<std::vector<std::uint32_t>>& requests)) {
  Requests wide;
  Trace trace;
  std::int64_t touches = 0;
  for (const auto& r : requests) {
    Keys keys;
    for (const std::uint64_t k : r) keys.push_back((k * k) >> 2);  // below 2^62
    trace.append(keys);
    touches += static_cast<std::int64_t>(keys.size());
    wide.push_back(keys);
  }
  RC_ASSERT(read_back(trace) == wide);
  RC_ASSERT(trace.requests() == static_cast<std::int64_t>(wide.size()));
  RC_ASSERT(trace.touches() == touches);
}

TEST(TraceTest, NeighboursTakeOneByteEach) {
  Trace trace;
  for (std::uint64_t i = 0; i < 1000; ++i) trace.append(Keys{4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3});
  EXPECT_LE(trace.bytes(), 5 * 1000);
  Trace empty;
  for (int i = 0; i < 1000; ++i) empty.append({});
  EXPECT_LE(empty.bytes(), 3);
  EXPECT_EQ(read_back(empty).size(), 1000U);
}

TEST(TraceTest, InterleavesRequestByRequest) {
  Trace a, b, c;
  for (const std::uint64_t k : {1, 2, 3}) a.append(Keys{k});
  b.append(Keys{10, 11});
  for (const std::uint64_t k : {20, 21}) c.append(Keys{k});
  Keys order;
  const Trace* traces[] = {&a, &b, &c};
  interleave(traces, [&](std::span<const std::uint64_t> r) { order.insert(order.end(), r.begin(), r.end()); });
  EXPECT_THAT(order, ElementsAre(1, 10, 11, 20, 2, 21, 3));
}

TEST(LocalityTest, WarpsTakeTurnsBetweenBarriers) {
  LocalityRecorder recorder;
  recorder.begin_block(5);
  for (const std::uint64_t k : {1, 2}) recorder.touch(0, Keys{k});  // warp 0 was executed first
  for (const std::uint64_t k : {11, 12}) recorder.touch(1, Keys{k});
  recorder.barrier();
  recorder.touch(1, Keys{13});
  recorder.touch(0, Keys{3});
  const BlockTrace t = recorder.end_block();
  EXPECT_EQ(t.block, 5);
  EXPECT_THAT(read_back(t.trace), ElementsAre(Keys{1}, Keys{11}, Keys{2}, Keys{12}, Keys{3}, Keys{13}));
  EXPECT_EQ(t.touches, 6);
  EXPECT_EQ(t.sectors, 6);
}

BlockTrace block_of(std::int64_t index, const Requests& requests, const LocalityLimits& limits = {}) {
  LocalityRecorder recorder(limits);
  recorder.begin_block(index);
  for (const auto& r : requests) recorder.touch(0, r);
  return recorder.end_block();
}

// Three blocks that share sectors 0 to 3 and have one of their own.
std::vector<BlockTrace> sharing() {
  std::vector<BlockTrace> traces;
  for (const std::int64_t b : {2, 0, 1})
    traces.push_back(block_of(b, {{0, 1, 2, 3}, {100 + static_cast<std::uint64_t>(b)}}));
  return traces;
}

TEST(LocalityTest, BlocksAloneTogetherAndInWaves) {
  const LocalityResult r = locality_of(sharing(), {{0, 1}, {2}}, 2);
  EXPECT_EQ(r.locality.block.touches, 15);
  EXPECT_EQ(r.locality.block.cold, 15);
  EXPECT_EQ(r.locality.block_sectors, 5);
  EXPECT_EQ(r.locality.resident.cold, 6 + 5);
  EXPECT_THAT(r.locality.resident.nearer, ElementsAre(0, 4));  // 0 1 2 3 of block 1 right after those of block 0
  EXPECT_EQ(r.locality.resident_sectors, 5.5);
  EXPECT_EQ(r.locality.resident_blocks, 1.5);
  EXPECT_EQ(r.locality.grid.cold, 7);
  EXPECT_THAT(r.locality.grid.nearer, ElementsAre(0, 4, 4));  // block 2 after the two own ones as well
  EXPECT_EQ(r.block_rate, 1);
  EXPECT_EQ(r.resident_rate, 1);
  EXPECT_EQ(r.grid_rate, 1);
}

TEST(LocalityTest, NeitherTheOrderOfBlocksNorThreadsMatter) {
  std::vector<BlockTrace> other = sharing();
  std::swap(other[0], other[2]);
  const Locality a = locality_of(sharing(), {{0, 1}, {2}}, 2).locality;
  const Locality b = locality_of(std::move(other), {{0, 1}, {2}}, 2, {}, 2).locality;
  EXPECT_EQ(a.grid.nearer, b.grid.nearer);
  EXPECT_EQ(a.resident.nearer, b.resident.nearer);
  EXPECT_EQ(a.block.nearer, b.block.nearer);
}

TEST(LocalityTest, NothingRan) {
  const LocalityResult r = locality_of({}, {{0, 1}}, 4);
  EXPECT_EQ(r.locality.block.touches, 0);
  EXPECT_EQ(r.locality.grid.hit_rate(1e6), 0);
  EXPECT_EQ(r.locality.resident.touches, 0);
}

TEST(LocalityTest, ResidentGroups) {
  // 3 SMs of 2 blocks: wave 0 is blocks 0 to 5, of which 0 and 3 share an SM
  const std::vector<std::int64_t> all = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_THAT(resident_groups(all, 2, 3),
              ElementsAre(ElementsAre(0, 3), ElementsAre(1, 4), ElementsAre(2, 5), ElementsAre(6), ElementsAre(7)));
  const std::vector<std::int64_t> some = {1, 4, 9};
  EXPECT_THAT(resident_groups(some, 2, 3), ElementsAre(ElementsAre(1, 4), ElementsAre(9)));
  EXPECT_THAT(resident_groups({}, 2, 3), IsEmpty());
}

/// Whatever is thinned on the way, a block's trace has as many requests as there were, and reading it comes to an end.
RC_GTEST_PROP(LocalityProperty, EveryRequestIsThereOnce, ()) {
  LocalityLimits limits;
  limits.block_bytes = *rc::gen::inRange<std::int64_t>(8, 400);
  LocalityRecorder recorder(limits);
  for (std::int64_t block = 0; block < 3; ++block) {
    recorder.begin_block(block);
    const int phases = *rc::gen::inRange(1, 6), warps = *rc::gen::inRange(1, 9);
    std::int64_t requests = 0, touches = 0;
    for (int phase = 0; phase < phases; ++phase) {
      const auto keys = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 5000));
      for (std::size_t k = 0; k < keys.size(); ++k) {
        const Keys sectors(keys[k] % 5, (std::uint64_t{keys[k]} << 40) + keys[k]);  // none for one in five
        recorder.touch(static_cast<int>((keys[k] / 5 + k) % static_cast<std::size_t>(warps)), sectors);
        touches += static_cast<std::int64_t>(sectors.size());
        ++requests;
      }
      if (phase + 1 < phases) recorder.barrier();
    }
    const BlockTrace t = recorder.end_block();
    RC_ASSERT(t.trace.requests() == requests);
    RC_ASSERT(t.touches == static_cast<double>(touches));
    std::int64_t seen = 0;
    Trace::Reader reader(t.trace);
    for (Keys request; seen <= requests && reader.next(request); request.clear()) ++seen;
    RC_ASSERT(seen == requests);
  }
}

// A block of more requests than its share of memory: sectors are sampled, touches and hit rates stay right.
TEST(LocalityTest, LongBlocksAreSampled) {
  LocalityLimits limits;
  limits.block_bytes = 20000;
  Requests requests;
  for (int round = 0; round < 4; ++round)
    for (std::uint64_t k = 0; k < 20000; k += 4) requests.push_back({k, k + 1, k + 2, k + 3});
  const BlockTrace t = block_of(0, requests, limits);
  EXPECT_LE(t.trace.bytes(), 20000);
  EXPECT_GT(t.shift, 0);
  EXPECT_EQ(t.touches, 80000);
  EXPECT_NEAR(t.sectors, 20000, 2000);
  EXPECT_NEAR(t.alone.hit_rate(40000), 0.75, 0.03);
  EXPECT_NEAR(t.alone.hit_rate(10000), 0, 0.03);
  EXPECT_LT(t.alone_rate, 1);
  std::vector<BlockTrace> traces;
  traces.push_back(t);
  traces.push_back(block_of(1, {{1, 2, 3}}, limits));  // in full, and thinned like the other
  const LocalityResult r = locality_of(std::move(traces), {{0, 1}}, 2, limits);
  EXPECT_EQ(r.locality.grid.touches, 80003);
  EXPECT_NEAR(r.locality.grid.hit_rate(40000), 0.75, 0.03);
  EXPECT_LT(r.grid_rate, 1);
}

TEST(LocalityTest, ManyTouchesAreThinnedForTheGrid) {
  LocalityLimits limits;
  limits.max_touches = 5000;
  Requests requests;
  for (int round = 0; round < 4; ++round)
    for (std::uint64_t k = 0; k < 5000; ++k) requests.push_back({k});
  std::vector<BlockTrace> traces;
  traces.push_back(block_of(0, requests, limits));
  const LocalityResult r = locality_of(std::move(traces), {{0}}, 1, limits);
  EXPECT_EQ(r.block_rate, 1);
  EXPECT_EQ(r.grid_rate, 0.25);
  EXPECT_EQ(r.locality.grid.touches, 20000);
  EXPECT_NEAR(r.locality.grid.hit_rate(16384), 0.75, 0.05);
}

}  // namespace
}  // namespace kernelcast::interpreter
