#include "model/ratio_error.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace kernelcast {
namespace {

TEST(RatioError, QuartilesAndTails) {
  const RatioError e{0.12};
  EXPECT_NEAR(e.half_width(), 0.12 * 6.3138, 1e-4);      // 95th percentile of a Cauchy distribution
  EXPECT_NEAR(e.above(std::exp(0.12), 1), 0.75, 1e-12);  // the quartile
  EXPECT_NEAR(e.above(std::exp(e.half_width()), 1), 0.95, 1e-12);
  EXPECT_EQ(e.above(1, 1), 0.5);
}

TEST(RatioError, WithoutErrorItIsAComparison) {
  EXPECT_EQ(RatioError{}.half_width(), 0);
  EXPECT_EQ(RatioError{}.above(1, 1), 0);
  EXPECT_EQ(RatioError{}.above(1.01, 1), 1);
}

Estimate estimate(double s, std::vector<std::pair<const char*, double>> bounds) {
  Estimate e;
  e.time_s.value = s;
  for (const auto& [name, of] : bounds) e.bounds.push_back({name, Seconds(of), ""});
  return e;
}

// The largest change of a bound's share says how much of the two errors is shared.
TEST(RatioError, ForecastsThatAreBoundAlikeShareTheirErrors) {
  const Estimate one = estimate(1, {{"issue", 0.8}, {"l2", 0.4}});
  const Estimate twice = estimate(2, {{"issue", 1.6}, {"l2", 0.8}});
  EXPECT_EQ(change_of_bounds(one, twice), 0);
  EXPECT_NEAR(kernelcast_ratio_error_of(one, twice, false).quartile, 0.03, 1e-12);
  const Estimate some = estimate(2, {{"issue", 1.6}, {"l2", 0.6}});
  EXPECT_NEAR(change_of_bounds(one, some), 8 / 11. - 2 / 3., 1e-12);
  EXPECT_NEAR(kernelcast_ratio_error_of(one, some, false).quartile, 0.03 + 0.07 * (8 / 11. - 2 / 3.) / 0.12, 1e-12);
  const Estimate other = estimate(2, {{"dram_bandwidth", 1.9}, {"l2", 0.8}});
  EXPECT_NEAR(change_of_bounds(other, one), 1.9 / 2.7, 1e-12);
  EXPECT_EQ(kernelcast_ratio_error_of(other, one, false).quartile, kernelcast_ratio_error.quartile);
  EXPECT_EQ(kernelcast_ratio_error_of(one, one, true).quartile, kernelcast_local_memory_ratio_error.quartile);
}

RC_GTEST_PROP(RatioError, ProbabilitiesMirrorAndRise, ()) {
  const double ratio = std::exp(*rc::gen::inRange(-300, 300) / 100.0),
               limit = std::exp(*rc::gen::inRange(-50, 50) / 100.0);
  const RatioError e{0.01 * *rc::gen::inRange(1, 50)};
  RC_ASSERT(std::abs(e.above(ratio, limit) + e.above(1 / ratio, 1 / limit) - 1) < 1e-12);
  RC_ASSERT(e.above(ratio * 1.1, limit) > e.above(ratio, limit));
}

}  // namespace
}  // namespace kernelcast
