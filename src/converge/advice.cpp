// Predicted gains: executed patterns are replayed warp by warp, assumed ones go through the closed forms; both with the
// instructions of the paths and of the rest. A strategy is recommended when the whole interval promises a gain.
#include "kernelcast/advice.h"
#include "kernelcast/setting.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace kernelcast {
namespace {

// Majority: instructions of converge/device.h in each pass, counted by executing it for sm_70 (votes, population
// counts, comparisons, selections, the warp's barrier; docs/reference/converge.md). The others as --rewrite writes
// them: the loop's test and the branch's condition once more, with their branches.
constexpr double majority_instructions = 18, rewritten_instructions = 4;
constexpr double nearly = 0.98;                             // of the best: good enough to prefer what --rewrite can do
constexpr double hardly_active = 0.5, evenly_active = 0.9;  // of a warp's lanes
constexpr double least_gain = 1.03;                         // below, the risk is not worth it
constexpr double short_paths = 12;  // instructions of both paths that compilers predicate rather than branch
constexpr double rarely = 0.02;

StepRates rates_of(const std::vector<BranchPattern>& warps, Policy policy, const PolicyOptions& options) {
  StepRates sum;
  for (const BranchPattern& w : warps) {
    const StepCounts c = replay(w, policy, options);
    sum.taken += static_cast<double>(c.taken);
    sum.other += static_cast<double>(c.other);
    sum.trips += static_cast<double>(c.trips);
  }
  return sum;
}

PolicyOptions options_of(Policy policy) {
  PolicyOptions options;
  if (policy == Policy::majority) options.flush_period = 8;  // as the library
  return options;
}

void predict(StrategyAdvice& s, const LoopFacts& facts) {
  if (!facts.costs || facts.code != BranchCode::branch) return;
  LoopCosts costs = *facts.costs;
  const PolicyOptions options = options_of(s.policy);
  const auto ask = [&](const PatternStatistics& statistics, double choosing) {
    costs.choosing = choosing;
    if (facts.warps.empty()) return expected_speedup(s.policy, statistics, costs, options);
    return time_of(Policy::plain, rates_of(facts.warps, Policy::plain, options), costs) /
           time_of(s.policy, rates_of(facts.warps, s.policy, options), costs);
  };
  const double choosing = s.policy == Policy::majority ? majority_instructions : rewritten_instructions;
  s.speedup = ask(facts.statistics, choosing);
  s.low = ask(facts.statistics, 2 * choosing);
  s.high = ask(facts.statistics, 0);
  if (facts.warps.empty()) {
    for (const double p : {0.25, 0.5}) {
      for (const double f : {0.5, 1.0, 1.5}) {
        PatternStatistics other = facts.statistics;
        other.p = p;
        other.f = std::min(f * 2 * p * (1 - p), 2 * p);
        s.low = std::min(s.low, ask(other, 2 * choosing));
        s.high = std::max(s.high, ask(other, 0));
      }
    }
  }
  costs.choosing = choosing;
  s.break_even_rho = break_even_rho(s.policy, facts.statistics, costs, options);
}

/// What makes the lanes of a warp agree. Where their index decides, no order of the inputs does.
std::string towards_agreement(LaneShape shape) {
  switch (shape) {
    case LaneShape::neighbours:
      return "the thread's index decides and lanes of one path are neighbours, so that whole warps agree already";
    case LaneShape::scattered:
      return "the thread's index decides, whatever the inputs: renumber the work so that threads of one path are "
             "neighbours and whole warps agree";
    case LaneShape::data:
      break;
  }
  return "sort or bin the inputs so that the lanes of a warp agree";
}

/// Why nothing here helps, and what would.
std::string other_advice(const LoopAdvice& a) {
  const PatternStatistics& s = a.facts.statistics;
  if (a.facts.code == BranchCode::selections)
    return "leave it; the compiler has made selections of the branch: there is nothing to converge";
  if (a.facts.code == BranchCode::predicated)
    return "leave it; the branch is predicated: each iteration issues both paths whatever the lanes want, so there is "
           "nothing to converge";
  const auto stands = [&a](Legality l) {
    return std::all_of(a.strategies.begin(), a.strategies.end(), [l](const StrategyAdvice& x) {
      return x.verdict.legal == l || x.verdict.legal == Legality::no;
    });
  };
  const std::string sort = ": " + towards_agreement(a.loop.shape);
  if (stands(Legality::no)) return "leave it; no strategy is legal" + sort;
  if (stands(Legality::unknown)) return "leave it, unless what a strategy asks to assert holds";
  if (a.loop.same_calls) return "leave it; both paths call the same function: hoist the call behind the branch";
  if (a.facts.costs && a.facts.costs->taken + a.facts.costs->other < short_paths)
    return "leave it; the paths are short: write them as selections, so that they are predicated";
  if (std::min(s.p, 1 - s.p) < rarely && !a.facts.warps.empty())
    return "leave it; one path is rare: lanes seldom disagree";
  if (s.f < 0.25 * 2 * s.p * (1 - s.p) && !a.facts.warps.empty()) return "leave it; lanes keep to their path" + sort;
  const bool tried = !a.facts.executed.empty() && a.loop.postpone.legal == Legality::yes;
  if (!a.facts.costs && tried) return "leave it; the rewritten kernels gain too little, executed";
  if (!a.facts.costs) return "leave it; the gain is not known: " + a.facts.costs_reason;
  return "leave it; no legal strategy gains enough: move code out of the branch" +
         (a.loop.shape == LaneShape::data ? ", or sort or bin the inputs" : "; " + towards_agreement(a.loop.shape));
}

}  // namespace

