// The models over hand-made workloads: adapters, bounds, assumptions, unknowns, names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "hand_made.h"
#include "kernelcast/error.h"
#include "kernelcast/model.h"
#include "model/opencl_quantitative_device.h"
#include "model/ske_device.h"

namespace kernelcast {
namespace {

using hand_made::access;
using hand_made::execute;
using testing::AllOf;
using testing::HasSubstr;
using KField = kernelcast::Field;

Estimate estimate(const char* model, const Workload& w, const Device& d = hand_made::device()) {
  return model_named(model).estimate({}, w, d);
}

double bound(const Estimate& e, std::string_view name) {
  for (const Bound& b : e.bounds) {
    if (b.name == name) return b.time.value();
  }
  ADD_FAILURE() << "no bound " << name;
  return -1;
}

std::string assumptions(const Estimate& e) {
  std::string all;
  for (const Assumption& a : e.assumptions) all += a.what + " = " + a.value + " [" + plain_text(a.replace) + "]\n";
  return all;
}

TEST(Registry, NamesAndVariants) {
  std::string names;
  for (const Model* m : all_models()) names += std::string(m->name()) + " ";
  EXPECT_EQ(names, "kernelcast opencl-quantitative ske roofline mwp-cwp ");
  EXPECT_EQ(model_variants().size(), 4U);
  for (const Model* m : model_variants()) EXPECT_EQ(&model_named(m->name()), m);
  for (const Model* m : all_models()) {
    EXPECT_EQ(&model_named(m->name()), m);
    EXPECT_FALSE(m->summary().empty());
  }
}

TEST(Registry, UnknownNameGetsTheNearest) {
  try {
    static_cast<void>(model_named("rofline"));
    FAIL();
  } catch (const UsageError& e) {
    EXPECT_THAT(e.what(),
                AllOf(HasSubstr("nearest is \"roofline\""), HasSubstr("ske:corrected-a"), HasSubstr("model")));
  }
}

TEST(Estimates, TheHostsLaunchStandsBesideTheTimeUnlessTheLaunchGivesIt) {
  Workload w = hand_made::launch(100, 64);
  execute(w, OpClass::fp32_add, 1000);
  Device d = hand_made::device();
  const Estimate unknown = estimate("roofline", w, d);
  EXPECT_FALSE(unknown.launch_overhead_s.value);
  EXPECT_THAT(plain_text(unknown.launch_overhead_s.reason),
              AllOf(HasSubstr("launch_overhead"), HasSubstr("system.launch_overhead_s in devices/hand-made.toml")));
  hand_made::set(d, KField::system_launch_overhead_s, 5e-6);
  const Estimate beside = estimate("roofline", w, d);
  EXPECT_EQ(beside.launch_overhead_s.value, 5e-6);
  EXPECT_EQ(beside.time_s.value, unknown.time_s.value);
  w.launch_overhead_s = 8e-6;
  const Estimate within = estimate("roofline", w, d);
  EXPECT_EQ(within.launch_overhead_s.value, 8e-6);
  EXPECT_DOUBLE_EQ(*within.time_s.value, *unknown.time_s.value + 8e-6);
  EXPECT_DOUBLE_EQ(bound(within, "launch_overhead"), 8e-6);
  EXPECT_DOUBLE_EQ(model_named("roofline").seconds(w, d), *within.time_s.value);
}

// 100 groups of 64 on 10 units: 200 batches, 20 a unit. Each batch: 10 ADD, 5 FMA (MUL + ADD), 2 DIV, 1 special:
// 15 * 24 + 5 * 35 + 2 * 137 + 45 = 854, * 32/8 = 3,416 cycles at 1 GHz: 3.416 us, * 20 = 68.32 us.
// Global: 3 accesses of 4 transactions and 1 of 1: 13 * 440 = 5,720 cycles at 0.5 GHz = 11.44 us, once.
// Local: 4 accesses of 2 ways (4 passes of half-warps): 4 * 2 * 76 = 608 cycles = 0.608 us, once.
Workload example() {
  Workload w = hand_made::launch(100, 64);
  execute(w, OpClass::int_add, 10);
  execute(w, OpClass::fp32_fma, 5);
  execute(w, OpClass::fp32_div, 2);
  execute(w, OpClass::fp32_special, 1);
  access(w, MemorySpace::global, AccessKind::load, 3, 4);
  access(w, MemorySpace::global, AccessKind::store, 1, 1);
  access(w, MemorySpace::shared, AccessKind::load, 4, 0, 4);
  w.footprint_bytes = 1e6;
  return w;
}

/// Who leaves reuse out because a model does not read it must get the same time.
TEST(Registry, ModelsReadReuseExactlyWhenTheySaySo) {
  Device d = hand_made::device();
  hand_made::set(d, KField::memory_l2_bytes, 1e6);
  hand_made::set(d, KField::compute_schedulers_per_unit, 1);
  Workload without = hand_made::launch(1024, 256);
  execute(without, OpClass::fp32_fma, 16);
  access(without, MemorySpace::global, AccessKind::load, 128, 4);
  without.footprint_bytes = without.footprint_read_bytes = 12e6;
  Workload with = without;
  with.reuse.known = true;
  for (auto& row : with.reuse.level[Reuse::read]) row.fill({64, 64});  // next to nothing of what is requested
  std::vector<const Model*> models(all_models().begin(), all_models().end());
  models.insert(models.end(), model_variants().begin(), model_variants().end());
  for (const Model* m : models) {
    const double seconds = m->seconds(with, d);
    ASSERT_GT(seconds, 0) << m->name();
    EXPECT_EQ(m->seconds(without, d) != seconds, m->reads_reuse()) << m->name();
    const std::array<const Model*, 2> two = {&model_named("ske"), m};
    EXPECT_EQ(any_reads_reuse(two), m->reads_reuse());
  }
}

TEST(OpenclQuantitativeModel, SharesByHand) {
  const Estimate e = estimate("opencl-quantitative", example());
  EXPECT_NEAR(bound(e, "compute"), 68.32e-6, 1e-15);
  EXPECT_NEAR(bound(e, "global_memory"), 11.44e-6, 1e-15);
  EXPECT_NEAR(bound(e, "local_memory"), 0.608e-6, 1e-15);
  EXPECT_EQ(bound(e, "branch"), 0);
  EXPECT_EQ(bound(e, "barriers"), 0);
  EXPECT_NEAR(*e.time_s.value, 80.368e-6, 1e-15);
  EXPECT_EQ(e.limiter, "compute");
  EXPECT_EQ(e.bounds.front().name, "compute");
  EXPECT_THAT(e.bounds.front().why,
              AllOf(HasSubstr("20 batches a unit"), HasSubstr("3416 cycles"), HasSubstr("1 GHz")));
  EXPECT_EQ(e.assumptions.size(), 0U);
  EXPECT_THAT(e.energy_j.reason, HasSubstr("time only"));
  EXPECT_NEAR(*estimate("opencl-quantitative:no-overlap", example()).time_s.value, 68.32e-6 + 20 * 12.048e-6, 1e-15);
  EXPECT_NEAR(*estimate("opencl-quantitative:printed", example()).time_s.value, 20 * 80.368e-6, 1e-15);
}

// Two of three barriers flat: 2 * 50 cycles; the third splits the computation in two, so that half of it waits for the
// other batch of the group: 0.5 * 3,416. 10 groups a unit.
TEST(OpenclQuantitativeModel, Barriers) {
  Workload w = example();
  w.barriers = 300;
  w.flat_barriers = 200;
  const Estimate e = estimate("opencl-quantitative", w);
  EXPECT_NEAR(bound(e, "barriers"), 10 * (100 + 1708) * 1e-9, 1e-15);
  EXPECT_THAT(assumptions(e), HasSubstr("phases between barriers"));
}

// Data decide a branch over 4 of the 10 ADDs: 4 * 96 = 384 cycles leave `compute`, and 0.2 + 0.8/2 = 0.6 of them come
// back as `branch`.
TEST(OpenclQuantitativeModel, DataDecidedBranches) {
  Workload w = example();
  w.data_branch_ops[OpClass::int_add] = 4 * w.warps;
  const Estimate e = estimate("opencl-quantitative", w);
  EXPECT_NEAR(bound(e, "compute"), 20 * (3416 - 384) * 1e-9, 1e-15);
  EXPECT_NEAR(bound(e, "branch"), 20 * 230.4e-9, 1e-15);
  EXPECT_THAT(assumptions(e), AllOf(HasSubstr("20 %"), HasSubstr("assume branch:LINE=P")));
}

// A group that fills local memory leaves one batch on a unit: 100 groups of one batch, 10 a unit, nothing overlaps.
TEST(OpenclQuantitativeModel, OneBatchOnAUnit) {
  Workload w = hand_made::launch(100, 32);
  execute(w, OpClass::int_add, 10);
  access(w, MemorySpace::global, AccessKind::load, 1, 1);
  w.shared_bytes_per_block = 16384;
  const Estimate e = estimate("opencl-quantitative", w);
  EXPECT_NEAR(*e.time_s.value, 10 * (960e-9 + 880e-9), 1e-15);
  EXPECT_THAT(e.bounds.front().why, HasSubstr("nothing overlaps"));
  // One batch in all is never split among units.
  Workload one = hand_made::launch(1, 32);
  execute(one, OpClass::int_add, 10);
  access(one, MemorySpace::global, AccessKind::load, 1, 1);
  EXPECT_NEAR(*estimate("opencl-quantitative", one).time_s.value, 960e-9 + 880e-9, 1e-15);
}

TEST(OpenclQuantitativeModel, Fp64CostsTheRatioOfLanes) {
  Workload w = hand_made::launch(100, 64);
  execute(w, OpClass::fp64_add, 1);
  EXPECT_NEAR(*estimate("opencl-quantitative", w).time_s.value, 20 * 8 * 96e-9, 1e-15);
  Device d = hand_made::device();
  hand_made::forget(d, KField::compute_fp64_lanes_per_unit);
  const Estimate e = estimate("opencl-quantitative", w, d);
  EXPECT_FALSE(e.time_s.value);
  EXPECT_THAT(e.time_s.reason, HasSubstr("compute.fp64_lanes_per_unit"));
}

void forget_constants(Device& d) {
  for (const KField f :
       {KField::opencl_quantitative_add_cycles, KField::opencl_quantitative_mul_cycles,
        KField::opencl_quantitative_div_cycles, KField::opencl_quantitative_special_cycles,
        KField::opencl_quantitative_global_latency_cycles, KField::opencl_quantitative_local_latency_cycles,
        KField::opencl_quantitative_lanes_per_unit}) {
    hand_made::forget(d, f);
  }
}

TEST(OpenclQuantitativeModel, ConstantsAreDerivedFromLatenciesAndListed) {
  Device d = hand_made::device();
  forget_constants(d);
  hand_made::set(d, KField::latency_fp32_cycles, 24);
  hand_made::set(d, KField::latency_special_cycles, 45);
  hand_made::set(d, KField::memory_dram_latency_cycles, 440);
  const Estimate e = estimate("opencl-quantitative", example(), d);
  // As by hand above but MUL costs as much as ADD.
  EXPECT_NEAR(bound(e, "compute"), 20 * 4 * (20 * 24 + 2 * 137 + 45) * 1e-9, 1e-15);
  EXPECT_NEAR(bound(e, "local_memory"), 0.608e-6, 1e-15);  // the paper's 38
  EXPECT_EQ(e.assumptions.size(), 7U);
  EXPECT_THAT(assumptions(e), AllOf(HasSubstr("cost of ADD on Hand Made 1 = 24 (from latency.fp32_cycles) "
                                              "[opencl_quantitative.add_cycles in devices/hand-made.toml]"),
                                    HasSubstr("137/24"), HasSubstr("GTX 280 (Wong et al. 2010)")));
}

TEST(OpenclQuantitativeModel, UnknownCostsAreUnknownTime) {
  Device d = hand_made::device();
  forget_constants(d);
  const Estimate e = estimate("opencl-quantitative", example(), d);
  EXPECT_FALSE(e.time_s.value);
  EXPECT_THAT(e.time_s.reason, HasSubstr("opencl_quantitative.add_cycles in devices/hand-made.toml"));
  EXPECT_TRUE(std::isnan(model_named("opencl-quantitative").seconds(example(), d)));
  d.kind = "cpu";
  EXPECT_THAT(estimate("opencl-quantitative", example(), d).time_s.reason, HasSubstr("is a CPU"));
}

// 10 units, P = 8, L = 16, 1 ns. Thread: 10 int_add and 5 FMA of 4, 2 divisions of 36, 1 special of 16 = 148 cycles.
// Memory: 3 loads with 4 of 32 transactions: 62.5 + 437.5 * (4 - 1)/(32 - 1); a coalesced store 62.5; 4 shared accesses
// of 2 ways.
TEST(SkeModel, CostsByHand) {
  const Workload w = example();
  const Device d = hand_made::device();
  EXPECT_NEAR(ske::instruction_cycles(w, d).value(), 148, 1e-12);
  EXPECT_NEAR(ske::memory_cycles(w).value(), 3 * (62.5 + 437.5 * 3 / 31) + 62.5 + 8, 1e-9);
  // n_b = min(8, 1024/64, 32/2, 16384/1024) = 8, n_w = 16; 10 rounds; ceil(64/8) = 8, ceil(64/16) = 4.
  const double hiding = std::pow(0.95, 16) * std::pow(0.96, 8);
  const Estimate e = estimate("ske", w);
  EXPECT_NEAR(bound(e, "compute"), 10 * 8 * 148e-9 * hiding, 1e-15);
  EXPECT_NEAR(bound(e, "memory"), 10 * 4 * ske::memory_cycles(w).value() * 1e-9 * hiding, 1e-15);
  EXPECT_NEAR(*e.time_s.value, bound(e, "compute") + bound(e, "memory"), 1e-18);
  EXPECT_THAT(assumptions(e),
              AllOf(HasSubstr("cores per SM (P)"), HasSubstr("[ske.cores_per_unit in devices/hand-made.toml]")));
}

TEST(SkeModel, AccessesBetweenCoalescedAndNot) {
  const auto cycles = [](double segments) {
    Workload w = hand_made::launch(10, 64);
    access(w, MemorySpace::global, AccessKind::load, 1, segments);
    return ske::memory_cycles(w).value();
  };
  EXPECT_EQ(cycles(1), 62.5);
  EXPECT_EQ(cycles(32), 500);
  EXPECT_NEAR(cycles(16.5), 281.25, 1e-9);
}

TEST(SkeModel, DivergentBranchesAreControlFlow) {
  Workload w = example();
  w.branch_counts = {{w.warps, w.warps / 4}, {w.warps, 0}};
  EXPECT_NEAR(ske::instruction_cycles(w, hand_made::device()).value(), 148 + 496.0 / 4, 1e-9);
}

TEST(SkeModel, UnknownLoadStoreUnits) {
  Device d = hand_made::device();
  hand_made::forget(d, KField::compute_load_store_lanes_per_unit);
  hand_made::set(d, KField::memory_shared_bandwidth_bytes_per_unit, 32);
  EXPECT_EQ(ske::machine_of(d).load_store_units, 8);  // min(16 banks, 32 bytes / 4)
  hand_made::forget(d, KField::memory_shared_bandwidth_bytes_per_unit);
  EXPECT_EQ(ske::machine_of(d).load_store_units, 16);
  hand_made::forget(d, KField::memory_shared_banks);
  EXPECT_THAT(estimate("ske", example(), d).time_s.reason, HasSubstr("ske.load_store_units"));
}

TEST(RooflineModel, TheSlowestOfThree) {
  Workload w = hand_made::launch(100, 64);  // 6,400 threads
  execute(w, OpClass::fp32_fma, 1000);      // 12.8 MFLOP at 10 * 8 * 2 * 1 GHz = 160 GFLOP/s: 80 us
  execute(w, OpClass::fp64_add, 10);        // 64 kFLOP at 20 GFLOP/s: 3.2 us
  w.footprint_bytes = 4e6;                  // at 100 GB/s: 40 us
  w.footprint_read_bytes = 4e6;
  Estimate e = estimate("roofline", w);
  EXPECT_NEAR(bound(e, "fp32_peak"), 80e-6, 1e-12);
  EXPECT_NEAR(bound(e, "fp64_peak"), 3.2e-6, 1e-12);
  EXPECT_NEAR(bound(e, "dram_bandwidth"), 40e-6, 1e-12);
  EXPECT_EQ(e.limiter, "fp32_peak");
  EXPECT_NEAR(*e.time_s.value, 80e-6, 1e-12);
  EXPECT_THAT(e.bounds[0].why, AllOf(HasSubstr("12.8 MFLOP"), HasSubstr("160 GFLOP/s"), HasSubstr("1 GHz")));
  w.footprint_write_bytes = 8e6;  // each byte moves once each way
  e = estimate("roofline", w);
  EXPECT_NEAR(bound(e, "dram_bandwidth"), 120e-6, 1e-12);
  EXPECT_EQ(e.limiter, "dram_bandwidth");
  EXPECT_THAT(e.bounds[0].why, AllOf(HasSubstr("12 MB"), HasSubstr("100 GB/s")));
}

TEST(RooflineModel, BoostClockAndUnknowns) {
  Workload w = hand_made::launch(100, 64);
  execute(w, OpClass::fp32_fma, 1000);
  Device d = hand_made::device();
  hand_made::set(d, KField::clock_boost_clock_hz, 2e9);
  EXPECT_NEAR(*estimate("roofline", w, d).time_s.value, 40e-6, 1e-12);
  hand_made::forget(d, KField::compute_fp32_lanes_per_unit);
  EXPECT_THAT(estimate("roofline", w, d).time_s.reason, HasSubstr("compute.fp32_lanes_per_unit"));
  EXPECT_THAT(estimate("roofline", hand_made::launch(1, 32)).time_s.reason, HasSubstr("bounds nothing"));
  Workload doubles = hand_made::launch(100, 64);
  execute(doubles, OpClass::fp64_mul, 1);
  hand_made::set(d, KField::compute_fp64_lanes_per_unit, 0);
  EXPECT_THAT(estimate("roofline", doubles, d).time_s.reason, HasSubstr("no FP64 units"));
}

TEST(RooflineModel, EachTypeOfMatrixProductHasItsRoof) {
  Workload w = hand_made::launch(100, 64);
  execute(w, OpClass::tensor, 1);
  w.warp_ops.tensor.warp[static_cast<std::size_t>(TensorType::f16_f32)] = 1e9;
  w.warp_ops.tensor.async[static_cast<std::size_t>(TensorType::s8_s32)] = 1e9;
  Device d = hand_made::device();
  EXPECT_THAT(estimate("roofline", w, d).time_s.reason, HasSubstr("compute.tensor_f16_f32_fma_per_unit"));
  hand_made::set(d, KField::compute_tensor_f16_f32_fma_per_unit, 100);  // 10 * 100 * 1 GHz
  hand_made::set(d, KField::compute_tensor_s8_s32_fma_per_unit, 400);
  const Estimate e = estimate("roofline", w, d);
  EXPECT_NEAR(bound(e, "tensor_f16_f32_peak"), 1e-3, 1e-12);
  EXPECT_NEAR(bound(e, "tensor_s8_s32_peak"), 0.25e-3, 1e-12);
  EXPECT_NEAR(*e.time_s.value, 1e-3, 1e-12);
  EXPECT_THAT(e.bounds[0].why, AllOf(HasSubstr("2 GFLOP"), HasSubstr("2 TFLOP/s"), HasSubstr("FP16")));
  hand_made::set(d, KField::compute_tensor_s8_s32_fma_per_unit, 0);
  EXPECT_THAT(estimate("roofline", w, d).time_s.reason, HasSubstr("does not have"));
}

TEST(Floor, NoModelAnswersBelowIt) {
  Workload w = hand_made::launch(100, 64);
  execute(w, OpClass::tensor, 1);
  w.warp_ops.tensor.warp[static_cast<std::size_t>(TensorType::f64_f64)] = 1e12;
  Device d = hand_made::device();
  hand_made::set(d, KField::compute_tensor_f64_f64_fma_per_unit, 2);  // 1e12 / (10 * 2 * 1 GHz) = 50 s
  for (const Model* m : all_models()) {
    const Estimate e = m->estimate({}, w, d);
    ASSERT_TRUE(e.floor_s.value) << m->name();
    EXPECT_NEAR(*e.floor_s.value, 50, 1e-9) << m->name();
    EXPECT_THAT(e.floor_why, HasSubstr("FP64")) << m->name();
    if (!e.time_s.value) continue;
    EXPECT_GE(*e.time_s.value, *e.floor_s.value) << m->name();
    EXPECT_GE(m->seconds(w, d), 50 * (1 - 1e-12)) << m->name();
    EXPECT_GE(m->on(d)->seconds(w), 50 * (1 - 1e-12)) << m->name();
    EXPECT_NEAR(*e.achieved.tensor_flop_per_s, 2e12 / *e.time_s.value, 1) << m->name();
    EXPECT_LE(*e.achieved.fraction_of_peak, 1) << m->name();
    if (e.limiter == "floor") {
      EXPECT_EQ(e.bounds.front().time.value(), *e.time_s.value) << m->name();
    }
  }
  // ske takes a matrix instruction for four cycles, so it is the floor that answers.
  EXPECT_EQ(estimate("ske", w, d).limiter, "floor");
}

TEST(Floor, OnlyBytesWithKnownAddressesCount) {
  Workload w = hand_made::launch(100, 64);
  execute(w, OpClass::fp32_fma, 1);
  w.footprint_bytes = w.footprint_read_bytes = 1e9;  // of which data decide most
  w.compulsory_bytes = 1e6;
  const Estimate e = estimate("roofline", w);
  EXPECT_NEAR(*e.floor_s.value, 1e-5, 1e-12);  // at 100 GB/s
  EXPECT_NEAR(*e.time_s.value, 1e-2, 1e-9);
  EXPECT_NEAR(*e.achieved.dram_bytes_per_s, 1e8, 1);
}

TEST(RooflineModel, CpusByTheirVectors) {
  Device d;
  d.kind = "cpu";
  d.name = "Hand Made CPU";
  hand_made::set(d, KField::compute_units, 4);
  hand_made::set(d, KField::clock_base_clock_hz, 2e9);
  hand_made::set(d, KField::cpu_simd_bits, 256);
  hand_made::set(d, KField::cpu_fma_per_core, 2);  // 4 * 2 GHz * 8 * 2 * 2 = 256 GFLOP/s
  Workload w = hand_made::launch(100, 64);
  execute(w, OpClass::fp32_fma, 1000);  // 12.8 MFLOP
  EXPECT_NEAR(*estimate("roofline", w, d).time_s.value, 50e-6, 1e-12);
}

TEST(Models, RefuseALaunchThatCannotRun) {
  for (const Model* m : all_models()) {
    EXPECT_THROW(static_cast<void>(m->estimate({}, hand_made::launch(10, 513), hand_made::device())), UserError)
        << m->name();
    EXPECT_THROW(static_cast<void>(m->seconds(hand_made::launch(10, 513), hand_made::device())), UserError)
        << m->name();
  }
}

Workload random_workload() {
  const auto amount = [] { return static_cast<double>(*rc::gen::inRange(0, 1000)); };
  Workload w = hand_made::launch(*rc::gen::inRange(1, 70000), *rc::gen::inRange(1, 600));
  for (int i = *rc::gen::inRange(0, 8); i > 0; --i) {
    const auto c = static_cast<OpClass>(*rc::gen::inRange<std::size_t>(0, op_class_count));
    execute(w, c, amount());
    if (*rc::gen::arbitrary<bool>()) w.data_branch_ops[c] = w.warp_ops[c] / 2;
  }
  for (int i = *rc::gen::inRange(0, 6); i > 0; --i) {
    access(w, static_cast<MemorySpace>(*rc::gen::inRange(0, 5)), static_cast<AccessKind>(*rc::gen::inRange(0, 3)),
           1 + amount(), *rc::gen::inRange(1, 33), *rc::gen::inRange(1, 33));
  }
  w.barriers = w.blocks * amount();
  w.flat_barriers = *rc::gen::arbitrary<bool>() ? w.barriers : 0;
  w.branch_counts.resize(*rc::gen::inRange<std::size_t>(0, 4));
  for (BranchCount& b : w.branch_counts) b = {w.warps, w.warps / (1 + amount())};
  w.registers_per_thread = *rc::gen::inRange(0, 130);
  w.shared_bytes_per_block = *rc::gen::oneOf(rc::gen::just(0), rc::gen::inRange(0, 17000));
  w.footprint_bytes = 1e3 * amount();
  w.footprint_read_bytes = 1e3 * amount();
  w.footprint_write_bytes = 1e3 * amount();
  return w;
}

RC_GTEST_PROP(Models, TimesOnADeviceDoNotDependOnWhatWasAskedBefore, ()) {
  const Device d = hand_made::device();
  std::vector<Workload> workloads;
  for (int i = 0; i < 3; ++i) workloads.push_back(random_workload());
  workloads.push_back(workloads.back());  // the same block with other counts, and with other registers
  workloads.back().blocks *= 3;
  workloads.push_back(workloads.back());
  workloads.back().registers_per_thread += 40;
  std::vector<const Model*> models(all_models().begin(), all_models().end());
  models.insert(models.end(), model_variants().begin(), model_variants().end());
  const auto time_or_refusal = [](const auto& seconds) {
    try {
      const double t = seconds();
      return std::isnan(t) ? std::string("unknown") : std::to_string(std::bit_cast<std::uint64_t>(t));
    } catch (const UserError& e) {
      return std::string(e.what());
    }
  };
  for (const Model* m : models) {
    const auto times = m->on(d);
    for (const Workload& w : workloads)
      RC_ASSERT(time_or_refusal([&] { return times->seconds(w); }) ==
                time_or_refusal([&] { return m->seconds(w, d); }));
  }
}

RC_GTEST_PROP(Models, SecondsIsTheTimeOfTheEstimate, ()) {
  const Workload w = random_workload();
  Device d = hand_made::device();
  for (std::size_t f = 0; f < field_count; ++f) {  // a device file may know anything or nothing
    if (*rc::gen::inRange(0, 12) == 0) d.values[f].value.reset();
  }
  std::vector<const Model*> models(all_models().begin(), all_models().end());
  models.insert(models.end(), model_variants().begin(), model_variants().end());
  for (const Model* m : models) {
    RC_LOG() << m->name() << "\n";
    Estimate e;
    try {
      e = m->estimate({}, w, d);
    } catch (const UserError&) {
      RC_ASSERT_THROWS_AS(static_cast<void>(m->seconds(w, d)), UserError);
      RC_ASSERT_THROWS_AS(static_cast<void>(m->on(d)->seconds(w)), UserError);
      continue;
    }
    if (!m->reads_divergence()) {
      Workload straight = w;
      for (BranchCount& b : straight.branch_counts) b.divergent = 0;
      const double same = m->seconds(straight, d), all = m->seconds(w, d);
      RC_ASSERT(same == all || (std::isnan(same) && std::isnan(all)));
    }
    const double t = m->seconds(w, d), on_device = m->on(d)->seconds(w);
    RC_ASSERT(on_device == t || (std::isnan(on_device) && std::isnan(t)));
    RC_ASSERT(e.time_s.value.has_value() == !std::isnan(t));
    if (!e.time_s.value) {
      RC_ASSERT(!e.time_s.reason.empty());
      continue;
    }
    RC_ASSERT(*e.time_s.value == t);
    RC_ASSERT(t >= 0);
    RC_ASSERT(!e.bounds.empty());
    RC_ASSERT(e.limiter == e.bounds.front().name);
    double sum = 0, most = 0;
    for (const Bound& b : e.bounds) {
      sum += b.time.value();
      most = std::max(most, b.time.value());
      RC_ASSERT(!b.why.empty());
    }
    if (e.limiter == "floor") {  // raised: the floor is the time, the model's own bounds stand behind it
      RC_ASSERT(e.bounds.front().time.value() == t);
      continue;
    }
    // Shares add up to the time; roofline's limits do not overlap: the largest is the time.
    if (m->name() == "kernelcast") {  // a norm of the bounds: between the largest and their sum
      RC_ASSERT(t >= most * (1 - 1e-9) && t <= sum * (1 + 1e-9));
      continue;
    }
    const double expected = m->name() == "roofline" ? most : sum;
    RC_ASSERT(std::abs(expected - t) <= 1e-9 * t);
  }
}

}  // namespace
}  // namespace kernelcast
