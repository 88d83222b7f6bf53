// The bounds of `kernelcast` on hand-made launches, each against the number that paper gives; and what must hold for
// every launch: more of anything never makes it slower.
#include "model/kernelcast.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hand_made.h"
#include "kernelcast/error.h"
#include "kernelcast/model.h"
#include "machine/occupancy.h"
#include "model/kernelcast_interval.h"
#include "support/test_names.h"

namespace kernelcast::forecast {
namespace {

/// 10 units at 1 GHz; every efficiency is 1, so that the numbers are round.
Constants plain() {
  Constants c;
  c.norm = c.unit_norm = c.pipe_norm = c.latency_norm = 20;
  c.clock = c.dram_efficiency = c.l2_efficiency = c.l3_efficiency = c.tensor_efficiency = c.memory_efficiency = 1;
  c.l1_share = c.l2_share = c.swept_share = c.swept_share_of_parts = 1;
  c.l2_duplex = 0;
  c.launch_s = c.l2_request_bytes = c.warp_start_cycles = 0;
  c.branch_cycles = c.barrier_latency = c.barrier_warp_cycles = c.barrier_cycles = c.issue_lost = 0;
  return c;
}

Device gpu() {
  Device d = hand_made::device();
  hand_made::set(d, Field::clock_boost_clock_hz, 1e9);
  hand_made::set(d, Field::compute_schedulers_per_unit, 2);
  hand_made::set(d, Field::compute_issue_per_scheduler, 1);
  hand_made::set(d, Field::compute_fp32_lanes_per_unit, 32);
  hand_made::set(d, Field::compute_int_add_lanes_per_unit, 32);
  hand_made::set(d, Field::compute_fp32_int_shared_lanes_per_unit, 32);
  hand_made::set(d, Field::compute_fp64_lanes_per_unit, 2);
  hand_made::set(d, Field::compute_special_lanes_per_unit, 4);
  hand_made::set(d, Field::compute_load_store_lanes_per_unit, 16);
  hand_made::set(d, Field::memory_shared_banks, 32);
  hand_made::set(d, Field::memory_l2_bytes, 1e6);
  hand_made::set(d, Field::memory_l2_bandwidth_bytes_per_s, 1e12);
  hand_made::set(d, Field::latency_fp32_cycles, 6);
  hand_made::set(d, Field::memory_l2_latency_cycles, 200);
  hand_made::set(d, Field::memory_dram_latency_cycles, 500);
  return d;
}

BoundTimes of(const Workload& w, const Device& d, const Constants& c = plain(), double resident = 4) {
  return forecast(w, machine_of(d, c, false), c, resident);
}
double cycles(const BoundTimes& f, Limit l) { return f.cycles[static_cast<std::size_t>(l)]; }

TEST(KernelcastBounds, Arithmetic) {
  Workload w = hand_made::launch(100, 64);  // 10 blocks of 2 warps a unit
  hand_made::execute(w, OpClass::fp32_fma, 50);
  hand_made::execute(w, OpClass::int_add, 25);
  const BoundTimes f = of(w, gpu());
  EXPECT_DOUBLE_EQ(cycles(f, Limit::arithmetic), 10 * 2 * 75);  // one warp a cycle, lanes in common
  EXPECT_DOUBLE_EQ(cycles(f, Limit::issue), 10 * 2 * 75 / 2.0);
  Device apart = gpu();
  hand_made::set(apart, Field::compute_fp32_int_shared_lanes_per_unit, 0);
  EXPECT_DOUBLE_EQ(cycles(of(w, apart), Limit::arithmetic), 10 * 2 * 50);
}

TEST(KernelcastBounds, ArithmeticAloneFillsItsIssueSlots) {
  Workload w = hand_made::launch(100, 64);
  hand_made::execute(w, OpClass::fp32_fma, 60);
  Constants c = plain();
  c.issue_lost = 0.5;
  EXPECT_DOUBLE_EQ(cycles(of(w, gpu(), c), Limit::issue), cycles(of(w, gpu()), Limit::issue));
  hand_made::execute(w, OpClass::shared_load, 20);  // a quarter: half a slot more each
  const double slots = 1 + 0.5 / 4;
  EXPECT_DOUBLE_EQ(cycles(of(w, gpu(), c), Limit::issue), slots * cycles(of(w, gpu()), Limit::issue));
  EXPECT_DOUBLE_EQ(cycles(of(w, gpu(), c), Limit::arithmetic), slots * cycles(of(w, gpu()), Limit::arithmetic));
}

// Two pipes of 16 lanes: additions and moves go where there is less to do, comparisons do not.
TEST(KernelcastBounds, AdditionsGoToThePipeThatMultiplies) {
  Workload w = hand_made::launch(10, 32);
  Device d = gpu();
  hand_made::set(d, Field::compute_int_add_lanes_per_unit, 16);
  hand_made::set(d, Field::compute_int_mul_lanes_per_unit, 16);
  hand_made::set(d, Field::compute_fp32_int_shared_lanes_per_unit, 0);
  hand_made::execute(w, OpClass::int_add, 20);
  hand_made::execute(w, OpClass::move, 10);
  hand_made::execute(w, OpClass::compare, 10);
  EXPECT_DOUBLE_EQ(cycles(of(w, d), Limit::arithmetic), 2 * 20);
  hand_made::execute(w, OpClass::int_mul, 20);
  EXPECT_DOUBLE_EQ(cycles(of(w, d), Limit::arithmetic), 2 * 30);
  hand_made::execute(w, OpClass::int_mul, 80);  // no room there
  EXPECT_DOUBLE_EQ(cycles(of(w, d), Limit::arithmetic), 2 * 40);
  hand_made::execute(w, OpClass::compare, 200);
  EXPECT_DOUBLE_EQ(cycles(of(w, d), Limit::arithmetic), 2 * 210);
  hand_made::set(d, Field::compute_int_mul_lanes_per_unit, 8);
  EXPECT_DOUBLE_EQ(cycles(of(w, d), Limit::arithmetic), 2 * 240);
}

TEST(KernelcastBounds, AWarpAloneWaitsForNobodyAtABarrier) {
  Constants c = plain();
  c.barrier_latency = 20;
  c.barrier_warp_cycles = 2;
  c.barrier_cycles = 80;
  const auto path = [&](std::int64_t threads, double barriers) {
    Workload w = hand_made::launch(10, threads);
    hand_made::execute(w, OpClass::fp32_fma, 100);
    w.barriers = barriers * w.blocks;
    return of(w, gpu(), c).path_cycles;
  };
  EXPECT_DOUBLE_EQ(path(32, 3) - path(32, 0), 3 * 20);
  EXPECT_DOUBLE_EQ(path(256, 3) - path(256, 0), 3 * (20 + 2 * 7 + 80 * 7 / 8.0));
}

TEST(KernelcastBounds, PackedHalvesFillTwoLanesEach) {
  Workload w = hand_made::launch(10, 32);
  hand_made::execute(w, OpClass::fp16_fma, 10);
  Device d = gpu();
  hand_made::set(d, Field::compute_fp16_lanes_per_unit, 32);  // multiply-adds, 16 packed ones
  EXPECT_DOUBLE_EQ(cycles(of(w, d), Limit::arithmetic), 10 * 2);
  hand_made::set(d, Field::compute_fp16_lanes_per_unit, 64);
  EXPECT_DOUBLE_EQ(cycles(of(w, d), Limit::arithmetic), 10);
}

TEST(KernelcastBounds, TensorPipesHaveAnEfficiencyOfTheirOwn) {
  Workload w = hand_made::launch(10, 32);
  hand_made::execute(w, OpClass::tensor, 1);
  w.warp_ops.tensor = {};
  const auto type = static_cast<std::size_t>(TensorType::f16_f32);
  w.warp_ops.tensor.async[type] = 10 * 4096.0;
  Device d = gpu();
  hand_made::set(d, tensor_rate_field(TensorType::f16_f32), 1024);
  Constants c = plain();
  c.tensor_efficiency = 0.5;
  c.issue_lost = 3;  // of other pipes
  EXPECT_DOUBLE_EQ(cycles(of(w, d, c), Limit::tensor), 8);
  w.warp_ops.tensor.warp = w.warp_ops.tensor.async;
  w.warp_ops.tensor.async = {};
  EXPECT_DOUBLE_EQ(cycles(of(w, d, c), Limit::tensor), 8);
  hand_made::set(d, Field::compute_tensor_warp_share, 0.25);  // a measured share of the peak, not of the efficiency
  EXPECT_DOUBLE_EQ(cycles(of(w, d, c), Limit::tensor), 16);
  const auto eight = static_cast<std::size_t>(TensorType::f8_f32);
  std::swap(w.warp_ops.tensor.warp[type], w.warp_ops.tensor.warp[eight]);
  hand_made::set(d, tensor_rate_field(TensorType::f8_f32), 1024);
  EXPECT_DOUBLE_EQ(cycles(of(w, d, c), Limit::tensor), 16);
  hand_made::set(d, Field::compute_tensor_warp_f8_share, 0.125);
  EXPECT_DOUBLE_EQ(cycles(of(w, d, c), Limit::tensor), 32);
}

TEST(KernelcastBounds, WhatAWarpStoresToASectorAgainJoinsBeforeTheL2) {
  Workload w = hand_made::launch(10, 32);
  w.by_space[static_cast<int>(MemorySpace::global)][static_cast<int>(AccessKind::store)].sectors = 400;
  Constants c = plain();
  c.stores_joined = 0.5;
  const auto l2 = [&] { return cycles(of(w, gpu(), c), Limit::l2); };
  w.reuse.known = true;
  const double apart = l2();
  EXPECT_GT(apart, 0);
  w.reuse.stored_again = 0.75;
  EXPECT_DOUBLE_EQ(l2(), apart * (1 - 0.5 * 0.75));
  w.reuse.known = false;
  EXPECT_DOUBLE_EQ(l2(), apart);
}

TEST(KernelcastBounds, Fp64AndSpecialFunctions) {
  Workload w = hand_made::launch(10, 32);
  hand_made::execute(w, OpClass::fp64_fma, 3);
  hand_made::execute(w, OpClass::fp32_special, 5);
  const BoundTimes f = of(w, gpu());
  EXPECT_DOUBLE_EQ(cycles(f, Limit::fp64), 3 * 16);
  EXPECT_DOUBLE_EQ(cycles(f, Limit::special), 5 * 8);
}

TEST(KernelcastBounds, TheBusiestUnitCounts) {
  Workload w = hand_made::launch(11, 32);  // one unit has two blocks
  hand_made::execute(w, OpClass::fp32_add, 10);
  EXPECT_DOUBLE_EQ(cycles(of(w, gpu()), Limit::arithmetic), 20);
}

TEST(KernelcastBounds, LoadStoreAndSharedMemory) {
  Workload w = hand_made::launch(10, 32);
  hand_made::access(w, MemorySpace::shared, AccessKind::load, 8, 0, 4);  // 4 passes each
  const BoundTimes f = of(w, gpu());
  EXPECT_DOUBLE_EQ(cycles(f, Limit::load_store), 8 * 2);
  EXPECT_DOUBLE_EQ(cycles(f, Limit::shared_memory), 8 * 4);
}

// 10 blocks of one warp, one a unit: 6 words of each lane go to local memory and come back.
TEST(KernelcastBounds, SpilledRegistersAreTraffic) {
  Workload w = hand_made::launch(10, 32);
  hand_made::execute(w, OpClass::local_store, 6);
  hand_made::execute(w, OpClass::local_load, 6);
  w.spill_bytes = 24;  // of a thread; a block has 768
  Device d = gpu();
  hand_made::set(d, Field::memory_l1_bytes, 16384);
  hand_made::set(d, Field::memory_l1_bandwidth_bytes_per_unit, 64);
  const BoundTimes held = of(w, d, plain(), 1);
  EXPECT_DOUBLE_EQ(cycles(held, Limit::load_store), 12 * 2);
  EXPECT_DOUBLE_EQ(cycles(held, Limit::l1), 12 * 32 * 4 / 64.0);
  EXPECT_DOUBLE_EQ(cycles(held, Limit::l2), 10 * 6 * 128 / 1e12 * 1e9) << "stores go through";
  hand_made::set(d, Field::memory_l1_bytes, 384);  // half of it
  const BoundTimes half = of(w, d, plain(), 1);
  EXPECT_DOUBLE_EQ(cycles(half, Limit::l2), 10 * (6 + 6 / 2) * 128 / 1e12 * 1e9) << "half of the loads as well";
  EXPECT_DOUBLE_EQ(cycles(half, Limit::dram), 0);
  hand_made::set(d, Field::memory_l2_bytes, 5760);  // three quarters of what all units hold
  EXPECT_GT(cycles(of(w, d, plain(), 1), Limit::dram), 0);
}

// With a request that costs as much as a sector, four sectors of a line take five slots, one takes two.
TEST(KernelcastBounds, RequestsForPartsOfALineGetLessOfTheL2) {
  Constants c = plain();
  c.l2_request_bytes = 32;
  const auto l2 = [&c](AccessKind kind, double sectors_of_a_line, double bulk) {
    Workload w = hand_made::launch(1000, 64);
    hand_made::execute(w, kind == AccessKind::load ? OpClass::global_load : OpClass::global_store, 1);
    AccessCount& a = w.by_space[static_cast<int>(MemorySpace::global)][static_cast<int>(kind)];
    a = {};
    a.sectors = 1e6;
    a.segments = 1e6 / sectors_of_a_line;
    w.bulk_sectors = bulk;
    return cycles(of(w, gpu(), c), Limit::l2);
  };
  for (const AccessKind kind : {AccessKind::load, AccessKind::store}) {
    EXPECT_DOUBLE_EQ(l2(kind, 4, 0), 1e6 * 32 / 1e12 * 1e9);
    EXPECT_DOUBLE_EQ(l2(kind, 1, 0), l2(kind, 4, 0) * 2 / (5.0 / 4));
    EXPECT_DOUBLE_EQ(l2(kind, 2, 0), l2(kind, 4, 0) * 1.5 / (5.0 / 4));
  }
  EXPECT_DOUBLE_EQ(l2(AccessKind::load, 1, 1e6), l2(AccessKind::load, 4, 0)) << "copies in bulk";
}

// A part of the L2 has copies of what its units ask the other part for.
TEST(KernelcastBounds, WhatIsLeftInTheOtherPartOfAnL2PassesItTwice) {
  Device one = gpu();
  hand_made::set(one, Field::memory_l2_bytes, 1e6);
  Device two = one;
  hand_made::set(two, Field::memory_l2_partitions, 2);
  Workload w = hand_made::launch(1000, 32);
  hand_made::access(w, MemorySpace::global, AccessKind::load, 1, 1);  // 1,000 sectors in all
  const auto ratio = [&](double bytes) {
    w.footprint_read_bytes = w.footprint_bytes = bytes;
    return cycles(of(w, two), Limit::l2) / cycles(of(w, one), Limit::l2);
  };
  EXPECT_DOUBLE_EQ(ratio(8e5), 1) << "nothing is left in a cold one";
  w.cache = CacheState::warm;
  EXPECT_DOUBLE_EQ(ratio(5e5), 1) << "copies in both parts";
  // All fits the whole; of a part of 0.5 MB random victims would lose what 1 - m = exp(-2 m) says.
  EXPECT_NEAR(ratio(1e6), 2 - std::pow(1 - 0.79681213, 1.7), 1e-6);
  EXPECT_DOUBLE_EQ(ratio(1e10), 1) << "little of it is in either";
}

TEST(KernelcastBounds, LoadsAndStoresPassTheL2InBothDirections) {
  Workload w = hand_made::launch(1000, 32);
  hand_made::access(w, MemorySpace::global, AccessKind::load, 1, 4);
  const double loads = cycles(of(w, gpu()), Limit::l2);
  hand_made::access(w, MemorySpace::global, AccessKind::store, 1, 4);
  Constants c = plain();
  EXPECT_DOUBLE_EQ(cycles(of(w, gpu(), c), Limit::l2), 2 * loads);
  c.l2_duplex = 0.6;
  EXPECT_DOUBLE_EQ(cycles(of(w, gpu(), c), Limit::l2), 1.4 * loads);
  Device two = gpu();
  hand_made::set(two, Field::memory_l2_partitions, 2);
  EXPECT_DOUBLE_EQ(cycles(of(w, two, c), Limit::l2), 1.9 * loads) << "half of the stores go to the other part";
}

TEST(KernelcastBounds, WhatALaunchReadsAndWritesInPlaceIsLeftOnce) {
  Device d = gpu();
  hand_made::set(d, Field::memory_l2_bytes, 1e6);
  Workload w = hand_made::launch(1000, 32);
  hand_made::access(w, MemorySpace::global, AccessKind::load, 1, 1);
  hand_made::access(w, MemorySpace::global, AccessKind::store, 1, 1);
  w.footprint_read_bytes = w.footprint_write_bytes = w.footprint_bytes = 8e5;
  w.cache = CacheState::warm;
  EXPECT_DOUBLE_EQ(of(w, d).traffic.dram_read, 0);
}

// Half of what all units hold fits the L2; the cache behind it holds the other half, or half of that.
TEST(KernelcastBounds, ACacheBehindTheL2TakesWhatTheL2CannotHold) {
  Workload w = hand_made::launch(10, 32);
  hand_made::execute(w, OpClass::local_store, 6);
  hand_made::execute(w, OpClass::local_load, 6);
  w.spill_bytes = 24;                     // of a thread; the launch has 7680
  const double bytes = 10 * 12 * 32 * 4;  // that go to local memory and come back
  Device d = gpu();
  hand_made::set(d, Field::memory_l1_bytes, 0);
  hand_made::set(d, Field::memory_l2_bytes, 3840);
  const double dram = cycles(of(w, d, plain(), 1), Limit::dram);
  EXPECT_DOUBLE_EQ(cycles(of(w, d, plain(), 1), Limit::l3), 0);
  hand_made::set(d, Field::memory_l3_bytes, 1e6);
  hand_made::set(d, Field::memory_l3_bandwidth_bytes_per_s, 5e11);
  const BoundTimes held = of(w, d, plain(), 1);
  EXPECT_DOUBLE_EQ(cycles(held, Limit::l2), bytes / 1e12 * 1e9);
  EXPECT_DOUBLE_EQ(cycles(held, Limit::l3), bytes / 2 / 5e11 * 1e9);
  EXPECT_DOUBLE_EQ(cycles(held, Limit::dram), 0);
  hand_made::set(d, Field::memory_l3_bytes, 5760);  // three quarters
  const BoundTimes part = of(w, d, plain(), 1);
  EXPECT_DOUBLE_EQ(cycles(part, Limit::l3), cycles(held, Limit::l3));
  EXPECT_DOUBLE_EQ(cycles(part, Limit::dram), dram / 2);
}

TEST(KernelcastBounds, ACacheBehindTheL2IsBetweenItAndMemoryInLatency) {
  Workload w = hand_made::launch(10, 32);
  hand_made::execute(w, OpClass::local_load, 6);
  w.spill_bytes = 24;
  w.stalls.waits[static_cast<std::size_t>(Latency::local)] = 60;  // 10 warps
  Device d = gpu();
  hand_made::set(d, Field::memory_l1_bytes, 0);
  hand_made::set(d, Field::memory_l2_bytes, 1);
  const auto path = [&] { return of(w, d, plain(), 1).path_cycles; };
  const double in_memory = path();
  hand_made::set(d, Field::memory_l3_bytes, 1e6);
  hand_made::set(d, Field::memory_l3_latency_cycles, 320);
  EXPECT_NEAR(in_memory - path(), 6 * (500 - 320) * (1 - 1 / 7680.0), 1e-9);  // all but the one byte of the L2
}

// 11 blocks on 10 units that hold them in pairs: five pairs, the busiest has three blocks, a unit one and a half.
TEST(KernelcastBounds, UnitsThatHoldBlocksTogetherShareThem) {
  Workload w = hand_made::launch(11, 32);
  hand_made::execute(w, OpClass::fp32_add, 10);
  Device d = gpu();
  hand_made::set(d, Field::limits_units_per_block, 2);
  const BoundTimes f = of(w, d, plain(), 0.5);
  EXPECT_DOUBLE_EQ(cycles(f, Limit::arithmetic), 15);
  EXPECT_DOUBLE_EQ(f.rounds, 3);  // 11 blocks, five at a time
}

// A register that comes back is waited for as long as where it lies takes: the L1, half of it the L2, all of it memory.
TEST(KernelcastBounds, SpilledRegistersWaitForWhereTheyLie) {
  Workload w = hand_made::launch(10, 32);
  hand_made::execute(w, OpClass::local_store, 6);
  hand_made::execute(w, OpClass::local_load, 6);
  w.spill_bytes = 24;  // of a thread; a block has 768
  w.stalls.waits[static_cast<std::size_t>(Latency::local)] = 6;
  Device d = gpu();
  const auto path = [&](double l1, double l2) {
    hand_made::set(d, Field::memory_l1_bytes, l1);
    hand_made::set(d, Field::memory_l2_bytes, l2);
    return of(w, d, plain(), 1).path_cycles;
  };
  const KernelcastDevice m = machine_of(d, plain(), false);
  const double at_once = path(16384, 1e6);
  const double l1 = m.latency[static_cast<std::size_t>(Latency::local)];
  const double waits = 6.0 / w.warps;
  EXPECT_DOUBLE_EQ(path(384, 1e6), at_once + waits * 0.5 * (m.l2_latency - l1));
  EXPECT_NEAR(path(1e-9, 1e-9), at_once + waits * (m.dram_latency - l1), 1e-6);
}

TEST(KernelcastBounds, AtomicsMeetInWordsAndWithin512Bytes) {
  Constants c = plain();
  c.update_cycles = 1;
  Device d = gpu();
  hand_made::set(d, Field::latency_atomic_real_cycles, 4);
  const auto over = [&](AtomicKind kind, double words) {
    Workload w = hand_made::launch(100, 64);
    w.atomics[static_cast<std::size_t>(kind)] = {
        .updates = 6400, .sectors = 800, .hottest = 6400 / words, .bytes = 4 * words};
    return cycles(of(w, d, c), Limit::atomics);
  };
  EXPECT_DOUBLE_EQ(over(AtomicKind::integer, 1), 6400);      // one after another
  EXPECT_DOUBLE_EQ(over(AtomicKind::integer, 8), 800);       // eight words
  EXPECT_DOUBLE_EQ(over(AtomicKind::integer, 128), 800);     // a sector at a time, in one place
  EXPECT_DOUBLE_EQ(over(AtomicKind::integer, 512), 200);     // in four
  EXPECT_DOUBLE_EQ(over(AtomicKind::integer, 1 << 20), 80);  // at most as many as the GPU has units
  EXPECT_DOUBLE_EQ(over(AtomicKind::real, 1), 4 * 6400);
  EXPECT_DOUBLE_EQ(over(AtomicKind::real, 128), 6400);  // a lane at a time
  EXPECT_DOUBLE_EQ(over(AtomicKind::real, 512), 1600);
  EXPECT_DOUBLE_EQ(over(AtomicKind::exchange, 8), 800);
}

TEST(KernelcastBounds, KindsOfAtomicsAddUp) {
  Constants c = plain();
  c.update_cycles = 1;
  Workload w = hand_made::launch(100, 64);
  w.atomics[static_cast<std::size_t>(AtomicKind::integer)] = {.updates = 10, .sectors = 10, .hottest = 10, .bytes = 4};
  w.atomics[static_cast<std::size_t>(AtomicKind::compare)] = {.updates = 30, .sectors = 30, .hottest = 30, .bytes = 4};
  EXPECT_DOUBLE_EQ(cycles(of(w, gpu(), c), Limit::atomics), 40);
}

// Each attempt is five instructions, two passes of shared memory, and of doubles one FP64 instruction.
TEST(KernelcastBounds, RetriesInSharedMemory) {
  const Workload none = hand_made::launch(100, 64);
  Workload w = none;
  w.retries = {.requests = 200, .passes = 0, .rounds = 1000, .fp64 = 1000};
  const BoundTimes before = of(none, gpu()), f = of(w, gpu());
  const KernelcastDevice m = machine_of(gpu(), plain(), false);
  const double share = f.blocks_per_unit / 100;
  EXPECT_DOUBLE_EQ(cycles(f, Limit::issue) - cycles(before, Limit::issue), 5000 * share / m.issue_per_cycle);
  EXPECT_DOUBLE_EQ(cycles(f, Limit::fp64), 1000 * share * m.warp / m.fp64_lanes);
  EXPECT_DOUBLE_EQ(cycles(f, Limit::shared_memory),
                   2000 * share / m.shared_passes_per_cycle / plain().memory_efficiency);
  const auto latency = [&m](Latency l) { return m.latency[static_cast<std::size_t>(l)]; };
  EXPECT_NEAR(f.path_cycles - before.path_cycles,
              1000 / w.warps * (2 * latency(Latency::shared) + latency(Latency::fp64) + plain().branch_cycles), 1e-9);
}

TEST(KernelcastBounds, TheLongestBlockIsWaitedFor) {
  Workload w = hand_made::launch(100, 64);
  const BoundTimes alike = of(w, gpu());
  w.longest.instructions = 100 * 1e6;
  const BoundTimes f = of(w, gpu());
  EXPECT_DOUBLE_EQ(f.path_cycles, alike.path_cycles);
  EXPECT_DOUBLE_EQ(cycles(f, Limit::latency), 1e6 * machine_of(gpu(), plain(), false).issue_interval);
}

TEST(KernelcastBounds, HandoversFollowOneAnother) {
  Workload w = hand_made::launch(100, 64);
  w.handovers = 100;
  const KernelcastDevice m = machine_of(gpu(), plain(), false);
  const BoundTimes f = of(w, gpu());
  EXPECT_DOUBLE_EQ(cycles(f, Limit::latency), f.path_cycles + 200 * m.l2_latency);
}

TEST(KernelcastBounds, TheL1MovesRegisters) {
  Workload w = hand_made::launch(100, 64);
  AccessCount& a = w.by_space[static_cast<int>(MemorySpace::global)][static_cast<int>(AccessKind::load)];
  a.requests = w.warps;
  a.lanes = w.threads;
  a.bytes = w.threads;  // one byte a lane
  a.words = w.threads;
  const BoundTimes f = of(w, gpu());
  EXPECT_DOUBLE_EQ(cycles(f, Limit::l1), 10 * 64 * 4 / machine_of(gpu(), plain(), false).l1_bytes_per_cycle);
}

// Four lines a warp that take eight passes.
TEST(KernelcastBounds, TheL1TakesPassesAndCachesBesideItLines) {
  Workload w = hand_made::launch(100, 64);
  AccessCount& a = w.by_space[static_cast<int>(MemorySpace::global)][static_cast<int>(AccessKind::load)];
  a.requests = w.warps;
  a.segments = 4 * w.warps;
  a.bank_passes = 8 * w.warps;
  Device d = gpu();
  hand_made::set(d, Field::memory_l1_bytes, 32768);
  hand_made::set(d, Field::memory_l1_caches_global_loads, 1);
  const double warps_of_a_unit = 10 * 2;
  EXPECT_DOUBLE_EQ(cycles(of(w, d), Limit::l1), warps_of_a_unit * 8);
  hand_made::set(d, Field::memory_l1_caches_global_loads, 0);
  EXPECT_DOUBLE_EQ(cycles(of(w, d), Limit::l1), warps_of_a_unit * 4);
}

TEST(KernelcastMachine, LanesOfSecondInstructionsAndErrorCorrection) {
  Device d = gpu();
  const KernelcastDevice whole = machine_of(d, plain(), false);
  hand_made::set(d, Field::compute_fp32_single_issue_lanes_per_unit, 20);
  hand_made::set(d, Field::memory_ecc_bandwidth_share, 0.8);
  const KernelcastDevice m = machine_of(d, plain(), false);
  EXPECT_DOUBLE_EQ(m.fp32_lanes, 20);
  EXPECT_LE(m.shared_lanes, m.fp32_lanes);
  EXPECT_DOUBLE_EQ(m.dram_bytes_per_s, 0.8 * whole.dram_bytes_per_s);
  hand_made::set(d, Field::memory_sustained_dram_bandwidth_bytes_per_s, 1e11);  // measured: nothing is taken off
  EXPECT_DOUBLE_EQ(machine_of(d, plain(), false).dram_bytes_per_s, 1e11);
}

TEST(KernelcastBounds, LatencyByRounds) {
  Workload w = hand_made::launch(100, 32);
  hand_made::execute(w, OpClass::fp32_add, 10);
  w.stalls.waits[static_cast<std::size_t>(Latency::alu)] = w.warps * 9;
  w.stalls.hidden[static_cast<std::size_t>(Latency::alu)] = w.warps * 9;
  const BoundTimes f = of(w, gpu(), plain(), 5);
  EXPECT_DOUBLE_EQ(f.path_cycles, 10 + 9 * 5);
  EXPECT_DOUBLE_EQ(f.rounds, 2);  // 100 blocks, 10 units, 5 at once
  EXPECT_DOUBLE_EQ(cycles(f, Limit::latency), 2 * 55);

  // Blocks of four warps, which start one after another; those of the first round are in the launch's own time.
  Constants c = plain();
  c.warp_start_cycles = 3;
  Workload wide = hand_made::launch(100, 128);
  hand_made::execute(wide, OpClass::fp32_add, 10);
  EXPECT_DOUBLE_EQ(cycles(of(wide, gpu(), c, 5), Limit::latency),
                   cycles(of(wide, gpu(), plain(), 5), Limit::latency) + 4 * 3);
  EXPECT_DOUBLE_EQ(cycles(of(wide, gpu(), c, 10), Limit::latency),
                   cycles(of(wide, gpu(), plain(), 10), Limit::latency));
}

// Half of what the L1 is asked for is there; of the rest half comes from the L2 and half from memory. Two loads that
// are waited for together are both in the L1 with a quarter, neither in memory with nine sixteenths.
TEST(KernelcastBounds, AWarpWaitsForTheSlowestOfItsLoads) {
  Workload w = hand_made::launch(100, 32);
  hand_made::access(w, MemorySpace::global, AccessKind::load, 8, 1);
  const double asked = w.at(MemorySpace::global, AccessKind::load).sectors;
  w.reuse.known = true;
  for (auto& depth : w.reuse.level[Reuse::read])
    for (int window = 0; window < Reuse::windows; ++window) {
      const double blocks = Reuse::blocks_in(window, 100), sectors = asked / 100 * blocks / (window == 0 ? 2 : 4);
      depth[static_cast<std::size_t>(window)] = {sectors, sectors};
    }
  Device d = gpu();
  hand_made::set(d, Field::memory_l1_bytes, 65536);
  hand_made::set(d, Field::memory_l1_caches_global_loads, 1);
  hand_made::set(d, Field::memory_l1_latency_cycles, 30);
  const auto waited = [&](double loads) {
    w.stalls.loads = loads * w.warps;
    w.stalls.waits[static_cast<std::size_t>(Latency::global)] = w.warps;
    return of(w, d).global_latency;
  };
  ASSERT_DOUBLE_EQ(of(w, d).traffic.l1_hits(), 0.5);
  ASSERT_DOUBLE_EQ(of(w, d).traffic.l2_hits(), 0.5);
  EXPECT_DOUBLE_EQ(waited(0), 0.5 * 30 + 0.25 * 200 + 0.25 * 500);  // whose loads are not known: one at a time
  EXPECT_DOUBLE_EQ(waited(1), 0.5 * 30 + 0.25 * 200 + 0.25 * 500);
  EXPECT_DOUBLE_EQ(waited(2), 0.25 * 30 + (0.5625 - 0.25) * 200 + (1 - 0.5625) * 500);
  EXPECT_NEAR(waited(100), 500, 1e-6);
}

TEST(KernelcastBounds, CopiesInBulkGoPastTheL1) {
  Workload w = hand_made::launch(100, 32);
  hand_made::access(w, MemorySpace::global, AccessKind::load, 8, 1);
  const double asked = w.at(MemorySpace::global, AccessKind::load).sectors;
  w.reuse.known = true;  // nothing is left for the L2 of what the L1 sees
  Device d = gpu();
  hand_made::set(d, Field::memory_l1_bytes, 65536);
  hand_made::set(d, Field::memory_l1_caches_global_loads, 1);
  EXPECT_DOUBLE_EQ(of(w, d).traffic.l2_read, 0);
  w.bulk_sectors = asked / 4;
  EXPECT_DOUBLE_EQ(of(w, d).traffic.l2_read, asked / 4);
  w.past_l1_sectors = asked / 2;
  EXPECT_DOUBLE_EQ(of(w, d).traffic.l2_read, asked * 3 / 4) << "and loads that the L1 does not keep";
}

// A stage of 1000 bytes takes 10 cycles at 100 bytes a cycle and unit, 200 cycles after it was asked for.
TEST(KernelcastBounds, StagesInSharedMemoryHideCopiesInBulk) {
  Workload w = hand_made::launch(100, 32);
  hand_made::execute(w, OpClass::fp32_add, 10);
  w.stalls.fills = 100 * 8;
  w.bulk_bytes = 100 * 8 * 1000;
  const auto path = [&](double shared) {
    w.shared_bytes_per_block = shared;
    return of(w, gpu(), plain(), 1).path_cycles;
  };
  EXPECT_DOUBLE_EQ(path(1000), 10 + 8 * 210);
  EXPECT_DOUBLE_EQ(path(1900), 10 + 8 * 210);
  EXPECT_DOUBLE_EQ(path(4000), (10 + 8 * 210) / 4.0);
  EXPECT_DOUBLE_EQ(path(16000), (10 + 8 * 210) / 8.0);  // no more than are filled
  w.stalls.fills = 0;
  EXPECT_DOUBLE_EQ(path(1000), 10);
}

TEST(KernelcastBounds, AWarpWaitsForTheProductsThatItIssues) {
  Workload w = hand_made::launch(10, 64);
  hand_made::execute(w, OpClass::fp32_add, 10);
  hand_made::execute(w, OpClass::tensor, 1);
  w.warp_ops.tensor = {};
  w.warp_ops.tensor.async[static_cast<std::size_t>(TensorType::f16_f32)] = 10 * 102400.0;
  Device d = gpu();
  hand_made::set(d, tensor_rate_field(TensorType::f16_f32), 1024);
  w.warp_ops.tensor.idle = 10 * 51200.0;  // rows of the pipe that stand idle hold it, too
  EXPECT_DOUBLE_EQ(cycles(of(w, d, plain(), 1), Limit::tensor), 150);
  w.warp_ops.tensor.idle = 0;
  BoundTimes f = of(w, d, plain(), 1);
  EXPECT_DOUBLE_EQ(cycles(f, Limit::tensor), 100);
  EXPECT_DOUBLE_EQ(f.path_cycles, 11);
  w.slowest.instructions = 10 * 11;
  w.slowest.stalls.products = w.stalls.products = 10 * 102400.0;  // one warp of each block issues them all
  f = of(w, d, plain(), 1);
  EXPECT_DOUBLE_EQ(f.path_cycles, 111);
  EXPECT_DOUBLE_EQ(f.in_both, 100);
  EXPECT_NEAR(f.seconds() * f.clock_hz, 111, 1e-9);  // what both bounds hold counts once
}

TEST(KernelcastBounds, ShapesThatHoldAMatrixCoreLongerThanTheirRateSays) {
  Workload w = hand_made::launch(10, 64);
  hand_made::execute(w, OpClass::tensor, 1);
  w.warp_ops.tensor = {};
  w.warp_ops.tensor.warp[static_cast<std::size_t>(TensorType::f16_f32)] = 10 * 102400.0;
  Device d = gpu();  // takes two instructions a cycle
  hand_made::set(d, tensor_rate_field(TensorType::f16_f32), 1024);
  w.warp_ops.tensor.passes = 10 * 150.0;
  EXPECT_DOUBLE_EQ(cycles(of(w, d), Limit::tensor), 100);
  w.warp_ops.tensor.passes = 10 * 400.0;
  EXPECT_DOUBLE_EQ(cycles(of(w, d), Limit::tensor), 200);
}

TEST(KernelcastBounds, MemoryOfOtherBlocksOfAClusterHasItsOwnRatesAndLatency) {
  Workload w = hand_made::launch(10, 64);
  hand_made::execute(w, OpClass::fp32_add, 10);
  w.in_cluster = {10 * 3200.0, 10 * 1920.0, 10};
  Device d = gpu();
  hand_made::set(d, Field::limits_max_blocks_per_cluster, 8);
  EXPECT_DOUBLE_EQ(cycles(of(w, d), Limit::cluster_memory), 3200 / 16.0 + 1920 / 19.2);  // GH100's
  hand_made::set(d, Field::memory_cluster_read_bytes_per_unit, 32);
  hand_made::set(d, Field::memory_cluster_write_bytes_per_unit, 64);
  EXPECT_DOUBLE_EQ(cycles(of(w, d), Limit::cluster_memory), 3200 / 32.0 + 1920 / 64.0);
  // Three of four loads come from other blocks.
  hand_made::set(d, Field::memory_shared_latency_cycles, 20);
  hand_made::set(d, Field::memory_cluster_latency_cycles, 220);
  w.by_space[static_cast<int>(MemorySpace::shared)][static_cast<int>(AccessKind::load)].requests = 40;
  w.in_cluster.read_requests = 30;
  const auto shared = [](const BoundTimes& f) { return f.latency[static_cast<std::size_t>(Latency::shared)]; };
  EXPECT_DOUBLE_EQ(shared(of(w, d)), 170);
  w.in_cluster = {};
  EXPECT_DOUBLE_EQ(shared(of(w, d)), 20);
}

TEST(KernelcastBounds, BarriersOfAClusterDelayAWarp) {
  Workload w = hand_made::launch(10, 96);
  hand_made::execute(w, OpClass::fp32_add, 10);
  Device d = gpu();
  hand_made::set(d, Field::limits_max_blocks_per_cluster, 8);
  hand_made::set(d, Field::latency_cluster_barrier_cycles, 500);
  hand_made::set(d, Field::latency_cluster_barrier_warp_cycles, 10);
  const double without = of(w, d).path_cycles;
  w.stalls.cluster_barriers = 2 * w.warps;
  EXPECT_DOUBLE_EQ(of(w, d).path_cycles, without + 2 * (500 + 2 * 10));
}

TEST(KernelcastBounds, OperandsOfProductsAreWavefronts) {
  Workload w = hand_made::launch(10, 32);
  w.warp_ops.tensor.shared_bytes = 10 * 6400;
  EXPECT_DOUBLE_EQ(cycles(of(w, gpu()), Limit::shared_memory), 6400 / 64.0);  // 16 banks of 4 bytes
}

TEST(KernelcastModel, LaunchesThatTheDriverRefusesForClustersAndRegisters) {
  Device d = gpu();
  hand_made::set(d, Field::limits_max_blocks_per_cluster, 8);
  Workload w = hand_made::launch(64, 32);
  w.cluster = {2, 1, 1};
  EXPECT_NO_THROW((void)resident_warps(w, d));
  w.cluster = {16, 1, 1};
  EXPECT_THROW((void)resident_warps(w, d), UserError);
  w.cluster = {3, 1, 1};  // 64 blocks are no whole number of clusters
  EXPECT_THROW((void)resident_warps(w, d), UserError);
  w.cluster = {0, 0, 0};
  w.set_registers_per_block = 16384;
  EXPECT_NO_THROW((void)resident_warps(w, d));
  w.set_registers_per_block = 16385;
  EXPECT_THROW((void)resident_warps(w, d), UserError);
}

TEST(KernelcastBounds, WarmCachesServeWhatFits) {
  Device d = gpu();
  hand_made::set(d, Field::memory_l2_bytes, 1e6);
  Workload w = hand_made::launch(1000, 32);
  hand_made::access(w, MemorySpace::global, AccessKind::load, 1, 1);
  const auto from_dram = [&](double bytes, CacheState state) {
    w.footprint_read_bytes = w.footprint_bytes = bytes;
    w.cache = state;
    return of(w, d).traffic.dram_read * 32;
  };
  EXPECT_DOUBLE_EQ(from_dram(8e5, CacheState::cold), 8e5);
  EXPECT_DOUBLE_EQ(from_dram(8e5, CacheState::warm), 0);
  // A quarter fits: what random victims would lose is the root of 1 - m = exp(-4 m).
  EXPECT_NEAR(from_dram(4e6, CacheState::warm), 4e6 * (1 - std::pow(1 - 0.98017260, 1.7)), 1);
  EXPECT_DOUBLE_EQ(from_dram(4e9, CacheState::warm), 4e9);
}

TEST(KernelcastBounds, BranchesAndBarriersDelayAWarp) {
  Workload w = hand_made::launch(100, 32);
  hand_made::execute(w, OpClass::control, 3);
  w.barriers = 100 * 4;
  Constants c = plain();
  c.branch_cycles = 20;
  c.barrier_latency = 50;
  EXPECT_DOUBLE_EQ(of(w, gpu(), c, 5).path_cycles, 3 + 3 * 20 + 4 * 50);
}

TEST(KernelcastBounds, ABlockTakesAsLongAsItsSlowestWarp) {
  Workload w = hand_made::launch(100, 128);
  hand_made::execute(w, OpClass::fp32_add, 10);
  w.stalls.waits[static_cast<std::size_t>(Latency::alu)] = w.warps * 2;
  const double even = of(w, gpu(), plain(), 5).path_cycles;
  EXPECT_DOUBLE_EQ(even, 10 + 2 * 6);
  w.warp_imbalance = 1.5;  // executed: by how much is known, of what is not
  EXPECT_DOUBLE_EQ(of(w, gpu(), plain(), 5).path_cycles, 1.5 * even);
  w.warp_imbalance = 1;
  w.slowest.instructions = 100 * 34;
  w.slowest.stalls.waits[static_cast<std::size_t>(Latency::alu)] = 100 * 8;
  const BoundTimes f = of(w, gpu(), plain(), 5);
  EXPECT_DOUBLE_EQ(f.path_cycles, 34 + 8 * 6);
  EXPECT_DOUBLE_EQ(cycles(f, Limit::issue), cycles(of(w, gpu(), plain(), 1), Limit::issue));  // of all warps as before
}

TEST(KernelcastBounds, DramWithoutReuse) {
  Workload w = hand_made::launch(1000, 32);
  w.footprint_read_bytes = w.footprint_bytes = 4e6;
  hand_made::access(w, MemorySpace::global, AccessKind::load, 1, 1);
  const BoundTimes f = of(w, gpu());
  EXPECT_NEAR(f.seconds_of(Limit::dram), 4e6 / 1e11, 1e-12);
}

TEST(KernelcastBounds, OnlyReadOnlyLoadsAreCachedWhereTheL1IsNotForLoads) {
  Workload w = hand_made::launch(100, 32);
  hand_made::access(w, MemorySpace::global, AccessKind::load, 8, 1);
  const double asked = w.at(MemorySpace::global, AccessKind::load).sectors;
  w.reuse.known = true;  // each block touches an eighth of what it asks for
  for (int depth = 0; depth < Reuse::depths; ++depth)
    for (int window = 0; window < Reuse::windows; ++window) {
      const double sectors = asked / 100 / 8 * Reuse::blocks_in(window, 100);
      w.reuse.level[Reuse::read][static_cast<std::size_t>(depth)][static_cast<std::size_t>(window)] = {sectors,
                                                                                                       sectors};
    }
  const auto read = [&](double l1_for_loads, double read_only_bytes, double share) {
    Device d = gpu();
    hand_made::set(d, Field::memory_l1_bytes, 65536);
    hand_made::set(d, Field::memory_l1_caches_global_loads, l1_for_loads);
    hand_made::set(d, Field::memory_read_only_bytes, read_only_bytes);
    w.read_only_sectors = share * asked;
    return of(w, d).traffic.l2_read / asked;
  };
  EXPECT_DOUBLE_EQ(read(1, 0, 0), 1.0 / 8);
  EXPECT_DOUBLE_EQ(read(0, 0, 1), 1);
  EXPECT_DOUBLE_EQ(read(0, 49152, 0), 1);
  EXPECT_DOUBLE_EQ(read(0, 49152, 1), 1.0 / 8);
  EXPECT_DOUBLE_EQ(read(0, 49152, 0.5), (1 + 1.0 / 8) / 2);
}

TEST(KernelcastNorm, BetweenTheLargestAndTheSum) {
  BoundTimes f;
  f.clock_hz = 1;
  f.norm = 2;
  f.unit_norm = 2;
  f.latency_norm = 1;
  f.cycles[static_cast<std::size_t>(Limit::l2)] = 3;
  f.cycles[static_cast<std::size_t>(Limit::dram)] = 4;
  EXPECT_NEAR(f.seconds(), 5, 1e-12);
  EXPECT_NEAR(f.seconds(Limit::dram), 3, 1e-12);
  f.cycles[static_cast<std::size_t>(Limit::latency)] = 2;
  EXPECT_NEAR(f.seconds(), 7, 1e-12);  // its own exponent
  f.cycles[static_cast<std::size_t>(Limit::latency)] = 0;
  f.launch_s = 7;
  EXPECT_NEAR(f.seconds(), 12, 1e-12);
  f.cycles[0] = NAN;
  EXPECT_TRUE(std::isnan(f.seconds()));
}

/// Seconds with 3 and 4 cycles in two bounds, at exponents that give 7 where the group's own exponent joins them (1)
/// and 5 or 4 where another one does.
double seconds_of_pair(Limit a, Limit b, double pipe, double sm, double chip, double path) {
  BoundTimes f;
  f.clock_hz = 1;
  f.pipe_norm = pipe;
  f.unit_norm = sm;
  f.norm = chip;
  f.latency_norm = path;
  f.cycles[static_cast<std::size_t>(a)] = 3;
  f.cycles[static_cast<std::size_t>(b)] = 4;
  return f.seconds();
}

TEST(KernelcastNorm, GroupOfABoundDecidesItsExponent) {
  for (std::size_t a = 0; a < limit_count; ++a)
    for (std::size_t b = a + 1; b < limit_count; ++b) {
      const auto x = static_cast<Limit>(a), y = static_cast<Limit>(b);
      const BoundGroup outer = std::max(group_of(x), group_of(y));
      const bool one_pipe = group_of(x) == group_of(y) && outer <= BoundGroup::memory;
      const double seconds = seconds_of_pair(x, y, one_pipe ? 1 : 2, !one_pipe && outer <= BoundGroup::sm ? 1 : 2,
                                             outer == BoundGroup::chip ? 1 : 2, outer == BoundGroup::path ? 1 : 2);
      EXPECT_NEAR(seconds, 7, 1e-12) << name_of(x) << " and " << name_of(y);
    }
  EXPECT_EQ(group_of(Limit::l1), BoundGroup::memory);
  EXPECT_EQ(group_of(Limit::tensor), BoundGroup::sm);
  EXPECT_EQ(group_of(Limit::atomics), BoundGroup::chip);
  EXPECT_EQ(group_of(Limit::latency), BoundGroup::path);
}

TEST(KernelcastNorm, OfTwoSquaresIsThatOfAnyExponent) {
  BoundTimes f;
  f.clock_hz = 1;
  const auto seconds = [&f](double throughput, double latency, double p) {
    f.cycles[static_cast<std::size_t>(Limit::l2)] = throughput;
    f.cycles[static_cast<std::size_t>(Limit::latency)] = latency;
    f.latency_norm = p;
    return f.seconds();
  };
  // 2 goes by a root, what lies beside it by logarithms.
  for (const double latency : {0.0, 0.001, 0.011, 0.3, 1.0, 1.7, 90.0, 1e4})
    EXPECT_NEAR(seconds(1, latency, 2) / seconds(1, latency, 2 + 1e-12), 1, 1e-11) << latency;
  EXPECT_DOUBLE_EQ(seconds(3, 4, 2), 5);
  EXPECT_DOUBLE_EQ(seconds(4, 3, 2), 5);
  EXPECT_EQ(seconds(1, 0.01, 2), 1);  // too small to count, with either
  EXPECT_EQ(seconds(0, 0, 2), 0);
}

class Monotone : public testing::TestWithParam<Field> {};

TEST_P(Monotone, MoreIsNeverSlower) {
  Workload w = hand_made::launch(500, 128);
  hand_made::execute(w, OpClass::fp32_fma, 40);
  hand_made::execute(w, OpClass::fp64_fma, 2);
  hand_made::execute(w, OpClass::int_mad, 5);
  hand_made::execute(w, OpClass::convert, 3);
  hand_made::access(w, MemorySpace::global, AccessKind::load, 6, 2);
  hand_made::access(w, MemorySpace::shared, AccessKind::load, 20, 0, 2);
  w.footprint_read_bytes = w.footprint_bytes = 1e7;
  w.stalls.waits[static_cast<std::size_t>(Latency::global)] = w.warps * 3;
  const Device d = gpu();
  Device more = d;
  hand_made::set(more, GetParam(), 2 * d.require(GetParam()));
  EXPECT_LE(of(w, more).seconds(), of(w, d).seconds() * (1 + 1e-12));
}

INSTANTIATE_TEST_SUITE_P(Fields, Monotone,
                         testing::Values(Field::compute_units, Field::compute_fp32_lanes_per_unit,
                                         Field::compute_fp64_lanes_per_unit, Field::compute_special_lanes_per_unit,
                                         Field::compute_load_store_lanes_per_unit, Field::compute_schedulers_per_unit,
                                         Field::clock_boost_clock_hz, Field::memory_dram_bandwidth_bytes_per_s,
                                         Field::memory_l2_bandwidth_bytes_per_s, Field::memory_l2_bytes),
                         [](const auto& one) {
                           const FieldInfo& i = kernelcast::info(one.param);
                           return test::test_name(std::string(i.section) + "_" + std::string(i.key));
                         });

TEST(KernelcastModel, WorkAddsTime) {
  Workload w = hand_made::launch(500, 128);
  hand_made::execute(w, OpClass::fp32_fma, 10);
  const double before = of(w, gpu()).seconds();
  hand_made::execute(w, OpClass::fp64_fma, 1);
  EXPECT_GT(of(w, gpu()).seconds(), before);
}

TEST(KernelcastModel, UnknownNumbersAreNamed) {
  Workload w = hand_made::launch(10, 32);
  hand_made::execute(w, OpClass::fp32_fma, 10);
  const Model& m = model_named("kernelcast");
  Device d = gpu();
  hand_made::forget(d, Field::compute_schedulers_per_unit);
  Estimate e = m.estimate(KernelProfile{}, w, d);
  EXPECT_FALSE(e.time_s.value.has_value());
  EXPECT_NE(e.time_s.reason.find("compute.schedulers_per_unit"), std::string::npos) << e.time_s.reason;
  EXPECT_TRUE(std::isnan(m.seconds(w, d)));
  d = gpu();
  hand_made::forget(d, Field::memory_dram_bandwidth_bytes_per_s);
  e = m.estimate(KernelProfile{}, w, d);
  EXPECT_NE(e.time_s.reason.find("memory.dram_bandwidth"), std::string::npos) << e.time_s.reason;
}

// A number that stands in widens the interval by what twice or half of it changes.
TEST(KernelcastModel, StandInsAreAssumptionsAndWidenTheIntervalWhereTheyMatter) {
  const Model& m = model_named("kernelcast");
  Device d = gpu();
  const auto estimate = [&](OpClass op) {
    Workload w = hand_made::launch(1000, 512);
    hand_made::execute(w, op, 1e6);
    return m.estimate(KernelProfile{}, w, d);
  };
  const auto above = [](const Estimate& e) { return *e.interval_hi_s / *e.time_s.value; };
  const Estimate known = estimate(OpClass::fp32_special), others = estimate(OpClass::fp32_fma);
  hand_made::forget(d, Field::compute_special_lanes_per_unit);
  hand_made::forget(d, Field::memory_dram_latency_cycles);
  const Estimate open = estimate(OpClass::fp32_special), unused = estimate(OpClass::fp32_fma);
  EXPECT_GT(open.assumptions.size(), known.assumptions.size());
  EXPECT_GT(unused.assumptions.size(), others.assumptions.size());
  EXPECT_GT(above(open), 1.3 * above(known));
  EXPECT_LT(*open.interval_lo_s / *open.time_s.value, *known.interval_lo_s / *known.time_s.value / 1.3);
  EXPECT_NEAR(above(unused), above(others), 1e-9);
  const auto names = [](const Estimate& e) {
    return std::ranges::any_of(e.assumptions, [](const Assumption& a) {
      return a.value.find("1 unknown number of the device (compute.special_lanes_per_unit)") != std::string::npos;
    });
  };
  EXPECT_TRUE(names(open));
  EXPECT_FALSE(names(unused));
}

// What bounds a launch says how well its time is known: DRAM and pipes well, a short launch and what caches hit less.
TEST(KernelcastInterval, FollowsWhatBoundsTheLaunch) {
  Workload w = hand_made::launch(10, 32);
  w.reuse.known = true;
  const auto width = [&w](std::initializer_list<std::pair<Limit, double>> bounds, double launch_s) {
    BoundTimes f;
    f.clock_hz = 1e9;
    f.launch_s = launch_s;
    for (const auto& [limit, cycles] : bounds) f.cycles[static_cast<std::size_t>(limit)] = cycles;
    const Spread s = spread_of(KernelProfile{}, w, DeviceDoubt{}, f, CountsBasis::closed_form);
    EXPECT_DOUBLE_EQ(s.factor_below, s.factor_above);
    return std::log(s.factor_above);
  };
  const double stream = width({{Limit::dram, 1e6}}, 0), pipes = width({{Limit::fp64, 1e6}}, 0);
  const double cache = width({{Limit::l2, 1e6}}, 0), launch = width({{Limit::fp64, 1}}, 1);
  EXPECT_LT(stream, pipes);
  EXPECT_LT(pipes, cache);
  EXPECT_LT(pipes, launch);
  EXPECT_NEAR(width({{Limit::dram, 1e6}, {Limit::l2, 1e6}}, 0), (stream + cache) / 2, 1e-12);  // equal bounds
  EXPECT_NEAR(width({{Limit::dram, 1e6}, {Limit::l2, 1e5}}, 0), stream, 1e-6);                 // one far below
  EXPECT_NEAR(width({}, 1e-6), launch, 1e-6);
}

/// 10 blocks for 10 units, half a path of arithmetic and half of waiting; `parted`: by a barrier between.
Workload in_phases(bool parted, double blocks = 10) {
  Workload w = hand_made::launch(blocks, 32);
  hand_made::execute(w, OpClass::fp32_fma, 1000);
  w.stalls.waits[static_cast<std::size_t>(Latency::fp64)] = 1000 * w.warps;
  w.barriers = w.blocks;
  BarrierPhase first{.id = 0}, second{.id = 1};
  first.instructions = first.arithmetic = 1000;
  (parted ? second : first).waits[static_cast<std::size_t>(Latency::fp64)] = 1000;
  (parted ? second : first).barriers = 1;
  w.phases = {first, second};
  return w;
}
Device of_slow_doubles() {
  Device d = gpu();
  hand_made::set(d, Field::latency_fp64_cycles, 2);
  return d;
}

TEST(BarrierPhases, WhatABarrierPartsDoesNotOverlapInABlock) {
  const Device d = of_slow_doubles();
  const KernelcastDevice m = machine_of(d, plain(), false);
  Constants c = plain();
  c.latency_norm = 2;
  // 1000 cycles of pipes at 1000 issues of the path; then 2000 of the path alone.
  const double issues = 1000 * m.issue_interval;
  const BoundTimes apart = of(in_phases(true), d, c, 1);
  EXPECT_NEAR(apart.seconds(), (std::hypot(1000, issues) + 2000) / 1e9, 1e-9);
  const BoundTimes together = of(in_phases(false), d, c, 1);
  EXPECT_NEAR(together.seconds(), std::hypot(1000, issues + 2000) / 1e9, 1e-9);
}

TEST(BarrierPhases, OtherBlocksFillWhatABarrierLeaves) {
  const Device d = of_slow_doubles();
  Constants c = plain();
  c.latency_norm = 2;
  const double apart = of(in_phases(true, 160), d, c, 16).seconds(),
               together = of(in_phases(false, 160), d, c, 16).seconds();
  EXPECT_LT(apart / together, 1.01);
  EXPECT_GE(apart, together);
}

// Most requests are of shared memory and of the second phase: so are most cycles of the load and store units.
TEST(BarrierPhases, DivideLoadAndStoreUnitsByRequestsOfAnyMemory) {
  Workload w = hand_made::launch(10, 32);
  hand_made::access(w, MemorySpace::shared, AccessKind::load, 999, 1, 1);
  hand_made::access(w, MemorySpace::global, AccessKind::load, 1, 4);
  hand_made::execute(w, OpClass::shared_load, 999);
  hand_made::execute(w, OpClass::global_load, 1);
  w.barriers = w.blocks;
  w.phases = {{.id = 0, .instructions = 1, .barriers = 1, .global = 1}, {.id = 1, .instructions = 999, .shared = 999}};
  Workload one = w;
  one.phases.clear();
  Device d = gpu();
  hand_made::set(d, Field::memory_shared_bandwidth_bytes_per_unit, 128);
  hand_made::set(d, Field::memory_l1_bandwidth_bytes_per_unit, 64);
  const BoundTimes apart = of(w, d, plain(), 1), together = of(one, d, plain(), 1);
  EXPECT_GT(cycles(apart, Limit::load_store), 1999);
  EXPECT_LT(apart.seconds() / together.seconds(), 1.01);
}

TEST(BarrierPhases, OfTheSameKindChangeNothing) {
  Workload w = in_phases(false);
  w.phases[1] = w.phases[0];
  w.phases[1].id = 1;
  Workload one = w;
  one.phases.clear();
  EXPECT_NEAR(of(w, of_slow_doubles(), plain(), 1).seconds(), of(one, of_slow_doubles(), plain(), 1).seconds(), 1e-15);
}

// Two loops of unknown count around the same instruction are worse than one, and one that was given is none.
TEST(KernelcastInterval, GrowsWithNestedTripCountsThatNobodyGave) {
  KernelProfile p;
  p.loops.resize(2);
  p.loops[1].parent = 0;
  for (int l = 0; l < 2; ++l) {
    p.loops[static_cast<std::size_t>(l)].unknown = l;
    p.unknowns.push_back({Unknown::Kind::trip_count, "trips:" + std::to_string(l + 1), {}, 16, false, ""});
  }
  p.blocks.resize(1);
  p.blocks[0].loop = 1;
  p.blocks[0].ops[OpClass::fp32_fma] = 1;
  BoundTimes f;
  f.clock_hz = 1e9;
  f.cycles[0] = 1e6;
  const auto width = [&](std::initializer_list<const char*> assumed) {
    Workload w = hand_made::launch(10, 32);
    w.reuse.known = true;
    w.block_counts = {{10, 320}};
    for (const char* key : assumed) w.assumptions.push_back({"", "16", "", Assumption::Kind::unknown, key});
    return std::log(spread_of(p, w, DeviceDoubt{}, f, CountsBasis::closed_form).factor_above);
  };
  const double none = width({}), inner = width({"trips:2"}), both = width({"trips:1", "trips:2"});
  EXPECT_GT(inner, std::log(16));
  EXPECT_NEAR(both * both - none * none, 2 * (inner * inner - none * none), 1e-9);
  EXPECT_DOUBLE_EQ(width({"trips:7"}), none);
}

TEST(KernelcastInterval, CodeThatNoThreadReachedWidensItsUpperEnd) {
  BoundTimes f;
  f.clock_hz = 1e9;
  f.cycles[0] = 1e6;
  Workload w = hand_made::launch(10, 32);
  w.reuse.known = true;
  hand_made::execute(w, OpClass::fp32_fma, 10);
  const double ran = w.warp_ops.total();
  const auto spread = [&](double unreached, CountsBasis basis) {
    w.unreached_ops = unreached;
    return spread_of(KernelProfile{}, w, DeviceDoubt{}, f, basis);
  };
  const Spread none = spread(0, CountsBasis::defaults), much = spread(99 * ran, CountsBasis::defaults);
  EXPECT_DOUBLE_EQ(much.factor_below, none.factor_below);
  EXPECT_NEAR(std::log(much.factor_above), std::hypot(std::log(none.factor_above), std::log(100)), 1e-12);
  EXPECT_THAT(much.reasons, testing::HasSubstr("no executed thread reached (by default 99 times"));
  EXPECT_DOUBLE_EQ(spread(0.2 * ran, CountsBasis::defaults).factor_above, none.factor_above);
  // With the contents that were given nothing else is reached.
  EXPECT_DOUBLE_EQ(spread(99 * ran, CountsBasis::executed).factor_above, spread(0, CountsBasis::executed).factor_above);
}

TEST(KernelcastModel, LocalMemoryIsAFinding) {
  Workload w = hand_made::launch(10, 32);
  hand_made::execute(w, OpClass::fp32_fma, 10);
  w.stack_bytes = 64;
  const Estimate e = model_named("kernelcast").estimate(KernelProfile{}, w, gpu());
  bool found = false;
  for (const Assumption& a : e.assumptions) found |= a.what.find("local memory") != std::string::npos;
  EXPECT_TRUE(found);
}

// The forecast is that of an order that fits; what it would be otherwise is told, and the interval reaches there.
TEST(KernelcastModel, AnOrderThatSpillsIsAFindingAndInTheInterval) {
  Workload w = hand_made::launch(1000, 32);
  hand_made::execute(w, OpClass::fp32_fma, 100);
  KernelProfile p;
  const Model& m = model_named("kernelcast");
  const Device d = gpu();
  const Estimate fits = m.estimate(p, w, d);
  w.stalls.text_order_spills = w.warps * 2000;
  p.registers.in_text_order = 400;
  p.registers.text_order_spill_bytes = 4000;
  const Estimate open = m.estimate(p, w, d);
  EXPECT_EQ(open.time_s.value, fits.time_s.value);
  EXPECT_EQ(open.interval_lo_s, fits.interval_lo_s);
  Workload spilled = w;
  spilled.warp_ops[OpClass::local_load] = spilled.warp_ops[OpClass::local_store] = w.warps * 1000;
  spilled.spill_bytes = 4000;
  spilled.registers_per_thread = 124;  // what a thread of the device can have
  EXPECT_GT(*open.interval_hi_s, m.seconds(spilled, d));
  EXPECT_GT(m.seconds(spilled, d), *fits.interval_hi_s);
  bool found = false;
  for (const Assumption& a : open.assumptions)
    found |= a.value.find("4000 bytes a thread are spilled") != std::string::npos;
  EXPECT_TRUE(found);
}

/// Products at 1e12 a second at 1 GHz, which draw 100 W; the board may draw `limit`, 10 W of it idle.
BoundTimes of_products(double limit, double dram_bytes) {
  Device d = gpu();
  hand_made::set(d, Field::compute_tensor_f16_f32_fma_per_unit, 100);
  hand_made::set(d, Field::energy_tensor_f16_f32_fma_j, 1e-10);
  hand_made::set(d, Field::energy_tensor_clock_hz, 1e9);
  hand_made::set(d, Field::system_idle_w, 10);
  hand_made::set(d, Field::system_tdp_w, limit);
  Workload w = hand_made::launch(100, 64);
  w.warp_ops[OpClass::tensor] = 1000;
  w.warp_ops.tensor.warp[static_cast<std::size_t>(TensorType::f16_f32)] = 1e9;  // 1 ms
  w.reuse.known = false;
  w.footprint_read_bytes = dram_bytes;
  Constants c = plain();
  return sustained_forecast(w, machine_of(d, c, false), c, 4);
}

TEST(PowerLimit, TheClockFallsWithTheCubeRootOfThePower) {
  const BoundTimes held = of_products(60, 0);
  EXPECT_NEAR(held.clock_hz, 1e9 * std::cbrt(0.5), 2e6);
  EXPECT_NEAR(held.seconds(), 1e-3 / std::cbrt(0.5), 3e-6);
  EXPECT_EQ(of_products(111, 0).clock_hz, 1e9);  // 110 W are drawn
}

TEST(PowerLimit, WhoWaitsForDramDrawsLess) {
  const BoundTimes waits = of_products(60, 1.9e8);  // 1.9 ms of DRAM: products draw 53 W at the full clock
  EXPECT_LT(waits.clock_hz, 1e9);
  EXPECT_GT(waits.clock_hz, 0.95e9);
  EXPECT_EQ(of_products(60, 4e8).clock_hz, 1e9);
}

}  // namespace
}  // namespace kernelcast::forecast
