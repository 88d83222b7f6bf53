// Small blocks where the best choice is seen at a glance, and a brute-force twin of the whole rule on random ones.
#include "frontend/code/nvidia/ptx_spills.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

namespace kernelcast::frontend {
namespace {

std::vector<std::vector<std::size_t>> in_text_order(const FlowGraph& g) {
  std::vector<std::vector<std::size_t>> order;
  for (const FlowBlock& b : g.blocks) {
    order.emplace_back(b.code.size());
    std::iota(order.back().begin(), order.back().end(), std::size_t{0});
  }
  return order;
}

Spills spills_of(const FlowGraph& g, int registers, bool last_is_copy = false) {
  std::vector<std::vector<bool>> copies;
  for (const FlowBlock& b : g.blocks) {
    copies.emplace_back(b.code.size(), false);
    if (last_is_copy) copies.back().back() = true;
  }
  return find_spills(g, live_out(g), in_text_order(g), copies, registers);
}

int loads(const Spills& s) {
  int n = 0;
  for (const auto& block : s.at)
    for (const SpillAccess& a : block) n += a.loads;
  return n;
}
int stores(const Spills& s) {
  int n = 0;
  for (const auto& block : s.at)
    for (const SpillAccess& a : block) n += a.stores;
  return n;
}

// 0, 1 and 2 are made, then read as 1, 2, 0: with two registers it is 0 that waits in local memory.
FlowGraph three_values() {
  FlowGraph g;
  g.weight = {1, 1, 1};
  g.blocks = {{{{{}, {0}}, {{}, {1}}, {{}, {2}}, {{1}, {}}, {{2}, {}}, {{0}, {}}}, {}}};
  return g;
}

TEST(Spills, NoneWhereAllFits) {
  const Spills s = spills_of(three_values(), 3);
  EXPECT_EQ(loads(s), 0);
  EXPECT_EQ(stores(s), 0);
}

TEST(Spills, TheValueThatIsUsedLastGoes) {
  const Spills s = spills_of(three_values(), 2);
  EXPECT_EQ(s.at[0][0].stores, 1);  // where it is made
  EXPECT_EQ(s.at[0][5].loads, 1);   // where it is read
  EXPECT_EQ(loads(s), 1);
  EXPECT_EQ(stores(s), 1);
  EXPECT_EQ(s.spilled, (std::vector<bool>{true, false, false}));
}

TEST(Spills, WideValuesCountDouble) {
  FlowGraph g = three_values();
  g.weight = {2, 1, 1};
  const Spills s = spills_of(g, 2);
  EXPECT_EQ(s.at[0][0].stores, 2);
  EXPECT_EQ(s.at[0][5].loads, 2);
}

TEST(Spills, ARenamedValueCostsNothing) {
  const Spills s = spills_of(three_values(), 2, /*last_is_copy=*/true);
  EXPECT_EQ(loads(s), 0);
  EXPECT_EQ(stores(s), 0);
}

// A loop with four values that live around it and are read in turn, and room for three: the fourth is loaded each time.
TEST(Spills, ValuesThatOnlyPassThroughALoopAreTheFirstToGo) {
  FlowGraph g;
  g.weight = {1, 1, 1, 1, 1};
  g.blocks = {{{{{}, {0}}, {{}, {1}}, {{}, {2}}, {{}, {3}}, {{}, {4}}}, {1}},
              {{{{0}, {}}, {{1}, {}}, {{2}, {}}}, {1, 2}},
              {{{{3}, {}}, {{4}, {}}, {{0}, {}}, {{1}, {}}, {{2}, {}}}, {}}};
  const Spills s = spills_of(g, 3);
  for (const SpillAccess& a : s.at[1]) EXPECT_EQ(a.loads, 0);  // 3 and 4 wait outside
  EXPECT_GT(loads(s), 0);
}

// More registers never mean more loads, and enough of them none.
RC_GTEST_PROP(Spills, MoreRegistersNeverMeanMoreLoads, ()) {
  const int values = *rc::gen::inRange(2, 12);
  FlowGraph g;
  g.weight.assign(static_cast<std::size_t>(values), 1);
  FlowBlock block;
  for (int v = 0; v < values; ++v) block.code.push_back({{}, {v}});
  const auto reads = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, values));
  for (int r : reads) block.code.push_back({{r}, {}});
  g.blocks = {block};
  int before = 1 << 30;
  for (int registers = 1; registers <= values; ++registers) {
    const int now = loads(spills_of(g, registers));
    RC_ASSERT(now <= before);
    before = now;
  }
  RC_ASSERT(before == 0);
}

/// The fewest loads over all choices of what to drop, by trying each; a value comes back by one load.
int fewest_loads(const std::vector<int>& reads, std::size_t at, std::vector<int> held, std::size_t room) {
  if (at == reads.size()) return 0;
  if (std::find(held.begin(), held.end(), reads[at]) != held.end()) return fewest_loads(reads, at + 1, held, room);
  int best = 1 << 30;
  if (held.size() < room) {
    held.push_back(reads[at]);
    return 1 + fewest_loads(reads, at + 1, held, room);
  }
  for (std::size_t k = 0; k < held.size(); ++k) {
    std::vector<int> next = held;
    next[k] = reads[at];
    best = std::min(best, 1 + fewest_loads(reads, at + 1, next, room));
  }
  return best;
}

// Belady's choice is the best one: no sequence of choices loads less often. All values are there from the start, the
// first that are read in registers.
RC_GTEST_PROP(Spills, NoChoiceLoadsLessOften, ()) {
  const int values = *rc::gen::inRange(3, 6);
  const auto reads = *rc::gen::resize(9, rc::gen::container<std::vector<int>>(rc::gen::inRange(0, values)));
  const int registers = *rc::gen::inRange(1, values);
  FlowGraph g;
  g.weight.assign(static_cast<std::size_t>(values), 1);
  FlowBlock block;
  for (int r : reads) block.code.push_back({{r}, {}});
  g.blocks = {block};
  std::vector<int> first;
  for (int r : reads)
    if (static_cast<int>(first.size()) < registers && std::find(first.begin(), first.end(), r) == first.end())
      first.push_back(r);
  RC_ASSERT(loads(spills_of(g, registers)) <= fewest_loads(reads, 0, first, static_cast<std::size_t>(registers)));
}

}  // namespace
}  // namespace kernelcast::frontend
