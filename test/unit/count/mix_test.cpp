// Which parts closed forms keep, and that totals are the sums of the parts. The profile is made by hand: a guarded
// copy, a gather in the same block, a loop whose trips data decide, and a branch in it.
#include "count/mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernelcast/bind.h"
#include "kernelcast/error.h"
#include "support/copy_profile.h"

namespace kernelcast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

enum : int { trips, gather, sometimes };

KernelProfile profile() {
  KernelProfile p = test::copy_profile();
  p.unknowns = {{Unknown::Kind::trip_count, "trips:4", {0, 4}, 16, false, ""},
                {Unknown::Kind::address, "access:3", {0, 3}, 64, false, ""},
                {Unknown::Kind::probability, "branch:6", {0, 6}, 0.5, false, ""}};
  p.loops[0].trips = Expr(0);
  p.loops[0].unknown = trips;
  Block& copy = p.blocks[0];
  Access through = copy.accesses[0];
  through.unknown = gather;
  copy.accesses.push_back(through);
  Block rare = p.blocks[1];
  rare.loop = -1;
  rare.guard.paths[0].factors = {{sometimes, true}};
  rare.barriers = 1;
  rare.line = {0, 7};
  p.blocks.push_back(rare);
  Branch branch = p.branches[0];
  branch.verdict = Branch::Verdict::unknown;
  branch.unknown = sometimes;
  p.branches.push_back(branch);
  return p;
}

Launch launch() {
  Launch l;
  l.grid = {10, 1, 1};
  l.block = {64, 1, 1};
  l.args["n"] = std::int64_t{600};
  return l;
}

Workload bound(const KernelProfile& p, const Launch& l) { return Binder(p, MemoryGeometry{}).bind(l); }

/// As an execution would have it, with numbers that tell the parts apart.
Workload executed(const Workload& closed) {
  Workload w = closed;
  for (BlockCount& b : w.block_counts) b = {b.warps * 3, b.lanes * 5};
  for (AccessCount& a : w.access_counts)
    a = {a.requests * 2, a.lanes * 2, a.requests * 14, a.requests * 6, a.requests * 2, a.bytes * 2};
  for (BranchCount& b : w.branch_counts) b = {b.warps * 2, b.warps};
  w.barriers = 77;
  w.flat_barriers = 7;
  w.warp_imbalance = 1.5;
  w.counts_method = CountsMethod::executed;
  w.assumptions = {{"contents of buffer in", "uniform(0,1)", "buffer in=COUNT:FILL"}};
  return w;
}

TEST(CountOrigin, ClosedFormsThatLeaveNothingOpenStay) {
  const KernelProfile p = test::copy_profile();
  Launch l = launch();
  l.args["rounds"] = std::int64_t{3};
  EXPECT_TRUE(count_origin(p, l, bound(p, l)).all_closed());
}

TEST(CountOrigin, UnknownsDecideWhatIsExecuted) {
  const KernelProfile p = profile();
  const CountOrigin o = count_origin(p, launch(), bound(p, launch()));
  EXPECT_THAT(o.blocks, ElementsAre(Origin::closed, Origin::executed, Origin::executed));
  EXPECT_THAT(o.accesses,
              ElementsAre(Origin::closed, Origin::closed, Origin::both, Origin::executed, Origin::executed));
  EXPECT_THAT(o.branches, ElementsAre(Origin::closed, Origin::both));
}

TEST(CountOrigin, InnerLoopsAreOpenWithTheOuter) {
  KernelProfile p = profile();
  Loop inner = test::copy_profile().loops[0];
  inner.parent = 0;
  inner.counter = Symbol("inner");
  p.loops.push_back(inner);
  p.blocks[1].loop = 1;
  Launch l = launch();
  l.args["rounds"] = std::int64_t{3};
  EXPECT_EQ(count_origin(p, l, bound(p, l)).blocks[1], Origin::executed);
}

TEST(CountOrigin, AnAnswerOfTheUserKeepsThePartClosed) {
  const KernelProfile p = profile();
  Launch l = launch();
  l.assume["trips:4"] = 3;
  EXPECT_THAT(count_origin(p, l, bound(p, l)).blocks, ElementsAre(Origin::closed, Origin::closed, Origin::executed));
  l.assume["access:3"] = 4;
  EXPECT_EQ(count_origin(p, l, bound(p, l)).accesses[2], Origin::closed);
  l.assume["branch:6"] = 1;
  EXPECT_TRUE(count_origin(p, l, bound(p, l)).all_closed());
}

TEST(CountOrigin, ClosedFormsThatAreASampleAreExecuted) {
  KernelProfile p = test::copy_profile();
  const Expr id = Expr(group_id(0)) * 64 + Expr(local_id(0));
  p.blocks[0].accesses[0].offset = 4 * mod(id * id * id, Expr(1021));
  Launch l = launch();
  l.args["rounds"] = std::int64_t{3};
  l.grid = {1000, 1, 1};
  l.args["n"] = std::int64_t{64000};
  Binder binder(p, MemoryGeometry{});
  EXPECT_TRUE(count_origin(p, l, binder.bind(l)).all_closed());
  binder.set_work_limit(1000);
  const Workload closed = binder.bind(l);
  ASSERT_FALSE(closed.assumptions.empty()) << "this access was to need a sample";
  EXPECT_TRUE(count_origin(p, l, closed).all_executed());
}

