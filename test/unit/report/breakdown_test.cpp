// Shares by hand for a copy kernel on one launch: every figure below follows from the profile's counts.
#include "report/breakdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernelcast/bind.h"
#include "kernelcast/error.h"
#include "support/copy_profile.h"

namespace kernelcast::report {
namespace {

Launch launch_of(std::int64_t n, std::int64_t rounds) {
  Launch launch;
  launch.grid = {4, 1, 1};
  launch.block = {64, 1, 1};
  launch.args["n"] = n;
  launch.args["rounds"] = rounds;
  return launch;
}

struct Case {
  KernelProfile profile = test::copy_profile();
  Launch launch = launch_of(256, 3);
  Workload workload = Binder(profile, MemoryGeometry{}).bind(launch);
};

TEST(Breakdown, LinesShareInstructionsAndSectors) {
  const Case c;
  const Breakdown b = breakdown(c.profile, c.workload, c.launch);
  // 8 warps: 2 + 2 instructions each in the copy, 3 rounds of 1 in the loop.
  EXPECT_DOUBLE_EQ(b.instructions, 8 * (2 + 2 + 3));
  // 8 warps load and store 32 floats each: 4 sectors of 32 bytes a request.
  EXPECT_DOUBLE_EQ(b.sectors, 8 * 2 * 4);
  ASSERT_EQ(b.lines.size(), 3U);
  EXPECT_EQ(b.lines[0].line.line, 5);
  EXPECT_DOUBLE_EQ(b.lines[0].instruction_share, 3.0 / 7);
  double instructions = 0, sectors = 0;
  for (const LineShare& s : b.lines) {
    instructions += s.instruction_share;
    sectors += s.sector_share;
    EXPECT_DOUBLE_EQ(s.sector_share, s.line.line == 3 ? 1.0 : 0.0);
  }
  EXPECT_DOUBLE_EQ(instructions, 1.0);
  EXPECT_DOUBLE_EQ(sectors, 1.0);
}

TEST(Breakdown, TripsAreNumbersUnderTheLaunch) {
  const Case c;
  const Breakdown b = breakdown(c.profile, c.workload, c.launch);
  ASSERT_EQ(b.loops.size(), 1U);
  EXPECT_EQ(b.loops[0].exact, 3);
  EXPECT_FALSE(b.loops[0].assumed.has_value());
}

TEST(Breakdown, TripsThatDependOnTheLaneGetARange) {
  Case c;
  c.profile.loops[0].trips = Expr(local_id(0)) + 1;
  const Workload w = Binder(c.profile, MemoryGeometry{}).bind(launch_of(256, 3));
  const Breakdown b = breakdown(c.profile, w, c.launch);
  EXPECT_FALSE(b.loops[0].exact.has_value());
  ASSERT_TRUE(b.loops[0].between.has_value());
  EXPECT_EQ(b.loops[0].between->lo, 1);
  EXPECT_EQ(b.loops[0].between->hi, 64);
}

TEST(Breakdown, UnknownTripsShowWhatWasAssumed) {
  Case c;
  c.profile.unknowns = {{Unknown::Kind::trip_count, "trips:4", {0, 4}, 16, false, "bound is loaded from memory"}};
  c.profile.loops[0].unknown = 0;
  const auto trips = [&](const Launch& launch) {
    return breakdown(c.profile, Binder(c.profile, MemoryGeometry{}).bind(launch), launch).loops[0].assumed;
  };
  EXPECT_EQ(trips(c.launch), 16.0);
  c.launch.assume["trips:4"] = 5;
  EXPECT_EQ(trips(c.launch), 5.0);
}

TEST(Breakdown, PatternsInWords) {
  const Case c;
  const Breakdown b = breakdown(c.profile, c.workload, c.launch);
  ASSERT_EQ(b.accesses.size(), 3U);
  EXPECT_EQ(b.accesses[0].words, "coalesced");
  EXPECT_EQ(b.accesses[0].lane_stride, 4);
  EXPECT_DOUBLE_EQ(b.accesses[0].sectors_per_request, 4);
  // Stride of two words on 32 banks of one word: two lanes a bank.
  EXPECT_EQ(b.accesses[2].words, "2-way bank conflicts");
}

TEST(Breakdown, PassesThatEveryWarpNeedsAreNoConflict) {
  MemoryGeometry half_warps;  // as on GT200: a warp always takes two passes
  half_warps.shared_banks = 16;
  Case c;
  const auto words = [&](std::int64_t stride) {
    c.profile.blocks[1].accesses[0].offset = stride * Expr(local_id(0));
    const Workload w = Binder(c.profile, half_warps).bind(c.launch);
    return breakdown(c.profile, w, c.launch).accesses[2].words;
  };
  EXPECT_EQ(words(4), "no bank conflict");
  EXPECT_EQ(words(0), "no bank conflict");
  EXPECT_EQ(words(16), "4-way bank conflicts");
}

std::string words_of_stride(std::int64_t stride) {
  Case c;
  c.profile.blocks[0].accesses[0].offset = stride * Expr(local_id(0)) + 1024;
  const Workload w = Binder(c.profile, MemoryGeometry{}).bind(c.launch);
  return breakdown(c.profile, w, c.launch).accesses[0].words;
}

TEST(Breakdown, WordsFollowTheStride) {
  EXPECT_EQ(words_of_stride(0), "broadcast along x");
  EXPECT_EQ(words_of_stride(4), "coalesced");
  EXPECT_EQ(words_of_stride(-4), "coalesced, backwards");
  EXPECT_EQ(words_of_stride(64), "stride of 64 bytes");
}

TEST(Breakdown, DataDecideThePattern) {
  Case c;
  c.profile.unknowns = {{Unknown::Kind::address, "access:3", {0, 3}, 32, false, "index is loaded at line 3"}};
  c.profile.blocks[0].accesses[0].unknown = 0;
  const Workload w = Binder(c.profile, MemoryGeometry{}).bind(c.launch);
  const Breakdown b = breakdown(c.profile, w, c.launch);
  EXPECT_EQ(b.accesses[0].words, "data-dependent");
  EXPECT_FALSE(b.accesses[0].lane_stride.has_value());
}

TEST(Breakdown, AWorkloadOfAnotherProfileIsABug) {
  const Case c;
  KernelProfile other = c.profile;
  other.blocks.pop_back();
  EXPECT_THROW(breakdown(other, c.workload, c.launch), InternalError);
}

TEST(LineText, NamesTheFileWithoutItsFolder) {
  KernelProfile p;
  p.files = {"some/folder/k.cl"};
  EXPECT_EQ(line_text(p, {0, 7}), "k.cl:7");
  EXPECT_EQ(line_text(p, {}), "unknown line");
}

}  // namespace
}  // namespace kernelcast::report
