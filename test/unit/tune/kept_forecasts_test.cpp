// Forecasts of an earlier run: the same to the last bit, and only for the same question.
#include "tune/kept_forecasts.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kernelcast/error.h"
#include "kernelcast/model.h"
#include "tune/digest.h"
#include "tune/space_flags.h"
#include "tune/tuner.h"

namespace kernelcast::tune::kept_forecasts_test {
namespace {

namespace fs = std::filesystem;

Device device(const char* name) { return DeviceCatalog(KERNELCAST_SOURCE_DIR "/devices").find(name); }

class Kept : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("kernelcast_forecasts_" + std::to_string(::getpid()) + "_" +
                                           testing::UnitTest::GetInstance()->current_test_info()->name());
    flags_.block = "64..1024:*2";
    flags_.problem = "100000";
    flags_.parameters = {"W=10,20,40", "R=16,250"};
    options_.devices = {device("v100"), device("a100")};
    options_.model = &model_named("kernelcast");
    options_.launch.args = {{"n", std::int64_t{100000}}};
  }
  void TearDown() override { fs::remove_all(folder_); }

  static int define(const Source& s, const std::string& name) {
    for (const std::string& d : s.defines) {
      if (d.starts_with(name + "=")) return std::stoi(d.substr(name.size() + 1));
    }
    return 0;
  }

  TuneResult run() {
    flags_.arguments = options_.launch.args;
    AnalysisMemory memory(
        [this](const Source& s, const FrontendOptions& o) {
          ++analyses_;
          if (define(s, "W") == 13) throw UserError("k.cu:1: W must not be 13");
          Analysis a;
          KernelProfile& p = a.profile;
          p.kernel = "k";
          p.target = o.target;
          p.parameters = {{"in", "const float*", true, false, true, 4}, {"n", "int", false, true, true, 4}};
          p.buffers.push_back({"in", MemorySpace::global, -1, 256, 0});
          const Expr i = Expr(local_id(0)) + Expr(local_size(0)) * Expr(group_id(0));
          Block b;
          b.guard = {{Path{less(i, argument("n")), {}}}};
          Access access;
          access.buffer = 0;
          access.offset = Expr(4) * i;
          b.accesses.push_back(access);
          b.ops[OpClass::global_load] = 1;
          b.ops[OpClass::fp32_fma] = define(s, "W");
          p.blocks.push_back(b);
          const double registers = define(s, "R");
          p.registers = {registers, registers - 8, registers + 11, "max-live estimate", 0};
          return a;
        },
        folder_.string(), "id");
    const TuneResult r = tune(space_of(flags_, false), options_, memory);
    found_ = memory.found();
    return r;
  }

  static std::string answers(const TuneResult& r) {
    std::string text;
    for (const DeviceTuning& d : r.devices) {
      for (const Candidate& c : d.best) text += fmt::format("{:a} {:a} {}\n", c.time_s, c.cannot_run, c.shape.block.x);
      for (const RefusalCount& c : d.refusals) text += fmt::format("{} {}\n", name_of(c.kind), c.count);
      text += fmt::format("{} {}\n", d.evaluated, d.tied);
    }
    return text;
  }

  fs::path folder_;
  SpaceFlags flags_;
  TuneOptions options_;
  std::atomic<int> analyses_ = 0;
  std::size_t found_ = 0;
};

TEST_F(Kept, TheSecondRunSaysTheSameToTheLastBit) {
  options_.top = 1000;
  const std::string first = answers(run());
  EXPECT_EQ(analyses_, 6 * 2);
  EXPECT_EQ(found_, 0U);
  EXPECT_EQ(answers(run()), first);
  EXPECT_EQ(analyses_, 6 * 2);
  EXPECT_EQ(found_, 6U * 2);
}

TEST_F(Kept, ForecastsAnswerWithoutTheProfiles) {
  options_.top = 1;
  const std::string first = answers(run());
  for (const auto& e : fs::recursive_directory_iterator(folder_)) {
    if (e.path().extension() == ".profile") fs::remove(e.path());
  }
  const int before = analyses_;
  EXPECT_EQ(answers(run()), first);
  EXPECT_EQ(analyses_ - before, 2);  // the best of each device is described in full
}

TEST_F(Kept, AnotherQuestionIsForecastAgain) {
  options_.top = 1;
  const TuneResult first = run();
  options_.launch.args["n"] = std::int64_t{10000};  // the guard lets a tenth of the threads through
  const TuneResult other = run();
  EXPECT_LT(other.devices[0].best[0].time_s, first.devices[0].best[0].time_s);
  options_.launch.args["n"] = std::int64_t{100000};
  options_.risk = 1;
  EXPECT_GT(run().devices[0].evaluated, first.devices[0].evaluated);
}

TEST_F(Kept, DamageIsForecastAgain) {
  options_.top = 1000;
  const std::string first = answers(run());
  for (const auto& e : fs::recursive_directory_iterator(folder_)) {
    if (e.path().extension() != ".forecasts") continue;
    std::fstream file(e.path(), std::ios::in | std::ios::out);
    file.seekp(-10, std::ios::end);
    file << "9999";
  }
  EXPECT_EQ(answers(run()), first);
}

TEST_F(Kept, WhatFailedIsTriedAgain) {
  flags_.parameters = {"W=10,13", "R=16"};
  const std::string first = answers(run());
  const int before = analyses_;
  EXPECT_EQ(answers(run()), first);
  EXPECT_EQ(analyses_ - before, 2);  // W = 13, for two targets
}

TEST_F(Kept, LinesAreReadAsTheyWereWritten) {
  AnalysisMemory memory({}, folder_.string(), "id");
  LaunchShape shape;
  shape.grid = {1, 2, 3};
  shape.block = {32, 4, 1};
  shape.dynamic_shared_bytes = 48;
  LaunchShape open = shape;
  open.grid_known = false;
  const TrialTime time{1.0 / 3e5, 1.0 / 7, Refusal::none, ""};
  const TrialTime refusal{0, 0.75, Refusal::registers, "512 threads may have 128 registers each"};
  const std::string name = digest_of("name");
  {
    KeptForecasts kept(memory, name);
    EXPECT_EQ(kept.find(shape), nullptr);
    kept.add(shape, time);
    kept.add(open, refusal);
    kept.flush();
  }
  const KeptForecasts again(memory, name);
  ASSERT_NE(again.find(shape), nullptr);
  EXPECT_EQ(again.find(shape)->time_s, time.time_s);
  EXPECT_EQ(again.find(shape)->cannot_run, time.cannot_run);
  ASSERT_NE(again.find(open), nullptr);
  EXPECT_EQ(again.find(open)->refusal, Refusal::registers);
  EXPECT_EQ(again.find(open)->reason, refusal.reason);
}

}  // namespace
}  // namespace kernelcast::tune::kept_forecasts_test
