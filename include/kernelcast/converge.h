// Loops whose lanes disagree about a branch: step counts of the strategies that make lanes with the same path meet.
//
// A warp runs a loop of which each iteration takes path T or path F. One pass is one execution of one path by the
// warp, for whatever lanes want it; one trip is one execution of the loop's remaining code. The strategies change
// only when lanes run their iterations:
//   plain             every lane in step; an iteration costs a pass for each path that some lane wants
//   majority          postpone: a step is one pass, of the path that more lanes want; the others wait
//   round robin       postpone: the paths take turns; a path that nobody wants is skipped
//   advance           a lane whose iterations N and N+1 differ runs both in one step: mode 2 runs T of N and F of N+1,
//                     mode 1 F of N and T of N+1 (which is out of order), mode 0 only N
//   advance in order  only mode 2, so that every lane keeps the order of its iterations
// docs/reference/converge.md has the derivations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast {

enum class Policy : std::uint8_t { plain, majority, round_robin, advance, advance_in_order };
inline constexpr int policy_count = 5;
/// "plain", "majority", "round-robin", "advance", "advance-in-order".
std::string_view name_of(Policy p);
/// Throws UsageError naming the nearest.
Policy policy_named(std::string_view name);

/// Which path each lane takes in each of its iterations: 1 for T (taken), 0 for F. Lanes may differ in length.
struct BranchPattern {
  std::vector<std::vector<std::uint8_t>> lanes;
  [[nodiscard]] int width() const { return static_cast<int>(lanes.size()); }
  /// Iterations of the longest lane.
  [[nodiscard]] std::int64_t iterations() const;
};

/// A line a lane, one T or F an iteration; blanks inside lines and empty lines mean nothing, # begins a comment. Throws
/// UserError naming `path`, line and column.
BranchPattern parse_pattern(std::string_view text, const std::string& path);

/// What closed forms know of a pattern. Lanes are independent and alike: each is a two-state Markov chain.
struct PatternStatistics {
  double p = 0.5;  // share of iterations that take T
  double f = 0.5;  // probability that a lane changes path from one iteration to the next; at most 2 min(p, 1 - p)
  int width = 32;
  double iterations = 0;  // of a lane; 0: without end, so that the slowest lane is like the mean
};
/// Measured: p over all iterations, f over all pairs of neighbours, iterations the mean of the lanes. p and f of a
/// pattern without iterations are 0.5.
PatternStatistics statistics_of(const BranchPattern& pattern);

/// Every iteration T with probability p, independently.
BranchPattern independent_pattern(int width, std::int64_t iterations, double p, std::uint64_t seed);
/// Lanes start with T with probability p, then change path such that p stays and a change has probability f. Throws
/// UserError when f is above 2 min(p, 1 - p).
BranchPattern flipping_pattern(int width, std::int64_t iterations, double p, double f, std::uint64_t seed);
/// Lanes of which advance saves the share `a` of iterations (0 to 0.5): runs of one path, each ended by a pair of
/// neighbours that differ. Lanes start with a random path and are shifted at random against each other.
BranchPattern advanceable_pattern(int width, std::int64_t iterations, double a, std::uint64_t seed);

/// What is free in the strategies.
struct PolicyOptions {
  bool first_taken = false;  // round robin begins with T instead of F
  bool tie_taken = true;     // majority: T when both are wanted by as many lanes
  int flush_period = 0;      // majority: every so many steps the path that fewer lanes want; 0: never
};

/// What a warp spends on a whole pattern.
struct StepCounts {
  std::int64_t taken = 0, other = 0;  // passes of T and F
  std::int64_t trips = 0;
  [[nodiscard]] std::int64_t passes() const { return taken + other; }
};

/// Lane-exact. Time and memory in proportion to the pattern's iterations.
StepCounts replay(const BranchPattern& pattern, Policy policy, const PolicyOptions& options = {});

/// Fewest passes of any schedule.
struct BestSchedule {
  std::optional<std::int64_t> in_order;  // lanes keep the order of their iterations; without value: too large to find
  std::int64_t in_order_bound = 0;       // no schedule that keeps the order has fewer
  std::int64_t any_order = 0;            // iterations of a lane may be exchanged: exact
};
/// In order, the answer is a shortest common supersequence of the lanes: exact by breadth-first search over the lanes'
/// positions, as long as there are no more than `state_limit` of them.
BestSchedule best_schedule(const BranchPattern& pattern, std::int64_t state_limit = 4'000'000);

/// Passes and trips for each iteration of a lane.
struct StepRates {
  double taken = 0, other = 0, trips = 0;
  [[nodiscard]] double passes() const { return taken + other; }
};
/// Closed forms for loops without end, for majority the stationary state of a Markov chain. With `iterations` the warp
/// goes on until its slowest lane is through: the expected largest of `width` normal variables for round robin and
/// advance, replays of generated patterns for majority. Throws UserError for statistics out of range.
StepRates expected_rates(Policy policy, const PatternStatistics& statistics, const PolicyOptions& options = {});

/// Cost of the parts of the loop's body, in any unit.
struct LoopCosts {
  double taken = 1, other = 1;  // of one pass of path T, of path F
  double rest = 1;              // of the code outside of both paths; in advance it is run with each path
  double choosing = 0;          // what the strategy itself costs in a trip; plain has none
  /// Costs inside the paths over costs outside: rho.
  [[nodiscard]] double rho() const { return (taken + other) / rest; }
};
/// Time of one iteration in units of the costs.
double time_of(Policy policy, const StepRates& rates, const LoopCosts& costs);
/// Time of plain over time of the policy, both from expected_rates.
double expected_speedup(Policy policy, const PatternStatistics& statistics, const LoopCosts& costs,
                        const PolicyOptions& options = {});
/// rho above which the policy gains, with the paths' costs in the same proportion and `choosing` in units of `rest`.
/// Without value: it never does.
std::optional<double> break_even_rho(Policy policy, const PatternStatistics& statistics, const LoopCosts& costs,
                                     const PolicyOptions& options = {});

}  // namespace kernelcast
