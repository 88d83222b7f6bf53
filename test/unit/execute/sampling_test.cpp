#include "execute/sampling.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace kernelcast::interpreter {
namespace {

RC_GTEST_PROP(Sampling, StrataCoverTheGridOnce, ()) {
  const Dim3 grid{*rc::gen::inRange(1, 40), *rc::gen::inRange(1, 12), *rc::gen::inRange(1, 5)};
  const auto wanted = *rc::gen::inRange<std::int64_t>(1, 200);
  const auto strata = choose_blocks(grid, wanted, *rc::gen::arbitrary<std::uint64_t>());
  std::int64_t population = 0;
  std::set<std::int64_t> seen;
  for (const Stratum& s : strata) {
    population += s.population;
    RC_ASSERT(!s.blocks.empty());
    RC_ASSERT(static_cast<std::int64_t>(s.blocks.size()) <= s.population);
    for (std::int64_t b : s.blocks) {
      RC_ASSERT(b >= 0 && b < grid.count());
      RC_ASSERT(seen.insert(b).second);
    }
  }
  RC_ASSERT(population == grid.count());
  RC_ASSERT(std::count(strata[0].blocks.begin(), strata[0].blocks.end(), middle_block(grid)) == 1);
  RC_ASSERT(static_cast<std::int64_t>(seen.size()) <= std::min(wanted, grid.count()));
}

TEST(Sampling, AllBlocksWhenAllAreWanted) {
  const auto strata = choose_blocks({5, 3, 1}, 15, 1);
  ASSERT_EQ(strata.size(), 1U);
  EXPECT_EQ(strata[0].blocks.size(), 15U);
}

TEST(Sampling, EdgesGetABlockEach) {
  const auto strata = choose_blocks({100, 100, 1}, 20, 1);
  EXPECT_EQ(strata.size(), 9U);
  EXPECT_EQ(strata[0].population, 98 * 98);
  EXPECT_GT(strata[0].blocks.size(), 8U);
}

TEST(Sampling, TheMiddleBlockIsAmongThem) {
  for (std::int64_t x : {3, 10, 1000, 123456}) {
    const auto strata = choose_blocks({x, 1, 1}, 3, 7);
    bool found = false;
    for (const Stratum& s : strata)
      for (std::int64_t b : s.blocks) found = found || b == middle_block({x, 1, 1});
    EXPECT_TRUE(found) << x;
  }
}

// Time of the sample, not of the grid: these 1.5e13 blocks would take hours one by one.
TEST(Sampling, LargestGridsTakeNoLonger) {
  const Dim3 grid{1024, 7, std::int64_t{1} << 31};
  const auto strata = choose_blocks(grid, 100, 1);
  EXPECT_EQ(std::count(strata[0].blocks.begin(), strata[0].blocks.end(), middle_block(grid)), 1);
}

TEST(Sampling, IntervalIsThatOfStratifiedSampling) {
  // One stratum of 100 with the values 1, 2, 3: variance 1, 100^2 (1 - 0.03) 1 / 3.
  const std::vector<Stratum> strata{{100, {0, 1, 2}}};
  EXPECT_NEAR(half_interval(strata, {{1, 2, 3}}), 4.303 * std::sqrt(10000 * 0.97 / 3), 1e-9);
  EXPECT_EQ(half_interval({{3, {0, 1, 2}}}, {{1, 2, 3}}), 0);
  // The stratum with one of ten takes the spread of the other.
  EXPECT_NEAR(half_interval({{3, {0, 1, 2}}, {10, {5}}}, {{1, 2, 3}, {7}}), 4.303 * std::sqrt(100 * 0.9), 1e-9);
  // Two strata of equal weight and spread have twice the degrees of freedom of one.
  EXPECT_NEAR(half_interval({{100, {0, 1, 2}}, {100, {100, 101, 102}}}, {{1, 2, 3}, {5, 6, 7}}),
              2.776 * std::sqrt(2 * 10000 * 0.97 / 3), 1e-9);
}

TEST(Sampling, OneBlockSaysNothingAboutTheSpread) {
  EXPECT_TRUE(std::isnan(half_interval({{100, {50}}}, {{7}})));
  EXPECT_TRUE(std::isnan(half_interval({{1, {0}}, {98, {50}}, {1, {99}}}, {{7}, {8}, {9}})));
  EXPECT_EQ(half_interval({{1, {0}}}, {{7}}), 0);
}

TEST(Sampling, TwoEqualValuesAreNoProofOfEquality) {
  EXPECT_TRUE(std::isnan(half_interval({{100, {1, 50}}}, {{7, 7}})));
  EXPECT_EQ(half_interval({{100, {1, 50, 70, 90}}}, {{7, 7, 7, 7}}), 0);
  EXPECT_EQ(half_interval({{2, {0, 1}}}, {{7, 7}}), 0);
}

TEST(Sampling, PartsOfBlocksAreASampleToo) {
  EXPECT_NEAR(half_interval({{3, {0, 1, 2}, 0.25}}, {{1, 2, 3}}), 4.303 * std::sqrt(9 * 0.75 / 3), 1e-9);
  EXPECT_TRUE(std::isnan(half_interval({{1, {0}, 0.5}}, {{7}})));
}

TEST(Sampling, QuantilesOfStudentsDistribution) {
  EXPECT_NEAR(student_97_5(1), 12.706, 5e-4);
  EXPECT_NEAR(student_97_5(10.9), 2.228, 5e-4);  // whole ones below
  EXPECT_NEAR(student_97_5(40), 2.021, 5e-3);
  EXPECT_NEAR(student_97_5(1e6), 1.96, 1e-3);
}

}  // namespace
}  // namespace kernelcast::interpreter
