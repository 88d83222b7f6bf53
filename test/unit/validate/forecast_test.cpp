// The pipeline with a fake front end: what is analysed how often, and what becomes of rows that fail.
#include "validate/forecast_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "kernelcast/error.h"

namespace kernelcast::validate {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// One load of 4 bytes for each thread; the parameter n is declared and not needed.
KernelProfile profile_of(const std::string& kernel) {
  KernelProfile p;
  p.kernel = kernel;
  p.parameters = {{"in", "const float4*", true, false, true, 16}, {"n", "int", false, true, false, 4}};
  p.buffers.push_back({"in", MemorySpace::global, -1, 256, 0});
  Block b;
  Access a;
  a.buffer = 0;
  a.offset = Expr(4) * (Expr(local_id(0)) + Expr(local_size(0)) * Expr(group_id(0)));
  b.accesses.push_back(a);
  b.ops[OpClass::global_load] = 1;
  b.ops[OpClass::fp32_fma] = 10;
  p.blocks.push_back(b);
  p.registers = {16, 16, 16, "code generator", 0};
  return p;
}

class ForecastRows : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("kernelcast_validate_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    std::ofstream(folder_ / "k.cu") << "kernel text\n";
    options_.sources = folder_.string();
    options_.models = {&model_named("roofline"), &model_named("ske")};
    options_.analyze = [this](const Source& s, const FrontendOptions& o) {
      ++analyses_;
      if (s.defines.back() == "A=bad") throw UserError("k.cu:1: bad define");
      if (s.defines.back() == "A=bug") throw InternalError("broken invariant");
      EXPECT_EQ(s.text, "kernel text\n");
      Analysis a;
      a.profile = profile_of(o.kernel);
      return a;
    };
    KernelEntry k;
    k.id = "k";
    k.place = "kernels.csv:2";
    k.path = "k.cu";
    k.entry = "run";
    k.defines = {"FIXED"};
    k.cache_state = "warm";
    kernels_["k"] = k;
    k.id = "lost";
    k.path = "lost.cu";
    kernels_["lost"] = k;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static Measurement row(const std::string& gpu, const std::string& define, std::int64_t grid, double measured = 1) {
    Measurement m;
    m.place = "r.csv:2";
    m.kernel_id = "k";
    m.gpu = gpu;
    m.defines = {define};
    m.launch.grid = {grid, 1, 1};
    m.launch.block = {64, 1, 1};
    m.measured_s = measured;
    return m;
  }

  Report run(std::vector<Measurement> rows) { return forecast_rows(std::move(rows), kernels_, catalog_, options_); }

  fs::path folder_;
  DeviceCatalog catalog_{KERNELCAST_SOURCE_DIR "/devices"};
  std::map<std::string, KernelEntry> kernels_;
  ForecastOptions options_;
  std::atomic<int> analyses_ = 0;
};

TEST_F(ForecastRows, OneAnalysisForEachTargetAndSetOfDefines) {
  const Report r = run({row("v100", "A=1", 1), row("v100", "A=1", 2), row("titan v", "A=1", 1), row("v100", "A=2", 1),
                        row("a100", "A=1", 1)});
  EXPECT_EQ(analyses_, 3);  // sm_70 with A=1 (three rows) and A=2, sm_80
  EXPECT_EQ(r.analyses, 3U);
  for (const RowResult& row : r.rows) {
    EXPECT_EQ(row.failure, "");
    ASSERT_TRUE(row.facts);
    EXPECT_TRUE(row.models[0].time_s) << row.models[0].failure;
    EXPECT_EQ(row.cache_state, "warm");
  }
  EXPECT_EQ(r.rows[1].facts->workload.blocks, 2);
  EXPECT_TRUE(r.rows[1].facts->workload.block_counts.empty());  // totals only
  EXPECT_EQ(r.rows[4].device, "nvidia-a100-pcie-40gb");
}

TEST_F(ForecastRows, EveryFailureIsAValueWithItsReason) {
  std::vector<Measurement> rows{row("v100", "A=bad", 1),   row("no such gpu", "A=1", 1), row("v100", "A=bug", 1),
                                row("i7-6700k", "A=1", 1), row("v100", "A=1", 0),        row("v100", "A=1", 1)};
  rows.push_back(row("v100", "A=1", 1));
  rows.back().kernel_id = "unheard of";
  rows.push_back(row("v100", "A=1", 1));
  rows.back().kernel_id = "lost";
  const Report r = run(rows);
  EXPECT_THAT(r.rows[0].failure, HasSubstr("bad define"));
  EXPECT_THAT(r.rows[1].failure, HasSubstr("no such gpu"));
  EXPECT_THAT(r.rows[2].failure, HasSubstr("internal error: broken invariant"));
  EXPECT_THAT(r.rows[3].failure, HasSubstr("is a CPU"));
  EXPECT_THAT(r.rows[4].failure, HasSubstr("not positive"));
  EXPECT_EQ(r.rows[5].failure, "");
  EXPECT_THAT(r.rows[6].failure, HasSubstr("\"unheard of\" is not in the file of kernels"));
  EXPECT_THAT(r.rows[7].failure, HasSubstr("there is no lost.cu"));
}

TEST_F(ForecastRows, AModelThatFailsLeavesTheOthers) {
  const Report r = run({row("mi100", "A=1", 4)});
  EXPECT_TRUE(r.rows[0].models[0].time_s);
  EXPECT_TRUE(r.rows[0].models[1].time_s.has_value() != !r.rows[0].models[1].failure.empty());
}

TEST_F(ForecastRows, NotMeasuredNotForecast) {
  Measurement m = row("v100", "A=1", 1);
  m.measured_s.reset();
  const Report r = run({m});
  EXPECT_EQ(analyses_, 0);
  EXPECT_FALSE(r.rows[0].models[0].time_s);
}

TEST_F(ForecastRows, TheNumberOfJobsChangesNothingButTheTime) {
  std::vector<Measurement> rows;
  for (int i = 0; i < 60; ++i) rows.push_back(row(i % 3 == 0 ? "v100" : "a100", "A=" + std::to_string(i % 7), 1 + i));
  std::size_t calls = 0, last = 0;
  options_.progress = [&](std::size_t done, std::size_t all) {
    ++calls;
    EXPECT_EQ(done, last + 1);
    EXPECT_EQ(all, 60U);
    last = done;
  };
  const Report one = run(rows);
  EXPECT_EQ(calls, 60U);
  last = 0;
  options_.jobs = 4;
  const Report four = run(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(one.rows[i].models[0].time_s, four.rows[i].models[0].time_s);
    EXPECT_EQ(one.rows[i].row.defines, rows[i].defines);
  }
}

TEST_F(ForecastRows, AnObserverSeesTheWholeWorkload) {
  std::size_t blocks = 0;
  options_.observe = [&](std::size_t i, const KernelProfile& p, const Workload& w, const Device& d) {
    EXPECT_EQ(i, 0U);
    EXPECT_EQ(p.kernel, "run");
    EXPECT_EQ(d.id, "nvidia-tesla-v100-pcie-16gb");
    blocks = w.block_counts.size();
  };
  run({row("v100", "A=1", 1)});
  EXPECT_EQ(blocks, 1U);
}

TEST(LaunchFor, BuffersInElementsOfTheParameterAndFills) {
  Measurement m;
  m.launch.buffers["in"] = {100, ""};
  m.element_bytes["in"] = 4;
  KernelEntry k;
  k.fills = {{"i*", "file:fills/a.npy"}, {"*", "zero"}};
  const Launch l = launch_for(m, k, profile_of("run"), "folder");
  EXPECT_EQ(l.buffers.at("in").elements, 25);  // 400 bytes of float4
  EXPECT_EQ(l.buffers.at("in").fill, "file:folder/fills/a.npy");
}

TEST(LaunchFor, ArgumentsByPosition) {
  Measurement m;
  m.positional = {{"source", false, false, 8, 4, 0}, {"width", true, false, 0, 4, 12}};
  const Launch l = launch_for(m, {}, profile_of("run"), "");
  EXPECT_EQ(l.buffers.at("in").elements, 2);
  EXPECT_EQ(std::get<std::int64_t>(l.args.at("n")), 12);
  m.positional.push_back({"coefficients", false, true, 8, 4, 0});  // constant memory is no parameter
  EXPECT_NO_THROW(launch_for(m, {}, profile_of("run"), ""));
  m.positional.back().constant_memory = false;
  EXPECT_THROW(launch_for(m, {}, profile_of("run"), ""), UserError);
  m.positional = {{"width", true, false, 0, 4, 12}, {"source", false, false, 8, 4, 0}};
  EXPECT_THROW(launch_for(m, {}, profile_of("run"), ""), UserError);
}

TEST(LaunchFor, NamesThatArePositions) {
  Measurement m;
  m.launch.args["1"] = std::int64_t{12};
  m.launch.buffers["0"] = {100, ""};
  m.element_bytes["0"] = 4;
  const Launch l = launch_for(m, {}, profile_of("run"), "");
  EXPECT_EQ(l.buffers.at("in").elements, 25);
  EXPECT_EQ(std::get<std::int64_t>(l.args.at("n")), 12);
}

TEST(LaunchFor, TheBlockThatTheKernelRequires) {
  Measurement m;
  m.block_of_kernel = true;
  KernelProfile p = profile_of("run");
  EXPECT_THROW(launch_for(m, {}, p, ""), UserError);
  p.required_block = {8, 4, 1};
  EXPECT_EQ(launch_for(m, {}, p, "").block, (Dim3{8, 4, 1}));
}

}  // namespace
}  // namespace kernelcast::validate
