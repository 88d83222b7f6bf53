#include "execute/half.h"

namespace kernelcast::interpreter {
namespace {

TEST(Half, EveryValueGoesThroughFloatAndBack) {
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    const float f = Half::to_float(static_cast<std::uint16_t>(h));
    if (f != f) {
      EXPECT_EQ(Half::from_float(f) & 0x7c00U, 0x7c00U);
      EXPECT_NE(Half::from_float(f) & 0x3ffU, 0U);
    } else {
      EXPECT_EQ(Half::from_float(f), h);
    }
  }
}

/// The nearest half by search among neighbours, ties to even.
std::uint16_t nearest(double d) {
  const bool negative = std::signbit(d);
  const double m = std::fabs(d);
  if (m >= 65520.0) return static_cast<std::uint16_t>((negative ? 0x8000U : 0U) | 0x7c00U);
  std::uint32_t low = 0, high = 0x7bff;
  while (high - low > 1) {
    const std::uint32_t mid = (low + high) / 2;
    (static_cast<double>(Half::to_float(static_cast<std::uint16_t>(mid))) <= m ? low : high) = mid;
  }
  const double a = Half::to_float(static_cast<std::uint16_t>(low)),
               b = Half::to_float(static_cast<std::uint16_t>(high));
  std::uint32_t best = low;
  if (b - m < m - a || (b - m == m - a && low % 2 == 1)) best = high;
  return static_cast<std::uint16_t>((negative ? 0x8000U : 0U) | best);
}

RC_GTEST_PROP(Half, RoundsToNearestEven, ()) {
  const auto exponent = *rc::gen::inRange(-30, 18);
  const auto mantissa = *rc::gen::inRange(0, 1 << 24);
  const double d = std::ldexp(1.0 + mantissa / 16777216.0, exponent) * (*rc::gen::arbitrary<bool>() ? -1 : 1);
  RC_ASSERT(Half(d).bits == nearest(d));
  const auto f = static_cast<float>(d);
  RC_ASSERT(Half(f).bits == nearest(f));
}

}  // namespace
}  // namespace kernelcast::interpreter
