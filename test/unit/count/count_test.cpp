// The one rule of counting: closed forms where they are exact, execution where data decide, and what happens when it
// cannot run.
#include "count/count.h"

#include "kernelcast/error.h"

namespace kernelcast {
namespace {

using testing::HasSubstr;

/// One loop of a trip count that data decide, and a block inside it.
KernelProfile data_decided() {
  KernelProfile p;
  p.kernel = "k";
  p.unknowns.push_back({Unknown::Kind::trip_count, "trips:3", {}, 16, false, "loaded"});
  Loop loop;
  loop.unknown = 0;
  p.loops.push_back(loop);
  Block before, inside;
  inside.loop = 0;
  p.blocks = {before, inside};
  return p;
}

Workload counts(double before, double inside) {
  Workload w;
  w.block_counts = {{before / 32, before}, {inside / 32, inside}};
  return w;
}

TEST(Count, SymbolicNeverExecutes) {
  const KernelProfile p = data_decided();
  const Counted c = count(p, {}, counts(64, 1024), {}, Counting::symbolic,
                          [](const Sharing&) -> std::shared_ptr<const Execution> { throw InternalError("executed"); });
  EXPECT_EQ(c.execution, nullptr);
  EXPECT_EQ(c.workload.block_counts[1].lanes, 1024);
}

TEST(Count, WhatCannotBeExecutedKeepsItsClosedFormsAndSaysSo) {
  const KernelProfile p = data_decided();
  const auto fails = [](const Sharing&) -> std::shared_ptr<const Execution> { throw LimitError("no room"); };
  const Counted c = count(p, {}, counts(64, 1024), {}, Counting::automatic, fails);
  EXPECT_EQ(c.workload.block_counts[1].lanes, 1024);
  ASSERT_EQ(c.workload.assumptions.size(), 1u);
  EXPECT_THAT(c.workload.assumptions[0].value, HasSubstr("no room"));
  EXPECT_THROW(count(p, {}, counts(64, 1024), {}, Counting::executed, fails), LimitError);
  Launch given;
  given.buffers["in"].fill = "iota";
  EXPECT_THROW(count(p, given, counts(64, 1024), {}, Counting::automatic, fails), LimitError);
}

/// As far as a block came; one instruction in each part of the profile.
Counted stopped_after(double inside) {
  KernelProfile p = data_decided();
  for (Block& b : p.blocks) b.ops[OpClass::fp32_fma] = 1;
  Workload closed = counts(64, 1024);
  sum_parts(p, closed);
  closed.assumptions.push_back({"trip count", "16", "--assume trips:3=VALUE", Assumption::Kind::unknown, "trips:3"});
  const auto stopped = [&](const Sharing&) {
    auto e = std::make_shared<Execution>();
    e->workload = counts(64, inside);
    e->complete = false;
    e->unfinished = true;
    return e;
  };
  return count(p, {}, closed, {}, Counting::automatic, stopped);
}

TEST(Count, WhatABlockDidBeforeItWasStoppedIsTheLeastItDoes) {
  const Counted far = stopped_after(64000), near = stopped_after(640);
  EXPECT_EQ(far.workload.block_counts[1].lanes, 64000);
  EXPECT_EQ(far.workload.block_counts[0].lanes, 64);
  EXPECT_THAT(far.workload.assumptions.back().value, HasSubstr("at least"));
  EXPECT_EQ(near.workload.block_counts[1].lanes, 1024);
  EXPECT_EQ(near.execution, nullptr);
  for (const Counted& c : {far, near}) EXPECT_EQ(c.workload.basis(), CountsBasis::defaults);  // and the width of them
}

TEST(Count, ABlockThatFitsNowhereSharesNothing) {
  Workload w;
  w.shared_bytes_per_block = 1e9;
  EXPECT_EQ(sharing_of(w, {}).resident_blocks, 1);
}

TEST(Count, ExecutedTripsReplaceTheDefault) {
  const KernelProfile p = data_decided();
  const auto trips = executed_trips(p, counts(64, 64 * 16), counts(64, 64 * 5));
  ASSERT_EQ(trips.size(), 1u);
  EXPECT_DOUBLE_EQ(trips.at("trips:3"), 5);
}

TEST(Grid, CoversTheLoopsAndNamesWhatIsMissing) {
  KernelProfile p;
  p.kernel = "nest";
  p.mapped_axes = 2;
  p.mapped_extent = {Expr(argument("n")), Expr(7)};
  Launch l;
  l.block = {32, 2, 1};
  EXPECT_THAT([&] { mapped_extents(p, l); },
              testing::ThrowsMessage<UsageError>(HasSubstr("extent arg:n of a mapped loop of 'nest'")));
  l.args["n"] = std::int64_t{65};
  EXPECT_EQ(grid_over(mapped_extents(p, l), l.block).array(), (Extents{3, 4, 1}));
  l.args["n"] = std::int64_t{0};
  EXPECT_THROW(mapped_extents(p, l), UsageError);
  p.mapped_axes = 0;
  EXPECT_THROW(mapped_extents(p, l), UsageError);
}

}  // namespace
}  // namespace kernelcast
