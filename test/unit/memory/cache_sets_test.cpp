// Sets of a cache: the closed form against addresses one by one, and lines that miss against a simulated cache.
#include "memory/cache_sets.h"

#include <gtest/gtest.h>
// rapidcheck/gtest.h needs gtest first
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "memory/capacity.h"

namespace kernelcast::memory::cache_sets_test {
namespace {

double enumerated(const AccessStream& walk, int depth, std::int64_t line, std::int64_t period) {
  std::set<std::int64_t> places(walk.offsets.begin(), walk.offsets.end()), lines;
  for (const AccessStream::Step& s : walk.steps) {
    if (s.depth > depth) continue;
    std::set<std::int64_t> next;
    for (const std::int64_t p : places)
      for (std::int64_t i = 0; i < s.count; ++i) next.insert(p + i * s.stride);
    places = std::move(next);
  }
  for (const std::int64_t p : places)
    for (std::int64_t b = p; b < p + walk.bytes; ++b) lines.insert(((b % period) + period) % period / line);
  return static_cast<double>(lines.size()) / static_cast<double>(period / line);
}

RC_GTEST_PROP(CacheSets, ShareIsThatOfTheAddressesOneByOne, ()) {
  const auto number = [](int low, int high) { return *rc::gen::inRange<std::int64_t>(low, high); };
  AccessStream walk;
  walk.bytes = *rc::gen::element(1, 4, 8, 16, 32);
  walk.offsets.resize(static_cast<std::size_t>(number(1, 4)));
  for (std::int64_t& o : walk.offsets) o = 4 * number(0, 3000);
  for (std::int64_t n = number(0, 4); n > 0; --n) {
    const std::int64_t stride = number(0, 2) == 0 ? std::int64_t{1} << number(2, 14) : 4 * number(-900, 900);
    walk.steps.push_back({stride, number(1, 20), static_cast<int>(number(0, Reuse::depths))});
  }
  const std::int64_t line = *rc::gen::element<std::int64_t>(32, 64, 128);
  const std::int64_t period = line * *rc::gen::element<std::int64_t>(1, 16, 48, 64);
  for (int depth = 0; depth < Reuse::depths; ++depth)
    RC_ASSERT(share_of_sets(walk, depth, line, period) == enumerated(walk, depth, line, period));
}

TEST(CacheSets, APeriodIsAWayOrAPage) {
  EXPECT_EQ(set_period(32768, 64, 8), 4096);
  EXPECT_EQ(set_period(16384, 64, 8), 2048);
  EXPECT_EQ(set_period(49152, 64, 12), 4096);
  EXPECT_EQ(set_period(1048576, 64, 16), 4096);  // pages lie anywhere
  EXPECT_EQ(set_period(32768, 64, 0), 0);        // not known
  EXPECT_EQ(set_period(1000, 64, 8), 0);         // no whole lines
}

constexpr std::int64_t line = 64, sets = 64, ways = 8, period = line * sets, element = 8;
constexpr double cache = static_cast<double>(line * sets * ways);

/// Columns of `rows` elements that are `stride` bytes apart, one column after the other: what one sweep of the columns
/// of whole lines misses when a sweep went before, in a cache that evicts a random line of a set.
double simulated(std::int64_t rows, std::int64_t stride, std::int64_t columns) {
  std::vector<std::vector<std::int64_t>> cached(sets);
  std::mt19937 random(1);
  double missed = 0;
  constexpr int sweeps = 30;
  for (int sweep = 0; sweep <= sweeps; ++sweep)
    for (std::int64_t c = 0; c < columns; ++c)
      for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t at = (r * stride + c * element) / line;
        std::vector<std::int64_t>& set = cached[static_cast<std::size_t>(at % sets)];
        if (std::ranges::find(set, at) != set.end()) continue;
        missed += sweep > 0;
        if (set.size() < ways)
          set.push_back(at);
        else
          set[random() % ways] = at;
      }
  return missed / sweeps;
}

double forecast(std::int64_t rows, std::int64_t stride, std::int64_t columns, double of_ways) {
  const auto r = static_cast<double>(rows), c = static_cast<double>(columns), lines = r * c * element / line;
  Workload w;
  w.reuse.known = true;
  w.footprint_bytes = lines * line;
  AccessStream walk;
  walk.bytes = element;
  walk.offsets = {0};
  walk.steps = {{stride, rows, 1}, {element, columns, 2}};
  walk.level.fill({lines, lines});
  walk.level[0] = {1, r * c};
  walk.level[1] = {r, r * c};
  for (std::size_t d = 0; d < Reuse::depths; ++d)
    for (auto& level : w.reuse.level[Reuse::read][d]) level = walk.level[d];
  w.streams = {walk};
  return lines_missed(w, {cache, line, of_ways}, 0);
}

TEST(CacheSets, AColumnInFewSetsMissesAsASimulatedCacheDoes) {
  struct Case {
    std::int64_t rows, stride, columns;
  };
  // One set, two, four: from one and a half times what they hold to eight times; and strides that spread.
  for (const Case& c : {Case{12, 4096, 64},
                        {16, 4096, 64},
                        {64, 4096, 64},
                        {32, 2048, 64},
                        {48, 1024, 64},
                        {128, 8192, 8},
                        {32, 4160, 64},
                        {64, 2112, 64},
                        {60, 4096 + 1024, 64},
                        {16, 24 * 64, 64}}) {
    const double truth = simulated(c.rows, c.stride, c.columns);
    const double all = static_cast<double>(c.rows * c.columns);
    EXPECT_NEAR(forecast(c.rows, c.stride, c.columns, ways), truth, 0.06 * all) << c.rows << " rows of " << c.stride;
  }
}

TEST(CacheSets, WithoutWaysThereIsOneSet) {
  // 64 lines of 512: all of them stay, where sets would throw all of them out.
  EXPECT_EQ(forecast(64, 4096, 8, 0), 0);
  EXPECT_GT(forecast(64, 4096, 8, ways), 0.99 * 64 * 8);
}

TEST(CacheSets, AStrideThatSpreadsMissesAsWithoutSets) {
  for (const std::int64_t rows : {10, 100, 600, 5000})
    EXPECT_DOUBLE_EQ(forecast(rows, 4160, 64, ways), forecast(rows, 4160, 64, 0)) << rows;
}

}  // namespace
}  // namespace kernelcast::memory::cache_sets_test
