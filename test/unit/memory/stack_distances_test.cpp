#include "memory/stack_distances.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <functional>
#include <list>
#include <vector>

namespace kernelcast::memory {
namespace {

using ::testing::ElementsAre;
using Keys = std::vector<std::uint64_t>;

// The definition: a list with the last touched in front; the place of a key in it is its distance.
struct SlowDistances {
  std::list<std::uint64_t> stack;
  ReuseDistances r;
  void touch(std::uint64_t key) {
    ++r.touches;
    std::uint64_t distance = 0;
    auto at = stack.begin();
    for (; at != stack.end() && *at != key; ++at) ++distance;
    if (at == stack.end()) {
      ++r.cold;
    } else {
      std::size_t bucket = 0;
      for (std::uint64_t d = distance; d > 1; d /= 2) ++bucket;
      if (r.nearer.size() <= bucket) r.nearer.resize(bucket + 1);
      ++r.nearer[bucket];
      stack.erase(at);
    }
    stack.push_front(key);
  }
};

ReuseDistances slow(const Keys& keys) {
  SlowDistances s;
  for (const auto k : keys) s.touch(k);
  return s.r;
}

ReuseDistances fast(const Keys& keys, std::size_t batch = 1000) {
  StackDistances s;
  for (std::size_t i = 0; i < keys.size(); i += batch)
    s.touch(std::span(keys).subspan(i, std::min(batch, keys.size() - i)));
  EXPECT_EQ(s.rate(), 1);
  EXPECT_EQ(s.distinct(), s.distances().cold);
  return s.distances();
}

void expect_same(const ReuseDistances& a, const ReuseDistances& b) {
  EXPECT_EQ(a.touches, b.touches);
  EXPECT_EQ(a.cold, b.cold);
  EXPECT_EQ(a.nearer, b.nearer);
}

std::uint64_t next(std::uint64_t& state) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return state >> 33U;
}

Keys random_keys(std::size_t n, std::uint64_t among, std::uint64_t spread, std::uint64_t seed) {
  Keys keys;
  for (std::size_t i = 0; i < n; ++i) keys.push_back(next(seed) % among * spread);
  return keys;
}

// Fenwick tree only, no list: for streams too long for the definition.
ReuseDistances middling(const Keys& keys) {
  std::vector<int> tree(keys.size() + 1);
  const auto add = [&](std::size_t i, int v) {
    for (++i; i < tree.size(); i += i & (~i + 1)) tree[i] += v;
  };
  const auto sum = [&](std::size_t i) {
    int s = 0;
    for (; i > 0; i &= i - 1) s += tree[i];
    return s;
  };
  std::map<std::uint64_t, std::size_t> last;
  ReuseDistances r;
  for (std::size_t t = 0; t < keys.size(); ++t) {
    ++r.touches;
    const auto at = last.find(keys[t]);
    if (at == last.end()) {
      ++r.cold;
    } else {
      std::size_t bucket = 0;
      for (int d = sum(t) - sum(at->second + 1); d > 1; d /= 2) ++bucket;
      if (r.nearer.size() <= bucket) r.nearer.resize(bucket + 1);
      ++r.nearer[bucket];
      add(at->second, -1);
    }
    add(t, 1);
    last[keys[t]] = t;
  }
  return r;
}

TEST(Reuse, NothingTouched) {
  const ReuseDistances r = fast({});
  EXPECT_EQ(r.touches, 0);
  EXPECT_TRUE(r.nearer.empty());
  EXPECT_EQ(r.hit_rate(100), 0);
}

TEST(Reuse, ByHand) {
  // a b b a c a: b after 0 others, a after 1 (b), a after 1 (c)
  expect_same(fast({1, 2, 2, 1, 3, 1}), slow({1, 2, 2, 1, 3, 1}));
  const ReuseDistances r = fast({1, 2, 3, 4, 1, 1});
  EXPECT_EQ(r.cold, 4);
  EXPECT_THAT(r.nearer, ElementsAre(1, 1));  // distances 0 and 3
}

TEST(Reuse, HitRatesOfACyclicScan) {
  Keys keys;
  for (int round = 0; round < 3; ++round)
    for (std::uint64_t k = 0; k < 1024; ++k) keys.push_back(k);
  const ReuseDistances r = fast(keys);  // distance 1023 for two thirds: [512, 1024)
  EXPECT_EQ(r.hit_rate(512), 0);
  EXPECT_NEAR(r.hit_rate(768), 1.0 / 3, 1e-12);
  EXPECT_NEAR(r.hit_rate(1024), 2.0 / 3, 1e-12);
  EXPECT_NEAR(r.hit_rate(1e9), 2.0 / 3, 1e-12);
  EXPECT_EQ(r.hit_rate(0), 0);
  EXPECT_EQ(r.hit_rate(-1), 0);
}

TEST(Reuse, FirstBucketHoldsZeroAndOne) {
  ReuseDistances r;
  r.nearer = {4, 4};
  r.touches = 10;
  r.cold = 2;
  EXPECT_DOUBLE_EQ(r.hit_rate(1), 0.2);
  EXPECT_DOUBLE_EQ(r.hit_rate(2), 0.4);
  EXPECT_DOUBLE_EQ(r.hit_rate(3), 0.6);
  EXPECT_DOUBLE_EQ(r.hit_rate(4), 0.8);
}

RC_GTEST_PROP(ReuseProperty, AgreesWithTheList, ()) {
  const auto among = *rc::gen::inRange<std::uint64_t>(1, 300);
  const auto spread = *rc::gen::element<std::uint64_t>(1, 2, 4, 64, 4096, std::uint64_t{1} << 35);
  const auto keys =
      random_keys(*rc::gen::inRange<std::size_t>(0, 3000), among, spread, *rc::gen::arbitrary<std::uint32_t>());
  const ReuseDistances a = fast(keys, *rc::gen::inRange<std::size_t>(1, 100)), b = slow(keys);
  RC_ASSERT(a.nearer == b.nearer);
  RC_ASSERT(a.cold == b.cold);
  RC_ASSERT(a.touches == b.touches);
}

// Scans, strides and hot spots at random, as kernels mix them.
RC_GTEST_PROP(ReuseProperty, AgreesWithTheListOnStructuredStreams, ()) {
  Keys keys;
  const int pieces = *rc::gen::inRange(1, 12);
  for (int p = 0; p < pieces; ++p) {
    const auto base = *rc::gen::inRange<std::uint64_t>(0, 500);
    const auto stride = *rc::gen::element<std::uint64_t>(0, 1, 2, 7, 32);
    const int length = *rc::gen::inRange(1, 700), times = *rc::gen::inRange(1, 4);
    for (int t = 0; t < times; ++t)
      for (int i = 0; i < length; ++i) keys.push_back(base + stride * static_cast<std::uint64_t>(i));
  }
  const ReuseDistances a = fast(keys), b = slow(keys);
  RC_ASSERT(a.nearer == b.nearer);
  RC_ASSERT(a.cold == b.cold);
}

// Long enough for the row of times to be renumbered and made longer many times, and for far distances.
TEST(Reuse, LongStreams) {
  for (const std::uint64_t among : {10U, 3000U, 40000U}) {
    const Keys keys = random_keys(200000, among, 1, among);
    expect_same(fast(keys), middling(keys));
  }
  Keys mixed;  // a hot set within a long scan
  std::uint64_t state = 7;
  for (std::uint64_t i = 0; i < 300000; ++i) mixed.push_back(i % 3 == 0 ? next(state) % 50 : 1000 + i % 60001);
  expect_same(fast(mixed), middling(mixed));
}

TEST(Reuse, TheTwoSlowOnesAgree) {
  const Keys keys = random_keys(3000, 200, 3, 5);
  expect_same(slow(keys), middling(keys));
}

TEST(Reuse, ClearForgets) {
  StackDistances s;
  const Keys first = random_keys(20000, 5000, 1, 1), second = random_keys(3000, 100, 1, 2);
  s.touch(first);
  s.clear(0);
  s.touch(second);
  expect_same(s.distances(), slow(second));
}

// Where keys outgrow the limit: one in two is followed; counts add up and hit rates stay near the exact ones.
TEST(Reuse, SamplesWhenKeysOutgrowTheLimit) {
  Keys keys;
  std::uint64_t state = 3;
  for (std::uint64_t i = 0; i < 400000; ++i) {
    // half over 2,000 keys, half over 50,000
    keys.push_back(next(state) % 2 == 0 ? next(state) % 2000 : 10000 + next(state) % 50000);
  }
  const ReuseDistances exact = middling(keys);
  StackDistances s(8192);
  s.touch(keys);
  EXPECT_LE(s.rate(), 1.0 / 4);
  EXPECT_GE(s.rate(), 1.0 / 16);
  const ReuseDistances sampled = s.distances();
  double sum = sampled.cold;
  for (const double n : sampled.nearer) sum += n;
  EXPECT_NEAR(sum, sampled.touches, 1e-6 * sum);
  EXPECT_EQ(sampled.touches, exact.touches);
  // 1 / sqrt(8192) is about 1 %: five of these
  for (const double cache : {1000.0, 4000.0, 16000.0, 40000.0, 70000.0})
    EXPECT_NEAR(sampled.hit_rate(cache), exact.hit_rate(cache), 0.05) << cache;
  EXPECT_NEAR(s.distinct() / 52000, 1, 0.05);
}

TEST(Reuse, SamplesAreNested) {
  std::size_t kept[4] = {};
  for (std::uint64_t k = 0; k < 100000; ++k) {
    EXPECT_TRUE(in_sample(k, 0));
    for (int shift = 1; shift <= 4; ++shift) {
      if (in_sample(k, shift)) {
        ++kept[shift - 1];
        EXPECT_TRUE(in_sample(k, shift - 1));
      }
    }
  }
  for (int shift = 1; shift <= 4; ++shift)
    EXPECT_NEAR(static_cast<double>(kept[shift - 1]), 100000 / std::pow(2, shift), 1000);
}

TEST(Reuse, AGivenTotalCorrectsTheNearest) {
  StackDistances s;
  s.touch(Keys{1, 2, 1, 2});
  const ReuseDistances more = s.distances(10);  // six were left out: nearest bucket
  EXPECT_EQ(more.touches, 10);
  EXPECT_THAT(more.nearer, ElementsAre(8));
  const ReuseDistances fewer = s.distances(3);
  EXPECT_THAT(fewer.nearer, ElementsAre(1));
  EXPECT_EQ(fewer.cold, 2);
  const ReuseDistances least = s.distances(1);  // shares are kept
  EXPECT_EQ(least.cold, 1);
  EXPECT_THAT(least.nearer, ElementsAre(0));
}

TEST(Reuse, MemoryStaysBounded) {
  StackDistances s(4096);
  std::uint64_t state = 11;
  for (int i = 0; i < 200; ++i) s.touch(random_keys(1000, std::uint64_t{1} << 30, 64, next(state)));
  EXPECT_LT(s.memory_bytes(), 4096 * 150);
  EXPECT_LT(s.rate(), 1);
}

}  // namespace
}  // namespace kernelcast::memory
