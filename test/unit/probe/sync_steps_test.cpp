// Barriers and atomic operations on machines made for the purpose: what the steps find must follow the spec.
#include "probe/sync_steps.h"

#include <gtest/gtest.h>

#include "probe/memory_steps.h"
#include "unit/probe/machines.h"

namespace {

using namespace kernelcast;
using namespace kernelcast::probe;

sm::Spec volta_sm() {
  sm::Spec spec = sm::load_spec(std::string(KERNELCAST_SOURCE_DIR) + "/devices/sm/nvidia-gv100.toml");
  spec.l1_bytes = 32768;
  spec.l2_bytes = 1048576;
  spec.l1_latency = 30;
  spec.l2_latency = 200;
  spec.dram_latency = 400;
  return spec;
}

TestedSm machine_like(const sm::Spec& spec) {
  TestedSm m = machine_on(spec);
  m.schedulers = spec.schedulers;
  m.warp_size = spec.warp_size;
  m.warps = 4 * spec.schedulers;
  return m;
}

TEST(SyncSteps, FindAnyBarrier) {
  for (const int latency : {9, 22, 70})
    for (const int interval : {1, 2, 5}) {
      sm::Spec spec = volta_sm();
      spec.latency[static_cast<std::size_t>(sm::Op::barrier)] = latency;
      for (sm::Unit& u : spec.units)
        if (u.name == "barrier") u.interval = interval;
      const std::vector<BarrierCost> costs = barrier_costs(machine_like(spec), 32);
      ASSERT_EQ(costs.size(), 6u);
      EXPECT_EQ(costs.front().threads, 32);
      EXPECT_EQ(costs.front().cycles, latency);
      EXPECT_EQ(costs.back().cycles, latency + 31 * interval);
      EXPECT_EQ(barrier_threads_per_cycle(costs), 32.0 / interval);
    }
}

TEST(SyncSteps, ABlockOfOneWarpSaysNothingOfTheRate) {
  const sm::Spec spec = volta_sm();
  EXPECT_EQ(barrier_threads_per_cycle(barrier_costs(machine_like(spec), 1)), 0);
}

TEST(SyncSteps, FindAnyAtomicOperation) {
  for (const int latency : {45, 90})
    for (const int each : {1, 3, 40}) {
      sm::Spec spec = volta_sm();
      spec.atomic_shared_latency = latency;
      spec.atomic_shared_cycles = each;
      spec.atomic_global_latency = 200 + latency;
      spec.atomic_global_cycles = each;
      const TestedSm m = machine_like(spec);
      for (const Memory memory : {Memory::shared, Memory::global}) {
        const int one = memory == Memory::shared ? latency : 200 + latency;
        const std::vector<AtomicLatency> found = atomic_latencies(m, memory);
        ASSERT_EQ(found.size(), 6u);
        EXPECT_EQ(found.front().cycles, one);
        EXPECT_NEAR(1 / atomics_per_cycle(m, memory, true), each, 1e-9);
        EXPECT_EQ(found.back().cycles, one + 31 * each) << "all lanes but the first wait for their turn";
      }
    }
}

TEST(SyncSteps, WithoutALatencyOfItsOwnAnAtomicOperationTakesThatOfALoad) {
  const sm::Spec spec = volta_sm();
  ASSERT_EQ(spec.atomic_shared_latency, 0);
  ASSERT_EQ(spec.atomic_global_latency, 0);
  EXPECT_EQ(atomic_latencies(machine_like(spec), Memory::shared).front().cycles, spec.shared_latency);
  EXPECT_EQ(atomic_latencies(machine_like(spec), Memory::global).front().cycles, spec.l2_latency);
}

TEST(SyncSteps, OperationsOnWordsApartDoNotWaitForEachOther) {
  sm::Spec spec = volta_sm();
  spec.atomic_shared_cycles = 4;
  const TestedSm m = machine_like(spec);
  EXPECT_NEAR(atomics_per_cycle(m, Memory::shared, false), 32, 0.5) << "one pass a cycle";
  EXPECT_NEAR(atomics_per_cycle(m, Memory::shared, true), 0.25, 1e-9);
}

TEST(MemorySteps, FindAnyLineAndWhatAMissBrings) {
  for (const int line : {32, 64, 128})
    for (const int sector : {32, 64}) {
      if (sector > line) continue;
      sm::Spec spec = volta_sm();
      spec.line_bytes_l1 = line;
      spec.sector_bytes = sector;
      const TestedSm m = machine_like(spec);
      EXPECT_EQ(line_bytes(m), line);
      EXPECT_EQ(fill_bytes(m), sector);
    }
}

TEST(MemorySteps, ARegionIsReadAsFastAsTheCacheThatHoldsIt) {
  sm::Spec spec = volta_sm();
  spec.max_requests = 10000;
  spec.l2_bytes_per_cycle = 20;
  spec.dram_bytes_per_cycle = 5;
  const TestedSm m = machine_like(spec);
  EXPECT_NEAR(cached_bytes_per_cycle(m, 1024), 128, 2) << "a line a cycle";
  EXPECT_NEAR(cached_bytes_per_cycle(m, 131072), 20, 0.6);
  EXPECT_NEAR(shared_bytes_per_cycle(m), 128, 2);
}

}  // namespace
