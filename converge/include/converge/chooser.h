// Chooses a policy by trying each on a short part of the loop that has to be run anyway, and timing it. For CPUs, where a
// clock is cheap and what a pass costs depends on how well the core overlaps the paths.
#ifndef CONVERGE_CHOOSER_H
#define CONVERGE_CHOOSER_H

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

#include "converge/policy.h"
#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

namespace converge {

struct Options {
  int policy = CONVERGE_AUTO;
  int allow = CONVERGE_ALLOW_POSTPONE;  // what CONVERGE_AUTO may choose from
  int flush = CONVERGE_FLUSH;           // majority: every so many passes that of fewer lanes; 0: never
};

/// Part of a loop to run: so many steps of a policy, all that is left with 0.
struct Trial {
  int policy = CONVERGE_PLAIN;
  std::int64_t steps = 0;
};

/// Keep one for each loop of the program (and thread): what it learnt serves the next runs of the loop.
class Chooser {
 public:
  /// What to run next.
  Trial next(int allowed) {
    if (allowed != allowed_) forget(allowed);
    if (chosen_ >= 0) return {chosen_, 0};
    const int policy = order[at_];
    const bool postpones = policy == CONVERGE_MAJORITY || policy == CONVERGE_ROUND_ROBIN;
    const int longer = policy == CONVERGE_MAJORITY ? 1 << round_ : 1;
    return {policy, (postpones ? 2 * trial_steps : trial_steps) * longer};
  }

  /// What the trial took: ticks for so many iterations, summed over the lanes; `slowest` is what the sum would be if all
  /// lanes were as slow as the slowest. A policy that leaves lanes behind pays for them at the end of the loop.
  void learn(const Trial& trial, double iterations, double slowest, double ticks) {
    double& best = best_[trial.policy];
    if (slowest < starving * iterations) iterations = slowest;
    if (iterations > 0) best = std::min(best, ticks / iterations);
    const double least = *std::min_element(best_, best_ + policies);
    if (++round_ < rounds && best < hopeless[trial.policy == CONVERGE_MAJORITY][round_ - 1] * least) return;
    round_ = 0;
    do {
      ++at_;
    } while (at_ < policies && !candidate_[order[at_]]);
    if (at_ == policies) decide();
  }

  /// The next run confirms what the first has found; after so many runs the pattern may be another.
  void end_of_loop() {
    if (chosen_ < 0) return;
    if (!confirmed_) {
      confirm();
    } else if (++runs_ >= runs_of_a_choice) {
      forget(allowed_);
    }
  }

  /// The policy that was settled on, or -1 while trials last.
  [[nodiscard]] int chosen() const { return chosen_; }

  /// A clock that costs little; its unit does not matter.
  static double ticks() {
#if defined(__x86_64__) || defined(__i386__)
    return static_cast<double>(__rdtsc());
#else
    return static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
  }

 private:
  static constexpr int policies = 5, rounds = 5, runs_of_a_choice = 256;
  // Plain comes first, while lanes are still in step, and majority last: it leaves lanes aligned, which flatters what follows.
  static constexpr int order[policies] = {CONVERGE_PLAIN, CONVERGE_ROUND_ROBIN, CONVERGE_ADVANCE, CONVERGE_ADVANCE_IN_ORDER,
                                          CONVERGE_MAJORITY};
  static constexpr std::int64_t trial_steps = 24;
  static constexpr double never = 1e300;
  // Of the best, after so many trials: not tried again. The first trials of a policy meet cold caches and branches that
  // nobody has predicted yet, and lanes that have not found together, which takes longest under majority.
  static constexpr double hopeless[2][rounds - 1] = {{2.2, 1.4, 1.15, 1.1}, {2.2, 1.9, 1.5, 1.2}};
  static constexpr double near = 1.1;     // of the best gain: worth a second look
  static constexpr double margin = 1.02;  // gain below which plain stays
  static constexpr double never_less = 0.97;  // of a policy's gain in either run
  static constexpr double starving = 0.5;
  // Trials do not see the lanes that majority leaves behind until the end.
  static constexpr double left_behind = 1.01;

  void forget(int allowed) {
    allowed_ = allowed;
    chosen_ = -1;
    at_ = round_ = runs_ = 0;
    confirmed_ = false;
    std::fill(best_, best_ + policies, never);
    std::fill(gain_, gain_ + policies, 0.0);
    candidate_[CONVERGE_PLAIN] = true;
    candidate_[CONVERGE_MAJORITY] = candidate_[CONVERGE_ROUND_ROBIN] = (allowed & CONVERGE_ALLOW_POSTPONE) != 0;
    candidate_[CONVERGE_ADVANCE] = (allowed & CONVERGE_ALLOW_ADVANCE) != 0;
    candidate_[CONVERGE_ADVANCE_IN_ORDER] = (allowed & CONVERGE_ALLOW_ADVANCE_IN_ORDER) != 0;
  }
  void decide() {
    chosen_ = CONVERGE_PLAIN;
    double most = margin;
    for (int p = CONVERGE_MAJORITY; p < policies; ++p) {
      if (!candidate_[p]) continue;
      const double time = best_[p] * (p == CONVERGE_MAJORITY ? left_behind : 1.0);
      const double gain = best_[CONVERGE_PLAIN] / time;
      const bool surely_less = gain < never_less;
      gain_[p] = confirmed_ ? std::sqrt(gain_[p] * gain) : gain;
      if (surely_less || gain_[p] <= most) continue;
      chosen_ = p;
      most = gain_[p];
    }
  }
  /// Tries those once more that came near: what disturbs the machine may have disturbed one policy alone.
  void confirm() {
    confirmed_ = true;
    double most = 1;
    for (int p = CONVERGE_MAJORITY; p < policies; ++p)
      if (candidate_[p]) most = std::max(most, gain_[p]);
    bool any = false;
    for (int p = CONVERGE_MAJORITY; p < policies; ++p) {
      candidate_[p] = candidate_[p] && gain_[p] * near > most;
      any = any || candidate_[p];
    }
    if (!any) return;
    chosen_ = -1;
    at_ = round_ = 0;
    std::fill(best_, best_ + policies, never);
  }

  int allowed_ = -1, chosen_ = -1, at_ = 0, round_ = 0, runs_ = 0;
  bool confirmed_ = false;
  double best_[policies] = {never, never, never, never, never};  // ticks for an iteration of a lane
  double gain_[policies] = {0, 0, 0, 0, 0};                      // against plain, the geometric mean of both times
  bool candidate_[policies] = {true, false, false, false, false};
};

}  // namespace converge

#endif
