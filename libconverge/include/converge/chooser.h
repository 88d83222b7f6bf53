// Chooses a policy by trying each on a short part of the loop that has to be run anyway. For CPUs, where a clock is cheap
// and what a pass costs depends on how well the core overlaps the paths.
//
// What a policy takes for an iteration is the time of its step times the steps for an iteration. They are learnt apart:
// a step's time is the least of several trials, which the policies take in turn, so that what disturbs the machine for a
// while disturbs them alike; steps are counted over all trials, since the least of few random patterns would promise too
// much. Majority comes last and in one piece that grows: its lanes take some hundred passes to find together. On regular
// patterns it depends on where they begin whether they do, so that majority has a few runs to show itself, and each run
// that begins with it goes on with the next best if they have not. What was chosen is counted over a whole run, with the
// lanes that it leaves behind at the end, and gives way to the next best if that is less than promised.
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

/// What came of it.
struct Outcome {
  double steps = 0;       // of a policy that postpones: passes
  double iterations = 0;  // mean of the lanes that took part
  double least = 0;       // of the lanes
  double ticks = 0;
  bool ended = false;  // for some lanes the loop did
};

/// Keep one for each loop of the program (and thread): what it learnt serves the next runs of the loop.
class Chooser {
 public:
  /// What to run next.
  Trial next(int allowed) {
    if (allowed != allowed_) forget(allowed);
    switch (stage_) {
      case Stage::turns:
        return {order[at_], trial_steps * (order[at_] == CONVERGE_ROUND_ROBIN ? 2 : 1)};
      case Stage::majority:
        return {CONVERGE_MAJORITY, round_ == 0 ? settling : settling / 2 << (round_ - 1)};
      case Stage::rest:
        return {chosen_, 0};
      case Stage::whole:
      case Stage::settled:
        break;
    }
    if (chosen_ == CONVERGE_MAJORITY && probes_ < 2) return {chosen_, probes_ == 0 ? settling : settling / 2};
    return {gave_up_ ? second_ : chosen_, stage_ == Stage::whole ? stride : 0};
  }

  void learn(const Trial& trial, const Outcome& o) {
    if (o.steps <= 0) return;
    Known& k = known_[trial.policy];
    if (stage_ == Stage::whole || stage_ == Stage::settled) {
      whole_steps_ += o.steps;
      // The second shows what the first has led to.
      if (++probes_ == 2 && chosen_ == CONVERGE_MAJORITY)
        gave_up_ = k.ticks * o.steps > known_[second_].time() * o.iterations;
      return;
    }
    if (stage_ == Stage::majority && o.ended && k.steps > 0) return;
    k.ticks = std::min(k.ticks, o.ticks / o.steps);
    // A policy that leaves lanes far behind pays for them at the end of the loop.
    const double iterations = o.least < starving * o.iterations ? o.least : o.iterations;
    if (stage_ == Stage::turns) {
      k.steps += o.steps;
      k.iterations += iterations;
      next_turn();
    } else if (stage_ == Stage::majority) {
      grow(k, o.steps, iterations);
    }
  }

  /// After a run: the iterations of its longest lane, which are the steps that plain takes.
  void end_of_loop(double longest) {
    if (stage_ == Stage::majority) decide();
    const bool counted = stage_ == Stage::whole;
    if (counted || stage_ == Stage::settled) tally();
    if (counted && !gave_up_) {
      whole_iterations_ += longest;
      if (whole_steps_ >= least_whole) confirm();
    }
    if (!counted || gave_up_ || stage_ != Stage::whole) whole_steps_ = whole_iterations_ = 0;
    probes_ = 0;
    gave_up_ = false;
    if (stage_ == Stage::rest) {
      stage_ = Stage::whole;
    } else if (stage_ == Stage::settled && looks_again()) {
      stage_ = Stage::majority;
      round_ = 0;
    } else if (stage_ == Stage::settled && ++runs_ >= runs_of_a_choice) {
      forget(allowed_);
    }
  }

  /// The policy that was settled on, or -1 while trials last.
  [[nodiscard]] int chosen() const { return stage_ == Stage::settled ? chosen_ : -1; }
  /// Lanes are brought in step after each trial, so that the next policy meets what it would meet.
  [[nodiscard]] bool wants_lanes_in_step() const { return stage_ == Stage::turns; }

  /// A clock that costs little; its unit does not matter.
  static double ticks() {
#if defined(__x86_64__) || defined(__i386__)
    return static_cast<double>(__rdtsc());
#else
    return static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
  }

 private:
  enum class Stage { turns, majority, rest, whole, settled };  // rest: of the run, with the best so far
  struct Known {
    double ticks = never;  // of a step
    double steps = 0, iterations = 0;
    bool whole = false;  // counted over a whole run
    bool candidate = false;
    [[nodiscard]] double time() const { return iterations > 0 ? ticks * steps / iterations : never; }
  };

