// What a listener sees adds up to what the run was.
#include "kernelcast/sm_views.h"

#include <gtest/gtest.h>

#include <numeric>

namespace {

using namespace kernelcast::sm;

Spec two_schedulers() {
  Spec s;
  s.id = s.name = "plain";
  s.schedulers = 2;
  s.units = {{"cores", {Op::ffma, Op::fadd}, 1, 1}, {"memory", {Op::load_global}, 2, 4}};
  s.latency[static_cast<std::size_t>(Op::ffma)] = 6;
  s.latency[static_cast<std::size_t>(Op::fadd)] = 6;
  s.dram_latency = 300;
  s.l1_latency = 30;
  s.l2_latency = 100;
  return s;
}

constexpr const char* text =
    ".access a lane=4 warp=128\nloop 20\nLDG R4, R0, [a]\nFFMA R5, R4, R1, R5\nFADD R6, R5, R1\nBAR\nend\n";

Views seen(int warps, int blocks, const ViewOptions& options = {}) {
  SmLaunch launch;
  launch.warps_per_block = warps;
  launch.blocks = blocks;
  return watch(two_schedulers(), assemble(text, "t"), launch, options);
}

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

TEST(Views, WarpsAreAccountedForInEveryCycle) {
  const Views v = seen(4, 2);
  std::uint64_t issued = 0, by_warp = 0, by_window = 0;
  for (const StallCycles& w : v.by_warp) {
    issued += w[static_cast<std::size_t>(Stall::issued)];
    by_warp += std::accumulate(w.begin(), w.end(), std::uint64_t{0});
  }
  for (const StallCycles& w : v.by_window) by_window += std::accumulate(w.begin(), w.end(), std::uint64_t{0});
  EXPECT_EQ(issued, v.result.warp_instructions);
  EXPECT_EQ(by_warp, by_window);
  // Both blocks fit at once: no warp lives longer than the run, and the slowest lives as long.
  std::uint64_t longest = 0;
  for (const StallCycles& w : v.by_warp)
    longest = std::max(longest, std::accumulate(w.begin(), w.end(), std::uint64_t{0}));
  EXPECT_EQ(longest, v.result.cycles);
}

TEST(Views, TheTimelineIsInOrderAndHoldsEveryIssue) {
  const Views v = seen(3, 1, {100'000, 100'000, 10});
  EXPECT_EQ(v.timeline.size(), v.result.warp_instructions);
  for (std::size_t i = 1; i < v.timeline.size(); ++i) EXPECT_LE(v.timeline[i - 1].cycle, v.timeline[i].cycle);
  EXPECT_EQ(seen(3, 1, {7, 7, 10}).timeline.size(), 7U);
}

TEST(Views, SpansSayWhatEachWarpDidInEachCycle) {
  const Views v = seen(4, 2, {100'000, 100'000, 10});
  std::vector<StallCycles> by_warp(v.by_warp.size());
  std::vector<std::uint64_t> end(v.by_warp.size(), 0);
  for (const Span& s : v.spans) {
    const auto warp = static_cast<std::size_t>(s.warp);
    by_warp[warp][static_cast<std::size_t>(s.why)] += s.cycles;
    EXPECT_EQ(s.cycle, end[warp]) << "a cycle of warp " << s.warp << " is in no span or in two";
    end[warp] = s.cycle + s.cycles;
  }
  EXPECT_EQ(by_warp, v.by_warp);
  EXPECT_EQ(seen(4, 2, {7, 5, 10}).spans.size(), 5U);
}

TEST(Views, PipesAreAsBusyAsTheResultSays) {
  const Views v = seen(4, 3);
  ASSERT_EQ(v.units.size(), 2U);
  EXPECT_EQ(v.units[0].sets, 2);
  EXPECT_EQ(v.units[1].sets, 1);
  for (std::size_t u = 0; u < v.units.size(); ++u) EXPECT_EQ(sum(v.units[u].by_window), v.result.unit_busy[u]);
  EXPECT_EQ(sum(v.units[0].by_window), 4u * 3 * 20 * 2);
}

TEST(Views, ReasonsAreThoseOfTheProgram) {
  const Views one = seen(1, 1);
  const auto share = [](const Views& v, Stall s) { return v.by_warp[0][static_cast<std::size_t>(s)]; };
  // A lone warp waits for its loads; at the barrier it waits for nobody.
  EXPECT_GT(share(one, Stall::dependency), one.result.cycles / 2);
  EXPECT_EQ(share(one, Stall::not_selected), 0U);
}

TEST(Views, WatchingChangesNothing) {
  const Views v = seen(4, 3);
  SmLaunch launch;
  launch.warps_per_block = 4;
  launch.blocks = 3;
  EXPECT_EQ(v.result.cycles, simulate(two_schedulers(), assemble(text, "t"), launch).cycles);
  EXPECT_EQ(disassemble(assemble(v.program, "again")), v.program);
}

}  // namespace
