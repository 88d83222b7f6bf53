// Kernels that are small enough to count: what their programs hold, and what shortening makes of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "io/clock.h"
#include "kernelcast/bind.h"
#include "kernelcast/error.h"
#include "kernelcast/sm_model.h"

namespace user_program_test {
namespace {

using namespace kernelcast;
using namespace kernelcast::sm;
using ::testing::HasSubstr;

constexpr auto titan_v = "nvidia-titan-v", k20 = "nvidia-tesla-k20";

Device device(const std::string& id) { return DeviceCatalog(KERNELCAST_SOURCE_DIR "/devices").find(id); }

/// for (i < outer) { a; for (j < inner) b; }  if (half) c;  with global loads in b that c's arithmetic waits for.
KernelProfile nest(std::int64_t outer, std::int64_t inner) {
  KernelProfile p;
  p.kernel = "nest";
  p.target = "sm_70";
  p.loops = {{-1, Symbol("i"), Expr(outer), -1, Guard{}, {}}, {0, Symbol("j"), Expr(inner), -1, Guard{}, {}}};
  p.buffers.push_back({"data", MemorySpace::global, -1, 256, -1});
  Block before, a, b, c;
  before.name = "entry";
  before.ops[OpClass::move] = 3;
  a.loop = 0;
  a.ops[OpClass::int_add] = 4;
  a.ops[OpClass::control] = 1;
  b.loop = 1;
  b.ops[OpClass::fp32_fma] = 12;
  b.ops[OpClass::control] = 1;
  b.ops[OpClass::global_load] = 2;
  kernelcast::Access load;
  load.buffer = 0;
  load.offset = Expr(local_id(0)) * 4 + Expr(Symbol("j")) * 4096;
  load.also = {128};
  b.accesses = {load};
  b.stalls.waits[static_cast<std::size_t>(Latency::global)] = 1;
  b.stalls.hidden[static_cast<std::size_t>(Latency::global)] = 4;
  b.stalls.waits[static_cast<std::size_t>(Latency::alu)] = 4;
  b.stalls.loads = 2;
  c.ops[OpClass::fp32_add] = 6;
  c.guard.paths = {Path{less(Expr(local_id(0)), Expr(32)), {}}};
  p.blocks = {before, a, b, c};
  p.registers.per_thread = 32;
  return p;
}

Workload bound(const KernelProfile& p, std::int64_t blocks, std::int64_t threads = 64) {
  kernelcast::Launch launch;
  launch.grid = {blocks, 1, 1};
  launch.block = {threads, 1, 1};
  Workload w = Binder(p, MemoryGeometry{}).bind(launch);
  w.registers_per_thread = 32;
  return w;
}

UserProgram program_of(const KernelProfile& p, const Workload& w, const std::string& id = titan_v) {
  return user_program(p, w, spec_of(device(id), KERNELCAST_SOURCE_DIR "/devices"), {0.5, 0.5, 0.5, 1});
}

TEST(UserProgram, ExecutesWhatTheWorkloadCounts) {
  const KernelProfile p = nest(5, 7);
  const Workload w = bound(p, 3);
  const UserProgram program = program_of(p, w);
  // Loops end in the branch that the last block counts; the outer loop's is one more, as its last item is a loop.
  EXPECT_NEAR(program.instructions, w.warp_ops.total() / w.warps + 5 + 1, 2);
  ASSERT_EQ(program.loops.size(), 2U);
  EXPECT_EQ(program.loops[0].trips, 5);
  EXPECT_EQ(program.loops[1].trips, 7);
  EXPECT_EQ(program.loops[1].iterations, 35);
  sm::SmLaunch launch;
  launch.blocks = 3;
  launch.warps_per_block = 2;
  const Spec spec = spec_of(device(titan_v), KERNELCAST_SOURCE_DIR "/devices");
  const Result r = simulate(spec, program.program, launch);
  EXPECT_NEAR(static_cast<double>(r.warp_instructions), program.instructions * 6, 6);
  EXPECT_NEAR(r.l1_sectors, w.at(MemorySpace::global, AccessKind::load).sectors, 1);
}

TEST(UserProgram, ABlockThatHalfOfTheWarpsReachIsPassedOverByTheOthers) {
  const KernelProfile p = nest(2, 2);
  const UserProgram program = program_of(p, bound(p, 1));
  const auto skip = std::ranges::find_if(
      program.program.instructions, [](const sm::Instruction& i) { return i.op == sm::Op::branch && i.trips == 0; });
  ASSERT_NE(skip, program.program.instructions.end());
  EXPECT_DOUBLE_EQ(skip->fraction, 0.5);
  EXPECT_EQ(skip->target, static_cast<int>(program.program.instructions.size()));
}

TEST(UserProgram, AWaitForMemoryMakesTheLoopAsSlowAsMemory) {
  const KernelProfile p = nest(1, 64);
  const Workload w = bound(p, 1, 32);
  Spec spec = spec_of(device(titan_v), KERNELCAST_SOURCE_DIR "/devices");
  const auto cycles = [&](const HitShares& hits) {
    return static_cast<double>(simulate(spec, user_program(p, w, spec, hits).program, {}).cycles);
  };
  const double near = cycles({1, 1, 1, 1}), far = cycles({0, 0, 1, 1});
  // A trip more waits for memory once: the difference of the latencies, 64 times.
  EXPECT_NEAR((far - near) / 64, spec.dram_latency - spec.l1_latency, 0.1 * spec.dram_latency);
}

TEST(UserProgram, PairsAreMarkedWhereCodesIssueTwo) {
  const KernelProfile p = nest(4, 4);
  const Workload w = bound(p, 1);
  const Spec spec = spec_of(device(k20), KERNELCAST_SOURCE_DIR "/devices");
  const UserProgram program = user_program(p, w, spec, {});
  sm::SmLaunch launch;
  launch.warps_per_block = 2;
  EXPECT_GT(simulate(spec, program.program, launch).dual_issues, 0U);
}

struct Case {
  std::int64_t outer, inner, blocks;
  double resident;
};
class Shortened : public ::testing::TestWithParam<Case> {};

/// Full simulation is the twin; docs/model/sm.md gives the error.
TEST_P(Shortened, LiesWithinFivePerCentOfTheFullSimulation) {
  const Case c = GetParam();
  const KernelProfile p = nest(c.outer, c.inner);
  const Workload w = bound(p, 4);
  for (const char* id : {titan_v, k20}) {
    const Spec spec = spec_of(device(id), KERNELCAST_SOURCE_DIR "/devices");
    const UserProgram program = user_program(p, w, spec, {0.5, 0.5, 0.5, 1});
    const UserLaunch launch{static_cast<double>(c.blocks), c.resident, 2};
    const Extrapolation full = simulate_shortened(spec, program, launch, 1e9);
    EXPECT_EQ(full.runs, 1);
    const double all = static_cast<double>(full.simulated_instructions);
    const Extrapolation less = simulate_shortened(spec, program, launch, all / 4);
    EXPECT_LT(static_cast<double>(less.simulated_instructions), 0.6 * all) << id;
    EXPECT_NEAR(less.cycles / full.cycles, 1, 0.05) << id << " " << less.runs << " runs";
  }
}

INSTANTIATE_TEST_SUITE_P(Nests, Shortened,
                         ::testing::Values(Case{200, 3, 4, 4}, Case{1, 600, 4, 4}, Case{40, 40, 8, 8},
                                           Case{3, 300, 16, 16}, Case{5, 5, 240, 8}, Case{60, 20, 50, 8},
                                           Case{100, 9, 27, 6}));

TEST(Shorten, WhatCannotFitIsALimit) {
  KernelProfile p = nest(2, 2);
  p.blocks[0].ops[OpClass::fp32_fma] = 50'000;
  const Workload w = bound(p, 1);
  const Spec spec = spec_of(device(titan_v), KERNELCAST_SOURCE_DIR "/devices");
  EXPECT_THROW(static_cast<void>(simulate_shortened(spec, user_program(p, w, spec, {}), {8, 8, 8}, 1e5)), LimitError);
}

TEST(Shorten, ADeadlineIsKeptToATenth) {
  const KernelProfile p = nest(100'000, 1000);
  const Spec spec = spec_of(device(titan_v), KERNELCAST_SOURCE_DIR "/devices");
  const UserProgram program = user_program(p, bound(p, 4), spec, {0.5, 0.5, 0.5, 1});
  double best = 100;  // of three: other programs may take the processor away
  for (int i = 0; i < 3 && best > 1.1; ++i) {
    const double start = steady_seconds();
    EXPECT_THROW(static_cast<void>(simulate_shortened(spec, program, {4, 4, 2, start + 1}, 1e18)), LimitError);
    best = std::min(best, steady_seconds() - start);
  }
  EXPECT_GE(best, 1);
  EXPECT_LE(best, 1.1);
}

TEST(CycleLevelModel, ATimeThatIsOverLeavesTheForecastUnknown) {
  const KernelProfile p = nest(8, 32);
  const Estimate e = any_model_named("sm").estimate_within(p, bound(p, 4000, 256), device(titan_v), 1e-9);
  EXPECT_FALSE(e.time_s.value);
  EXPECT_THAT(e.time_s.reason, HasSubstr("not simulated within the time"));
}

TEST(CycleLevelModel, SaysWhichArchitecturesThereAreWhereItHasNone) {
  const KernelProfile p = nest(2, 2);
  Device d = device(titan_v);
  d.architecture = "Nobody's";
  const Estimate e = cycle_level_model().estimate(p, bound(p, 64), d);
  EXPECT_FALSE(e.time_s.value);
  EXPECT_THAT(e.time_s.reason, HasSubstr("there is one of: "));
  EXPECT_THAT(e.time_s.reason, HasSubstr("ask the model kernelcast"));
}

TEST(CycleLevelModel, ForecastsAndNamesWhatLimits) {
  const KernelProfile p = nest(8, 32);
  const Estimate e = cycle_level_model().estimate(p, bound(p, 4000, 256), device(titan_v));
  ASSERT_TRUE(e.time_s.value) << e.time_s.reason;
  EXPECT_FALSE(e.bounds.empty());
  EXPECT_EQ(e.limiter, e.bounds.front().name);
  double longest = 0;
  for (const Bound& b : e.bounds) longest = std::max(longest, b.time.value());
  EXPECT_LE(longest, *e.time_s.value * 1.1);
}

TEST(CycleLevelModel, IsFoundByNameOnly) {
  EXPECT_EQ(any_model_named("sm").name(), "sm");
  EXPECT_EQ(any_model_named("roofline").name(), "roofline");
  for (const Model* m : all_models()) EXPECT_NE(m->name(), "sm");
  try {
    static_cast<void>(any_model_named("rofline"));
    FAIL() << "no error";
  } catch (const UsageError& e) {
    EXPECT_THAT(e.what(), HasSubstr(" sm"));
  }
}

}  // namespace
}  // namespace user_program_test
