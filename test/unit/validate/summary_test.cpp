// Averages of averages, on rows made by hand.
#include "validate/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace kernelcast::validate {
namespace {

using testing::ElementsAre;

/// Rows of one model "m"; times in seconds.
class Rows {
 public:
  RowResult& add(const std::string& kernel, const std::string& gpu, double measured, std::optional<double> predicted,
                 std::vector<std::string> flags = {}) {
    RowResult r;
    r.row.place = "r.csv:" + std::to_string(report_.rows.size() + 2);
    r.row.kernel_id = kernel;
    r.row.gpu = gpu;
    r.row.measured_s = measured;
    r.row.flags = std::move(flags);
    r.models.resize(1);
    r.models[0].time_s = predicted;
    if (!predicted) r.models[0].failure = "no idea";
    report_.rows.push_back(std::move(r));
    return report_.rows.back();
  }

  Report& scored() {
    report_.models = {"m"};
    score(report_);
    return report_;
  }

 private:
  Report report_;
};

TEST(Summary, PairsWeighAlikeWhateverTheirNumberOfRows) {
  Rows rows;
  for (int i = 0; i < 9; ++i) rows.add("a_x", "g", 1, 2);  // error 1
  rows.add("a_x", "h", 1, 1);                              // error 0
  const ModelScore& s = rows.scored().scores.at(0);
  EXPECT_DOUBLE_EQ(*s.mape, 0.5);
  EXPECT_DOUBLE_EQ(*s.median_ape, 0.5);
  EXPECT_DOUBLE_EQ(*s.bias, 0.5);
  EXPECT_DOUBLE_EQ(s.pooled->mape, 0.9);
  EXPECT_EQ(s.rows, 10U);
}

TEST(Summary, GmaeWeighsFamiliesAlike) {
  Rows rows;
  rows.add("a_1", "g", 1, 2);
  rows.add("a_2", "g", 1, 8);  // family a: ln gMAE = ln 4
  rows.add("b_1", "g", 4, 4);  // family b: 0
  const Report& r = rows.scored();
  EXPECT_NEAR(*r.scores.at(0).gmae, 2, 1e-12);  // exp((ln 4 + 0) / 2)
  ASSERT_EQ(r.families.size(), 2U);
  EXPECT_EQ(r.families[0].family, "a");
  EXPECT_NEAR(*r.families[0].gmae, 4, 1e-12);
  EXPECT_EQ(r.families[0].n, 2U);
}

TEST(Summary, ExcludedRowsStandBesideTheHeadline) {
  Rows rows;
  rows.add("a", "g", 1, 1.5);
  rows.add("a", "g", 1, 9, {"launch_overhead"});
  rows.add("a", "g", 1, 5, {"replicate", "out_of_range_access"});
  rows.add("a", "g", 1, 1.5, {"use_shmem_ignored"});  // a flag that excludes nothing
  rows.add("a", "g", 1, std::nullopt);
  rows.add("a", "g", 1, std::nullopt, {"near_launch_floor"});
  const Report& r = rows.scored();
  const ModelScore& s = r.scores.at(0);
  EXPECT_DOUBLE_EQ(*s.mape, 0.5);
  EXPECT_EQ(s.rows, 2U);
  EXPECT_EQ(s.excluded, 2U);
  EXPECT_EQ(s.failed, 2U);
  std::vector<std::string> flags;
  for (const FlagScore& f : r.flags) flags.push_back(f.flag);
  EXPECT_THAT(flags, ElementsAre("launch_overhead", "near_launch_floor", "replicate", "out_of_range_access"));
  EXPECT_DOUBLE_EQ(r.flags[0].errors->mape, 8);
  EXPECT_FALSE(r.flags[1].errors);  // its only row failed
  EXPECT_DOUBLE_EQ(r.flags[2].errors->mape, 4);
  EXPECT_DOUBLE_EQ(r.flags[3].errors->mape, 4);
  ASSERT_EQ(r.failures.size(), 1U);
  EXPECT_EQ(r.failures[0].n, 2U);
  EXPECT_EQ(r.failures[0].first_place, "r.csv:6");
  EXPECT_EQ(r.failures[0].reason, "no idea");
}

TEST(Summary, GroupsNeedEightConfigurationsOfOneProblem) {
  Rows rows;
  for (int i = 1; i <= 8; ++i) rows.add("a", "g", i, 9 - i).row.launch.args["n"] = std::int64_t{1};
  for (int i = 1; i <= 7; ++i) rows.add("a", "g", i, i).row.launch.args["n"] = std::int64_t{2};
  for (int i = 1; i <= 8; ++i) rows.add("b", "g", i, i);
  rows.add("b", "g", 0.5, 99, {"replicate"});  // not in the group
  const Report& r = rows.scored();
  ASSERT_EQ(r.groups.size(), 2U);
  EXPECT_EQ(r.groups[0].kernel_id, "a");
  EXPECT_DOUBLE_EQ(*r.groups[0].spearman, -1);
  EXPECT_DOUBLE_EQ(*r.groups[0].top1_regret, 7);
  EXPECT_EQ(r.groups[1].n, 8U);
  EXPECT_DOUBLE_EQ(*r.groups[1].spearman, 1);
  EXPECT_DOUBLE_EQ(*r.scores.at(0).spearman_median, 0);
  EXPECT_DOUBLE_EQ(*r.scores.at(0).top1_regret_median, 3.5);
  EXPECT_EQ(r.scores.at(0).groups, 2U);
}

TEST(Summary, CoverageCountsRowsThatHaveAnInterval) {
  Rows rows;
  const auto interval = [](RowResult& r, double lo, double hi) {
    r.models[0].lo_s = lo;
    r.models[0].hi_s = hi;
  };
  interval(rows.add("a", "g", 1, 1), 0.5, 1);
  interval(rows.add("a", "g", 1, 2), 1.5, 3);
  rows.add("a", "g", 1, 2);
  EXPECT_DOUBLE_EQ(*rows.scored().scores.at(0).interval_coverage, 0.5);
}

TEST(Summary, RowsThatFailedOnTheHardwareAreOnlyCounted) {
  Rows rows;
  rows.add("a", "g", 1, 1);
  rows.add("a", "g", 1, 1).row.measured_s.reset();
  const Report& r = rows.scored();
  EXPECT_EQ(r.not_measured, 1U);
  EXPECT_EQ(r.scores.at(0).rows, 1U);
  EXPECT_EQ(r.scores.at(0).failed, 0U);
}

TEST(Summary, NoRowsNoScores) {
  Report r;
  r.models = {"m"};
  score(r);
  EXPECT_FALSE(r.scores.at(0).gmae);
  EXPECT_FALSE(r.scores.at(0).mape);
  EXPECT_FALSE(r.scores.at(0).spearman_median);
}

}  // namespace
}  // namespace kernelcast::validate
