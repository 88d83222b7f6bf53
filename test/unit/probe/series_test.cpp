// Estimates of noisy timings, and when a figure counts as stable.
#include "probe/series.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>

namespace {

using namespace kernelcast;
using namespace kernelcast::probe;
using View = Measurement::View;

std::vector<Sample> seconds(const std::vector<double>& v) {
  std::vector<Sample> out;
  for (double s : v) out.push_back({s, 1});
  return out;
}

Result named(const std::string& id) {
  Result r;
  r.id = id;
  return r;
}

TEST(Fastest, IsTheMedianOfTheFastestTwentiethOfAtLeastThree) {
  EXPECT_EQ(fastest(seconds({9, 2, 5, 1, 8, 3})), 2);
  std::vector<double> v;
  for (int i = 0; i < 140; ++i) v.push_back(170 - i);  // 31 to 170; the fastest seven are 31 to 37
  EXPECT_EQ(fastest(seconds(v)), 34);
  EXPECT_NEAR(fastest_spread(seconds(v)), 6.0 / 34, 1e-12);
  EXPECT_EQ(fastest(seconds({4})), 4);
}

RC_GTEST_PROP(Fastest, DisturbancesOfTheSlowerHalfDoNotCount, (std::vector<unsigned short> delays)) {
  std::vector<double> v;
  for (std::size_t i = 0; i < delays.size(); ++i) v.push_back(1 + static_cast<double>(i) / 1000);
  while (v.size() < 8) v.push_back(2);
  const double before = fastest(seconds(v));
  for (std::size_t i = 0; i < delays.size(); ++i)
    if (i >= std::max<std::size_t>(delays.size() / 2, 3)) v[i] += delays[i];
  RC_ASSERT(fastest(seconds(v)) == before);
}

RC_GTEST_PROP(FastestCycles, DoNotDependOnTheClock, ()) {
  // Each sample of 7 cycles at its own clock.
  const auto clocks = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(800, 5000)));
  std::vector<Sample> samples;
  for (int mhz : clocks) samples.push_back({7 / (mhz * 1e6), 1 / (mhz * 1e6)});
  RC_ASSERT(std::abs(fastest_cycles(samples) - 7) < 1e-9);
  RC_ASSERT(std::abs(mean_cycles_of_ten(samples) - 7) < 1e-9);
}

TEST(MeanOfTen, TakesTheTenFastest) {
  std::vector<double> v;
  for (int i = 1; i <= 30; ++i) v.push_back(i);
  EXPECT_DOUBLE_EQ(mean_cycles_of_ten(seconds(v)), 5.5);
  EXPECT_DOUBLE_EQ(mean_cycles_of_ten(seconds({1, 3})), 2);
}

TEST(Measurement, AQuietSeriesIsStableAfterTheFewestRounds) {
  Measurement m;
  const auto s = m.series([] { return 2.0; });
  m.figure(named("rate"), [s](const View& v) { return 1 / v(s); });
  m.run({.min_rounds = 10}, nullptr);
  const std::vector<Result> r = m.results();
  ASSERT_EQ(r.size(), 1u);
  EXPECT_EQ(r[0].value, 0.5);
  EXPECT_EQ(r[0].confidence, "high");
  EXPECT_EQ(r[0].samples, 10);
  EXPECT_EQ(r[0].spread, 0);
}

TEST(Measurement, MostlyDisturbedIsStillExact) {
  Measurement m;
  std::mt19937 random(7);
  const auto s = m.series([&] { return random() % 10 < 7 ? 1.5 + static_cast<double>(random() % 100) : 1.0; });
  m.figure(named("time"), [s](const View& v) { return v(s); });
  m.run({.min_rounds = 60}, nullptr);
  EXPECT_EQ(m.results()[0].value, 1);
  EXPECT_EQ(m.results()[0].confidence, "high");
}

