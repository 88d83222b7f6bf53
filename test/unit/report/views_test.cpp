// Views hold what they must say, not how every character looks.
#include "report/views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "kernelcast/bind.h"
#include "report/check_views.h"
#include "support/copy_profile.h"

namespace kernelcast::report {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const Style plain(false);

Estimate estimate() {
  Estimate e;
  e.model = "roofline";
  e.time_s.value = 1.5e-3;
  e.interval_reason = "the model gives none";
  e.limiter = "dram_bandwidth";
  e.bounds = {{"dram_bandwidth", Seconds(1.5e-3), "2 MB at 1.4 GB/s"}, {"fp32_peak", Seconds(0), "no operation"}};
  e.occupancy = {8, 16, 0.25, "registers"};
  e.energy_j.reason = "time only";
  e.assumptions = {{"clock", "1 GHz", "clock.boost_clock_hz"}};
  return e;
}

Device device(const std::string& id) {
  Device d;
  d.id = id;
  d.name = "Device " + id;
  d.kind = "gpu";
  d.codegen_target = "sm_70";
  return d;
}

DeviceResult good(const std::string& id) {
  DeviceResult d;
  d.device = device(id);
  d.launch.grid = {4, 1, 1};
  d.launch.block = {64, 1, 1};
  d.launch.args["n"] = std::int64_t{256};
  d.launch.args["rounds"] = std::int64_t{3};
  auto profile = std::make_shared<const KernelProfile>(test::copy_profile());
  d.workload = Binder(*profile, MemoryGeometry{}).bind(d.launch);
  d.profile = profile;
  d.models = {{"roofline", estimate(), ""}};
  d.assumptions = {{"trip count", "16", "--assume trips:4=N"}};
  return d;
}

DeviceResult bad(const std::string& id) {
  DeviceResult d;
  d.device = device(id);
  d.models = {{"roofline", std::nullopt, ""}};
  d.failure = "block too large";
  return d;
}

ForecastReport forecast(std::vector<DeviceResult> devices) {
  ForecastReport f;
  f.head = {"0.1.0", {"kernelcast", "predict"}};
  f.kernel = "copy";
  f.source = "copy.cl";
  f.devices = std::move(devices);
  f.sources["copy.cl"] = {"kernel", "  if (i < n)", "    out[i] = in[i];", "  for", "    sum += part[2 * i];"};
  return f;
}

TEST(PredictText, SaysTimeLimiterOccupancyBoundsAndAssumptions) {
  EXPECT_THAT(predict_text(forecast({good("a")}), plain),
              AllOf(HasSubstr("copy on Device a"), HasSubstr("1.5 ms, limited by dram_bandwidth"),
                    HasSubstr("limited by registers"), HasSubstr("2 MB at 1.4 GB/s"), HasSubstr("--assume trips:4=N"),
                    HasSubstr("clock = 1 GHz"), Not(HasSubstr("fp32_peak")), Not(HasSubstr("\x1b"))));
}

TEST(PredictText, SaysNothingOfALimiterWhereThereIsNone) {
  DeviceResult d = good("a");
  d.models[0].estimate->limiter.clear();
  EXPECT_THAT(predict_text(forecast({d}), plain), AllOf(HasSubstr("1.5 ms\n"), Not(HasSubstr("limited by \n"))));
}

TEST(CheckSarif, APathIsAReferenceOfItsCharacters) {
  CheckReport report;
  report.changed = "a folder/k#1:\xc3\xa9.cu";
  report.rows.emplace_back();
  report.rows.back().failure = "none";
  const json j = json::parse(check_sarif(report));
  EXPECT_EQ(j["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "a%20folder/k%231%3A%C3%A9.cu");
}

TEST(PredictText, StartsWithATableForSeveralDevices) {
  const std::string text = predict_text(forecast({good("a"), bad("b")}), plain);
  EXPECT_TRUE(text.starts_with("device"));
  EXPECT_THAT(text, AllOf(HasSubstr("25 % (registers)"), HasSubstr("cannot run"), HasSubstr("block too large")));
}

TEST(PredictText, ColourIsEscapeSequencesOnly) {
  std::string coloured = predict_text(forecast({good("a")}), Style(true));
  EXPECT_THAT(coloured, HasSubstr("\x1b[1m"));
  for (std::size_t at; (at = coloured.find('\x1b')) != std::string::npos;) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  EXPECT_EQ(coloured, predict_text(forecast({good("a")}), plain));
}

TEST(PredictText, OccupancyStandsWithTheModelsWhenTheyDiffer) {
  DeviceResult d = good("a");
  d.models.push_back({"ske", estimate(), ""});
  d.models[1].estimate->occupancy.fraction = 0.5;
  EXPECT_THAT(predict_text(forecast({d}), plain), AllOf(HasSubstr("occupancy 25 %"), HasSubstr("occupancy 50 %")));
}

TEST(PredictJson, HoldsTheContractsKeys) {
  const json j = json::parse(predict_json(forecast({good("a")})));
  EXPECT_EQ(j["schema_version"], 1);
  EXPECT_EQ(j["command"], json({"kernelcast", "predict"}));
  const json& p = j["predictions"].at(0);
  EXPECT_EQ(p["kernel"], "copy");
  EXPECT_EQ(p["device"], "a");
  EXPECT_EQ(p["model"], "roofline");
  EXPECT_DOUBLE_EQ(p["time_s"], 1.5e-3);
  EXPECT_EQ(p["limiter"], "dram_bandwidth");
  EXPECT_EQ(p["bounds"].size(), 2U);
  EXPECT_EQ(p["occupancy"]["limiter"], "registers");
  EXPECT_EQ(p["resources"]["shared_bytes_per_block"], 8192);
  EXPECT_EQ(p["counts"]["warps"], 8);
  EXPECT_EQ(p["counts_method"], "symbolic");
  EXPECT_EQ(p["assumptions"].size(), 2U);
}

TEST(PredictJson, UnknownIsNullWithItsReason) {
  const json j = json::parse(predict_json(forecast({good("a")})));
  const json& p = j["predictions"].at(0);
  EXPECT_TRUE(p["interval_s"].is_null());
  EXPECT_TRUE(p["energy_j"].is_null());
  EXPECT_EQ(p["reason"],
            "launch_overhead_s: not known; interval_s: the model gives none; floor_s: not known; energy_j: time only");
}

TEST(PredictJson, ADeviceThatFailsIsNullsWithTheReason) {
  const json j = json::parse(predict_json(forecast({bad("b")})));
  const json& p = j["predictions"].at(0);
  for (const char* key : {"time_s", "interval_s", "limiter", "occupancy", "resources", "energy_j", "counts"}) {
    EXPECT_TRUE(p.at(key).is_null()) << key;
  }
  EXPECT_THAT(p["reason"].get<std::string>(), HasSubstr("time_s: block too large"));
}

TEST(PredictJson, NeverNotANumber) {
  DeviceResult d = good("a");
  d.models[0].estimate->time_s.value = std::numeric_limits<double>::quiet_NaN();
  d.models[0].estimate->bounds[0].time = Seconds(std::numeric_limits<double>::infinity());
  const json j = json::parse(predict_json(forecast({d})));
  const json& p = j["predictions"].at(0);
  EXPECT_TRUE(p["time_s"].is_null());
  EXPECT_TRUE(p["bounds"].at(0)["time_s"].is_null());
  EXPECT_TRUE(p["bounds"].at(0).contains("reason"));
}

TEST(PredictJson, BytesThatAreNoTextAreReplaced) {
  ForecastReport f = forecast({good("a")});
  f.head.command.push_back("\xff.cl");
  EXPECT_TRUE(json::accept(predict_json(f)));
}

TEST(ExplainText, ShowsLoopsBranchesAccessesAndLines) {
  EXPECT_THAT(explain_text(forecast({good("a")}), plain),
              AllOf(HasSubstr("arg:rounds = 3"), HasSubstr("divergent"), HasSubstr("depends on lid.x"),
                    HasSubstr("coalesced"), HasSubstr("2-way bank conflicts"), HasSubstr("out[i] = in[i];"),
                    HasSubstr("42.9 %"), HasSubstr("between 6 and 10"), HasSubstr("--assume trips:4=N")));
}

TEST(ExplainJson, QuotesLinesWithTheirShares) {
  const json j = json::parse(explain_json(forecast({good("a")})));
  const json& e = j["explanations"].at(0);
  EXPECT_EQ(e["loops"].at(0)["trips"], 3);
  EXPECT_EQ(e["lines"].at(0)["at"]["line"], 5);
  EXPECT_EQ(e["lines"].at(0)["text"], "    sum += part[2 * i];");
  EXPECT_EQ(e["accesses"].size(), 3U);
  EXPECT_EQ(e["predictions"].size(), 1U);
}

TEST(ExplainJson, FailuresKeepTheirReason) {
  const json j = json::parse(explain_json(forecast({bad("b")})));
  EXPECT_TRUE(j["explanations"].at(0)["loops"].is_null());
  EXPECT_THAT(j["explanations"].at(0)["reason"].get<std::string>(), HasSubstr("block too large"));
}

TEST(DeviceText, NumbersHaveSourcesAndUnknownsReasons) {
  Device d = device("a");
  d.codegen_note = "no back end";
  d.values[static_cast<std::size_t>(Field::compute_units)] = {30.0, "the data sheet", "a.toml"};
  d.values[static_cast<std::size_t>(Field::memory_l2_bytes)] = {std::nullopt, "nobody says", "a.toml"};
  EXPECT_THAT(device_text(d, plain), AllOf(HasSubstr("30"), HasSubstr("[1] the data sheet"), HasSubstr("nobody says"),
                                           HasSubstr("stand-in"), Not(HasSubstr("l1_bytes"))));
  const json j = json::parse(device_json({"0.1.0", {}}, d));
  const json& fields = j["devices"].at(0)["fields"];
  ASSERT_EQ(fields.size(), 2U);
  EXPECT_TRUE(fields.at(1)["value"].is_null());
  EXPECT_EQ(fields.at(1)["reason"], "value: nobody says");
}

TEST(ModelsText, ListsNames) {
  EXPECT_THAT(models_text(all_models(), plain), AllOf(HasSubstr("roofline"), HasSubstr("opencl-quantitative")));
}

TEST(Merged, KeepsOrderAndDropsRepeats) {
  const std::vector<Assumption> a{{"x", "1", ""}, {"y", "2", ""}}, b{{"x", "1", ""}, {"z", "3", ""}};
  const auto all = merged({&a, &b});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[2].what, "z");
}

}  // namespace
}  // namespace kernelcast::report
