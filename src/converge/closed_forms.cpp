// Closed forms. A lane is a Markov chain over its paths: after T comes F with probability x = f / (2 p), after F comes
// T with y = f / (2 q). Independent iterations are x = q, y = p, f = 2 p q.
//
// plain            T runs unless no lane wants it: 1 - q^W; F: 1 - p^W.
// round robin      Per round of both turns, a lane runs all but one for each T F boundary: rounds per iteration are
//                  1 - f/2. At T's turn a lane wants T with probability s = y / (x + y - x y), at F's turn F with
//                  x / (x + y - x y); a turn that no lane wants is skipped. Many lanes: 2 - f passes.
// advance          A lane's state before a step is the path it takes if that is already known, or the path it took
// last.
//                  Four states; steps per iteration are 1 over the mean advance. In closed form the share of saved
//                  iterations is a = f/2 (2 - x - y) / (1 - x y).
// majority         The number of lanes that want T is a Markov chain, since each lane that runs T wants F next with x,
//                  independently of all others: majority_chain.cpp. That is the limit of long loops.
//
// Lanes end at different times: the warp goes on until the slowest is through. The rounds or steps of a lane are a
// renewal count, normal in the limit with variance n v; the expected largest of W adds sqrt(n v) e(W) (Blom,
// Statistical Estimates and Transformed Beta-Variables, 1958, for e(W)).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "converge/majority_chain.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

struct Lane {
  double p, q, x, y;
};

Lane lane_of(const PatternStatistics& s) {
  if (!(s.p >= 0 && s.p <= 1)) throw UserError(fmt::format("p = {}: expected a number from 0 to 1", s.p));
  const double largest = 2 * std::min(s.p, 1 - s.p);
  if (!(s.f >= 0 && s.f <= largest * (1 + 1e-12))) {
    throw UserError(fmt::format("f = {}: expected a number from 0 to {}, which is twice the rarer path", s.f, largest));
  }
  if (s.width < 1) throw UserError("a warp has at least one lane");
  Lane lane{s.p, 1 - s.p, 0, 0};
  lane.x = lane.p > 0 ? std::min(1.0, s.f / (2 * lane.p)) : 1;
  lane.y = lane.q > 0 ? std::min(1.0, s.f / (2 * lane.q)) : 1;
  return lane;
}

/// Quantile of the standard normal distribution, by bisection of erfc.
double normal_quantile(double probability) {
  double low = -10, high = 10;
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < probability ? low : high) = middle;
  }
  return low;
}

/// Expected largest of n standard normal variables.
double expected_largest(int n) { return n < 2 ? 0 : normal_quantile((n - 0.375) / (n + 0.25)); }

/// What the slowest lane adds to a mean count per iteration.
double slowest(const PatternStatistics& s, double variance) {
  return s.iterations > 0 ? expected_largest(s.width) * std::sqrt(variance / s.iterations) : 0;
}

StepRates plain(const PatternStatistics& s, const Lane& lane) {
  return {1 - std::pow(lane.q, s.width), 1 - std::pow(lane.p, s.width), 1};
}

StepRates round_robin(const PatternStatistics& s, const Lane& lane) {
  const double sum = lane.x + lane.y - lane.x * lane.y;
  if (lane.p == 0 || lane.q == 0 || sum == 0) return plain(s, lane);
  // Cycles of a run of T and a run of F: geometric lengths.
  const double mean = 1 / lane.x + 1 / lane.y;
  const double spread = (1 - lane.x) / (lane.x * lane.x) + (1 - lane.y) / (lane.y * lane.y);
  const double rounds = 1 - 1 / mean + slowest(s, spread / (mean * mean * mean));
  StepRates r;
  r.taken = rounds * (1 - std::pow(1 - lane.y / sum, s.width));
  r.other = rounds * (1 - std::pow(1 - lane.x / sum, s.width));
  r.trips = r.taken + r.other;
  return r;
}

// States of an advancing lane before a step.
enum AdvanceState : std::uint8_t { wants_taken, wants_other, was_taken, was_other, state_count };

