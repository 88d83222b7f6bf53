// Step counts: the worked examples, figures of random patterns, and a slow twin.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kernelcast/converge.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

BranchPattern pattern_of(const std::vector<std::string>& lanes) {
  std::string text;
  for (const std::string& lane : lanes) text += lane + "\n";
  return parse_pattern(text, "test");
}

/// Pattern number `bits` of all patterns of this size, lane by lane.
BranchPattern numbered(int width, int iterations, unsigned bits) {
  BranchPattern pattern;
  for (int lane = 0; lane < width; ++lane) {
    auto& path = pattern.lanes.emplace_back();
    for (int i = 0; i < iterations; ++i, bits >>= 1U) path.push_back(bits & 1U);
  }
  return pattern;
}

std::int64_t passes(const BranchPattern& pattern, Policy policy, const PolicyOptions& options = {}) {
  return replay(pattern, policy, options).passes();
}

// The paper (Liu, Wang, An, Yang and Wang, 2014) draws a warp of four lanes and three iterations that
// takes 6 passes plainly, 5 with majority first and 4 with round robin. Its pattern is lost; these are the ones that
// fit.
TEST(Replay, PostponeExampleOfFourLanes) {
  int fitting = 0;
  std::int64_t worst_majority = 0;
  for (unsigned bits = 0; bits < 4096; ++bits) {
    const BranchPattern p = numbered(4, 3, bits);
    if (passes(p, Policy::plain) != 6) continue;
    worst_majority = std::max(worst_majority, passes(p, Policy::majority));
    if (passes(p, Policy::majority) == 5 && passes(p, Policy::round_robin) == 4) ++fitting;
  }
  EXPECT_EQ(fitting, 36);
  EXPECT_EQ(worst_majority, 8);  // majority first can be slower than doing nothing
}

TEST(Replay, OneOfTheFittingPatterns) {
  const BranchPattern p = pattern_of({"TFT", "TFT", "FTT", "FTF"});
  EXPECT_EQ(replay(p, Policy::plain).passes(), 6);
  EXPECT_EQ(replay(p, Policy::plain).trips, 3);
  EXPECT_EQ(passes(p, Policy::majority), 5);
  EXPECT_EQ(passes(p, Policy::round_robin), 4);
  EXPECT_EQ(best_schedule(p).in_order, 4);
}

TEST(Replay, AdvanceExamplesOfFourLanes) {
  const BranchPattern best = pattern_of({"TFTF", "FTFT", "TFFT", "FTTF"});
  EXPECT_EQ(passes(best, Policy::plain), 8);
  EXPECT_EQ(passes(best, Policy::advance), 4);
  const BranchPattern mixed = pattern_of({"TFTT", "FTTF", "TTFT", "FFTF"});
  EXPECT_EQ(passes(mixed, Policy::plain), 8);
  EXPECT_EQ(passes(mixed, Policy::advance), 6);
  const BranchPattern worst = pattern_of({"TFTF", "FTTF", "TTTT", "FFFF"});  // two lanes never change path
  EXPECT_EQ(passes(worst, Policy::plain), 8);
  EXPECT_EQ(passes(worst, Policy::advance), 8);
  EXPECT_EQ(replay(worst, Policy::advance).trips, 4);
}

TEST(Replay, AdvanceInOrderUsesOnlyTakenThenNotTaken) {
  EXPECT_EQ(replay(pattern_of({"TFTF"}), Policy::advance_in_order).trips, 2);
  EXPECT_EQ(replay(pattern_of({"FTFT"}), Policy::advance_in_order).trips, 3);  // F, T F, T
  EXPECT_EQ(replay(pattern_of({"FTFT"}), Policy::advance).trips, 2);
}

TEST(Replay, LanesOfDifferentLength) {
  const BranchPattern p = pattern_of({"TTT", "F"});
  EXPECT_EQ(passes(p, Policy::plain), 4);
  EXPECT_EQ(passes(p, Policy::majority), 4);
  EXPECT_EQ(passes(p, Policy::round_robin), 4);
}

