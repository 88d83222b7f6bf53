// The search of step 4: what it finds depends on the banks, caches and codes of the machine, and is never slower than
// what it began with.
#include "probe/ffma_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "unit/probe/machines.h"

namespace {

using namespace kernelcast;
using namespace kernelcast::probe;

sm::Spec kepler() { return sm::load_spec(std::string(KERNELCAST_SOURCE_DIR) + "/devices/sm/nvidia-gk110.toml"); }

TestedSm machine_of_kepler(const sm::Spec& spec) {
  TestedSm m = machine_on(spec);
  m.encoding = {spec.group_instructions, spec.default_code};
  return m;
}

FfmaKnown known_of(const sm::Spec& spec) {
  FfmaKnown known;
  known.banks.classes.resize(static_cast<std::size_t>(spec.banks()));
  for (int r = 0; r < known.registers; ++r) known.banks.classes[static_cast<std::size_t>(spec.bank_of(r))].push_back(r);
  known.latency = spec.latency[static_cast<std::size_t>(sm::Op::ffma)];
  return known;
}

TEST(Patterns, AreAllPairingsWithinAGroup) {
  // Ways to write seven as a sum of ones and twos, each with a filler in one of seven slots or none.
  const std::vector<GroupPattern> all = all_patterns(7);
  EXPECT_EQ(all.size(), 21U * 8);
  std::set<std::pair<std::uint32_t, int>> different;
  for (const GroupPattern& p : all) {
    EXPECT_EQ(p.pairs & (p.pairs << 1U), 0U);
    EXPECT_LT(p.pairs, 64U) << "the last slot has no successor in its group";
    different.insert({p.pairs, p.filler});
  }
  EXPECT_EQ(different.size(), all.size());
}

TEST(Patterns, OfAnOrderPutTheFillerBehindTheSixth) {
  const GroupPattern p = pattern_of({1, 2, 2, 1});
  EXPECT_EQ(p.filler, 6);
  EXPECT_EQ(p.pairs, 0b0101010U);
  EXPECT_EQ(pattern_of({2, 1, 2, 1}).pairs, 0b0101001U);
}

TEST(Groups, TakeTheTileInTurnAndLeaveTheFillerOut) {
  const auto body = ffma_groups({{0, 1, 4, {}}, {0, 1, 5, 7U}}, 3, 2, {0b010, 0}, 9, 3);
  ASSERT_EQ(body.size(), 6U);
  EXPECT_EQ(body[0].op, sm::Op::nop);
  EXPECT_EQ(body[1].destination, 4);
  EXPECT_EQ(body[1].control, 9U) << "slot 1 leads a pair";
  EXPECT_EQ(body[2].destination, 5);
  EXPECT_EQ(body[2].control, 7U) << "its own";
  EXPECT_EQ(body[4].destination, 4);
  EXPECT_EQ(body[0].control, 3U);
}

TEST(FfmaSearch, WithDualIssueLeavesSingleIssueFarBehind) {
  const sm::Spec spec = kepler();
  FfmaKnown known = known_of(spec);
  known.dual = spec.dual_code;
  known.order = pattern_of({1, 2, 2, 1});
  const FfmaSearch found = search_ffma(machine_of_kepler(spec), known);
  EXPECT_LT(found.first_fraction, 0.667) << "four of six sets of lanes";
  EXPECT_GT(found.fraction, 0.95);
  EXPECT_LT(found.tried, 1000);
  std::set<int> sums;
  for (const Ffma& f : found.tile) sums.insert(f.c);
  EXPECT_EQ(sums.size(), found.tile.size()) << "each accumulator once";
  ASSERT_EQ(found.by_filler.size(), 7U);
  EXPECT_LT(found.by_filler[0], *std::ranges::max_element(found.by_filler) - 0.1) << "slot 0 cannot lead a pair";
  ASSERT_EQ(found.by_displacement.size(), 7U);
  EXPECT_NEAR(found.by_displacement[0], found.fraction, 0.01);
  EXPECT_LT(found.by_displacement[2], found.fraction - 0.1) << "pairs straddle the boundary of groups";
}

// Where slot 0 leads pairs as well, other orders are the fastest, and no tile of the search's own beginnings reaches
// them.
TEST(FfmaSearch, IsAtLeastAsFastAsEachOfTheSixOrdersWhereverPairsBegin) {
  for (const bool slot_0_leads : {false, true}) {
    sm::Spec spec = kepler();
    spec.dual_slot0_leads = slot_0_leads;
    const TestedSm m = machine_of_kepler(spec);
    FfmaKnown known = known_of(spec);
    known.dual = spec.dual_code;
    double fastest = 0;
    for (const std::vector<int>& order : all_orders()) {
      const double fraction = order_fraction(m, order, *known.dual, known.banks);
      if (fraction > fastest) known.order = pattern_of(order);
      fastest = std::max(fastest, fraction);
    }
    known.order_tile = order_tile(known.banks);
    // The loops of the orders are shorter than those of the search, so that the loop around them weighs a little more.
    EXPECT_GT(search_ffma(m, known).fraction, fastest - 0.001) << slot_0_leads;
  }
}

TEST(FfmaSearch, FindsBanksAndFlagsThatDoNotConflict) {
  const sm::Spec spec = sm::load_spec(std::string(KERNELCAST_SOURCE_DIR) + "/devices/sm/nvidia-maxwell.toml");
  TestedSm m = machine_on(spec);
  m.encoding.group = spec.group_instructions;
  m.lanes = 128;
  const FfmaSearch plain = search_ffma(m, known_of(spec));
  m.reuse = [](int stall, std::uint8_t flags) {
    sm::Control control;
    control.stall = stall;
    control.reuse = flags;
    return sm::encode_control(control);
  };
  const FfmaSearch flagged = search_ffma(m, known_of(spec));
  EXPECT_GT(flagged.fraction, 0.99);
  EXPECT_LT(flagged.first_fraction, 0.7) << "registers in their order share banks";
  EXPECT_GE(flagged.fraction, plain.fraction - 0.002);
  EXPECT_TRUE(flagged.by_filler.empty());
}

TEST(FfmaSearch, WithoutBanksTheFirstProgramIsAsGoodAsAny) {
  sm::Spec spec = sm::load_spec(std::string(KERNELCAST_SOURCE_DIR) + "/devices/sm/nvidia-gf100.toml");
  TestedSm m = machine_on(spec);
  m.schedulers = spec.schedulers;
  m.warps = 4 * spec.schedulers;
  m.lanes = 32;
  FfmaKnown known;
  known.latency = spec.latency[static_cast<std::size_t>(sm::Op::ffma)];
  for (int registers : {8, 32}) {
    known.registers = registers;
    const FfmaSearch found = search_ffma(m, known);
    EXPECT_NEAR(found.fraction, found.first_fraction, 0.01);
    for (const Ffma& f : found.tile) EXPECT_LT(std::max({f.a, f.b, f.c}), registers);
  }
}

}  // namespace
