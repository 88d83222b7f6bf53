// Distinct sectors in closed form against sets that are built element by element.
#include "profile/reuse.h"

#include <gtest/gtest.h>
// rapidcheck/gtest.h needs gtest first
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "kernelcast/bind.h"
#include "support/copy_profile.h"

namespace kernelcast {
namespace {

double counted(const std::vector<Stride>& strides, const std::vector<std::int64_t>& offsets, int bytes, int sector) {
  std::set<std::int64_t> found, places(offsets.begin(), offsets.end());
  for (const Stride& s : strides) {
    std::set<std::int64_t> next;
    for (const std::int64_t p : places)
      for (std::int64_t i = 0; i < s.count; ++i) next.insert(p + i * s.stride);
    places = std::move(next);
  }
  for (const std::int64_t p : places)
    for (std::int64_t b = p; b < p + bytes; ++b) found.insert(b >= 0 ? b / sector : (b - sector + 1) / sector);
  return static_cast<double>(found.size());
}

struct Case {
  std::vector<Stride> strides;
  std::vector<std::int64_t> offsets;
  int bytes;
};

TEST(Reuse, ExactWhereStridesFit) {
  const std::vector<Case> cases = {
      {{{4, 32}}, {0}, 4},                                   // a warp side by side
      {{{4, 32}, {128, 8}}, {0}, 4},                         // a block
      {{{128, 32}}, {0}, 4},                                 // a column
      {{{4, 16}, {1024, 16}}, {0}, 4},                       // a tile of an image
      {{{4, 16}, {1024, 16}, {4, 5}}, {0}, 4},               // and its neighbours to the right
      {{{4, 16}, {1024, 16}, {1024, 5}}, {0}, 4},            // and below
      {{{4, 16}, {1024, 16}}, {0, 1024, 2048}, 4},           // the same, unrolled
      {{{4, 16}, {1024, 16}, {64, 4}, {16384, 4}}, {0}, 4},  // neighbouring tiles
      {{{0, 100}}, {64}, 4},                                 // all lanes at one place
      {{{-4, 32}}, {124}, 4},                                // backwards
      {{{8, 32}}, {0, 4}, 4},                                // interleaved
      {{}, {0, 4, 8, 400}, 4},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(distinct_sectors(cases[i].strides, cases[i].offsets, cases[i].bytes, 32),
              counted(cases[i].strides, cases[i].offsets, cases[i].bytes, 32))
        << "case " << i;
  }
}

TEST(Reuse, NearTheTruthElsewhere) {
  const std::vector<Case> cases = {
      {{{4, 24}, {100, 10}}, {0}, 4}, {{{36, 20}}, {0}, 4}, {{{4, 16}, {1000, 7}, {68, 3}}, {0}, 4}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const double found = distinct_sectors(cases[i].strides, cases[i].offsets, cases[i].bytes, 32);
    const double truth = counted(cases[i].strides, cases[i].offsets, cases[i].bytes, 32);
    EXPECT_GT(found, 0.6 * truth) << "case " << i;
    EXPECT_LT(found, 1.6 * truth) << "case " << i;
  }
}

/// Random strides that are far from equal, two of them with counts that change from case to case.
RC_GTEST_PROP(Reuse, CasesTogetherEqualEachAlone, ()) {
  const auto number = [](int low, int high) { return *rc::gen::inRange<std::int64_t>(low, high); };
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(number(1, 4)));
  for (std::int64_t& o : offsets) o = 4 * number(0, 200);
  std::sort(offsets.begin(), offsets.end());
  std::array<std::array<std::int64_t, 3>, 2> counts{};
  for (auto& row : counts)
    for (std::int64_t& c : row) c = number(1, 9);
  std::vector<CaseStride> strides;
  const auto length = static_cast<std::size_t>(number(2, 15));  // more than are kept in place, too
  for (std::size_t i = 0; i < length; ++i) {
    const std::int64_t sign = number(0, 4) == 0 ? -1 : 1;
    strides.push_back({sign * 4 * number(0, 300), number(1, 9), i < 2 ? counts[i].data() : nullptr});
  }
  std::stable_sort(strides.begin(), strides.end(),
                   [](const CaseStride& a, const CaseStride& b) { return std::abs(a.stride) < std::abs(b.stride); });
  std::array<double, 3> together{};
  SectorCounter().count(offsets, 4, 32, strides, together);
  for (std::size_t i = 0; i < together.size(); ++i) {
    std::vector<CaseStride> one = strides;
    for (CaseStride& s : one)
      if (s.counts != nullptr) s = {s.stride, s.counts[i]};
    double alone = 0;
    SectorCounter().count(offsets, 4, 32, one, std::span(&alone, 1));
    RC_ASSERT(together[i] == alone);
  }
}

/// for k < n: load a[(wg.x * 64 + lid.x) * n + k]: each thread walks a row.
KernelProfile rows() {
  KernelProfile p;
  p.kernel = "rows";
  p.parameters = {{"a", "float*", true, false, false, 4}, {"n", "int", false, true, true, 4}};
  p.buffers = {{"a", MemorySpace::global, -1, 256, 0}};
  kernelcast::Loop loop;
  loop.counter = Symbol("k");
  loop.trips = Expr(argument("n"));
  p.loops = {loop};
  Block b;
  b.name = "body";
  b.loop = 0;
  Access a;
  a.buffer = 0;
  a.offset = (Expr(group_id(0)) * 64 + Expr(local_id(0))) * Expr(argument("n")) * 4 + Expr(Symbol("k")) * 4;
  b.accesses = {a};
  p.blocks = {b};
  return p;
}

TEST(Reuse, RowsAreReusedOnlyWhileTheirSectorsStay) {
  const KernelProfile p = rows();
  Launch launch;
  launch.grid = {16, 1, 1};
  launch.block = {64, 1, 1};
  launch.args["n"] = std::int64_t{64};
  const Workload w = Binder(p, MemoryGeometry{}).bind(launch);
  ASSERT_TRUE(w.reuse.known);
  // One iteration of one block: 64 lanes in 64 rows. All iterations: 64 rows of 256 bytes.
  EXPECT_EQ(w.reuse.at(Reuse::read, 0, 0).footprint, 64);
  EXPECT_EQ(w.reuse.at(Reuse::read, 0, 0).traffic, 64 * 64);
  // Eight iterations stay in the sectors of one.
  EXPECT_EQ(w.reuse.at(Reuse::read, 1, 0).footprint, 64);
  EXPECT_EQ(w.reuse.at(Reuse::read, 1, 0).traffic, 64 * 8);
  EXPECT_EQ(w.reuse.at(Reuse::read, 3, 0).footprint, 64 * 8);
  EXPECT_EQ(w.reuse.at(Reuse::read, 3, 0).traffic, 64 * 8);
  // All blocks.
  EXPECT_EQ(w.reuse.at(Reuse::read, Reuse::depths - 1, Reuse::windows - 1).footprint, 16 * 64 * 8);
  EXPECT_EQ(w.reuse.at(Reuse::write, 3, 0).footprint, 0);
}

TEST(Reuse, WalksSayWhereItsPartsGo) {
  KernelProfile p = rows();
  p.blocks[0].accesses[0].offset = Expr(Symbol("k")) * 4096 + 12;
  Launch launch;
  launch.args["n"] = std::int64_t{64};
  Binder binder(p, MemoryGeometry{});
  EXPECT_TRUE(binder.bind(launch).streams.empty());
  binder.set_streams(true);
  for (int twice = 0; twice < 2; ++twice) {
    const Workload w = binder.bind(launch);
    ASSERT_EQ(w.streams.size(), 1u);
    const AccessStream& walk = w.streams[0];
    EXPECT_EQ(walk.direction, Reuse::read);
    EXPECT_EQ(walk.offsets, (std::vector<std::int64_t>{12}));
    ASSERT_EQ(walk.steps.size(), 1u);
    EXPECT_EQ(walk.steps[0].stride, 4096);
    EXPECT_EQ(walk.steps[0].count, 64);
    EXPECT_EQ(walk.steps[0].depth, 2);
    for (int d = 0; d < Reuse::depths; ++d) {
      const auto at = static_cast<std::size_t>(d);
      EXPECT_EQ(walk.level[at].footprint, w.reuse.at(Reuse::read, d, Reuse::windows - 1).footprint);
      EXPECT_EQ(walk.level[at].traffic, w.reuse.at(Reuse::read, d, Reuse::windows - 1).traffic);
    }
  }
}

/// A row filter, unrolled by two: for y < rows { for i < n / 2 { a[at + 2 i]; a[at + 2 i + 1]; } a[at + n - 1]; },
/// where at = (wg.y + y) * 4096 + wg.x * 64 + lid.x; without the outer loop if `rows` is none.
KernelProfile filter(bool rows, Expr pairs) {
  KernelProfile p;
  p.kernel = "filter";
  p.parameters = {{"a", "float*", true, false, false, 4}, {"n", "int", false, true, true, 4}};
  p.buffers = {{"a", MemorySpace::global, -1, 256, 0}};
  if (rows) {
    kernelcast::Loop outer;
    outer.counter = Symbol("y");
    outer.trips = Expr(5);
    p.loops = {outer};
  }
  kernelcast::Loop loop;
  loop.counter = Symbol("i");
  loop.trips = pairs;
  loop.parent = rows ? 0 : -1;
  p.loops.push_back(loop);
  const Expr line = rows ? Expr(group_id(1)) + Expr(Symbol("y")) : Expr(group_id(1));
  const Expr at = 4 * (4096 * line + 64 * Expr(group_id(0)) + Expr(local_id(0)));
  Block pair, rest;
  pair.name = "pair";
  pair.loop = rows ? 1 : 0;
  Access a;
  a.buffer = 0;
  a.offset = at + 8 * Expr(Symbol("i"));
  pair.accesses = {a, a};
  pair.accesses[1].offset = a.offset + 4;
  rest.name = "rest";
  rest.loop = rows ? 0 : -1;
  rest.accesses = {a};
  rest.accesses[0].offset = at + 4 * (Expr(argument("n")) - 1);
  p.blocks = {pair, rest};
  return p;
}

TEST(Reuse, WhatIsLeftOfAnUnrolledLoopTouchesTheSameData) {
  for (const std::int64_t n : {3, 5, 11, 33}) {
    for (const bool rows : {true, false}) {
      Launch launch;
      launch.grid = {8, 4, 1};
      launch.block = {64, 1, 1};
      launch.args["n"] = n;
      const Workload w = Binder(filter(rows, Expr(n / 2)), MemoryGeometry{}).bind(launch);
      ASSERT_TRUE(w.reuse.known);
      const std::vector<Stride> block = {{4, 64}, {4, n}, {16384, rows ? 5 : 1}};
      std::vector<Stride> all = block;
      all.insert(all.end(), {{256, 8}, {16384, 4}});
      const int last = Reuse::depths - 1;
      EXPECT_EQ(w.reuse.at(Reuse::read, last, 0).footprint, counted(block, {0}, 4, 32)) << n << rows;
      EXPECT_EQ(w.reuse.at(Reuse::read, last, 0).traffic, counted(block, {0}, 4, 32)) << n << rows;
      EXPECT_EQ(w.reuse.at(Reuse::read, last, Reuse::windows - 1).traffic, counted(all, {0}, 4, 32)) << n << rows;
    }
  }
}

TEST(Reuse, NothingStaysFromTheLaunchBefore) {
  for (const bool rows : {true, false}) {
    const KernelProfile p = filter(rows, floor_div(Expr(argument("n")) - 1, 2));
    Binder kept(p, MemoryGeometry{});
    Launch launch;
    launch.block = {64, 1, 1};
    for (const std::int64_t n : {33, 5, 11, 5, 33, 3}) {
      launch.grid = {n, 4, 1};
      launch.args["n"] = n;
      const Workload w = kept.bind(launch), fresh = Binder(p, MemoryGeometry{}).bind(launch);
      for (const auto direction : {Reuse::read, Reuse::write})
        for (int depth = 0; depth < Reuse::depths; ++depth)
          for (int window = 0; window < Reuse::windows; ++window) {
            const Reuse::Level &got = w.reuse.at(direction, depth, window),
                               &want = fresh.reuse.at(direction, depth, window);
            EXPECT_EQ(got.footprint, want.footprint) << n << ' ' << depth << ' ' << window;
            EXPECT_EQ(got.traffic, want.traffic) << n << ' ' << depth << ' ' << window;
          }
    }
  }
}

TEST(Reuse, OneLoopAfterAnotherTouchesTheSameDataAgainUnlessAllOfThemStay) {
  KernelProfile p = rows();
  kernelcast::Loop again = p.loops[0];
  again.counter = Symbol("j");
  p.loops.push_back(again);
  Block b = p.blocks[0];
  b.name = "again";
  b.loop = 1;
  b.accesses[0].offset = (Expr(group_id(0)) * 64 + Expr(local_id(0))) * Expr(argument("n")) * 4 + Expr(Symbol("j")) * 4;
  p.blocks.push_back(b);
  Launch launch;
  launch.grid = {16, 1, 1};
  launch.block = {64, 1, 1};
  launch.args["n"] = std::int64_t{64};
  const Workload w = Binder(p, MemoryGeometry{}).bind(launch);
  // A loop's data stay: each loop fetches them. All data of the block stay: one does.
  EXPECT_EQ(w.reuse.at(Reuse::read, 2, 0).footprint, 64 * 8);
  EXPECT_EQ(w.reuse.at(Reuse::read, 2, 0).traffic, 2 * 64 * 8);
  EXPECT_EQ(w.reuse.at(Reuse::read, Reuse::depths - 1, 0).footprint, 64 * 8);
  EXPECT_EQ(w.reuse.at(Reuse::read, Reuse::depths - 1, 0).traffic, 64 * 8);
}

TEST(Reuse, IsLeftOutWhereNobodyReadsIt) {
  const KernelProfile p = rows();
  Launch launch;
  launch.grid = {16, 1, 1};
  launch.block = {64, 1, 1};
  launch.args["n"] = std::int64_t{64};
  Binder binder(p, MemoryGeometry{});
  Workload w;
  binder.bind(launch, w);
  binder.bind(launch, w);  // the second time it is remembered
  ASSERT_TRUE(w.reuse.known);
  const double requested = w.at(MemorySpace::global, AccessKind::load).sectors;
  binder.set_reuse(false);
  binder.bind(launch, w);
  EXPECT_FALSE(w.reuse.known);
  EXPECT_FALSE(w.reuse.reason.empty());
  EXPECT_EQ(w.reuse.at(Reuse::read, 3, 0).traffic, 0);
  EXPECT_EQ(w.at(MemorySpace::global, AccessKind::load).sectors, requested);
  binder.set_reuse(true);
  binder.bind(launch, w);
  EXPECT_TRUE(w.reuse.known);
  EXPECT_TRUE(w.reuse.reason.empty());
  EXPECT_EQ(w.reuse.at(Reuse::read, 3, 0).traffic, 64 * 8);
}

TEST(Reuse, WindowsThatNobodyReadsGetTheNumbersOfTheFirstThatIsRead) {
  const KernelProfile p = rows();
  Launch launch;
  launch.block = {64, 1, 1};
  launch.args["n"] = std::int64_t{64};
  Binder all(p, MemoryGeometry{}), some(p, MemoryGeometry{});
  some.skip_windows(4);
  for (const Dim3 grid : {Dim3{1, 1, 1}, Dim3{3, 1, 1}, Dim3{16, 2, 1}, Dim3{100, 7, 1}, Dim3{5, 40, 300}}) {
    launch.grid = grid;
    const Workload w = all.bind(launch), v = some.bind(launch);
    for (const auto direction : {Reuse::read, Reuse::write}) {
      for (int depth = 0; depth < Reuse::depths; ++depth) {
        for (int window = 0; window < Reuse::windows; ++window) {
          const Reuse::Level& wanted = w.reuse.at(direction, depth, window == 0 || window >= 4 ? window : 4);
          EXPECT_EQ(v.reuse.at(direction, depth, window).footprint, wanted.footprint) << window;
          EXPECT_EQ(v.reuse.at(direction, depth, window).traffic, wanted.traffic) << window;
        }
      }
    }
  }
}

TEST(Reuse, NeverMoreThanRequested) {
  const KernelProfile p = rows();
  Launch launch;
  launch.grid = {5, 1, 1};
  launch.block = {33, 1, 1};
  for (const std::int64_t n : {1, 2, 7, 100}) {
    launch.args["n"] = n;
    const Workload w = Binder(p, MemoryGeometry{}).bind(launch);
    const double requested = w.at(MemorySpace::global, AccessKind::load).sectors;
    for (int d = 0; d < Reuse::depths; ++d) {
      EXPECT_LE(w.reuse.at(Reuse::read, d, Reuse::windows - 1).traffic, requested * (1 + 1e-12));
      if (d > 0) {
        EXPECT_LE(w.reuse.at(Reuse::read, d, 0).traffic, w.reuse.at(Reuse::read, d - 1, 0).traffic * (1 + 1e-12));
      }
    }
  }
}

TEST(Reuse, AddressesThatDataDecideNeedNoArguments) {
  KernelProfile p = test::copy_profile();
  p.parameters.push_back({"m", "int", false, true, false, 4});
  p.unknowns.push_back({Unknown::Kind::address, "access:3", {0, 3}, 4, false, "loaded from memory"});
  Access& load = p.blocks[0].accesses[0];
  load.unknown = 0;
  load.offset = load.offset + 4 * Expr(argument("m")) * Expr(local_id(0));
  Launch launch;
  launch.grid = {4, 1, 1};
  launch.block = {64, 1, 1};
  launch.args = {{"n", std::int64_t{256}}, {"rounds", std::int64_t{2}}};
  EXPECT_EQ(Binder(p, {}).bind(launch).access_counts[0].lanes, 256);
}

}  // namespace
}  // namespace kernelcast
