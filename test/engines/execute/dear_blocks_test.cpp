// Where warps stand for blocks that are dear, reuse distances come from all warps of a few blocks, each run for a part
// of its life: hit rates must be close to those of whole blocks, also where sectors are shared between warps or between
// blocks only, which the drawn warps would not show.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "kernelcast/execute.h"
#include "kernelcast/frontend.h"

namespace kernelcast {
namespace {

struct DearCase {
  const char* name;
  const char* loop;                  // body of the loop over k
  double block_hits, resident_hits;  // at least, in a cache that holds all: of 8 warps a block, of 4 blocks an SM
};

const DearCase dear_cases[] = {
    {"all_warps_read_the_same", "s += x[place[k] * 8];", 7 / 8.0, 31 / 32.0},
    {"warps_of_a_block_read_the_same", "s += x[(place[k] * 53 + blockIdx.x * 7919) % 100000 * 8];", 7 / 8.0, 7 / 8.0},
    {"warps_share_words", "s += x[place[k] * 64 + threadIdx.y * 32 + threadIdx.x];", 0, 3 / 4.0},
    {"nothing_is_shared", "s += x[(place[k] * 7 + (blockIdx.x * 8 + threadIdx.y) * 911) % 100000 * 8];", 0, 0},
};

Execution executed(const Analysis& analysis, double work, std::int64_t sample) {
  Launch launch;
  launch.grid = {640, 1, 1};
  launch.block = {32, 8, 1};
  launch.args = {{"n", std::int64_t{2000}}};
  launch.buffers = {{"place", {2000, "uniform(0,30000)"}}, {"x", {2000000, "zero"}}};
  ExecuteOptions options;
  options.jobs = 1;
  options.sample_work = work;
  options.sample = sample;
  options.resident_blocks = 4;
  options.processors = 20;
  return execute(analysis.profile, *analysis.program, launch, MemoryGeometry{}, options);
}

bool lives_are_cut(const Workload& w) {
  for (const Assumption& a : w.assumptions)
    if (a.what == "reuse distances") return true;
  return false;
}

class DearBlocks : public ::testing::TestWithParam<DearCase> {};

TEST_P(DearBlocks, HitRatesAreThoseOfWholeBlocks) {
  Source source;
  source.path = "k.cu";
  source.text =
      "__global__ void k(const int* place, const float* x, float* y, int n) {\n  float s = 0;\n"
      "  for (int k = 0; k < n; ++k) " +
      std::string(GetParam().loop) + "\n  y[(blockIdx.x * 8 + threadIdx.y) * 32 + threadIdx.x] = s;\n}\n";
  FrontendOptions options;
  options.target = "sm_70";
  options.program = true;
  const Analysis analysis = analyze(source, options);
  ASSERT_TRUE(analysis.program) << analysis.no_program;
  const Workload whole = executed(analysis, 5e8, 0).workload;
  ASSERT_TRUE(whole.locality);
  EXPECT_FALSE(lives_are_cut(whole));
  const Execution cheap = executed(analysis, 3e7, 0);
  const Workload& part = cheap.workload;
  ASSERT_TRUE(lives_are_cut(part));
  ASSERT_TRUE(part.locality);
  EXPECT_EQ(part.locality->resident_blocks, 4);
  const Execution one = executed(analysis, 0, 1);
  EXPECT_LT(cheap.warp_instructions_run, 4 * one.warp_instructions_run);
  for (const double sectors : {64.0, 1024.0})
    EXPECT_NEAR(part.locality->block.hit_rate(sectors), whole.locality->block.hit_rate(sectors), 0.04) << sectors;
  // A cache that a part of a life does not fill: what is used again later still counts as a miss.
  EXPECT_LE(part.locality->block.hit_rate(65536), whole.locality->block.hit_rate(65536) + 0.04);
  EXPECT_GE(part.locality->block.hit_rate(1e9), GetParam().block_hits);
  EXPECT_GE(part.locality->resident.hit_rate(1e9), GetParam().resident_hits);
}

/// The first block is cheap, every other one beyond the limit: its counts would stand for those that are not like it.
TEST(DearBlock, AfterACheapOneLeavesTheSampleWithoutCounts) {
  Source source;
  source.path = "k.cu";
  source.text =
      "__global__ void k(float* y, int n) {\n"
      "  float s = 0;\n  int last = blockIdx.x == 20 && blockIdx.y == 0 ? 10 : n;\n"
      "  for (int k = 0; k < last; ++k) s = s * 0.5f + y[threadIdx.x];\n  y[threadIdx.x] = s;\n}\n";
  FrontendOptions options;
  options.target = "sm_70";
  options.program = true;
  const Analysis analysis = analyze(source, options);
  ASSERT_TRUE(analysis.program) << analysis.no_program;
  Launch launch;
  launch.grid = {40, 2, 1};
  launch.block = {32, 1, 1};
  launch.args = {{"n", std::int64_t{100000}}};
  ExecuteOptions run;
  run.sample_work = 1e4;
  run.most_sample_work = 1e6;
  try {
    execute(analysis.profile, *analysis.program, launch, MemoryGeometry{}, run);
    FAIL() << "the cheap block stands for all";
  } catch (const LimitError& e) {
    EXPECT_EQ(message_of(e).find("kernel k: 1 block was executed and is not like the others: a block needs more work"),
              0U)
        << message_of(e);
  }
  run.sample = 2;  // asked for: however long it takes
  EXPECT_EQ(execute(analysis.profile, *analysis.program, launch, MemoryGeometry{}, run).blocks_run, 2);
}

/// Both loops take several times the limit; what x holds decides a count in the second only.
TEST(DearBlock, MayTakeMoreWhereGeneratedContentsDecideNothing) {
  for (const bool decides : {false, true}) {
    Source source;
    source.path = "k.cu";
    source.text =
        "__global__ void k(const int* trips, const float* x, float* y) {\n  float s = 0;\n"
        "  for (int k = 0; k < trips[0]; ++k) " +
        std::string(decides ? "{ if (x[k] > 5.0f) break; s += x[k]; }" : "s += x[k];") + "\n  y[threadIdx.x] = s;\n}\n";
    FrontendOptions options;
    options.target = "sm_70";
    options.program = true;
    const Analysis analysis = analyze(source, options);
    ASSERT_TRUE(analysis.program) << analysis.no_program;
    Launch launch;
    launch.grid = {40, 1, 1};
    launch.block = {32, 1, 1};
    launch.buffers = {{"trips", {1, "20000"}}, {"x", {20000, ""}}, {"y", {32, ""}}};
    ExecuteOptions run;
    run.sample = 0;
    run.sample_work = 1e4;
    run.most_sample_work = 1e6;
    if (decides) {
      EXPECT_THROW(execute(analysis.profile, *analysis.program, launch, MemoryGeometry{}, run), LimitError);
      continue;
    }
    const Execution e = execute(analysis.profile, *analysis.program, launch, MemoryGeometry{}, run);
    EXPECT_GE(e.blocks_run, 1);
    for (const Assumption& a : e.workload.assumptions) EXPECT_NE(a.kind, Assumption::Kind::contents) << a.what;
  }
}

INSTANTIATE_TEST_SUITE_P(Execute, DearBlocks, ::testing::ValuesIn(dear_cases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace kernelcast
