// The chooser on machines that are made up: what a step takes and how many steps an iteration needs is given, with noise
// and disturbances. Says what failed and returns 1.
#include "converge/chooser.h"

#include <cstdio>
#include <functional>
#include <random>

namespace {

using converge::Chooser;
using converge::Outcome;
using converge::Trial;

struct Machine {
  double ticks[5] = {100, 60, 60, 110, 105};     // of a step
  double steps[5] = {1, 1.55, 1.5, 0.72, 0.78};  // for an iteration
  double length = 4096;                          // iterations of a lane
  double tail = 0;                               // of the steps, that lanes left behind need at the end
  std::function<double(int call)> disturbed = [](int) { return 1.0; };
  std::function<double(int run, double passes)> majority;  // steps for an iteration, in place of the above
};

struct Played {
  int chosen = -1;
  double ticks = 0, plain = 0;
};

/// So many runs of the loop.
Played play(const Machine& m, int runs, int allowed) {
  Chooser chooser;
  Played p;
  int calls = 0;
  std::mt19937 random(5);
  std::uniform_real_distribution<double> noise(0.98, 1.02);
  for (int run = 0; run < runs; ++run) {
    double left = m.length, passes = 0;
    while (left > 0) {
      const Trial trial = chooser.next(allowed);
      const int policy = trial.policy;
      double steps = trial.steps > 0 ? static_cast<double>(trial.steps) : 1e9, done = 0, ran = 0;
      while (ran < steps && done < left) {
        const double each = policy == CONVERGE_MAJORITY && m.majority ? m.majority(run, passes) : m.steps[policy];
        const double now = std::min({steps - ran, (left - done) * each + 0.5, 16.0});
        ran += now;
        done += now / each;
        if (policy == CONVERGE_MAJORITY) passes += now;
      }
      left -= done;
      if (left <= 0 && policy != CONVERGE_PLAIN) ran *= 1 + m.tail;
      const double ticks = ran * m.ticks[policy] * noise(random) * m.disturbed(calls++);
      p.ticks += ticks;
      if (trial.steps > 0) chooser.learn(trial, {ran, done * noise(random), done, ticks, left <= 0});
    }
    chooser.end_of_loop(m.length);
    p.plain += m.length * m.ticks[CONVERGE_PLAIN] * m.steps[CONVERGE_PLAIN];
  }
  p.chosen = chooser.chosen();
  return p;
}

constexpr int all = CONVERGE_ALLOW_POSTPONE | CONVERGE_ALLOW_ADVANCE | CONVERGE_ALLOW_ADVANCE_IN_ORDER;
int failures = 0;

void expect(bool good, const char* what, const Played& p) {
  if (good) return;
  std::fprintf(stderr, "%s: chosen %d, %.3f of plain\n", what, p.chosen, p.ticks / p.plain);
  ++failures;
}

void the_best_is_found() {
  Machine m;
  Played p = play(m, 12, all);
  expect(p.chosen == CONVERGE_ADVANCE, "advance is the best", p);
  p = play(m, 12, CONVERGE_ALLOW_POSTPONE);
  expect(p.chosen == CONVERGE_ROUND_ROBIN, "round robin is the best of those allowed", p);
  p = play(m, 12, 0);
  expect(p.chosen == CONVERGE_PLAIN, "nothing but plain is allowed", p);
  for (double& t : m.ticks) t = 100;
  for (int k = 1; k < 5; ++k) m.steps[k] = 1.3;
  p = play(m, 12, all);
  expect(p.chosen == CONVERGE_PLAIN, "all others lose", p);
  expect(p.ticks < 1.02 * p.plain, "trials cost little", p);
}

/// What takes the machine for a while meets a turn of one policy, whichever.
void disturbances_do_not_decide() {
  for (int first = 0; first < 24; ++first) {
    Machine m;
    m.disturbed = [first](int call) { return call == first ? 12.0 : 1.0; };
    const Played p = play(m, 12, all);
    expect(p.chosen == CONVERGE_ADVANCE, "one trial was disturbed", p);
  }
}

/// Lanes left behind show only at the end of a whole run.
void a_choice_is_confirmed() {
  Machine m;
  m.tail = 40;
  const Played p = play(m, 12, all);
  expect(p.chosen == CONVERGE_PLAIN, "others end late", p);
}

/// Lanes find together in some runs, and late.
void majority_may_come_up_late() {
  Machine m;
  m.ticks[CONVERGE_ROUND_ROBIN] = m.ticks[CONVERGE_ADVANCE] = m.ticks[CONVERGE_ADVANCE_IN_ORDER] = 200;
  m.majority = [](int, double passes) { return passes < 150 ? 1.7 : 1.0; };
  Played p = play(m, 12, all);
  expect(p.chosen == CONVERGE_MAJORITY, "majority comes up", p);
  expect(p.ticks < 0.75 * p.plain, "majority gains", p);
  m.majority = [](int run, double passes) { return run % 2 == 0 || passes < 150 ? 1.75 : 1.0; };
  p = play(m, 32, all);
  expect(p.ticks < 0.9 * p.plain, "majority in every other run, and plain where it does not come up", p);
}

/// Loops shorter than a trial end in a choice, too.
void short_loops_are_learnt() {
  Machine m;
  m.length = 10;
  const Played p = play(m, 250, all);
  expect(p.chosen == CONVERGE_ADVANCE, "short loops", p);
}

}  // namespace

int main() {
  the_best_is_found();
  disturbances_do_not_decide();
  a_choice_is_confirmed();
  majority_may_come_up_late();
  short_loops_are_learnt();
  return failures == 0 ? 0 : 1;
}
