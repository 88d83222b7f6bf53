// Power, cost, decision: the arithmetic and its limits.
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <cmath>

#include "kernelcast/error.h"
#include "kernelcast/offload.h"

namespace kernelcast::offload {
namespace {

TEST(Power, BusyByInstructions) { EXPECT_DOUBLE_EQ(busy_power_by_instructions(10, 2e9, 5e-9), 20); }

TEST(Cost, TimeAloneIsSeconds) { EXPECT_DOUBLE_EQ(cost({1, 0}, 2, 10, 3, 40), 5); }

TEST(Cost, EnergyAloneIsIdleWhileMovingAndBusyWhileRunning) { EXPECT_DOUBLE_EQ(cost({0, 1}, 2, 10, 3, 40), 20 + 120); }

RC_GTEST_PROP(Cost, IsLinearInTheWeights, ()) {
  const double w = *rc::gen::inRange(0, 101) / 100.0, t = *rc::gen::inRange(0, 50), e = *rc::gen::inRange(0, 50);
  RC_ASSERT(std::abs(cost({w, 1 - w}, t, 7, e, 90) -
                     (w * cost({1, 0}, t, 7, e, 90) + (1 - w) * cost({0, 1}, t, 7, e, 90))) < 1e-6);
}

TEST(Weights, MustAddUp) {
  EXPECT_NO_THROW(check({0.25, 0.75}));
  EXPECT_THROW(check({0.5, 0.4}), UsageError);
  EXPECT_THROW(check({1.5, -0.5}), UsageError);
}

TEST(Decide, EqualSidesAreTooClose) {
  const Verdict v = decide({1, 2}, {1, 2}, 0.5);
  EXPECT_EQ(v.decision, Decision::too_close);
  EXPECT_DOUBLE_EQ(v.probability, 0.5);
}

TEST(Decide, WithoutErrorTheFasterWinsForSure) {
  EXPECT_EQ(decide({1, 1}, {1.001, 1}, 0.99).decision, Decision::cpu);
  EXPECT_DOUBLE_EQ(decide({1, 1}, {1.001, 1}, 0.99).probability, 1);
}

TEST(Decide, ATieIsSaidWhereItIsLikelierThanAWinner) {
  // Both sides known to 5 %: equal times are within 10 % of each other with a probability of 0.97.
  const Verdict sharp = decide({1, 1.05}, {1.01, 1.05}, 0.5);
  EXPECT_GT(sharp.tie_probability, sharp.probability);
  EXPECT_EQ(sharp.decision, Decision::too_close);
  // Known to a factor of 1.5: a tie is unlikely whatever the forecast says, so the cheaper side is named.
  const Verdict blunt = decide({1, 1.5}, {1.01, 1.5}, 0.5);
  EXPECT_LT(blunt.tie_probability, 0.3);
  EXPECT_EQ(blunt.decision, Decision::cpu);
  EXPECT_EQ(decide({1, 1.5}, {1.01, 1.5}, 0.6).decision, Decision::too_close);
}

TEST(Decide, TheTieIsAnIntervalOfTheRatio) {
  // One side exact, the other at the edge of the tie: half of the normal less what lies beyond the other edge.
  const double spread = std::log(2.0) / 1.6448536269514722, edge = std::log(tie_ratio);
  const double expected = 0.5 - 0.5 * std::erfc(2 * edge / spread / std::sqrt(2.0));
  EXPECT_NEAR(decide({tie_ratio, 1}, {1, 2}, 0.5).tie_probability, expected, 1e-12);
}

TEST(Decide, NinetyPercentIntervalOfOneSideLeavesFivePercent) {
  // The other side stands at the edge of the interval.
  EXPECT_NEAR(decide({2, 1}, {1, 2}, 0.6).probability, 0.95, 1e-6);
}

RC_GTEST_PROP(Decide, SwappingSidesSwapsTheDecision, ()) {
  const double a = *rc::gen::inRange(1, 1000), b = *rc::gen::inRange(1, 1000),
               f = 1 + *rc::gen::inRange(1, 300) / 100.0;
  const Verdict there = decide({a, f}, {b, f}, 0.6), back = decide({b, f}, {a, f}, 0.6);
  RC_ASSERT(std::abs(there.probability - back.probability) < 1e-12);
  if (there.decision == Decision::too_close) RC_ASSERT(back.decision == Decision::too_close);
  if (there.decision == Decision::cpu) RC_ASSERT(back.decision == Decision::gpu);
}

RC_GTEST_PROP(Decide, MoreErrorIsNeverMoreSure, ()) {
  const double a = *rc::gen::inRange(1, 1000), b = *rc::gen::inRange(1, 1000);
  RC_ASSERT(decide({a, 3}, {b, 2}, 0.6).probability <= decide({a, 1.5}, {b, 2}, 0.6).probability + 1e-12);
}

}  // namespace
}  // namespace kernelcast::offload