  static constexpr int policies = 5, rounds = 5, runs_of_a_choice = 256;
  static constexpr int in_turn = 4;  // of the order: all but majority
  static constexpr int order[policies] = {CONVERGE_PLAIN, CONVERGE_ROUND_ROBIN, CONVERGE_ADVANCE, CONVERGE_ADVANCE_IN_ORDER,
                                          CONVERGE_MAJORITY};
  static constexpr std::int64_t trial_steps = 24, stride = 512;
  static constexpr double least_whole = 512;  // steps; shorter loops are counted over several runs
  static constexpr double never = 1e300;
  // Of the best, after so many turns: not tried again. First turns meet cold caches and branches that nobody has predicted.
  static constexpr double hopeless[rounds - 1] = {never, 1.4, 1.15, 1.1};
  static constexpr double out_of_reach = 2.2;  // likewise majority, before its lanes have found together
  static constexpr double margin = 1.02;   // gain below which plain stays
  static constexpr double better = 1.03;   // majority: iterations for a step against the trial before, half as long
  static constexpr int looks = 5;  // runs in which majority may show itself
  // What it must gain with all lanes together: looking costs some hundredths of a run of some thousand iterations.
  static constexpr double worth_a_look = 1.25;
  static constexpr int patience = 8;  // runs in turn that may give it up, once it was chosen
  static constexpr std::int64_t settling = 128;  // passes, within which its lanes mostly find together if they do
  static constexpr int reach = 3;          // further trials within which it must come up with the best at that pace
  static constexpr double starving = 0.5;

  void forget(int allowed) {
    allowed_ = allowed;
    stage_ = Stage::turns;
    chosen_ = CONVERGE_PLAIN;
    at_ = round_ = runs_ = probes_ = looks_ = fruitless_ = 0;
    gave_up_ = false;
    whole_steps_ = whole_iterations_ = 0;
    for (Known& k : known_) k = Known{};
    known_[CONVERGE_PLAIN].candidate = true;
    known_[CONVERGE_MAJORITY].candidate = known_[CONVERGE_ROUND_ROBIN].candidate = (allowed & CONVERGE_ALLOW_POSTPONE) != 0;
    known_[CONVERGE_ADVANCE].candidate = (allowed & CONVERGE_ALLOW_ADVANCE) != 0;
    known_[CONVERGE_ADVANCE_IN_ORDER].candidate = (allowed & CONVERGE_ALLOW_ADVANCE_IN_ORDER) != 0;
  }
  [[nodiscard]] double best_time() const {
    double least = never;
    for (const Known& k : known_)
      if (k.candidate) least = std::min(least, k.time());
    return least;
  }
  void next_turn() {
    do {
      if (++at_ < in_turn) continue;
      at_ = 0;
      if (++round_ == rounds) {
        round_ = 0;
        stage_ = Stage::majority;
        if (!known_[CONVERGE_MAJORITY].candidate) decide();
        return;
      }
      const double known_best = best_time();
      for (int p = CONVERGE_MAJORITY + 1; p < policies; ++p)
        if (known_[p].time() > hopeless[round_ - 1] * known_best) known_[p].candidate = false;
    } while (!known_[order[at_]].candidate);
  }
  /// Majority's last trial, the longest, says what it does in the long run.
  void grow(Known& k, double steps, double iterations) {
    const double before = k.steps > 0 ? k.iterations / k.steps : 0;
    k.steps = steps;
    k.iterations = iterations;
    const double pace = before > 0 && round_ > 0 ? iterations / (steps * before) : 1;
    const double missing = k.time() / best_time();  // 1 when it is the best
    const bool may_come_up = pace >= better && missing < std::pow(pace, reach);
    const bool early = round_ == 0 && missing < out_of_reach && k.ticks < best_time();
    if (round_ < longest_trial) ++round_;
    if (missing > 1 && !may_come_up && !early) decide();
  }
  /// The whole run took so many steps.
  void confirm() {
    Known& k = known_[chosen_];
    k.steps = whole_steps_;
    k.iterations = whole_iterations_;
    k.whole = true;
    decide();
  }
  /// Majority is not chosen any more after so many runs in turn that gave it up.
  void tally() {
    if (chosen_ != CONVERGE_MAJORITY || probes_ < 2) return;
    fruitless_ = gave_up_ ? fruitless_ + 1 : 0;
    if (fruitless_ < patience) return;
    known_[CONVERGE_MAJORITY].candidate = false;
    decide();
  }
  /// Majority has another run to show that its lanes find together, unless even one pass an iteration would not pay.
  bool looks_again() {
    const Known& k = known_[CONVERGE_MAJORITY];
    return k.candidate && !k.whole && chosen_ != CONVERGE_MAJORITY && k.ticks * worth_a_look < best_time() && ++looks_ < looks;
  }
  /// The best so far; a whole run must confirm it.
  void decide() {
    const double plain = known_[CONVERGE_PLAIN].time();
    second_ = chosen_ = CONVERGE_PLAIN;
    double most = margin;
    for (int p = CONVERGE_MAJORITY; p < policies; ++p) {
      const double gain = known_[p].candidate ? plain / known_[p].time() : 0;
      if (gain <= most) continue;
      chosen_ = p;
      most = gain;
    }
    for (int p = CONVERGE_MAJORITY + 1; p < policies; ++p)
      if (known_[p].candidate && known_[p].time() * margin < known_[second_].time()) second_ = p;
    stage_ = chosen_ == CONVERGE_PLAIN || known_[chosen_].whole ? Stage::settled : Stage::rest;
  }

  static constexpr int longest_trial = 12;
  Stage stage_ = Stage::turns;
  int allowed_ = -1, chosen_ = CONVERGE_PLAIN, second_ = CONVERGE_PLAIN;
  int at_ = 0, round_ = 0, runs_ = 0;
  int probes_ = 0, looks_ = 0, fruitless_ = 0;  // of majority: in this run, runs that looked, runs that gave it up
  bool gave_up_ = false;                        // in this run
  double whole_steps_ = 0, whole_iterations_ = 0;
  Known known_[policies];
};

}  // namespace converge

#endif
