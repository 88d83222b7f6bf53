// Closed forms against published special cases, and against replay.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "kernelcast/converge.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

constexpr int many = 4096;  // lanes, so that no path is ever wanted by none

PatternStatistics independent(double p, int width = many) { return {p, 2 * p * (1 - p), width, 0}; }

TEST(ClosedForms, IndependentLanes) {
  for (const double p : {0.1, 0.25, 0.5, 0.8}) {
    const double pq = p * (1 - p);
    EXPECT_NEAR(expected_rates(Policy::plain, independent(p)).passes(), 2, 1e-9);
    EXPECT_NEAR(expected_rates(Policy::round_robin, independent(p)).passes(), 2 * (1 - pq), 1e-9);
    EXPECT_NEAR(expected_rates(Policy::advance, independent(p)).trips, (1 - 2 * pq) / (1 - pq), 1e-9);
    EXPECT_NEAR(expected_rates(Policy::advance_in_order, independent(p)).trips, 1 - pq, 1e-9);
  }
}

TEST(ClosedForms, FairLanesThatChangePathWithF) {
  for (const double f : {0.05, 0.3, 0.5, 0.9}) {
    const PatternStatistics s{0.5, f, many, 0};
    EXPECT_NEAR(expected_rates(Policy::round_robin, s).passes(), 2 - f, 1e-9);
    EXPECT_NEAR(expected_rates(Policy::advance, s).trips, 1 / (1 + f), 1e-9);
  }
}

TEST(ClosedForms, SpeedupWithAllCosts) {
  const LoopCosts costs{3, 3, 2, 0.5};  // rho 3, eta 0.25
  const double rho = costs.rho(), eta = 0.25;
  ASSERT_EQ(rho, 3);
  const double c = 1.5, a = 1.0 / 3;
  EXPECT_NEAR(expected_speedup(Policy::round_robin, independent(0.5), costs), (rho + 1) / (c * (rho / 2 + 1 + eta)),
              1e-9);
  EXPECT_NEAR(expected_speedup(Policy::advance, independent(0.5), costs), (rho + 1) / ((1 - a) * (rho + 2 + eta)),
              1e-9);
}

TEST(ClosedForms, BreakEven) {
  const LoopCosts free{1, 1, 1, 0};
  EXPECT_NEAR(break_even_rho(Policy::round_robin, independent(0.5), free).value(), 2, 1e-9);
  const double a = 1.0 / 3;
  EXPECT_NEAR(break_even_rho(Policy::advance, independent(0.5), free).value(), (1 - 2 * a) / a, 1e-9);
  EXPECT_FALSE(break_even_rho(Policy::plain, independent(0.5), free).has_value());
  EXPECT_FALSE(break_even_rho(Policy::round_robin, {0.5, 0, 32, 0}, free).has_value());  // lanes never change path
  // At the break-even the speedup is 1.
  for (const Policy p : {Policy::majority, Policy::round_robin, Policy::advance, Policy::advance_in_order}) {
    const PatternStatistics s = independent(0.4, 32);
    const double rho = break_even_rho(p, s, {2, 1, 1, 0.3}).value();
    EXPECT_NEAR(expected_speedup(p, s, {rho * 2 / 3, rho / 3, 1, 0.3}), 1, 1e-9) << name_of(p);
  }
}

TEST(ClosedForms, OneLaneNeverDisagrees) {
  for (const Policy p : {Policy::plain, Policy::majority, Policy::round_robin}) {
    EXPECT_NEAR(expected_rates(p, independent(0.3, 1)).passes(), 1, 1e-9) << name_of(p);
  }
}

TEST(ClosedForms, OnePathOnly) {
  for (int p = 0; p < policy_count; ++p) {
    const StepRates r = expected_rates(static_cast<Policy>(p), {1, 0, 32, 0});
    EXPECT_EQ(r.taken, 1);
    EXPECT_EQ(r.other, 0);
    EXPECT_EQ(r.trips, 1);
  }
}

TEST(ClosedForms, StatisticsOutOfRange) {
  EXPECT_THROW(expected_rates(Policy::plain, {1.5, 0, 32, 0}), UserError);
  EXPECT_THROW(expected_rates(Policy::plain, {0.1, 0.5, 32, 0}), UserError);
  EXPECT_THROW(expected_rates(Policy::plain, {0.5, 0.5, 0, 0}), UserError);
}

struct Drawn {
  PatternStatistics statistics;
  BranchPattern pattern;
};

Drawn drawn(std::int64_t iterations) {
  Drawn d;
  d.statistics.width = *rc::gen::element(8, 16, 32, 64);
  const double least = 3.0 / d.statistics.width;  // three lanes on the rarer path
  d.statistics.p = least + (1 - 2 * least) * *rc::gen::inRange(0, 1001) / 1000.0;
  // Paths that change rarely make long runs, of which 8,192 iterations hold few.
  const double largest = 2 * std::min(d.statistics.p, 1 - d.statistics.p);
  d.statistics.f = largest * *rc::gen::inRange(200, 951) / 1000.0;
  d.statistics.iterations = static_cast<double>(iterations);
  d.pattern = flipping_pattern(d.statistics.width, iterations, d.statistics.p, d.statistics.f,
                               *rc::gen::arbitrary<std::uint64_t>());
  return d;
}

double deviation(const Drawn& d, Policy policy, double expected_passes, const PolicyOptions& options = {}) {
  const auto n = d.statistics.iterations;
  return std::abs(static_cast<double>(replay(d.pattern, policy, options).passes()) / n / expected_passes - 1);
}

RC_GTEST_PROP(ClosedForms, WithinOnePercentOfReplay, ()) {
  const Drawn d = drawn(8192);
  for (const Policy p : {Policy::plain, Policy::round_robin, Policy::advance, Policy::advance_in_order}) {
    const double off = deviation(d, p, expected_rates(p, d.statistics).passes());
    RC_LOG() << name_of(p) << " is off by " << off << " at p " << d.statistics.p << ", f " << d.statistics.f
             << ", width " << d.statistics.width << "\n";
    RC_ASSERT(off < 0.01);
  }
}

// The chain of majority is the limit: the longer the loop, the less the lanes left behind count.
TEST(ClosedForms, MajorityOfLongLoops) {
  for (const int width : {8, 32}) {
    for (const double p : {0.375, 0.5}) {
      for (const int flush : {0, 8}) {
        PatternStatistics s = independent(p, width);
        PolicyOptions options;
        options.flush_period = flush;
        const double limit = expected_rates(Policy::majority, s, options).passes();
        const std::int64_t n = 65536;
        s.iterations = static_cast<double>(n);
        const Drawn d{s, independent_pattern(width, n, p, 11)};
        EXPECT_LT(deviation(d, Policy::majority, limit, options), 0.01) << width << " " << p << " " << flush;
        EXPECT_LT(deviation(d, Policy::majority, expected_rates(Policy::majority, s, options).passes(), options), 0.01);
      }
    }
  }
}

}  // namespace
}  // namespace kernelcast