TEST(Replay, FlushForcesTheMinority) {
  // The lone F lane waits for its turn until nobody wants T any more.
  const BranchPattern p = pattern_of({"TTTTTTTT", "TTTTTTTT", "FFFFFFFF"});
  EXPECT_EQ(passes(p, Policy::majority), 16);
  PolicyOptions flush;
  flush.flush_period = 2;
  EXPECT_EQ(passes(p, Policy::majority, flush), 16);
  // With changes of path it pays: the flushed lane joins the others.
  const BranchPattern q = pattern_of({"TTTTTTTTTTTTTTTT", "TTTTTTTTTTTTTTTT", "TTTTTTTTTTTTTTTT", "FTTTFTTTFTTTFTTT"});
  flush.flush_period = 4;
  EXPECT_LT(passes(q, Policy::majority, flush), passes(q, Policy::majority));
}

/// Mean speedup over plain, in passes.
double mean_speedup(Policy policy, double p, const PolicyOptions& options = {}) {
  constexpr int patterns = 200;
  double sum = 0;
  for (int seed = 0; seed < patterns; ++seed) {
    const BranchPattern b = independent_pattern(32, 256, p, static_cast<std::uint64_t>(seed));
    sum += static_cast<double>(passes(b, Policy::plain)) / static_cast<double>(passes(b, policy, options));
  }
  return sum / patterns;
}

// Means over 200 patterns; their standard errors are below 0.001.
TEST(Replay, FairCoinsOfThirtyTwoLanes) {
  PolicyOptions flush;
  flush.flush_period = 8;
  EXPECT_NEAR(mean_speedup(Policy::majority, 0.5), 1.283, 0.003);
  EXPECT_NEAR(mean_speedup(Policy::majority, 0.5, flush), 1.227, 0.003);
  EXPECT_NEAR(mean_speedup(Policy::round_robin, 0.5), 1.282, 0.003);
  EXPECT_NEAR(mean_speedup(Policy::advance, 0.5), 1.428, 0.003);
  EXPECT_NEAR(mean_speedup(Policy::advance_in_order, 0.5), 1.282, 0.003);
}

TEST(Replay, RarePathsWantTheFlush) {
  PolicyOptions flush;
  flush.flush_period = 8;
  const double flushed = mean_speedup(Policy::majority, 0.05, flush);
  EXPECT_NEAR(flushed, 1.294, 0.005);
  EXPECT_GT(flushed, mean_speedup(Policy::majority, 0.05));
  EXPECT_GT(flushed, mean_speedup(Policy::round_robin, 0.05));
  EXPECT_GT(flushed, mean_speedup(Policy::advance, 0.05));
}

/// A twin: each lane a queue of letters, nothing counted in advance.
std::int64_t slow_passes(BranchPattern pattern, Policy policy, const PolicyOptions& o) {
  auto& lanes = pattern.lanes;
  std::int64_t steps = 0;
  bool turn = o.first_taken;
  const auto wanting = [&](bool t) {
    return std::count_if(lanes.begin(), lanes.end(),
                         [&](const auto& l) { return !l.empty() && (l.front() != 0) == t; });
  };
  const auto run = [&](bool t) {
    ++steps;
    for (auto& l : lanes)
      if (!l.empty() && (l.front() != 0) == t) l.erase(l.begin());
  };
  while (wanting(true) + wanting(false) > 0) {
    if (policy == Policy::round_robin) {
      if (wanting(turn) > 0) run(turn);
      turn = !turn;
    } else if (policy == Policy::majority) {
      bool t = wanting(true) > wanting(false) || (wanting(true) == wanting(false) && o.tie_taken);
      if (o.flush_period > 0 && steps % o.flush_period == o.flush_period - 1) t = !t;
      run(wanting(t) > 0 ? t : !t);
    } else {
      bool ran[2] = {false, false};
      for (auto& l : lanes) {
        if (l.empty()) continue;
        const auto first = l.front();
        l.erase(l.begin());
        ran[first] = true;
        if (policy == Policy::plain || l.empty() || l.front() == first) continue;
        if (policy == Policy::advance_in_order && first == 0) continue;
        ran[l.front()] = true;
        l.erase(l.begin());
      }
      steps += (ran[0] ? 1 : 0) + (ran[1] ? 1 : 0);
    }
  }
  return steps;
}

BranchPattern any_pattern() {
  BranchPattern p;
  const int width = *rc::gen::inRange(1, 9);
  for (int i = 0; i < width; ++i) {
    p.lanes.push_back(*rc::gen::container<std::vector<std::uint8_t>>(rc::gen::inRange<std::uint8_t>(0, 2)));
  }
  return p;
}

