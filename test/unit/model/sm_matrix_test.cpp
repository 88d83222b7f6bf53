// Kernels with matrix instructions and asynchronous copies as programs of the SM.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernelcast/bind.h"
#include "kernelcast/error.h"
#include "kernelcast/sm_model.h"

namespace sm_matrix_test {
namespace {

using namespace kernelcast;
using namespace kernelcast::sm;
using ::testing::HasSubstr;
using Kind = AsyncEvent::Kind;

constexpr auto a100 = "nvidia-a100-pcie-40gb", h100 = "nvidia-h100-sxm";

Spec spec(const std::string& id) {
  return spec_of(DeviceCatalog(KERNELCAST_SOURCE_DIR "/devices").find(id), KERNELCAST_SOURCE_DIR "/devices");
}

/// A loop of `trips` iterations of block `body`.
KernelProfile loop_of(kernelcast::Block body, std::int64_t trips) {
  KernelProfile p;
  p.kernel = "loop";
  p.target = "sm_80";
  p.loops = {{-1, Symbol("k"), Expr(trips), -1, Guard{}, {}}};
  p.buffers.push_back({"data", MemorySpace::global, -1, 256, -1});
  body.loop = 0;
  body.ops[OpClass::control] = 1;
  p.blocks = {body};
  p.registers.per_thread = 64;
  return p;
}

Workload bound(const KernelProfile& p, std::int64_t threads) {
  kernelcast::Launch launch;
  launch.grid = {1, 1, 1};
  launch.block = {threads, 1, 1};
  Workload w = Binder(p, MemoryGeometry{}).bind(launch);
  w.registers_per_thread = 64;
  return w;
}

double cycles(const KernelProfile& p, const Spec& spec, std::int64_t threads, const HitShares& hits = {}) {
  const Workload w = bound(p, threads);
  return simulate_shortened(spec, user_program(p, w, spec, hits), {1, 1, static_cast<int>(threads / 32)}, 1e6).cycles;
}

kernelcast::Block products(double n, TensorType type = TensorType::f16_f32, double each = 2048) {
  kernelcast::Block b;
  b.ops[OpClass::tensor] = n;
  b.ops.tensor.warp[static_cast<std::size_t>(type)] = n * each;
  return b;
}

TEST(UserMatrix, ALoopOfProductsRunsAtTheRateOfThePipe) {
  // 16 products of 2,048 multiply-adds at a quarter of 1,024 a cycle.
  const KernelProfile p = loop_of(products(16), 100);
  EXPECT_NEAR(cycles(p, spec(a100), 128) / 100, 128, 8);
  EXPECT_NEAR(cycles(p, spec(a100), 256) / 100, 256, 8);
  // Hopper's mma.sync has two thirds of 2,048.
  EXPECT_NEAR(cycles(p, spec(h100), 128) / 100, 96, 6);
}

TEST(UserMatrix, AnAccumulatorIsWaitedFor) {
  kernelcast::Block body = products(1);
  body.ops[OpClass::int_add] = 1;  // reads it
  body.stalls.waits[static_cast<std::size_t>(Latency::tensor)] = 1;
  EXPECT_NEAR(cycles(loop_of(body, 100), spec(h100), 32) / 100, 24, 12);
}

TEST(UserMatrix, WhatAGpuDoesNotHaveIsALimit) {
  const auto refused = [](const KernelProfile& p, const std::string& id, const std::string& why) {
    try {
      static_cast<void>(cycles(p, spec(id), 32));
      FAIL() << why;
    } catch (const LimitError& e) {
      EXPECT_THAT(e.what(), HasSubstr(why));
    }
  };
  refused(loop_of(products(1), 4), "nvidia-tesla-k20", "matrices of f16_f32, which this GPU does not");
  refused(loop_of(products(1, TensorType::tf32_f32), 4), "nvidia-titan-v",
          "matrices of tf32_f32, which this GPU does not");
  refused(loop_of(products(1, TensorType::b1_s32), 4), h100, "tensor_b1_s32_fma_per_unit");
}

/// A copy, its commit, a wait for all groups but the last `open`, and a product of 256 cycles.
kernelcast::Block stage(int open) {
  kernelcast::Block b = products(1, TensorType::f16_f32, 65536);
  b.ops[OpClass::async_copy] = 1;
  b.ops[OpClass::int_add] = 4;
  kernelcast::Access load;
  load.buffer = 0;
  load.async = true;
  load.bytes = 16;
  load.offset = Expr(local_id(0)) * 16 + Expr(Symbol("k")) * 4096;
  b.accesses = {load};
  b.events = {{Kind::copy, 0, 1, 0, 0},
              {Kind::copy_commit, 0, 1, 1, 1},
              {Kind::copy_wait, open, 1, 2, 2},
              {Kind::matrix, 0, 1, 3, 3}};
  b.stalls.waits[static_cast<std::size_t>(Latency::tensor)] = 1;
  return b;
}

TEST(UserCopies, GroupsInFlightHideACopy) {
  Spec s = spec(a100);
  s.l2_bytes_per_cycle = s.dram_bytes_per_cycle = 1000;
  const double one = cycles(loop_of(stage(0), 100), s, 32) / 100, two = cycles(loop_of(stage(1), 100), s, 32) / 100,
               four = cycles(loop_of(stage(3), 100), s, 32) / 100;
  EXPECT_NEAR(one, 256 + s.dram_latency, 60);
  EXPECT_NEAR(two, (256 + s.dram_latency) / 2., 60);
  EXPECT_NEAR(four, 256, 30);
}

TEST(UserCopies, ACopyIsNoLoadBesides) {
  const KernelProfile p = loop_of(stage(0), 4);
  const UserProgram program = user_program(p, bound(p, 32), spec(a100), {});
  const auto n = [&](sm::Op op) {
    return std::ranges::count_if(program.program.instructions, [op](const Instruction& i) { return i.op == op; });
  };
  EXPECT_EQ(n(sm::Op::copy_async), 1);
  EXPECT_EQ(n(sm::Op::load_global), 0);
  EXPECT_EQ(n(sm::Op::copy_commit), 1);
  EXPECT_EQ(n(sm::Op::copy_wait), 1);
}

/// Four wgmma of m64n256k16, a commit and a wait for all groups but the last `open`.
kernelcast::Block asynchronous(int open) {
  kernelcast::Block b;
  b.ops[OpClass::tensor] = 4;
  b.ops.tensor.async[static_cast<std::size_t>(TensorType::f16_f32)] = 4 * 65536;  // of one of the four warps
  b.ops.tensor.shared_bytes = 4 * 10240 / 4.;
  b.stalls.products = 4 * 4 * 65536;
  b.events = {{Kind::product, 0, 4, 0, 3}, {Kind::product_commit, 0, 1, 4, 4}, {Kind::product_wait, open, 1, 5, 5}};
  b.stalls.waits[static_cast<std::size_t>(Latency::tensor)] = 1;
  return b;
}

TEST(UserProducts, AsynchronousOnesRunBesideTheWarps) {
  // 65,536 multiply-adds at a quarter of 2,048: 128 cycles each.
  const double waits = cycles(loop_of(asynchronous(0), 50), spec(h100), 128) / 50;
  const double goes_on = cycles(loop_of(asynchronous(1), 50), spec(h100), 128) / 50;
  EXPECT_NEAR(waits, 4 * 128, 30);
  EXPECT_NEAR(goes_on, 4 * 128, 15);
  EXPECT_LT(goes_on, waits);
}

/// Thread 0 fills a stage in each iteration; all warps wait for it and multiply.
KernelProfile ring() {
  kernelcast::Block all = asynchronous(0), fill;
  all.events.insert(all.events.begin(), {Kind::mbarrier_wait, 0, 1, 0, 0});
  fill.ops[OpClass::async_copy] = 2;
  fill.guard.paths = {Path{equal(Expr(local_id(0)), Expr(0)), {}}};
  fill.events = {{Kind::expect, 0, 1, 0, 0}, {Kind::bulk, 0, 2, 1, 2}};
  fill.stalls.fills = 1;
  kernelcast::Access from;
  from.buffer = 0;
  from.bulk = true;
  from.bytes = 8192;
  from.offset = Expr(Symbol("k")) * 16384;
  from.also = {8192};
  fill.accesses = {from};
  KernelProfile p = loop_of(fill, 40);
  all.loop = 0;
  p.blocks.push_back(all);
  return p;
}

TEST(UserRoles, TheWarpThatFillsIsARoleWithItsOwnProgram) {
  const KernelProfile p = ring();
  const UserProgram program = user_program(p, bound(p, 128), spec(h100), {});
  ASSERT_EQ(program.program.roles.size(), 2U);
  EXPECT_EQ(program.program.roles[0].warps, 1);
  EXPECT_EQ(program.program.roles[1].warps, 3);
  ASSERT_EQ(program.program.mbarriers.size(), 1U);
  SmLaunch launch;
  launch.warps_per_block = 4;
  const Result r = simulate(spec(h100), program.program, launch);
  EXPECT_EQ(r.passed_waits, 0U);
  EXPECT_NEAR(r.dram_sectors + r.l2_hits, 40 * 16384 / 32., 1);
  // Each iteration waits for its copy, then for its products.
  EXPECT_GT(static_cast<double>(r.cycles) / 40, 512 + spec(h100).dram_latency * 0.9);
}

}  // namespace
}  // namespace sm_matrix_test
