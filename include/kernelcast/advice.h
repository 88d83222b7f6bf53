// What to do about a divergent loop: verdicts, predicted gains, a recommendation.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernelcast/converge.h"
#include "kernelcast/loops.h"

namespace kernelcast {

/// One strategy on one loop. Speedup is that of the loop; without value: not known or not legal, see `reason`.
struct StrategyAdvice {
  Policy policy{};
  LegalityVerdict verdict;
  std::optional<double> speedup;  // none where no branch is left: there is nothing to converge
  double low = 0, high = 0;  // interval: choosing for nothing and twice as dear; with an assumed pattern also others
  std::optional<double> break_even_rho;
  std::optional<double> executed;  // of the kernel: warp instructions before over after the rewrite, both executed
};

/// What the target's code has instead of the loop's branch.
enum class BranchCode : std::uint8_t {
  branch,
  selections,  // both sides' values are computed and one is selected: the compiler left no branch
  predicated   // short paths whose instructions are all issued, each lane heeding those of its own path: no branch either
};
std::string_view name_of(BranchCode c);

/// What is known of a loop beside its source.
struct LoopFacts {
  std::vector<BranchPattern> warps;  // executed: one pattern a warp; empty: the statistics are assumed
  PatternStatistics statistics;
  std::optional<LoopCosts> costs;    // instructions; `choosing` is set by advise(). Without a branch: of each iteration
  std::string costs_reason;          // why there are none
  double share_of_kernel = 0;        // of warp instructions; 0: not known
  BranchCode code = BranchCode::branch;
  std::map<Policy, double> executed;  // as StrategyAdvice::executed, where a rewrite was tried
};

struct LoopAdvice {
  DivergentLoop loop;
  LoopFacts facts;
  std::vector<StrategyAdvice> strategies;  // majority, round robin, advance, advance in order
  std::optional<Policy> recommended;       // nothing: leave it
  std::optional<double> kernel_speedup;    // with the recommended one: executed, else by Amdahl's law
  std::string recommendation;
};

LoopAdvice advise(DivergentLoop loop, LoopFacts facts);

/// A loop that no strategy mends, since its lanes leave it at different times.
struct UnevenAdvice {
  UnevenLoop loop;
  std::optional<double> active;  // executed: mean share of a warp's lanes that are active in it
  std::string recommendation;
};
UnevenAdvice advise(UnevenLoop loop, std::optional<double> active);

/// Patterns of the warps from the rows that an instrumented kernel recorded (loops.h): words of the buffer, threads of a
/// block, lanes of a warp.
std::vector<BranchPattern> recorded_patterns(const std::vector<std::uint32_t>& words, std::int64_t block_threads, int warp_size);

}  // namespace kernelcast