RC_GTEST_PROP(Replay, AgreesWithItsTwin, ()) {
  const BranchPattern p = any_pattern();
  PolicyOptions o;
  o.first_taken = *rc::gen::arbitrary<bool>();
  o.tie_taken = *rc::gen::arbitrary<bool>();
  o.flush_period = *rc::gen::inRange(0, 6);
  for (int policy = 0; policy < policy_count; ++policy) {
    RC_ASSERT(passes(p, static_cast<Policy>(policy), o) == slow_passes(p, static_cast<Policy>(policy), o));
  }
}

RC_GTEST_PROP(Replay, NoScheduleIsBetterThanTheBest, ()) {
  BranchPattern p;
  const int width = *rc::gen::inRange(1, 5);
  for (int i = 0; i < width; ++i) {
    p.lanes.push_back(
        *rc::gen::resize(8, rc::gen::container<std::vector<std::uint8_t>>(rc::gen::inRange<std::uint8_t>(0, 2))));
  }
  const BestSchedule best = best_schedule(p);
  RC_ASSERT(best.in_order.has_value());
  RC_ASSERT(*best.in_order >= best.in_order_bound);
  RC_ASSERT(best.in_order_bound >= best.any_order);
  PolicyOptions o;
  o.flush_period = *rc::gen::inRange(0, 4);
  for (const Policy q : {Policy::plain, Policy::majority, Policy::round_robin, Policy::advance_in_order}) {
    RC_ASSERT(passes(p, q, o) >= *best.in_order);
  }
  RC_ASSERT(passes(p, Policy::advance) >= best.any_order);
}

/// Shortest common supersequence of two lanes, by the textbook's table.
std::int64_t supersequence(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  std::vector<std::vector<std::int64_t>> t(a.size() + 1, std::vector<std::int64_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j)
      t[i][j] = i == 0 || j == 0       ? static_cast<std::int64_t>(i + j)
                : a[i - 1] == b[j - 1] ? t[i - 1][j - 1] + 1
                                       : std::min(t[i - 1][j], t[i][j - 1]) + 1;
  return t[a.size()][b.size()];
}

RC_GTEST_PROP(Replay, BestOfTwoLanesIsTheirSupersequence, ()) {
  BranchPattern p;
  for (int i = 0; i < 2; ++i)
    p.lanes.push_back(*rc::gen::container<std::vector<std::uint8_t>>(rc::gen::inRange<std::uint8_t>(0, 2)));
  RC_ASSERT(best_schedule(p).in_order == supersequence(p.lanes[0], p.lanes[1]));
}

TEST(Replay, LargePatternsHaveABoundOnly) {
  const BestSchedule best = best_schedule(independent_pattern(32, 100, 0.5, 1));
  EXPECT_FALSE(best.in_order.has_value());
  EXPECT_GE(best.in_order_bound, 100);
}

TEST(Pattern, ReadsTextAndNamesTheBadPlace) {
  const BranchPattern p = parse_pattern("# two lanes\nT F T\n\nFFT  # and a remark\r\n", "x");
  ASSERT_EQ(p.width(), 2);
  EXPECT_EQ(p.lanes[0], (std::vector<std::uint8_t>{1, 0, 1}));
  EXPECT_EQ(p.lanes[1], (std::vector<std::uint8_t>{0, 0, 1}));
  try {
    parse_pattern("TF\nTxF\n", "x");
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(std::string(e.what()), "x:2:2: expected T or F for each iteration of a lane");
  }
  EXPECT_THROW(parse_pattern("", "x"), UserError);
}

TEST(Pattern, StatisticsOfGeneratedPatterns) {
  const PatternStatistics s = statistics_of(flipping_pattern(64, 20000, 0.3, 0.2, 5));
  EXPECT_NEAR(s.p, 0.3, 0.01);
  EXPECT_NEAR(s.f, 0.2, 0.005);
  EXPECT_EQ(s.width, 64);
  EXPECT_EQ(s.iterations, 20000);
  EXPECT_THROW(flipping_pattern(4, 4, 0.1, 0.5, 1), UserError);
}

TEST(Pattern, AdvanceableShareIsWhatAdvanceSaves) {
  for (const double a : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5}) {
    const BranchPattern p = advanceable_pattern(32, 2000, a, 3);
    EXPECT_NEAR(static_cast<double>(replay(p, Policy::advance).trips) / 2000, 1 - a, 0.001) << a;
    EXPECT_EQ(passes(p, Policy::plain), 4000) << a;
  }
}

}  // namespace
}  // namespace kernelcast
