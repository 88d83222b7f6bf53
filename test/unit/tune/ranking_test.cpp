// The fastest configurations against a sort of all of them.
#include "tune/ranking.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "tune/ties.h"

namespace kernelcast::tune {
namespace {

/// Names that turn the order of the indices around.
std::string backwards(std::size_t i) { return std::to_string(999999 - i); }

std::vector<std::size_t> by_sorting(const std::vector<float>& times, std::size_t top) {
  std::vector<std::size_t> all(times.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::erase_if(all, [&](std::size_t i) { return times[i] <= 0; });
  std::sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) {
    return times[a] != times[b] ? times[a] < times[b] : backwards(a) < backwards(b);
  });
  if (all.size() > top) all.resize(top);
  return all;
}

RC_GTEST_PROP(RankingProperty, FastestAreThoseOfASort, ()) {
  std::vector<float> times;
  for (const int t : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40)))
    times.push_back(static_cast<float>(t));
  const auto top = static_cast<std::size_t>(*rc::gen::inRange(0, 20));
  RC_ASSERT(fastest(times, top, {backwards}) == by_sorting(times, top));
}

TEST(Ranking, ManyTimesThatFallAndManyThatAreEqual) {
  std::vector<float> times;
  for (int i = 0; i < 30000; ++i) times.push_back(static_cast<float>(30000 - i));
  times.resize(60000, 5);
  for (const std::size_t top : {1, 4, 5, 10, 4097, 100000})
    EXPECT_EQ(fastest(times, top, {backwards}), by_sorting(times, top)) << top;
}

TEST(Ranking, ALimitOfNamesTakesTiesInOrder) {
  std::vector<float> times(1000, 3);
  times[700] = 2;
  std::size_t named = 0;
  const TieOrder few{[&](std::size_t i) {
                       ++named;
                       return backwards(i);
                     },
                     20};
  EXPECT_EQ(fastest(times, 3, few), (std::vector<std::size_t>{700, 19, 18}));
  EXPECT_EQ(named, 21U);
}

TEST(Ranking, WorstLossIsAmongDevicesThatRunAny) {
  const std::vector<std::vector<float>> times{{1, 2, 4, 0}, {8, 2, 1, 1}, {0, 0, 0, 0}};
  const auto best = smallest_worst_loss(times, 2, {backwards});
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best[0].index, 1U);
  EXPECT_EQ(best[0].worst_loss, 1);
  EXPECT_EQ(best[0].loss, (std::vector<double>{1, 1, 0}));
  EXPECT_EQ(best[1].index, 2U);
  EXPECT_EQ(best[1].worst_loss, 3);
}

TEST(Ranking, TiesAreCountedAsIfEachWasAsked) {
  DeviceTuning device;
  std::vector<float> times{0};
  for (int i = 0; i < 500; ++i) times.push_back(1 + 0.01F * static_cast<float>((i * 37) % 100));
  mark_ties(device, times, "kernelcast");
  std::uint64_t tied = 0;
  for (const float t : times)
    if (t > 0 && chance_of_being_faster(1, static_cast<double>(t), ratio_error_of("kernelcast")) >= tie_chance) ++tied;
  EXPECT_EQ(device.evaluated, 500U);
  EXPECT_EQ(device.tied, tied);
  EXPECT_GT(tied, 1U);
  EXPECT_LT(tied, 500U);
}

}  // namespace
}  // namespace kernelcast::tune