TEST(Measurement, ADriftIsFlaggedAndGoesOnToTheLastRound) {
  Measurement m;
  int calls = 0, quiet_calls = 0;
  const auto drift = m.series([&] { return 1.0 + 0.1 * ++calls; });
  const auto quiet = m.series([&] { return ++quiet_calls, 3.0; });
  m.figure(named("drift"), [drift](const View& v) { return v(drift); });
  m.figure(named("quiet"), [quiet](const View& v) { return v(quiet); });
  m.run({.min_rounds = 8, .max_rounds = 20}, nullptr);
  EXPECT_EQ(m.results()[0].confidence, "unstable");
  EXPECT_NE(m.results()[0].reason, "");
  EXPECT_EQ(calls, 20);
  EXPECT_EQ(m.results()[1].confidence, "high");
  EXPECT_EQ(quiet_calls, 8);  // what is stable is left alone
}

TEST(Measurement, AnOscillationBetweenOddAndEvenRoundsIsFlagged) {
  Measurement m;
  int calls = 0;
  const auto s = m.series([&] { return ++calls % 2 == 0 ? 1.0 : 2.0; });
  m.figure(named("x"), [s](const View& v) { return v(s); });
  m.run({.min_rounds = 20, .max_rounds = 20}, nullptr);
  EXPECT_EQ(m.results()[0].confidence, "unstable");
}

TEST(Measurement, FastSamplesFarApartAreFlaggedUnlessTheFigureTakesSteps) {
  Measurement m;
  int calls = 0;
  // Every part of the run has the same median of its fastest, but one sample is a sixth faster.
  const auto s = m.series([&] { return ++calls == 5 ? 1.0 : 1.2; });
  m.figure(named("a"), [s](const View& v) { return v(s); });
  m.step(named("b"), [s](const View& v) { return v(s); }, "");
  m.run({.min_rounds = 28, .max_rounds = 28}, nullptr);
  EXPECT_EQ(m.results()[0].value, 1.2);
  EXPECT_EQ(m.results()[0].confidence, "unstable");
  EXPECT_EQ(m.results()[1].confidence, "high");
}

TEST(Measurement, TooFewRoundsAreNeverStable) {
  Measurement m;
  const auto s = m.series([] { return 1.0; });
  m.figure(named("x"), [s](const View& v) { return v(s); });
  m.run({.min_rounds = 40, .time_limit_s = 0}, nullptr);
  EXPECT_EQ(m.results()[0].samples, 3);
  EXPECT_EQ(m.results()[0].confidence, "unstable");
}

TEST(Measurement, UnknownHasItsReason) {
  Measurement m;
  const auto s = m.series([] { return 1.0; });
  m.figure(
      named("x"), [s](const View& v) { return v(s) > 2 ? std::optional<double>(v(s)) : std::nullopt; }, "too small");
  m.run({.min_rounds = 6}, nullptr);
  EXPECT_FALSE(m.results()[0].value);
  EXPECT_EQ(m.results()[0].confidence, "none");
  EXPECT_EQ(m.results()[0].reason, "too small");
}

TEST(Measurement, ATableIsStableWhenEachOfItsNumbersIs) {
  for (const bool drifts : {false, true}) {
    Measurement m;
    int calls = 0;
    const auto a = m.series([] { return 5.0; });
    const auto b = m.series([&] { return 1.0 + (drifts ? ++calls : 0); });
    m.table(named("t"), [a, b](const View& v) { return std::vector<std::vector<double>>{{v(a), v(b)}}; });
    m.run({.min_rounds = 12, .max_rounds = 12}, nullptr);
    EXPECT_EQ(m.results()[0].confidence, drifts ? "unstable" : "high");
    EXPECT_FALSE(m.results()[0].value);
    EXPECT_EQ(m.results()[0].lists.at(0).at(0), 5);
  }
}

TEST(Measurement, CyclesComeFromTheClockBesideEachSample) {
  Measurement m;
  double clock = 1;
  m.clock([&] { return clock; });
  const auto s = m.series([&] { return clock = clock > 3 ? 1 : clock + 0.5, 4 * clock; });
  // The reading before a sample saw another clock than the sample did; the one after it saw the same.
  m.figure(named("x"), [s](const View& v) { return v.cycles(s); });
  m.run({.min_rounds = 10, .max_rounds = 10}, nullptr);
  EXPECT_GE(*m.results()[0].value, 4);
}

}  // namespace
