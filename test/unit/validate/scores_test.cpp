// Every score on cases that fit on paper.
#include "validate/scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <cmath>

namespace kernelcast::validate {
namespace {

using testing::ElementsAre;

TEST(Scores, ErrorsOfFourPoints) {
  // Relative errors +1, -0.5, +0.1, 0.
  const std::vector<Point> points{{1, 2}, {2, 1}, {10, 11}, {4, 4}};
  const auto e = errors_of(points);
  ASSERT_TRUE(e);
  EXPECT_EQ(e->n, 4U);
  EXPECT_DOUBLE_EQ(e->mape, 1.6 / 4);
  EXPECT_DOUBLE_EQ(e->bias, 0.6 / 4);
  EXPECT_NEAR(e->median_ape, 0.3, 1e-12);           // between 0.1 and 0.5
  EXPECT_NEAR(e->p90_ape, 0.5 + 0.7 * 0.5, 1e-12);  // place 2.7 of 0, 0.1, 0.5, 1
  EXPECT_DOUBLE_EQ(e->log_error, (2 * std::log(2) + std::log(1.1)) / 4);
  EXPECT_DOUBLE_EQ(e->within_2x, 1);  // 2 and 1/2 are within
}

TEST(Scores, WithinAFactorOfTwoEndsAtTwo) {
  EXPECT_DOUBLE_EQ(errors_of(std::vector<Point>{{1, 2.001}, {1, 0.499}, {1, 1}})->within_2x, 1.0 / 3);
}

TEST(Scores, NothingForNothing) {
  const std::vector<Point> none, one{{1, 1}};
  EXPECT_FALSE(errors_of(none));
  EXPECT_FALSE(spearman(none));
  EXPECT_FALSE(spearman(one));
  EXPECT_FALSE(top1_regret(none));
  EXPECT_FALSE(ratios_of(one));
  EXPECT_FALSE(mean(std::vector<double>{}));
}

TEST(Scores, QuantilesAreLinearBetweenOrderStatistics) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_DOUBLE_EQ(quantile({10, 20, 30, 40, 50}, 0.9), 46);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.9), 7);
}

TEST(Scores, EqualValuesShareTheMeanOfTheirRanks) {
  EXPECT_THAT(ranks(std::vector<double>{10, 20, 20, 5}), ElementsAre(2, 3.5, 3.5, 1));
  EXPECT_THAT(ranks(std::vector<double>{1, 1, 1}), ElementsAre(2, 2, 2));
}

TEST(Scores, SpearmanByHand) {
  EXPECT_DOUBLE_EQ(*spearman(std::vector<Point>{{1, 10}, {2, 20}, {3, 1000}}), 1);
  EXPECT_DOUBLE_EQ(*spearman(std::vector<Point>{{1, 30}, {2, 20}, {3, 10}}), -1);
  // Ranks 1 2 3 4 against 1 3 2 4: 1 - 6 * 2 / (4 * 15).
  EXPECT_NEAR(*spearman(std::vector<Point>{{1, 1}, {2, 3}, {3, 2}, {4, 4}}), 0.8, 1e-12);
  // Ranks 1 2 3 against 1.5 1.5 3: Pearson (1.5) / sqrt(2 * 1.5).
  EXPECT_NEAR(*spearman(std::vector<Point>{{1, 5}, {2, 5}, {3, 9}}), 1.5 / std::sqrt(3), 1e-12);
}

TEST(Scores, SpearmanOfForecastsThatAreAllEqualIsZero) {
  EXPECT_EQ(spearman(std::vector<Point>{{1, 5}, {2, 5}, {3, 5}}), 0.0);
  EXPECT_FALSE(spearman(std::vector<Point>{{1, 5}, {1, 6}, {1, 7}}));
}

TEST(Scores, RegretOfTheFirstRank) {
  EXPECT_DOUBLE_EQ(*top1_regret(std::vector<Point>{{2, 9}, {3, 1}, {4, 5}}), 0.5);
  EXPECT_DOUBLE_EQ(*top1_regret(std::vector<Point>{{2, 1}, {3, 2}}), 0);
  // Two share the first rank: the mean of 2 and 4 over 2.
  EXPECT_DOUBLE_EQ(*top1_regret(std::vector<Point>{{2, 1}, {4, 1}, {3, 7}}), 0.5);
}

TEST(Scores, RatiosOfThreePoints) {
  // Measured 1, 2, 2.05; predicted 1, 3, 2. Slower over faster: 2 (3), 2.05 (2), 1.025 (2/3).
  const auto r = ratios_of(std::vector<Point>{{1, 1}, {2, 3}, {2.05, 2}});
  ASSERT_TRUE(r);
  EXPECT_EQ(r->pairs, 3U);
  EXPECT_EQ(r->differing, 2U);               // 1.025 is no difference
  EXPECT_NEAR(r->median_error, 0.5, 1e-12);  // errors 0.5, 0.025 and 1.025 * 3 / 2 - 1 = 0.5375
  EXPECT_DOUBLE_EQ(*r->sign_accuracy, 1);
}

TEST(Scores, ATieIsNotTheRightSign) {
  EXPECT_DOUBLE_EQ(*ratios_of(std::vector<Point>{{1, 3}, {2, 3}})->sign_accuracy, 0);
  EXPECT_DOUBLE_EQ(*ratios_of(std::vector<Point>{{1, 3}, {2, 2}})->sign_accuracy, 0);
  EXPECT_FALSE(ratios_of(std::vector<Point>{{1, 3}, {1.04, 2}})->sign_accuracy);
}

TEST(Scores, ManyPairsAreSampledAlikeInEveryRun) {
  std::vector<Point> points;
  for (int i = 1; i <= 400; ++i) points.push_back({1.0 * i, std::pow(i, 1.2)});
  const auto all = ratios_of(points), some = ratios_of(points, 8000), again = ratios_of(points, 8000);
  EXPECT_EQ(all->pairs, 400U * 399 / 2);
  EXPECT_EQ(some->pairs, 8000U);
  EXPECT_EQ(some->median_error, again->median_error);
  EXPECT_NEAR(some->median_error, all->median_error, 0.05 * all->median_error);
  EXPECT_DOUBLE_EQ(*some->sign_accuracy, 1);
}

RC_GTEST_PROP(Scores, RankScoresDoNotDependOnTheScaleOfForecasts, ()) {
  const auto values = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(1, 50), rc::gen::inRange(1, 50)));
  std::vector<Point> points, scaled;
  for (const auto& [m, p] : values) {
    points.push_back({1.0 * m, 1.0 * p});
    scaled.push_back({1.0 * m, std::exp(0.1 * p)});
  }
  RC_ASSERT(spearman(points).has_value() == spearman(scaled).has_value());
  if (spearman(points)) RC_ASSERT(std::abs(*spearman(points) - *spearman(scaled)) < 1e-12);
  RC_ASSERT(top1_regret(points) == top1_regret(scaled));
}

}  // namespace
}  // namespace kernelcast::validate