using Matrix = std::array<std::array<double, state_count>, state_count>;
using Vector = std::array<double, state_count>;

/// Solves m v = b by elimination with pivots.
Vector solved(Matrix m, Vector b) {
  constexpr int n = state_count;
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i)
      if (std::abs(m[i][k]) > std::abs(m[pivot][k])) pivot = i;
    std::swap(m[k], m[pivot]);
    std::swap(b[k], b[pivot]);
    for (int i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = m[i][k] / m[k][k];
      for (int j = k; j < n; ++j) m[i][j] -= factor * m[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (int k = 0; k < n; ++k) b[k] /= m[k][k];
  return b;
}

struct AdvanceChain {
  Matrix next{};        // transition probabilities
  Vector step{};        // mean iterations of a step from each state
  Vector square{};      // mean of their square
  Vector runs_taken{};  // probability that the step runs T
  Vector runs_other{};
  Matrix moved{};  // probability times iterations, by transition
};

/// A step that begins with an iteration of path T (now) with weight w.
void begin(AdvanceChain& c, int state, double w, bool now, const Lane& lane, bool out_of_order) {
  if (w <= 0) return;
  const double change = now ? lane.x : lane.y;
  const bool may_pair = now || out_of_order;
  (now ? c.runs_taken : c.runs_other)[state] += w * (1 - change);
  c.next[state][now ? wants_taken : wants_other] += w * (1 - change);  // the next is of the same path
  c.moved[state][now ? wants_taken : wants_other] += w * (1 - change);
  const int after = may_pair ? (now ? was_other : was_taken) : (now ? wants_other : wants_taken);
  const double length = may_pair ? 2 : 1;
  c.next[state][after] += w * change;
  c.moved[state][after] += w * change * length;
  (now ? c.runs_taken : c.runs_other)[state] += w * change;
  if (may_pair) (now ? c.runs_other : c.runs_taken)[state] += w * change;
  c.step[state] += w * ((1 - change) + change * length);
  c.square[state] += w * ((1 - change) + change * length * length);
}

StepRates advance(const PatternStatistics& s, const Lane& lane, bool out_of_order) {
  if (lane.p == 0 || lane.q == 0 || s.f == 0) return plain(s, lane);
  AdvanceChain c;
  begin(c, wants_taken, 1, true, lane, out_of_order);
  begin(c, wants_other, 1, false, lane, out_of_order);
  begin(c, was_taken, 1 - lane.x, true, lane, out_of_order);
  begin(c, was_taken, lane.x, false, lane, out_of_order);
  begin(c, was_other, lane.y, true, lane, out_of_order);
  begin(c, was_other, 1 - lane.y, false, lane, out_of_order);
  // Stationary state: pi (I - P) = 0 with the sum 1 in place of the last equation.
  Matrix m{};
  for (int i = 0; i < state_count; ++i)
    for (int j = 0; j < state_count; ++j) m[j][i] = (i == j ? 1 : 0) - c.next[i][j];
  m[state_count - 1].fill(1);
  const Vector pi = solved(m, {0, 0, 0, 1});
  double mean = 0, square = 0, taken = 0, other = 0;
  for (int i = 0; i < state_count; ++i) {
    mean += pi[i] * c.step[i];
    square += pi[i] * c.square[i];
    taken += pi[i] * c.runs_taken[i];
    other += pi[i] * c.runs_other[i];
  }
  // Asymptotic variance of the iterations of many steps: h solves (I - P) h = step - mean, with pi h = 0.
  Matrix poisson{};
  Vector excess{};
  for (int i = 0; i < state_count; ++i) {
    for (int j = 0; j < state_count; ++j) poisson[i][j] = (i == j ? 1 : 0) - c.next[i][j] + pi[j];
    excess[i] = c.step[i] - mean;
  }
  const Vector h = solved(poisson, excess);
  double variance = square - mean * mean;
  for (int i = 0; i < state_count; ++i)
    for (int j = 0; j < state_count; ++j) variance += 2 * pi[i] * (c.moved[i][j] - mean * c.next[i][j]) * h[j];
  const double steps = 1 / mean + slowest(s, std::max(0.0, variance) / (mean * mean * mean));
  return {steps * (1 - std::pow(1 - taken, s.width)), steps * (1 - std::pow(1 - other, s.width)), steps};
}

// Majority first leaves lanes behind without a rule that a formula knows: loops of finite length are replayed.
StepRates replayed_majority(const PatternStatistics& s, const PolicyOptions& options) {
  constexpr double most_iterations = 1 << 20;  // lanes times iterations of one replay
  constexpr int replays = 4;
  const auto iterations = static_cast<std::int64_t>(std::ceil(std::min(s.iterations, most_iterations / s.width)));
  StepRates mean;
  for (int seed = 1; seed <= replays; ++seed) {
    const BranchPattern pattern = flipping_pattern(s.width, iterations, s.p, std::min(s.f, 2 * std::min(s.p, 1 - s.p)),
                                                   static_cast<std::uint64_t>(seed));
    const StepCounts counts = replay(pattern, Policy::majority, options);
    mean.taken += static_cast<double>(counts.taken) / static_cast<double>(iterations * replays);
    mean.other += static_cast<double>(counts.other) / static_cast<double>(iterations * replays);
  }
  mean.trips = mean.passes();
  return mean;
}

}  // namespace

