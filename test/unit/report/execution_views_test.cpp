// What the views say of an execution: method, interval, origins, trouble.
#include "report/execution_views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kernelcast/bind.h"
#include "report/breakdown.h"
#include "report/views.h"
#include "support/copy_profile.h"

namespace kernelcast::report::execution_views_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const Style plain(false);

/// The copy, with a loop whose trips data decide: 3 in the mean of the blocks that ran.
DeviceResult executed() {
  DeviceResult d;
  d.device.id = "a";
  d.device.name = "Device a";
  d.launch.grid = {4, 1, 1};
  d.launch.block = {64, 1, 1};
  d.launch.args["n"] = std::int64_t{256};
  KernelProfile p = test::copy_profile();
  p.unknowns = {{Unknown::Kind::trip_count, "trips:4", {0, 4}, 16, false, "loaded"}};
  p.loops[0].trips = Expr(0);
  p.loops[0].unknown = 0;
  p.blocks[0].guard = {};
  d.profile = std::make_shared<const KernelProfile>(p);
  Workload w = Binder(*d.profile, MemoryGeometry{}).bind(d.launch);
  w.block_counts[1] = {5 * 8, 3 * 256};
  w.branch_counts[0] = {8, 2};
  w.counts_method = CountsMethod::mixed;
  w.warp_imbalance = 1.25;
  w.sampled = std::make_shared<const SampleError>(SampleError{2, 0.015, 0.5});
  d.workload = w;
  d.execution = std::make_shared<const Execution>();
  d.origin = {{Origin::closed, Origin::executed}, {Origin::closed, Origin::closed, Origin::executed}, {Origin::both}};
  return d;
}

ForecastReport forecast() {
  ForecastReport f;
  f.head = {"0.1.0", {"kernelcast", "explain"}};
  f.devices = {executed()};
  Finding race;
  race.kind = Finding::Kind::race;
  race.line = {0, 5};
  race.text = "reads what another thread writes";
  race.block = {1, 0, 0};
  race.thread = {2, 3, 0};
  race.other_thread = {4, 0, 0};
  race.count = 12;
  Finding limit;
  limit.kind = Finding::Kind::limit;
  limit.text = "the time of --max-seconds is over";
  f.findings = {{race, "copy", "copy.cl"}, {limit, "copy", ""}};
  return f;
}

TEST(ExecutionViews, TheMethodHasItsSampleAndInterval) {
  Workload w = *executed().workload;
  EXPECT_THAT(method_text(w), AllOf(HasSubstr("mixed: "), HasSubstr("2 of 4 blocks"), HasSubstr("+-1.5 % of instr"),
                                    HasSubstr("+-50 % of sectors")));
  w.sampled = nullptr;
  w.counts_method = CountsMethod::executed;
  EXPECT_EQ(method_text(w), "executed: all 4 blocks executed");
  w.counts_method = CountsMethod::symbolic;
  EXPECT_EQ(method_text(w), "symbolic");
}

TEST(ExecutionViews, TooFewBlocksHaveNoInterval) {
  Workload w = *executed().workload;
  const double unknown = std::nan("");
  w.sampled = std::make_shared<const SampleError>(SampleError{1, unknown, unknown});
  EXPECT_THAT(method_text(w), HasSubstr("+-unknown of instructions, +-unknown of sectors"));
  const Json half = execution_json(w)["half_interval_95"];
  EXPECT_TRUE(half["warp_instructions"].is_null() && half["global_sectors"].is_null());
  EXPECT_THAT(half["reason"].get<std::string>(), HasSubstr("too few blocks"));
}

TEST(ExecutionViews, ExplainNamesTheOriginOfEachPart) {
  const std::string text = explain_text(forecast(), plain);
  EXPECT_THAT(text, AllOf(HasSubstr("3 in the mean (executed)"), HasSubstr("19.2"), HasSubstr("closed form"),
                          HasSubstr("slowest warp 1.25 times"), HasSubstr("25 % of 8 diverge")));
  DeviceResult closed = executed();
  closed.execution = nullptr;
  closed.origin = {};
  ForecastReport f = forecast();
  f.devices = {closed};
  EXPECT_THAT(explain_text(f, plain), AllOf(Not(HasSubstr("closed form")), Not(HasSubstr("imbalance"))));
}

TEST(ExecutionViews, JsonHasSampleIntervalAndOrigins) {
  const json j = json::parse(explain_json(forecast()));
  const json& e = j["explanations"].at(0);
  EXPECT_EQ(e["loops"].at(0)["trips"], 3);
  EXPECT_EQ(e["loops"].at(0)["counts"], "executed");
  EXPECT_EQ(e["accesses"].at(2)["counts"], "executed");
  EXPECT_EQ(e["branches"].at(0)["counts"], "both");
  EXPECT_EQ(e["lines"].at(0)["counts"], "executed");
  EXPECT_DOUBLE_EQ(e["lines"].at(0)["active_lanes"], 19.2);
  const Json x = execution_json(*executed().workload);
  EXPECT_EQ(x["blocks_run"], 2);
  EXPECT_EQ(x["half_interval_95"]["warp_instructions"], 0.015);
  EXPECT_EQ(x["divergent_branches"], 2);
}

TEST(ExecutionViews, FindingsHavePlaceAndIds) {
  const ForecastReport f = forecast();
  EXPECT_EQ(f.findings[0].text(),
            "copy.cl:5: racecheck: race: reads what another thread writes [block (1,0,0), thread (2,3,0) and (4,0,0); "
            "12 in all]");
  EXPECT_EQ(f.findings[1].text(), "kernel copy: limit: the time of --max-seconds is over");
  const json j = json::parse(predict_json(f))["findings"];
  ASSERT_EQ(j.size(), 2U);
  EXPECT_EQ(j.at(0)["line"], 5);
  EXPECT_EQ(j.at(0)["other_thread"], json({4, 0, 0}));
  EXPECT_TRUE(j.at(1)["line"].is_null());
  EXPECT_TRUE(j.at(1).contains("reason"));
}

}  // namespace
}  // namespace kernelcast::report::execution_views_test
