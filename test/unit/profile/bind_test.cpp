// Numbers that can be checked by hand, large launches, footprints, samples.
#include "kernelcast/bind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernelcast/error.h"

namespace kernelcast {
namespace {

const Expr lid = local_id(0), wg = group_id(0), lsz = local_size(0), n = argument("n");
const Expr gid = wg * lsz + lid;

KernelProfile kernel(MemorySpace space, const Expr& offset, int bytes = 4, Guard guard = {}) {
  KernelProfile p;
  p.kernel = "k";
  p.parameters = {{.name = "n", .type = "long", .integer = true, .used = true, .bytes = 8},
                  {.name = "a", .type = "float*", .pointer = true, .bytes = 4}};
  p.buffers = {{.name = "a", .space = space, .parameter = space == MemorySpace::global ? 1 : -1}};
  Block b;
  b.guard = std::move(guard);
  Access a;
  a.space = space;
  a.bytes = bytes;
  a.buffer = 0;
  a.offset = offset;
  b.accesses.push_back(a);
  b.ops[OpClass::fp32_add] = 3;
  p.blocks.push_back(b);
  return p;
}

Launch launch(Dim3 grid, Dim3 block, std::int64_t n_value = 0) {
  Launch l;
  l.grid = grid;
  l.block = block;
  l.args["n"] = n_value;
  return l;
}

AccessCount count(const KernelProfile& p, const Launch& l, const MemoryGeometry& g = {}) {
  return Binder(p, g).bind(l).access_counts.at(0);
}

TEST(Bind, CoalescedLoadWithATail) {
  const auto p = kernel(MemorySpace::global, gid * 4, 4, Guard{{Path{less(gid, n), {}}}});
  const Workload w = Binder(p, {}).bind(launch({4}, {256}, 1000));
  // 1000 lanes: 31 whole warps and one of 8 lanes; 32 bytes a sector.
  EXPECT_EQ(w.access_counts[0], (AccessCount{.requests = 32,
                                             .lanes = 1000,
                                             .sectors = 125,
                                             .segments = 32,
                                             .bank_passes = 32,
                                             .bytes = 4000,
                                             .words = 1000}));
  EXPECT_EQ(w.warp_ops[OpClass::fp32_add], 96);
  EXPECT_EQ(w.thread_ops[OpClass::fp32_add], 3000);
  EXPECT_EQ(w.warps, 32);
  EXPECT_EQ(w.threads, 1024);
  EXPECT_EQ(w.footprint_bytes, 4000);
  EXPECT_EQ(w.footprint_read_bytes, 4000);
  EXPECT_EQ(w.footprint_write_bytes, 0);
  EXPECT_EQ(w.at(MemorySpace::global, AccessKind::load), w.access_counts[0]);
}

TEST(Bind, ALaunchThatStoresNothingIsNoticed) {
  auto p = kernel(MemorySpace::global, gid * 4, 4, Guard{{Path{less(gid, n), {}}}});
  const auto note_for = [&](std::int64_t size) {
    return note_on_idle_launch(p, Binder(p, {}).bind(launch({4}, {256}, size)));
  };
  EXPECT_FALSE(note_for(-5)) << "a kernel that never stores";
  p.blocks[0].ops[OpClass::global_store] = 1;
  EXPECT_FALSE(note_for(1));
  for (const std::int64_t size : {0, -5}) {
    const auto note = note_for(size);
    ASSERT_TRUE(note);
    EXPECT_THAT(note->what, testing::HasSubstr("writes nothing"));
    EXPECT_EQ(plain_text(note->replace), "arg NAME=VALUE");
  }
  p.parameters[0].used = false;
  EXPECT_EQ(note_for(0)->replace, "");
}

// Every warp runs the first block of code and the third warp the second, which waits for memory twice.
TEST(Bind, TheSlowestWarpOfABlockIsThePathThatCounts) {
  KernelProfile p = kernel(MemorySpace::global, gid * 4);
  Block alone;
  alone.guard = Guard{{Path{equal(floor_div(lid, 32), 2), {}}}};
  alone.ops[OpClass::fp32_add] = 5;
  alone.ops[OpClass::control] = 1;
  alone.stalls.waits[static_cast<std::size_t>(Latency::global)] = 2;
  alone.stalls.loads = 4;
  p.blocks.push_back(alone);
  const Workload w = Binder(p, {}).bind(launch({10}, {128}));
  EXPECT_EQ(w.slowest.instructions, 10 * (3 + 6));
  EXPECT_EQ(w.slowest.branches, 10);
  EXPECT_EQ(w.slowest.stalls.waits[static_cast<std::size_t>(Latency::global)], 10 * 2);
  EXPECT_EQ(w.slowest.stalls.loads, 10 * 4);
  EXPECT_EQ(w.warp_imbalance, 1);
  // One warp a block: no warp waits for another.
  EXPECT_EQ(Binder(p, {}).bind(launch({10}, {32})).slowest.instructions, 0);
}

// The last block has one warp with work: over the launch the first warp of a block runs most often.
TEST(Bind, AGridThatEndsInABlockMakesNoWarpSlowerThanTheFirst) {
  const auto p = kernel(MemorySpace::global, gid * 4, 4, Guard{{Path{less(gid, n), {}}}});
  EXPECT_EQ(Binder(p, {}).bind(launch({4}, {256}, 1024)).slowest.instructions, 0);
  EXPECT_EQ(Binder(p, {}).bind(launch({4}, {256}, 800)).slowest.instructions, 4 * 3);
}

TEST(Bind, MisalignedRowsTouchOneMoreSegment) {
  EXPECT_EQ(count(kernel(MemorySpace::global, gid * 4 + 4), launch({1}, {32})).segments, 2);
  EXPECT_EQ(count(kernel(MemorySpace::global, gid * 4 + 4), launch({1}, {32})).sectors, 5);
  EXPECT_EQ(count(kernel(MemorySpace::global, gid * 4 - 4), launch({1}, {32})).segments, 2);
}

TEST(Bind, ColumnAccessTakesASegmentALane) {
  const auto c = count(kernel(MemorySpace::global, gid * 4096), launch({2}, {64}));
  EXPECT_EQ(c.segments, 128);
  EXPECT_EQ(c.sectors, 128);
}

TEST(Bind, WideAccessesAskForTheirSegmentsByPartsOfTheWarp) {
  const auto two_rows = [](int bytes) {  // lanes 16 to 31 where lanes 0 to 15 are, 32 bytes apart
    return count(kernel(MemorySpace::global, Expr(32) * mod(lid, Expr(16)), bytes), launch({1}, {32}));
  };
  EXPECT_EQ(two_rows(4).segments, 4);
  EXPECT_EQ(two_rows(4).bank_passes, 4);
  EXPECT_EQ(two_rows(8).segments, 4);
  EXPECT_EQ(two_rows(8).bank_passes, 8);  // each half-warp asks for all four
  EXPECT_EQ(two_rows(16).segments, 4);
  EXPECT_EQ(two_rows(16).bank_passes, 8);  // each quarter for two
  EXPECT_EQ(count(kernel(MemorySpace::global, lid * 16, 16), launch({1}, {32})).bank_passes, 4);
  EXPECT_EQ(count(kernel(MemorySpace::global, Expr(0), 16), launch({1}, {32})).bank_passes, 4);
}

TEST(Bind, BankPasses) {
  const auto passes = [](const Expr& offset, int bytes, const MemoryGeometry& g = {}) {
    return count(kernel(MemorySpace::shared, offset, bytes), launch({1}, {static_cast<std::int64_t>(g.warp_size)}), g)
        .bank_passes;
  };
  EXPECT_EQ(passes(lid * 4, 4), 1);
  EXPECT_EQ(passes(lid * 8, 4), 2);
  EXPECT_EQ(passes(lid * 128, 4), 32);
  EXPECT_EQ(passes(lid * 132, 4), 1);  // padded by one word
  EXPECT_EQ(passes(Expr(8), 4), 1);    // broadcast
  EXPECT_EQ(passes(lid * 8, 8), 2);    // two half-warps
  EXPECT_EQ(passes(lid * 16, 16), 4);  // four quarter-warps
  EXPECT_EQ(passes(lid, 1), 1);        // four lanes a word
  const MemoryGeometry gt200{32, 32, 128, 16, 4}, amd{64, 64, 64, 32, 4};
  EXPECT_EQ(passes(lid * 4, 4, gt200), 2);  // a conflict-free access goes by half-warps
  EXPECT_EQ(passes(lid * 8, 4, gt200), 4);
  EXPECT_EQ(passes(lid * 4, 4, amd), 2);
}

TEST(Bind, LocalMemoryInterleavesLanes) {
  const auto c = count(kernel(MemorySpace::local, Expr(12)), launch({1}, {32}));
  EXPECT_EQ(c.sectors, 4);  // 32 neighbouring words
  EXPECT_EQ(c.segments, 1);
  EXPECT_EQ(count(kernel(MemorySpace::local, lid * 4), launch({1}, {32})).segments, 32);
}

TEST(Bind, ConstantMemoryCountsDistinctAddresses) {
  EXPECT_EQ(count(kernel(MemorySpace::constant, wg * 4), launch({3}, {64})).bank_passes, 6);
  EXPECT_EQ(count(kernel(MemorySpace::constant, mod(lid, 3) * 4), launch({1}, {32})).bank_passes, 3);
}

TEST(Bind, HugeGridsFallIntoFewClasses) {
  const auto p = kernel(MemorySpace::global, gid * 4, 4, Guard{{Path{less(gid, n), {}}}});
  const std::int64_t many = std::int64_t{1} << 40;
  const auto c = count(p, launch({many / 256 + 3}, {256}, many - 1));
  EXPECT_EQ(c.lanes, static_cast<double>(many - 1));
  EXPECT_EQ(c.sectors, static_cast<double>(many / 8));
}

TEST(Bind, FootprintIsClippedToTheDeclaredBuffer) {
  const auto p = kernel(MemorySpace::global, gid * 12);
  Launch l = launch({4}, {64});
  Binder b(p, {});
  EXPECT_EQ(b.bind(l).footprint_bytes, 1024);  // 256 lanes of 4 bytes: less than the extent of 3064 bytes
  l.buffers["a"] = {100, ""};
  EXPECT_EQ(b.bind(l).footprint_bytes, 400);
}

TEST(Bind, FootprintFollowsTheActiveLanesOnly) {
  const Expr diagonal = lid + Expr(local_id(1));
  const auto p = kernel(MemorySpace::global, diagonal * 4, 4, Guard{{Path{less(diagonal, 5), {}}}});
  EXPECT_EQ(Binder(p, {}).bind(launch({1}, {8, 8})).footprint_bytes, 20);
}

TEST(Bind, ReusedWorkloadEqualsAFreshOne) {
  const auto p = kernel(MemorySpace::global, gid * 4, 4, Guard{{Path{less(gid, n), {}}}});
  Binder b(p, {});
  Workload out;
  for (int round = 0; round < 4; ++round)
    for (std::int64_t k : {100, 1000, 77}) {
      b.bind(launch({4}, {256}, k), out);
      EXPECT_EQ(out.access_counts[0], count(p, launch({4}, {256}, k))) << k;
      EXPECT_EQ(out.access_counts[0].lanes, static_cast<double>(k));
    }
}

TEST(Bind, WithoutDivergenceEverythingElseIsTheSame) {
  auto p = kernel(MemorySpace::global, gid * 4, 4, Guard{{Path{less(gid, n), {}}}});
  p.branches.push_back({Branch::Verdict::divergent, "depends on lid.x", 0, less(lid, n - 900), -1, false, false, {}});
  Binder all(p, {}), some(p, {});
  some.set_divergence(false);
  const Launch l = launch({4}, {256}, 1000);
  const Workload w = all.bind(l), v = some.bind(l);
  EXPECT_EQ(w.branch_counts[0].divergent, 4);  // lanes 96 to 127 of each block: 100 is within
  EXPECT_EQ(v.branch_counts[0].divergent, 0);
  EXPECT_EQ(v.branch_counts[0].warps, w.branch_counts[0].warps);
  EXPECT_EQ(v.access_counts, w.access_counts);
  EXPECT_EQ(v.warp_ops, w.warp_ops);
  EXPECT_EQ(v.footprint_bytes, w.footprint_bytes);
  some.set_divergence(true);
  EXPECT_EQ(some.bind(l).branch_counts[0].divergent, 4);
}

TEST(Bind, WhatDataDecideIsApartUntilItIsGiven) {
  auto p = kernel(MemorySpace::global, gid * 4, 4, Guard{{Path{1, {{0, true}}}}});
  p.unknowns = {{Unknown::Kind::probability, "branch:7", {}, 0.5, false, "test"}};
  Block always;
  always.ops[OpClass::int_add] = 2;
  p.blocks.push_back(always);
  Binder binder(p, {});
  Launch l = launch({2}, {64});
  Workload w = binder.bind(l);
  EXPECT_GT(w.warp_ops[OpClass::fp32_add], 0);
  EXPECT_EQ(w.data_branch_ops[OpClass::fp32_add], w.warp_ops[OpClass::fp32_add]);
  EXPECT_EQ(w.data_branch_ops[OpClass::int_add], 0);
  l.assume["branch:7"] = 0.5;  // the same number, but somebody's word
  EXPECT_EQ(binder.bind(l).data_branch_ops.total(), 0);
  p.unknowns[0].uniform = true;  // warps do not diverge
  EXPECT_EQ(Binder(p, {}).bind(launch({2}, {64})).data_branch_ops.total(), 0);
}

TEST(Bind, UnknownsAreListedWithTheirFlag) {
  auto p = kernel(MemorySpace::global, gid * 4);
  p.files = {"spmv.cl"};
  p.unknowns.push_back({Unknown::Kind::trip_count, "trips:14", {0, 14}, 16, false, "bound is loaded from memory"});
  Loop loop;
  loop.counter = Symbol("j");
  loop.unknown = 0;
  p.loops.push_back(loop);
  p.blocks[0].loop = 0;
  Binder b(p, {});
  Launch l = launch({1}, {32});
  Workload w = b.bind(l);
  EXPECT_EQ(w.access_counts[0].requests, 16);
  ASSERT_EQ(w.assumptions.size(), 1U);
  EXPECT_EQ(w.assumptions[0].what, "trip count of the loop at spmv.cl:14: bound is loaded from memory");
  EXPECT_EQ(w.assumptions[0].value, "16");
  EXPECT_EQ(plain_text(w.assumptions[0].replace), "assume trips:14=VALUE");
  l.assume["trips:14"] = 2.5;
  w = b.bind(l);
  EXPECT_EQ(w.access_counts[0].requests, 2.5);
  EXPECT_TRUE(w.assumptions.empty());
}

TEST(Bind, AnArgumentThatOnlyMovesAddressesIsNotAskedFor) {
  Launch without = launch({4}, {256});
  without.args.clear();
  const Workload moved = Binder(kernel(MemorySpace::global, gid * 4 + n * 4), {}).bind(without);
  EXPECT_EQ(moved.access_counts[0].sectors, 128);
  ASSERT_THAT(moved.assumptions, testing::SizeIs(1));
  EXPECT_EQ(moved.assumptions[0].value, "0");
  // A stride, a bound, and what is added under a division are more than that.
  EXPECT_THROW((void)Binder(kernel(MemorySpace::global, gid * n * 4), {}).bind(without), ArgumentError);
  EXPECT_THROW((void)Binder(kernel(MemorySpace::global, gid * 4 + n * n), {}).bind(without), ArgumentError);
  EXPECT_THROW(
      (void)Binder(kernel(MemorySpace::global, gid * 4 + n * 4, 4, Guard{{Path{less(gid, n), {}}}}), {}).bind(without),
      ArgumentError);
}

TEST(Bind, SaysWhenItTookASample) {
  // Linear nowhere, so every group is looked at, until the limit.
  const auto p = kernel(MemorySpace::global, mod(gid * gid, 1013) * 4);
  Binder b(p, {});
  const Workload exact = b.bind(launch({2000}, {64}));
  EXPECT_TRUE(exact.assumptions.empty());
  b.set_work_limit(5000);
  const Workload sampled = b.bind(launch({2000}, {64}));
  ASSERT_EQ(sampled.assumptions.size(), 1U);
  EXPECT_THAT(sampled.assumptions[0].value, testing::HasSubstr("sample"));
  EXPECT_EQ(sampled.access_counts[0].requests, exact.access_counts[0].requests);
  EXPECT_NEAR(sampled.access_counts[0].sectors / exact.access_counts[0].sectors, 1, 0.02);
  EXPECT_NE(sampled.access_counts[0].sectors, exact.access_counts[0].sectors);
}

TEST(Bind, WhatRepeatsIsExactAtAnySize) {
  // A million groups, work for a few dozen.
  const auto p = kernel(MemorySpace::global, (mod(gid, 7) * 8 + floor_div(gid, 12)) * 4);
  Binder b(p, {});
  b.set_work_limit(1e5);
  const Workload few = b.bind(launch({84}, {64})), many = b.bind(launch({84 * 12000}, {64}));
  EXPECT_TRUE(many.assumptions.empty());
  EXPECT_EQ(many.access_counts[0].sectors, 12000 * few.access_counts[0].sectors);  // 84 groups are whole sectors
}

TEST(Bind, ShareTheLimitOfWork) {
  auto p = kernel(MemorySpace::global, mod(gid * gid, 1013) * 4);
  Binder alone(p, {});
  alone.set_work_limit(4e5);
  EXPECT_TRUE(alone.bind(launch({2000}, {64})).assumptions.empty());
  for (int i = 0; i < 9; ++i) {
    Access a = p.blocks[0].accesses[0];
    a.offset = mod(gid * gid, 1019 + i) * 4;
    a.line = {0, 200 + i};
    p.blocks[0].accesses.push_back(a);
  }
  Binder together(p, {});
  together.set_work_limit(4e5);
  const Workload shared = together.bind(launch({2000}, {64}));
  EXPECT_FALSE(shared.assumptions.empty());
  together.set_work_limit(1e8);
  EXPECT_TRUE(together.bind(launch({2000}, {64})).assumptions.empty());
}

TEST(Bind, RefusesImpossibleGeometry) {
  const auto p = kernel(MemorySpace::global, gid * 4);
  EXPECT_THROW(Binder(p, MemoryGeometry{0, 32, 128, 32, 4}), UserError);
  EXPECT_THROW(Binder(p, MemoryGeometry{128, 32, 128, 32, 4}), UserError);
  EXPECT_THROW(Binder(p, MemoryGeometry{32, 1009, 1024, 32, 4}), UserError);
}

// A loop of known length that data may leave: the profile says so, and counts rest on its not happening.
TEST(Bind, ALoopThatMayEndEarlyIsADefault) {
  auto p = kernel(MemorySpace::global, gid * 4);
  EXPECT_EQ(Binder(p, {}).bind(launch({4}, {256})).basis(), CountsBasis::closed_form);
  p.assumptions.push_back({"the loop at k.cu:3 does not end early", "n trips", "", Assumption::Kind::contents});
  p.assumptions.push_back({"the address at k.cu:4 starts at a multiple of 128 bytes", "aligned", ""});
  const Workload w = Binder(p, {}).bind(launch({4}, {256}));
  EXPECT_EQ(w.basis(), CountsBasis::defaults);
  EXPECT_EQ(w.assumptions.size(), 1U);
}

}  // namespace
}  // namespace kernelcast