std::string_view name_of(BranchCode c) {
  constexpr std::string_view names[] = {"branch", "selections", "predicated"};
  return names[static_cast<std::size_t>(c)];
}

LoopAdvice advise(DivergentLoop loop, LoopFacts facts) {
  LoopAdvice a;
  a.loop = std::move(loop);
  a.facts = std::move(facts);
  const StrategyAdvice* best = nullptr;
  for (const Policy policy : {Policy::majority, Policy::round_robin, Policy::advance, Policy::advance_in_order}) {
    StrategyAdvice s;
    s.policy = policy;
    s.verdict = policy == Policy::advance            ? a.loop.advance
                : policy == Policy::advance_in_order ? a.loop.advance_in_order
                                                     : a.loop.postpone;
    predict(s, a.facts);
    if (const auto ran = a.facts.executed.find(policy); ran != a.facts.executed.end()) s.executed = ran->second;
    a.strategies.push_back(s);
  }
  const auto rewritable = [&a](const StrategyAdvice& s) {
    return s.policy != Policy::majority && a.loop.no_rewrite.empty();
  };
  // The rewritten text takes the branch of the next iteration when it comes; the library asks for it before.
  const auto possible = [&](const StrategyAdvice& s) {
    return s.policy != Policy::advance_in_order || rewritable(s) || a.loop.known_ahead;
  };
  // What the whole kernel gains; nothing where it is not enough.
  const auto kernel_gain = [&](const StrategyAdvice& s) -> std::optional<double> {
    if (a.facts.code != BranchCode::branch || s.verdict.legal != Legality::yes || !possible(s)) return std::nullopt;
    if (s.executed) return *s.executed >= least_gain ? s.executed : std::nullopt;
    if (!s.speedup || s.low < least_gain) return std::nullopt;
    const double share = a.facts.share_of_kernel > 0 ? a.facts.share_of_kernel : 1;
    return 1 / (1 - share + share / *s.speedup);  // Amdahl's law
  };
  double best_gain = 0;
  for (const StrategyAdvice& s : a.strategies) {
    const std::optional<double> gain = kernel_gain(s);
    if (!gain) continue;
    const double handicap = best != nullptr && rewritable(s) && !rewritable(*best) ? nearly : 1;
    if (best != nullptr && *gain <= best_gain * handicap) continue;
    best = &s;
    best_gain = *gain;
  }
  if (best == nullptr) {
    a.recommendation = other_advice(a);
    return a;
  }
  a.recommended = best->policy;
  a.recommendation = fmt::format("{} ({})", name_of(best->policy),
                                 rewritable(*best) ? KC_SETTING(rewrite) " does it" : "with the library converge/");
  if (!rewritable(*best) && a.loop.leaves)
    a.recommendation += "; the test that leaves the loop goes into its condition";
  if (best->executed && best->speedup && *best->speedup < least_gain)
    a.recommendation +=
        fmt::format("; what its execution shows counts, not the {:.2f} predicted of the loop", *best->speedup);
  if (a.facts.share_of_kernel > 0) a.kernel_speedup = best_gain;
  return a;
}

UnevenAdvice advise(UnevenLoop loop, std::optional<double> active) {
  UnevenAdvice a{std::move(loop), active, ""};
  a.recommendation = "sort or bin the inputs by length";
  if (active && *active >= evenly_active) a.recommendation = "leave it; most lanes are through at the same time";
  if (!active || *active < hardly_active) {
    a.recommendation +=
        ", or, where new items cost little, let lanes that are through begin their next one: one loop over items and "
        "steps";
  }
  return a;
}

std::vector<BranchPattern> recorded_patterns(const std::vector<std::uint32_t>& words, std::int64_t block_threads,
                                             int warp_size) {
  if (words.empty()) return {};
  const std::size_t rows = std::min<std::size_t>(words[0], pattern_rows);
  std::map<std::pair<std::uint32_t, std::uint32_t>, BranchPattern> warps;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t at = 1 + r * pattern_row_words;
    if (at + pattern_row_words > words.size()) break;
    const std::uint32_t thread = words[at + 1];
    if (thread >= static_cast<std::uint32_t>(block_threads)) continue;
    std::vector<std::uint8_t> lane;
    const std::uint32_t bits = std::min<std::uint32_t>(words[at + 2], pattern_bits);
    for (std::uint32_t k = 0; k < bits; ++k) lane.push_back(words[at + 3 + k / 32] >> (k % 32) & 1U);
    if (!lane.empty())
      warps[{words[at], thread / static_cast<std::uint32_t>(warp_size)}].lanes.push_back(std::move(lane));
  }
  std::vector<BranchPattern> patterns;
  for (auto& [where, pattern] : warps) patterns.push_back(std::move(pattern));
  return patterns;
}

}  // namespace kernelcast
