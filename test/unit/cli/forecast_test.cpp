// The pipeline with a fake front end: how often it is asked, what happens when devices, models or the launch fail.
#include "cli/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernelcast/error.h"
#include "support/copy_profile.h"

namespace kernelcast::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Fake {
  std::vector<std::string> targets;
  std::string broken_target;
  std::vector<std::string> kernels{"copy"};
  bool data_decide = false;

  Frontend frontend() {
    return {[this](const Source&, const FrontendOptions& o) -> Analysis {
              targets.push_back(o.target);
              if (o.target == broken_target) throw UserError("copy.cl:1:1: error: no");
              if (o.kernel.empty() && kernels.size() > 1) throw UserError("which kernel?");
              if (!o.kernel.empty() && o.kernel != kernels.front()) throw UsageError("no such kernel");
              Analysis a;
              a.profile = test::copy_profile();
              a.no_program = "it is a fake";
              if (data_decide) {
                a.profile.unknowns = {{Unknown::Kind::trip_count, "trips:4", {0, 4}, 16, false, "loaded"}};
                a.profile.loops[0].unknown = 0;
              }
              a.diagnostics = {{Diagnostic::Severity::warning, "copy.cl:2: warning: look"}};
              return a;
            },
            [this](const Source&, const FrontendOptions&) { return kernels; }};
  }
};

Request request(std::vector<std::string> devices, Dim3 block = {64, 1, 1}) {
  Request r;
  r.source.path = "copy.cl";
  r.source.language = Language::opencl;
  r.devices = std::move(devices);
  r.all_devices = r.devices.size() == 1 && r.devices[0] == "all";
  r.models = {&model_named("roofline")};
  r.grid = Dim3{16, 1, 1};
  r.launch.block = block;
  r.launch.args["n"] = std::int64_t{1024};
  r.launch.args["rounds"] = std::int64_t{3};
  return r;
}

ForecastRun run(const Request& r, Fake& fake) {
  static const DeviceCatalog catalog(KERNELCAST_SOURCE_DIR "/devices");
  const Frontend frontend = fake.frontend();
  return run_forecast(r, frontend, catalog, [](const std::string&) {});
}

TEST(RunForecast, AnalysesOnceForEachTarget) {
  Fake fake;
  const ForecastRun result = run(request({"titan-v", "v100", "t4", "v100"}), fake);
  EXPECT_THAT(fake.targets, ElementsAre("sm_70", "sm_75"));
  EXPECT_EQ(result.forecast.devices.size(), 4U);
  EXPECT_TRUE(result.complete);
  EXPECT_THAT(result.messages, ElementsAre(HasSubstr("warning: look")));
}

TEST(RunForecast, StandInsAreAssumptions) {
  Fake fake;
  const ForecastRun result = run(request({"gtx280"}), fake);
  EXPECT_THAT(result.forecast.devices[0].assumptions.at(0).value, HasSubstr("sm_20, a stand-in"));
}

TEST(RunForecast, ADeviceThatCannotRunDoesNotStopTheOthers) {
  Fake fake;
  const ForecastRun result = run(request({"gtx280", "v100"}, {1024, 1, 1}), fake);
  EXPECT_FALSE(result.complete);
  EXPECT_FALSE(result.forecast.devices[0].models[0].estimate.has_value());
  EXPECT_TRUE(result.forecast.devices[1].models[0].estimate.has_value());
  EXPECT_THAT(result.messages.back(), HasSubstr("nvidia-geforce-gtx-280: "));
}

TEST(RunForecast, AllDevicesAreThoseThatCan) {
  Fake fake;
  const ForecastRun result = run(request({"all"}, {1024, 1, 1}), fake);
  EXPECT_TRUE(result.complete);
  EXPECT_GT(result.forecast.devices.size(), 50U);
  for (const auto& d : result.forecast.devices) EXPECT_EQ(d.device.kind, "gpu");
}

TEST(RunForecast, ThrowsTheFirstFailureWhenNothingIsLeft) {
  Fake fake;
  EXPECT_THROW(run(request({"gtx280"}, {1024, 1, 1}), fake), UserError);
  fake.broken_target = "sm_70";
  EXPECT_THROW(run(request({"v100"}), fake), UserError);
}

TEST(RunForecast, ATargetThatFailsIsNotAskedAgain) {
  Fake fake;
  fake.broken_target = "sm_70";
  const ForecastRun result = run(request({"v100", "titan-v", "t4"}), fake);
  EXPECT_THAT(fake.targets, ElementsAre("sm_70", "sm_75"));
  EXPECT_THAT(result.forecast.devices[1].failure, HasSubstr("error: no"));
}

TEST(RunForecast, SeveralKernelsAreAUsageErrorWithTheirNames) {
  Fake fake;
  fake.kernels = {"copy", "paste"};
  try {
    run(request({"v100"}), fake);
    FAIL();
  } catch (const UsageError& e) {
    EXPECT_THAT(e.what(), testing::AllOf(HasSubstr("choose with kernel"), HasSubstr("copy, paste")));
  }
}

TEST(RunForecast, AKernelThatIsNotThereIsUsage) {
  Fake fake;
  Request r = request({"v100"});
  r.kernel = "paste";
  EXPECT_THROW(run(r, fake), UsageError);
}

TEST(RunForecast, ArgumentsAreUsage) {
  Fake fake;
  Request r = request({"v100"});
  r.launch.args.erase("n");
  EXPECT_THROW(run(r, fake), UsageError);
  r = request({"v100"});
  r.launch.args["m"] = std::int64_t{1};
  EXPECT_THROW(run(r, fake), UsageError);
}

TEST(RunForecast, WhatCannotBeExecutedStaysInClosedFormAndSaysWhy) {
  Fake fake;
  fake.data_decide = true;
  const ForecastRun result = run(request({"v100"}), fake);
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.forecast.devices[0].workload->counts_method, CountsMethod::symbolic);
  EXPECT_THAT(result.forecast.devices[0].assumptions.back().value, HasSubstr("it is a fake"));
}

TEST(RunForecast, NothingIsExecutedThatClosedFormsCount) {
  Fake fake;
  const ForecastRun result = run(request({"v100"}), fake);
  EXPECT_EQ(result.forecast.devices[0].execution, nullptr);
  EXPECT_THAT(result.forecast.devices[0].assumptions, IsEmpty());
}

TEST(RunForecast, ExecutionThatWasAskedForFailsWithTheReason) {
  Fake fake;
  Request r = request({"v100"});
  r.counts = Counting::executed;
  try {
    run(r, fake);
    FAIL();
  } catch (const LimitError& e) {
    EXPECT_THAT(e.what(), HasSubstr("it is a fake"));
  }
}

TEST(RunForecast, GivenContentsMustBeOfUse) {
  Fake fake;
  fake.data_decide = true;
  Request r = request({"v100"});
  r.launch.buffers["in"] = {1024, "zero"};
  EXPECT_THROW(run(r, fake), LimitError);
}

TEST(RunForecast, CpusAreALimit) {
  Fake fake;
  EXPECT_THROW(run(request({"host"}), fake), LimitError);
  EXPECT_THAT(fake.targets, IsEmpty());
}

TEST(RunForecast, UnknownDevicesAreUsage) {
  Fake fake;
  EXPECT_THROW(run(request({"gtx281"}), fake), UsageError);
}

}  // namespace
}  // namespace kernelcast::cli
