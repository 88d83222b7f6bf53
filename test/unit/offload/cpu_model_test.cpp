// The CPU model on work that fits on paper.
#include "kernelcast/cpu_model.h"

#include <gtest/gtest.h>

#include "kernelcast/error.h"

namespace kernelcast::offload::cpu_model_test {
namespace {

void set(Device& d, Field f, double v) { d.values[static_cast<std::size_t>(f)] = {v, "test", "test"}; }

/// 1 GHz, 4 cores of 2 threads, caches of 1000, 10,000 and 100,000 lines, each level known.
Device cpu() {
  Device d;
  d.id = d.name = "cpu";
  d.kind = "cpu";
  for (const auto& [f, v] :
       std::initializer_list<std::pair<Field, double>>{{Field::clock_sustained_clock_hz, 1e9},
                                                       {Field::compute_units, 4},
                                                       {Field::cpu_threads_per_core, 2},
                                                       {Field::memory_l1_line_bytes, 64},
                                                       {Field::memory_l1_bytes, 64e3},
                                                       {Field::memory_l2_bytes, 64e4},
                                                       {Field::memory_l3_bytes, 64e5},
                                                       {Field::memory_l2_bandwidth_bytes_per_s, 64e9},
                                                       {Field::memory_l3_bandwidth_bytes_per_s, 32e9},
                                                       {Field::memory_sustained_dram_bandwidth_bytes_per_s, 16e9},
                                                       {Field::cpu_core_dram_bandwidth_bytes_per_s, 8e9},
                                                       {Field::cpu_thread_start_s, 1e-6},
                                                       {Field::cpu_outstanding_lines_per_core, 10}})
    set(d, f, v);
  return d;
}

/// One loop of `cycles` in all; `parallel`: threads share it.
CpuCode code(double cycles, bool parallel) {
  CpuCode c;
  c.profile.loops.resize(1);
  Block body, entry;
  body.loop = 0;
  c.profile.blocks = {body, entry};
  c.blocks = {{cycles, 100, cycles / 2}, {0, 0, 0}};
  c.first_entry = 1;
  if (parallel) c.parallel_loops = {0};
  return c;
}

Workload work() {
  Workload w;
  w.block_counts = {{1, 1}, {1, 1}};
  w.reuse.known = true;
  return w;
}

void touch(Workload& w, int depth, double footprint, double traffic) {
  for (auto& level : w.reuse.level[Reuse::read][static_cast<std::size_t>(depth)]) level = {footprint, traffic};
}

TEST(CpuModel, CoreCyclesAtTheClock) {
  const CpuEstimate e = estimate_cpu(code(1e6, false), work(), cpu(), 0);
  EXPECT_DOUBLE_EQ(e.time_s, 1e-3);
  EXPECT_EQ(e.threads, 1);
  EXPECT_EQ(e.limiter, "core");
  EXPECT_TRUE(e.assumptions.empty());
}

TEST(CpuModel, ExitsThatAreForeseenCostNothing) {
  CpuCode c = code(1e6, false);
  c.profile.blocks.emplace_back();  // changes
  c.blocks[1].cycles = 20;          // a misprediction for each entry
  c.blocks.emplace_back();
  c.first_change = 2;
  Workload w = work();
  w.block_counts = {{100, 100}, {10, 10}, {3, 3}};
  c.blocks[0].cycles = 1e4;
  const double entries = 200e-9, known = 140e-9;  // ten of twenty cycles, seven of which are foreseen
  Device d = cpu();
  EXPECT_DOUBLE_EQ(estimate_cpu(c, w, d, 0).time_s, 1e-3 + entries);
  set(d, Field::cpu_predicted_trips, 10);
  EXPECT_DOUBLE_EQ(estimate_cpu(c, w, d, 0).time_s, 1e-3 + entries - known);
  set(d, Field::cpu_predicted_trips, 9);  // ten trips are more than it remembers
  EXPECT_DOUBLE_EQ(estimate_cpu(c, w, d, 0).time_s, 1e-3 + entries);
}

TEST(CpuModel, ThreadsShareTheMarkedLoopAndCostAStart) {
  const CpuEstimate e = estimate_cpu(code(1e6, true), work(), cpu(), 0);
  EXPECT_EQ(e.threads, 4);
  EXPECT_DOUBLE_EQ(e.time_s, 0.25e-3 + 1e-6);
  EXPECT_DOUBLE_EQ(estimate_cpu(code(1e6, true), work(), cpu(), 1).time_s, 1e-3);
}

TEST(CpuModel, SecondThreadsOfACoreFillWaitsOnly) {
  // Half of the cycles are waits: two threads a core fill them, and there are no more than two.
  EXPECT_DOUBLE_EQ(estimate_cpu(code(1e6, true), work(), cpu(), 8).time_s, 0.125e-3 + 1e-6);
  EXPECT_EQ(estimate_cpu(code(1e6, true), work(), cpu(), 100).threads, 8);
}

// Root of 1 - m = exp(-5 m), by hand with Newton's method: what a passage of five times the cache loses.
constexpr double lost_at_5 = 0.99302285;

TEST(CpuModel, ALineCostsWhatTheLevelTakesThatHasIt) {
  Workload w = work();
  for (int d = 0; d < Reuse::depths; ++d) touch(w, d, 1e6, 1e6);
  // A million lines from memory: 8 ms, which bandwidths up to the registers include L2 and L3 in.
  const CpuEstimate e = estimate_cpu(code(1e6, false), w, cpu(), 1);
  EXPECT_NEAR(e.time_s, 8e-3, 1e-6);
  EXPECT_EQ(e.limiter, "data");
  EXPECT_NEAR(e.dram_bytes, 64e6, 64e6 * 5e-5);  // ten times the L3
  EXPECT_DOUBLE_EQ(estimate_cpu(code(20e6, false), w, cpu(), 1).time_s, 20e-3);
}

TEST(CpuModel, ACacheIsAtLeastAsFastAsTheStreamThatPassesIt) {
  Device d = cpu();
  for (const Field f : {Field::memory_l2_bandwidth_bytes_per_s, Field::memory_l3_bandwidth_bytes_per_s})
    d.values[static_cast<std::size_t>(f)].value.reset();
  set(d, Field::memory_l2_latency_cycles, 10);
  set(d, Field::memory_l3_latency_cycles, 320);
  Workload w = work();
  // Ten lines in 320 cycles would be 2 GB/s; one core gets 8 from memory. A million lines of 64 bytes.
  touch(w, Reuse::depths - 1, 4e6, 1e6);
  for (int depth = 0; depth + 1 < Reuse::depths; ++depth) touch(w, depth, 50000, 1e6);
  const CpuEstimate e = estimate_cpu(code(1e3, false), w, d, 1);
  EXPECT_NEAR(e.time_s, 8e-3, 1e-6);
  EXPECT_NEAR(e.dram_bytes, 64e6, 1);
  touch(w, Reuse::depths - 1, 50000, 1e6);  // the L3 holds it all
  const CpuEstimate near = estimate_cpu(code(1e3, false), w, d, 1);
  // The L2, a fifth of the data, keeps a little.
  EXPECT_NEAR(near.time_s, lost_at_5 * 8e-3 + (1 - lost_at_5) * 1e-3, 1e-6);
  EXPECT_EQ(near.dram_bytes, 0);
  set(d, Field::memory_l3_latency_cycles, 40);
  EXPECT_NEAR(estimate_cpu(code(1e3, false), w, d, 1).time_s, lost_at_5 * 4e-3 + (1 - lost_at_5) * 1e-3, 1e-6);
}

TEST(CpuModel, LevelsAddUpAndOverlapWithArithmetic) {
  Workload w = work();
  touch(w, 0, 500, 2e6);
  touch(w, 1, 5000, 1e6);
  touch(w, 2, 50000, 4e5);
  for (int depth = 3; depth < Reuse::depths; ++depth) touch(w, depth, 500000, 1e5);
  CpuCode light = code(1e6, false), heavy = code(20e6, false);
  for (CpuCode* c : {&light, &heavy}) c->blocks[0].accesses.to_16 = 3e6;
  // Of three million accesses two find the L1 (two a cycle), 0.6 the L2 (1 ms a million), 0.3 the L3 (2), 0.1 memory
  // (8).
  // Each cache also keeps a little of the passage that is five times its size.
  const double kept = 1 - lost_at_5;
  const double l2 = 1e6 - kept * 6e5, l3 = 4e5 - kept * 3e5, dram = 1e5 - kept * 1e5;
  const double data_s = (3e6 - l2) / 2e9 + (l2 - l3) * 1e-9 + (l3 - dram) * 2e-9 + dram * 8e-9;
  EXPECT_NEAR(estimate_cpu(light, w, cpu(), 1).time_s, data_s, 1e-9);
  EXPECT_DOUBLE_EQ(estimate_cpu(heavy, w, cpu(), 1).time_s, 20e-3);
  // A core whose L1 goes on meanwhile: the longer hides the other, and all accesses are the L1's.
  Device d = cpu();
  set(d, Field::cpu_l2_overlap, 1);
  const double lines_s = (l2 - l3) * 1e-9 + (l3 - dram) * 2e-9 + dram * 8e-9;
  EXPECT_NEAR(estimate_cpu(light, w, d, 1).time_s, std::max(3e6 / 2e9, lines_s), 1e-9);
  set(d, Field::cpu_l2_overlap, 0.5);
  const double l1_s = (3e6 - l2 / 2) / 2e9;
  EXPECT_NEAR(estimate_cpu(light, w, d, 1).time_s, l1_s + lines_s - std::min(l1_s, lines_s) / 2, 1e-9);
}

TEST(CpuModel, WideAccessesAndLinesThatAreCrossedTakeTurns) {
  CpuCode c = code(1e3, false);
  c.blocks[0].accesses = {0, 0, 8e6, 7e6};
  // Ports of 32 bytes unless told: two turns each and one for a crossing, two turns a cycle.
  EXPECT_NEAR(estimate_cpu(c, work(), cpu(), 1).time_s, (8e6 * 2 + 7e6) / 2e9, 1e-9);
  Device d = cpu();
  set(d, Field::memory_l1_bandwidth_bytes_per_unit, 58.2);  // measured: ports of 32
  EXPECT_NEAR(estimate_cpu(c, work(), d, 1).time_s, (8e6 * 2 + 7e6) / 2e9, 1e-9);
  set(d, Field::memory_l1_bandwidth_bytes_per_unit, 110);
  EXPECT_NEAR(estimate_cpu(c, work(), d, 1).time_s, (8e6 + 7e6) / 2e9, 1e-9);
}

TEST(CpuModel, LinesForFewSetsOfTheL1WaitForEachOther) {
  // A column of 256 rows of 4096 bytes, 100 times: one set of a way of 4 KiB, and all of it found in the L2.
  Device d = cpu();
  set(d, Field::memory_l1_bytes, 32768);
  set(d, Field::memory_l1_ways, 8);
  Workload w = work();
  AccessStream walk;
  walk.bytes = 8;
  walk.steps = {{4096, 256, 1}, {8, 100, 2}};
  walk.offsets = {0};
  for (int depth = 0; depth < Reuse::depths; ++depth)
    walk.level[static_cast<std::size_t>(depth)] = depth == 0   ? Reuse::Level{1, 25600}
                                                  : depth == 1 ? Reuse::Level{256, 25600}
                                                               : Reuse::Level{3328, 3328};
  for (int depth = 0; depth < Reuse::depths; ++depth)
    touch(w, depth, walk.level[static_cast<std::size_t>(depth)].footprint,
          walk.level[static_cast<std::size_t>(depth)].traffic);
  w.streams = {walk};
  const double plain = estimate_cpu(code(1e3, false), w, d, 1).time_s;
  set(d, Field::cpu_l1_one_set_line_cycles, 10);
  set(d, Field::cpu_l1_two_sets_line_cycles, 8);
  const double crowded = estimate_cpu(code(1e3, false), w, d, 1).time_s;
  // Nine cycles a line more than the stream's one, for nearly all of the 25,600.
  EXPECT_NEAR(crowded - plain, 9 * 25600e-9, 0.1 * 9 * 25600e-9);
}

TEST(CpuModel, NumbersThatVariedWidenTheInterval) {
  Device d = cpu();
  const double steady = estimate_cpu(code(1e6, false), work(), d, 1).factor;
  d.values[static_cast<std::size_t>(Field::memory_l3_bandwidth_bytes_per_s)].unstable = true;
  const CpuEstimate e = estimate_cpu(code(1e6, false), work(), d, 1);
  EXPECT_GT(e.factor, steady);
  ASSERT_EQ(e.assumptions.size(), 1u);
  EXPECT_NE(e.assumptions[0].value.find("varied"), std::string::npos);
}

TEST(CpuModel, StreamsFromTheL3WaitForTheLinesOfTheCore) {
  Device d = cpu();
  d.values[static_cast<std::size_t>(Field::memory_l3_bandwidth_bytes_per_s)].value.reset();
  set(d, Field::memory_l3_latency_cycles, 100);
  Workload w = work();
  for (int depth = 0; depth < Reuse::depths; ++depth) touch(w, depth, 5e4, 1e6);
  touch(w, Reuse::depths - 1, 5e4, 1e6);
  // Ten lines of 64 bytes in 100 ns would be 6.4 GB/s; the core's stream from memory is 8.
  EXPECT_NEAR(estimate_cpu(code(1e3, false), w, d, 1).time_s, lost_at_5 * 8e-3 + (1 - lost_at_5) * 1e-3, 1e-6);
  // That stream has 50 lines on the way at 400 cycles, but these are fetched ahead from memory only.
  set(d, Field::memory_dram_latency_cycles, 400);
  EXPECT_NEAR(estimate_cpu(code(1e3, false), w, d, 1).time_s, lost_at_5 * 8e-3 + (1 - lost_at_5) * 1e-3, 1e-6);
  set(d, Field::memory_l3_latency_cycles, 40);  // 16 GB/s
  EXPECT_NEAR(estimate_cpu(code(1e3, false), w, d, 1).time_s, lost_at_5 * 4e-3 + (1 - lost_at_5) * 1e-3, 1e-6);
}

/// for (p = 0; p < n; ++p) for (q = p; q < n; ++q): ten cycles each, the outer loop shared.
CpuCode triangle() {
  CpuCode c;
  c.profile.parameters.resize(1);
  c.profile.parameters[0].name = "n";
  c.profile.loops.resize(2);
  c.profile.loops[0].counter = Symbol("p");
  c.profile.loops[0].trips = Expr(argument("n"));
  c.profile.loops[1].counter = Symbol("q");
  c.profile.loops[1].parent = 0;
  c.profile.loops[1].trips = Expr(argument("n")) - Expr(Symbol("p"));
  Block body;
  body.loop = 1;
  c.profile.blocks = {body, {}, {}};
  c.blocks = {{10, 10, 10}, {0, 0, 0}, {0, 0, 0}};
  c.first_entry = 1;
  c.parallel_loops = {0};
  return c;
}

TEST(CpuModel, TheThreadWithMostWorkOfATriangle) {
  Launch l;
  l.args["n"] = std::int64_t{8};
  // Rows of 8, 7, ... 1: two threads have 26 and 10 of 36.
  EXPECT_DOUBLE_EQ(uneven_share(triangle(), l, cpu(), 2), 26 * 2 / 36.0);
  EXPECT_DOUBLE_EQ(uneven_share(triangle(), l, cpu(), 4), 15 * 4 / 36.0);
  EXPECT_DOUBLE_EQ(uneven_share(triangle(), l, cpu(), 1), 1);
  // Three rows on two threads: the first has two of them, 5 of 6.
  l.args["n"] = std::int64_t{3};
  EXPECT_DOUBLE_EQ(uneven_share(triangle(), l, cpu(), 2), 5 * 2 / 6.0);
  // More threads than rows.
  EXPECT_DOUBLE_EQ(uneven_share(triangle(), l, cpu(), 8), 3 * 8 / 6.0);
}

TEST(CpuModel, RowsThatAreAlikeAreSharedEvenly) {
  CpuCode c = triangle();
  c.profile.loops[1].trips = Expr(argument("n"));
  Launch l;
  l.args["n"] = std::int64_t{8};
  EXPECT_DOUBLE_EQ(uneven_share(c, l, cpu(), 4), 1);
  c.profile.loops[0].trips = Expr(Symbol("unknown"));
  EXPECT_DOUBLE_EQ(uneven_share(c, l, cpu(), 4), 1);
}

TEST(CpuModel, AllWaitForTheThreadWithMostWork) {
  const double even = estimate_cpu(code(1e6, true), work(), cpu(), 4).time_s;
  EXPECT_DOUBLE_EQ(estimate_cpu(code(1e6, true), work(), cpu(), 4, 1.5).time_s, (even - 1e-6) * 1.5 + 1e-6);
}

TEST(CpuModel, MemorySaturates) {
  Workload w = work();
  for (int d = 0; d < Reuse::depths; ++d) touch(w, d, 1e6, 1e6);
  // Four cores could draw 32 GB/s of the 16 that there are.
  EXPECT_NEAR(estimate_cpu(code(1e3, true), w, cpu(), 4).time_s, 4e-3 + 1e-6, 1e-6);
}

TEST(CpuModel, UnknownNumbersAreStatedAndWidenTheInterval) {
  Device d = cpu();
  const double known = estimate_cpu(code(1e6, true), work(), d, 4).factor;
  d.values[static_cast<std::size_t>(Field::cpu_thread_start_s)].value.reset();
  d.values[static_cast<std::size_t>(Field::cpu_outstanding_lines_per_core)].value.reset();
  const CpuEstimate e = estimate_cpu(code(1e6, true), work(), d, 4);
  EXPECT_GT(e.factor, known);
  EXPECT_GE(e.assumptions.size(), 2u);
}

TEST(CpuModel, NoClockIsAnError) {
  Device d = cpu();
  d.values[static_cast<std::size_t>(Field::clock_sustained_clock_hz)].value.reset();
  EXPECT_THROW(estimate_cpu(code(1, false), work(), d, 1), UserError);
}

}  // namespace
}  // namespace kernelcast::offload::cpu_model_test
