// The recommendation from verdicts and facts alone.
#include "kernelcast/advice.h"

#include <gtest/gtest.h>

namespace kernelcast {
namespace {

DivergentLoop legal_loop() {
  DivergentLoop loop;
  for (LegalityVerdict* v : {&loop.postpone, &loop.advance, &loop.advance_in_order}) v->legal = Legality::yes;
  return loop;
}

LoopFacts facts_with(BranchCode code, double path) {
  LoopFacts facts;
  facts.costs = LoopCosts{path, path, 1, 0};
  facts.code = code;
  return facts;
}

TEST(Advice, LongPathsThatBranchAreWorthIt) {
  const LoopAdvice a = advise(legal_loop(), facts_with(BranchCode::branch, 200));
  ASSERT_TRUE(a.recommended);
  for (const StrategyAdvice& s : a.strategies) {
    ASSERT_TRUE(s.speedup) << name_of(s.policy);
    EXPECT_LE(s.low, *s.speedup);
    EXPECT_GE(s.high, *s.speedup);
  }
}

// The same costs without a branch: both paths are issued in any case, so that no order of lanes saves one.
TEST(Advice, WithoutABranchNothingIsPredicted) {
  for (const auto& [code, word] :
       {std::pair{BranchCode::predicated, "predicated"}, {BranchCode::selections, "selections"}}) {
    const LoopAdvice a = advise(legal_loop(), facts_with(code, 200));
    EXPECT_FALSE(a.recommended);
    EXPECT_EQ(a.recommendation.find("leave it"), 0U) << a.recommendation;
    EXPECT_NE(a.recommendation.find(word), std::string::npos) << a.recommendation;
    for (const StrategyAdvice& s : a.strategies) {
      EXPECT_FALSE(s.speedup);
      EXPECT_FALSE(s.break_even_rho);
    }
  }
}

// Even where the rewritten kernel, executed, had fewer instructions for another reason.
TEST(Advice, WithoutABranchARewriteIsNotRecommended) {
  LoopFacts facts = facts_with(BranchCode::predicated, 8);
  facts.executed[Policy::round_robin] = 1.2;
  EXPECT_FALSE(advise(legal_loop(), facts).recommended);
  facts.code = BranchCode::branch;
  EXPECT_EQ(advise(legal_loop(), facts).recommended, Policy::round_robin);
}

// A reader of both numbers must not take them for a contradiction.
TEST(Advice, AGainThatWasExecutedAgainstThePredictionSaysSo) {
  LoopFacts facts = facts_with(BranchCode::branch, 0.3);
  facts.executed[Policy::round_robin] = 1.2;
  const LoopAdvice a = advise(legal_loop(), facts);
  EXPECT_EQ(a.recommended, Policy::round_robin);
  EXPECT_NE(a.recommendation.find("what its execution shows counts"), std::string::npos) << a.recommendation;
  facts = facts_with(BranchCode::branch, 200);
  facts.executed[Policy::round_robin] = 1.2;
  EXPECT_EQ(advise(legal_loop(), facts).recommendation.find("execution shows"), std::string::npos);
}

// The library asks for the branch of the next iteration before this one has run; the rewritten text does not.
TEST(Advice, AdvanceInOrderByTheLibraryNeedsABranchThatIsKnownAhead) {
  DivergentLoop loop = legal_loop();
  loop.advance.legal = Legality::no;
  LoopFacts facts = facts_with(BranchCode::branch, 200);
  facts.executed = {{Policy::majority, 1.05}, {Policy::round_robin, 1.1}, {Policy::advance_in_order, 1.3}};
  EXPECT_EQ(advise(loop, facts).recommended, Policy::advance_in_order);
  loop.no_rewrite = "it stands in a macro";
  EXPECT_EQ(advise(loop, facts).recommended, Policy::round_robin);
  loop.known_ahead = true;
  EXPECT_EQ(advise(loop, facts).recommended, Policy::advance_in_order);
}

}  // namespace
}  // namespace kernelcast