TEST(Mixed, ExactPartsKeepTheirNumbers) {
  const KernelProfile p = profile();
  const Workload closed = bound(p, launch()), run = executed(closed);
  const Mixed m = mixed(p, launch(), closed, run, count_origin(p, launch(), closed));
  const Workload& w = m.workload;
  EXPECT_EQ(w.counts_method, CountsMethod::mixed);
  EXPECT_EQ(w.block_counts[0].warps, closed.block_counts[0].warps);
  EXPECT_EQ(w.block_counts[1].warps, run.block_counts[1].warps);
  EXPECT_EQ(w.block_counts[2].lanes, run.block_counts[2].lanes);
  EXPECT_EQ(w.access_counts[0], closed.access_counts[0]);
  EXPECT_EQ(w.access_counts[3], run.access_counts[3]);
  EXPECT_EQ(w.barriers, 77);
  EXPECT_EQ(w.warp_imbalance, 1.5);
  EXPECT_EQ(w.slowest.instructions, 0);  // the closed form's, of blocks that data decide
  EXPECT_EQ(w.footprint_bytes, closed.footprint_bytes);
}

TEST(Mixed, AGatherHasKnownRequestsAndMeasuredSectors) {
  const KernelProfile p = profile();
  const Workload closed = bound(p, launch());
  const Workload w = mixed(p, launch(), closed, executed(closed), count_origin(p, launch(), closed)).workload;
  EXPECT_EQ(w.access_counts[2].requests, closed.access_counts[2].requests);
  EXPECT_EQ(w.access_counts[2].bytes, closed.access_counts[2].bytes);
  EXPECT_EQ(w.access_counts[2].sectors, 7 * closed.access_counts[2].requests);
  EXPECT_EQ(w.branch_counts[1].warps, closed.branch_counts[1].warps);
  EXPECT_EQ(w.branch_counts[1].divergent, closed.branch_counts[1].warps / 2);
}

TEST(Mixed, TotalsAreSumsOfTheParts) {
  const KernelProfile p = profile();
  const Workload closed = bound(p, launch());
  const Workload w = mixed(p, launch(), closed, executed(closed), count_origin(p, launch(), closed)).workload;
  double ops = 0, lanes = 0;
  for (std::size_t b = 0; b < p.blocks.size(); ++b) {
    ops += p.blocks[b].ops.total() * w.block_counts[b].warps;
    lanes += p.blocks[b].ops.total() * w.block_counts[b].lanes;
  }
  EXPECT_EQ(w.warp_ops.total(), ops);
  EXPECT_EQ(w.thread_ops.total(), lanes);
  EXPECT_NE(w.warp_ops.total(), closed.warp_ops.total());
  EXPECT_EQ(w.data_branch_ops.total(), 0) << "execution told which side is taken";
  EXPECT_EQ(w.at(MemorySpace::global, AccessKind::load).requests,
            w.access_counts[0].requests + w.access_counts[2].requests);
  EXPECT_EQ(w.at(MemorySpace::shared, AccessKind::load).requests,
            w.access_counts[3].requests + w.access_counts[4].requests);
}

TEST(Mixed, WhatTheSampleNeverMetStaysClosed) {
  const KernelProfile p = profile();
  const Workload closed = bound(p, launch());
  Workload run = executed(closed);
  run.access_counts[2] = {};
  const Mixed m = mixed(p, launch(), closed, run, count_origin(p, launch(), closed));
  EXPECT_EQ(m.origin.accesses[2], Origin::closed);
  EXPECT_EQ(m.workload.access_counts[2], closed.access_counts[2]);
  EXPECT_THAT(m.workload.assumptions.at(0).replace, HasSubstr("access:3"));
}

TEST(Mixed, CodeThatNoThreadReachedIsKnown) {
  const KernelProfile p = profile();
  const Workload closed = bound(p, launch());
  Workload run = executed(closed);
  const CountOrigin origin = count_origin(p, launch(), closed);
  EXPECT_EQ(mixed(p, launch(), closed, run, origin).workload.unreached_ops, 0);
  run.block_counts[0] = {};  // no data decide it
  run.block_counts[2] = {};
  EXPECT_EQ(mixed(p, launch(), closed, run, origin).workload.unreached_ops,
            closed.block_counts[2].warps * p.blocks[2].ops.total());
}

TEST(Mixed, DefaultsThatExecutionReplacedAreNoAssumptions) {
  const KernelProfile p = profile();
  const Workload closed = bound(p, launch());
  ASSERT_EQ(closed.assumptions.size(), 3U);
  const Workload w = mixed(p, launch(), closed, executed(closed), count_origin(p, launch(), closed)).workload;
  ASSERT_EQ(w.assumptions.size(), 1U);
  EXPECT_EQ(w.assumptions[0].what, "contents of buffer in");
}

TEST(Mixed, DefaultsBesideAnAnswerRemainAssumptions) {
  KernelProfile p = profile();
  p.blocks[1].guard.paths[0].factors = {{sometimes, true}};
  Launch l = launch();
  l.assume["trips:4"] = 3;
  const Workload closed = bound(p, l);
  const Mixed m = mixed(p, l, closed, executed(closed), count_origin(p, l, closed));
  EXPECT_EQ(m.origin.blocks[1], Origin::closed);
  EXPECT_EQ(m.workload.block_counts[1].warps, closed.block_counts[1].warps);
  EXPECT_GT(m.workload.data_branch_ops.total(), 0);
  EXPECT_TRUE(std::any_of(m.workload.assumptions.begin(), m.workload.assumptions.end(),
                          [](const Assumption& a) { return plain_text(a.replace).starts_with("assume branch:6="); }));
}

TEST(Mixed, OtherProfilesAreABug) {
  const KernelProfile p = profile(), other = test::copy_profile();
  Launch l = launch();
  const Workload closed = bound(p, l);
  l.args["rounds"] = std::int64_t{3};
  EXPECT_THROW(mixed(p, launch(), closed, bound(other, l), count_origin(p, launch(), closed)), InternalError);
}

}  // namespace
}  // namespace kernelcast
