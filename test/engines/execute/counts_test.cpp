// Closed forms and execution count the same: every example and random kernels, on several memory geometries. Whole
// numbers are equal; what data decide is left out of the comparison, and random kernels have nothing of the kind.
#include <gtest/gtest.h>

#include <iostream>
#include <numeric>

#include "engines/execute/both_counts.h"
#include "engines/execute/random_source.h"
#include "engines/frontend/example_launches.h"
#include "kernelcast/bind.h"
#include "kernelcast/execute.h"

namespace kernelcast {
namespace {

using both::differences, both::geometries;

class ExampleCounts : public ::testing::TestWithParam<examples::ExampleLaunch> {};

TEST_P(ExampleCounts, SymbolicEqualExecuted) {
  FrontendOptions options;
  options.target = GetParam().target;
  options.program = true;
  const Analysis analysis = analyze(examples::source_of(GetParam()), options);
  for (const MemoryGeometry& geometry : geometries)
    EXPECT_EQ(differences(analysis, GetParam().launch, geometry), "") << "warps of " << geometry.warp_size;
}

TEST(Updates, TheWordThatMostLanesUpdateIsFound) {
  Source source;
  source.path = "bins.cl";
  source.text =
      "kernel void bins(global const int* x, volatile global int* n) {\n"
      "  atomic_inc(&n[x[get_global_id(0)] & 3]);\n}\n";
  FrontendOptions options;
  options.target = "sm_70";
  options.program = true;
  const Analysis analysis = analyze(source, options);
  ASSERT_TRUE(analysis.program) << analysis.no_program;
  const auto share = [&](const std::string& fill) {
    Launch launch;
    launch.grid = {4, 1, 1};
    launch.block = {64, 1, 1};
    launch.buffers["x"] = {256, fill};
    launch.buffers["n"] = {4, "zero"};
    ExecuteOptions all;
    all.sample = -1;
    return execute(analysis.profile, *analysis.program, launch, MemoryGeometry{}, all).workload.hottest_atomic_share;
  };
  EXPECT_EQ(share("zero"), 1);
  EXPECT_EQ(share("iota"), 0.25);
}

/// Blocks run by each of two threads, for 64 blocks of this statement of a kernel on x and y.
std::vector<double> shares(const std::string& statement) {
  Source source;
  source.path = "work.cl";
  source.text = "kernel void work(global float* x, global float* y) {\n  const int i = get_global_id(0);\n  " +
                statement + "\n}\n";
  FrontendOptions options;
  options.target = "sm_70";
  options.program = true;
  const Analysis analysis = analyze(source, options);
  Launch launch;
  launch.grid = {64, 1, 1};
  launch.block = {64, 1, 1};
  launch.buffers["x"] = launch.buffers["y"] = {4096, "zero"};
  ExecuteOptions two;
  two.sample = -1;
  two.jobs = 2;
  const Execution e = execute(analysis.profile, *analysis.program, launch, MemoryGeometry{}, two);
  EXPECT_EQ(e.blocks_run, 64);
  EXPECT_EQ(std::accumulate(e.blocks_by_thread.begin(), e.blocks_by_thread.end(), 0.0), 64);
  return e.blocks_by_thread;
}

TEST(Threads, ShareTheBlocksThatDoNotDependOnEachOther) {
  const std::vector<double> blocks =
      shares("float s = 0; for (int k = 0; k < 1000; ++k) s = s * 0.5f + y[i]; x[i] = s;");
  ASSERT_EQ(blocks.size(), 2);
  EXPECT_GE(blocks[0], 1);
  EXPECT_GE(blocks[1], 1);
}

TEST(Threads, OneRunsBlocksThatReadWhatOthersWrite) { EXPECT_EQ(shares("x[i] = x[(i + 64) % 4096] + 1;").size(), 1); }

std::string test_name(const ::testing::TestParamInfo<examples::ExampleLaunch>& test) {
  return examples::name_of(test.param, test.index);
}
INSTANTIATE_TEST_SUITE_P(Execute, ExampleCounts, ::testing::ValuesIn(examples::launches), test_name);

class RandomCounts : public ::testing::TestWithParam<int> {};

TEST_P(RandomCounts, SymbolicEqualExecuted) {
  constexpr int kernels = 25;
  int compared = 0;
  for (int k = 0; k < kernels; ++k) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * kernels + k);
    Source source;
    source.path = "random.cl";
    source.text = agreement::random_source(seed);
    FrontendOptions options;
    options.target = k % 2 ? "gfx90a" : "sm_70";
    options.program = true;
    const Analysis analysis = analyze(source, options);
    if (!analysis.profile.unknowns.empty()) continue;  // not a closed form after all: nothing to be exact about
    ++compared;
    EXPECT_EQ(differences(analysis, agreement::random_launch(seed), geometries[seed % 3]), "")
        << "seed " << seed << " for " << options.target << "\n"
        << source.text;
  }
  EXPECT_GE(compared, kernels * 3 / 4) << "the front end gives closed forms for too few kernels";
}
INSTANTIATE_TEST_SUITE_P(Execute, RandomCounts, ::testing::Range(0, 4));

}  // namespace
}  // namespace kernelcast
