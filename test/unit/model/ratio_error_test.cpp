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

RC_GTEST_PROP(RatioError, ProbabilitiesMirrorAndRise, ()) {
  const double ratio = std::exp(*rc::gen::inRange(-300, 300) / 100.0),
               limit = std::exp(*rc::gen::inRange(-50, 50) / 100.0);
  const RatioError e{0.01 * *rc::gen::inRange(1, 50)};
  RC_ASSERT(std::abs(e.above(ratio, limit) + e.above(1 / ratio, 1 / limit) - 1) < 1e-12);
  RC_ASSERT(e.above(ratio * 1.1, limit) > e.above(ratio, limit));
}

}  // namespace
}  // namespace kernelcast
