// State: how many of the W lanes want T. A pass of T leaves each of these wanting T with probability 1 - x; a pass of F
// makes each of the others want T with y. The minority that is forced every R steps makes the chain one of period R,
// whose steps are taken one after the other until the distribution at the start of a period stands.
#include "converge/majority_chain.h"

#include <cmath>

namespace kernelcast {
namespace {

/// row[k]: probability of k successes among n.
std::vector<double> binomial(int n, double p) {
  std::vector<double> row{1};
  for (int i = 0; i < n; ++i) {
    std::vector<double> next(row.size() + 1, 0);
    for (std::size_t k = 0; k < row.size(); ++k) {
      next[k] += row[k] * (1 - p);
      next[k + 1] += row[k] * p;
    }
    row = std::move(next);
  }
  return row;
}

bool choose_taken(int want_taken, int width, bool forced, bool tie_taken) {
  const int want_other = width - want_taken;
  bool taken = want_taken == want_other ? tie_taken : want_taken > want_other;
  if (forced) taken = !taken;
  if (taken && want_taken == 0) taken = false;
  if (!taken && want_other == 0) taken = true;
  return taken;
}

class Chain {
 public:
  Chain(int width, double x, double y, bool tie_taken) : width_(width), tie_taken_(tie_taken) {
    for (int n = 0; n <= width; ++n) {
      stay_.push_back(binomial(n, 1 - x));
      come_.push_back(binomial(n, y));
    }
  }
  /// One step from a distribution: lanes served and probability of T are added up.
  std::vector<double> step(const std::vector<double>& now, bool forced, double& served, double& taken) const {
    std::vector<double> after(now.size(), 0);
    for (int k = 0; k <= width_; ++k) {
      const double weight = now[static_cast<std::size_t>(k)];
      if (weight == 0) continue;
      const bool runs_taken = choose_taken(k, width_, forced, tie_taken_);
      const int lanes = runs_taken ? k : width_ - k;
      served += weight * lanes;
      taken += runs_taken ? weight : 0;
      const std::vector<double>& row = (runs_taken ? stay_ : come_)[static_cast<std::size_t>(lanes)];
      const int base = runs_taken ? 0 : k;
      for (int j = 0; j <= lanes; ++j)
        after[static_cast<std::size_t>(base + j)] += weight * row[static_cast<std::size_t>(j)];
    }
    return after;
  }

 private:
  int width_;
  bool tie_taken_;
  std::vector<std::vector<double>> stay_, come_;  // by number of lanes
};

}  // namespace

StepRates majority_rates(int width, double x, double y, const PolicyOptions& options) {
  const Chain chain(width, x, y, options.tie_taken);
  const int period = options.flush_period > 0 ? options.flush_period : 1;
  std::vector<double> now(static_cast<std::size_t>(width) + 1, 1.0 / (width + 1));
  double served = 0, taken = 0;
  constexpr int most_periods = 20000;
  constexpr double settled = 1e-9;
  for (int n = 1; n <= most_periods; ++n) {
    std::vector<double> next = now;
    served = taken = 0;
    for (int i = 1; i <= period; ++i) {
      next = chain.step(next, options.flush_period > 0 && i == period, served, taken);
    }
    double change = 0;
    for (std::size_t k = 0; k < now.size(); ++k) {
      const double half = (now[k] + next[k]) / 2;  // the lazy chain: same stationary state, no swinging
      change += std::abs(half - now[k]);
      now[k] = half;
    }
    if (change < settled) break;
  }
  StepRates r;
  const double passes = period * width / served;  // per iteration of a lane
  r.taken = passes * taken / period;
  r.other = passes - r.taken;
  r.trips = passes;
  return r;
}

}  // namespace kernelcast