StepRates expected_rates(Policy policy, const PatternStatistics& s, const PolicyOptions& options) {
  const Lane lane = lane_of(s);
  switch (policy) {
    case Policy::plain:
      return plain(s, lane);
    case Policy::round_robin:
      return round_robin(s, lane);
    case Policy::advance:
      return advance(s, lane, true);
    case Policy::advance_in_order:
      return advance(s, lane, false);
    case Policy::majority:
      if (lane.p == 0 || lane.q == 0 || s.f == 0) {
        // Lanes never change path: the one path to its end, then the other.
        StepRates r = plain(s, lane);
        r.trips = r.passes();
        return r;
      }
      return s.iterations > 0 ? replayed_majority(s, options) : majority_rates(s.width, lane.x, lane.y, options);
  }
  return {};
}

// Postpone runs the rest with each pass, S = (rho + 1) / (c (rho/2 + 1 + eta)); advance has it in both paths and
// chooses once a trip, S = (rho + 1) / ((1 - a)(rho + 2 + eta)); both in units of the rest and for equal paths.
double time_of(Policy policy, const StepRates& r, const LoopCosts& c) {
  const double paths = r.taken * c.taken + r.other * c.other;
  switch (policy) {
    case Policy::plain:
      return paths + r.trips * c.rest;
    case Policy::majority:
    case Policy::round_robin:
      return paths + r.trips * (c.rest + c.choosing);
    case Policy::advance:
    case Policy::advance_in_order:
      return paths + r.passes() * c.rest + r.trips * c.choosing;
  }
  return 0;
}

double expected_speedup(Policy policy, const PatternStatistics& s, const LoopCosts& costs,
                        const PolicyOptions& options) {
  return time_of(Policy::plain, expected_rates(Policy::plain, s), costs) /
         time_of(policy, expected_rates(policy, s, options), costs);
}

std::optional<double> break_even_rho(Policy policy, const PatternStatistics& s, const LoopCosts& costs,
                                     const PolicyOptions& options) {
  if (policy == Policy::plain) return std::nullopt;
  // Both times are linear in rho: value at 0 and growth for each unit of rho.
  const double sum = costs.taken + costs.other;
  const double share = sum > 0 ? costs.taken / sum : 0.5;
  const double eta = costs.rest > 0 ? costs.choosing / costs.rest : costs.choosing;
  const LoopCosts outside{0, 0, 1, eta}, inside{share, 1 - share, 0, 0};
  const StepRates before = expected_rates(Policy::plain, s), after = expected_rates(policy, s, options);
  const double gained = time_of(Policy::plain, before, inside) - time_of(policy, after, inside);
  const double lost = time_of(policy, after, outside) - time_of(Policy::plain, before, outside);
  if (gained <= 0) return std::nullopt;
  return std::max(0.0, lost / gained);
}

}  // namespace kernelcast
