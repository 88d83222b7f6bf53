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

TEST(CpuModel, WhatFitsIsThere) {
  Workload w = work();
  for (int d = 0; d < Reuse::depths; ++d) touch(w, d, 900, 900);
  EXPECT_EQ(lines_missed(w, 64e3, 64, 0), 0);
  EXPECT_EQ(lines_missed(w, 64 * 899, 64, 0), 900);
}

TEST(CpuModel, AKeptPassageServesTheReuseOfTheNextLoop) {
  Workload w = work();
  touch(w, 0, 1, 1e6);
  touch(w, 1, 500, 5e5);
  touch(w, 2, 5000, 5e4);
  touch(w, 3, 50000, 5e4);
  EXPECT_EQ(lines_missed(w, 64.0 * 100, 64, 0), 5e5);  // one iteration fits
  EXPECT_EQ(lines_missed(w, 64.0 * 500, 64, 0), 5e4);  // the innermost loop fits
  EXPECT_EQ(lines_missed(w, 64.0 * 50000, 64, 0), 0);
}

TEST(CpuModel, ALineCostsWhatTheLevelTakesThatHasIt) {
  Workload w = work();
  for (int d = 0; d < Reuse::depths; ++d) touch(w, d, 1e6, 1e6);
  // A million lines from memory: 8 ms, which bandwidths up to the registers include L2 and L3 in.
  const CpuEstimate e = estimate_cpu(code(1e6, false), w, cpu(), 1);
  EXPECT_NEAR(e.time_s, 8e-3, 1e-6);
  EXPECT_EQ(e.limiter, "data");
  EXPECT_DOUBLE_EQ(e.dram_bytes, 64e6);
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
  touch(w, Reuse::depths - 1, 200000, 1e6);
  for (int depth = 0; depth + 1 < Reuse::depths; ++depth) touch(w, depth, 50000, 1e6);
  const CpuEstimate e = estimate_cpu(code(1e3, false), w, d, 1);
  EXPECT_NEAR(e.time_s, 8e-3, 1e-6);
  EXPECT_NEAR(e.dram_bytes, 64e6, 1);
  touch(w, Reuse::depths - 1, 50000, 1e6);  // the L3 holds it all
  const CpuEstimate near = estimate_cpu(code(1e3, false), w, d, 1);
  EXPECT_NEAR(near.time_s, 8e-3, 1e-6);
  EXPECT_EQ(near.dram_bytes, 0);
  set(d, Field::memory_l3_latency_cycles, 40);
  EXPECT_NEAR(estimate_cpu(code(1e3, false), w, d, 1).time_s, 4e-3, 1e-6);
}

TEST(CpuModel, LevelsAddUpAndOverlapWithArithmetic) {
  Workload w = work();
  touch(w, 0, 500, 2e6);
  touch(w, 1, 5000, 1e6);
  touch(w, 2, 50000, 4e5);
  touch(w, 3, 500000, 1e5);
  w.access_counts = {{}};
  w.access_counts[0].requests = 3e6;
  // Of three million accesses two find the L1 (two a cycle), 0.6 the L2 (1 ms a million), 0.3 the L3 (2), 0.1 memory
  // (8).
  const double data_s = 1e-3 + 0.6e-3 + 0.3 * 2e-3 + 0.1 * 8e-3;
  EXPECT_NEAR(estimate_cpu(code(1e6, false), w, cpu(), 1).time_s, data_s, 1e-9);
  EXPECT_DOUBLE_EQ(estimate_cpu(code(20e6, false), w, cpu(), 1).time_s, 20e-3);
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
