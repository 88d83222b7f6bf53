// Loops whose lanes disagree, on the SIMD units of a CPU: the lanes of one Highway vector are the warp.
//
// The loop is a class with these members; `i` holds each lane's own iteration number, `lanes` those that take part:
//
//   Mask condition(D d, Iteration i, Mask lanes)   lanes that take T in their iteration i; of the others anything
//   void taken(D d, Iteration i, Mask lanes)       path T
//   void other(D d, Iteration i, Mask lanes)       path F
//   void tail(D d, Iteration i, Mask lanes)        optional: code behind the branch
//   Mask more(D d, Iteration i, Mask lanes)        optional: lanes that have an iteration i; without it, all below the count
//
// converge::HWY_NAMESPACE::run(d, loop, counts, options) runs it. `D` is a Highway tag whose lanes are 32 or 64 bits wide,
// `Iteration` a vector of signed integers of that width. Advancing calls condition(i + 1) before iteration i has run, and
// does not serve loops with `more`. For use inside HWY_BEFORE_NAMESPACE ... HWY_AFTER_NAMESPACE, or with static dispatch.
#if defined(CONVERGE_CPU_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVERGE_CPU_H_
#undef CONVERGE_CPU_H_
#else
#define CONVERGE_CPU_H_
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "converge/chooser.h"
#include "converge/policy.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace converge {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using Iteration = hn::Vec<hn::RebindToSigned<D>>;

template <class D, class Loop, class = void>
struct HasTail : std::false_type {};
template <class D, class Loop>
struct HasTail<D, Loop,
               std::void_t<decltype(std::declval<Loop&>().tail(D(), std::declval<Iteration<D>>(), std::declval<hn::Mask<D>>()))>>
    : std::true_type {};
template <class D, class Loop, class = void>
struct HasMore : std::false_type {};
template <class D, class Loop>
struct HasMore<D, Loop,
               std::void_t<decltype(std::declval<Loop&>().more(D(), std::declval<Iteration<D>>(), std::declval<hn::Mask<D>>()))>>
    : std::true_type {};

/// The warp between two steps.
template <class D, class Loop>
struct Warp {
  using DI = hn::RebindToSigned<D>;
  using Mask = hn::Mask<D>;
  D d;
  DI di;
  Loop& loop;
  Iteration<D> next;    // each lane's iteration
  Iteration<D> counts;  // and how many it has
  Mask alive;
  Mask wants_taken;  // of those alive

  HWY_INLINE Mask as_mask(hn::Mask<DI> m) const { return hn::RebindMask(d, m); }
  HWY_INLINE Mask below_count(Iteration<D> i) const { return as_mask(hn::Lt(i, counts)); }
  HWY_INLINE Iteration<D> plus_one(Iteration<D> i, Mask lanes) const {
    return hn::Sub(i, hn::VecFromMask(di, hn::RebindMask(di, lanes)));  // a mask's lanes are -1
  }
  HWY_INLINE Mask has_more(Iteration<D> i, Mask lanes) {
    Mask m = hn::And(lanes, below_count(i));
    if constexpr (HasMore<D, Loop>::value) m = hn::And(m, loop.more(d, i, m));
    return m;
  }
  HWY_INLINE void tail(Iteration<D> i, Mask lanes) {
    if constexpr (HasTail<D, Loop>::value) loop.tail(d, i, lanes);
  }
  /// Lanes that ended an iteration: is there another, and which path does it take?
  HWY_INLINE void arrive(Mask lanes) {
    alive = hn::Or(hn::AndNot(lanes, alive), has_more(next, lanes));
    const Mask arrived = hn::And(lanes, alive);
    wants_taken = hn::Or(hn::AndNot(lanes, wants_taken), hn::And(loop.condition(d, next, arrived), arrived));
  }
  HWY_INLINE void begin() {
    alive = has_more(next, hn::FirstN(d, hn::Lanes(d)));
    wants_taken = hn::And(loop.condition(d, next, alive), alive);
  }
  HWY_INLINE Mask taken_lanes() const { return wants_taken; }
  HWY_INLINE Mask other_lanes() const { return hn::AndNot(wants_taken, alive); }
  /// Iterations that every lane still has, of those alive.
  HWY_INLINE std::int64_t least_left() const {
    const auto left = hn::Sub(counts, next);
    const auto most = hn::Set(di, hwy::HighestValue<hn::TFromD<DI>>());
    return static_cast<std::int64_t>(hn::GetLane(hn::MinOfLanes(di, hn::IfThenElse(hn::RebindMask(di, alive), left, most))));
  }
  HWY_INLINE bool done() const { return hn::AllFalse(d, alive); }

  /// Where another copy of this warp has come to.
  HWY_INLINE void take_over(const Warp& w) {
    next = w.next;
    alive = w.alive;
    wants_taken = w.wants_taken;
  }

  /// Postpone: one pass for all lanes that want this path.
  HWY_INLINE void pass(bool taken) {
    const Mask lanes = taken ? taken_lanes() : other_lanes();
    if (taken) {
      loop.taken(d, next, lanes);
    } else {
      loop.other(d, next, lanes);
    }
    tail(next, lanes);
    next = plus_one(next, lanes);
    arrive(lanes);
  }
};

/// All lanes run one iteration.
template <class D, class Loop>
HWY_INLINE void plain_step(Warp<D, Loop>& w) {
  const auto taken = w.taken_lanes(), other = w.other_lanes();
  if (!hn::AllFalse(w.d, taken)) w.loop.taken(w.d, w.next, taken);
  if (!hn::AllFalse(w.d, other)) w.loop.other(w.d, w.next, other);
  w.tail(w.next, w.alive);
  const auto ran = w.alive;
  w.next = w.plus_one(w.next, ran);
  w.alive = w.has_more(w.next, ran);
  w.wants_taken = hn::And(w.loop.condition(w.d, w.next, w.alive), w.alive);
}

/// Lanes that are behind the foremost run until they are level with it.
template <class D, class Loop>
HWY_NOINLINE void bring_in_step(Warp<D, Loop>& w) {
  const auto alive = hn::RebindMask(w.di, w.alive);
  const auto front = hn::MaxOfLanes(w.di, hn::IfThenElseZero(alive, w.next));
  for (;;) {
    const auto behind = hn::And(w.alive, w.as_mask(hn::Lt(w.next, front)));
    if (hn::AllFalse(w.d, behind)) return;
    const auto taken = hn::And(w.wants_taken, behind), other = hn::AndNot(w.wants_taken, behind);
    if (!hn::AllFalse(w.d, taken)) w.loop.taken(w.d, w.next, taken);
    if (!hn::AllFalse(w.d, other)) w.loop.other(w.d, w.next, other);
    w.tail(w.next, behind);
    w.next = w.plus_one(w.next, behind);
    w.arrive(behind);
  }
}

/// Each policy runs `most` steps, or until all lanes are done, and returns how many it ran. Lanes need not be at the same iteration before or after,
/// so that policies can follow one another.
template <class D, class Loop>
HWY_NOINLINE std::int64_t run_plain(Warp<D, Loop>& at, const std::int64_t all_steps) {
  Warp<D, Loop> w = at;
  std::int64_t most = all_steps;
  while (most > 0 && !w.done()) {
    if constexpr (!HasMore<D, Loop>::value) {
      // Until the first lane ends nothing needs to be asked but the condition.
      const std::int64_t steps = std::min(most, w.least_left()) - 1;
      const auto alive = w.alive;
      const auto one = w.plus_one(hn::Zero(w.di), alive);
      if (hn::AllTrue(w.d, alive)) {
        const auto all = hn::FirstN(w.d, hn::Lanes(w.d));
        for (std::int64_t n = 0; n < steps; ++n) {
          const auto taken = w.wants_taken;
          if (!hn::AllFalse(w.d, taken)) w.loop.taken(w.d, w.next, taken);
          if (!hn::AllTrue(w.d, taken)) w.loop.other(w.d, w.next, hn::Not(taken));
          w.tail(w.next, all);
          w.next = hn::Add(w.next, one);
          w.wants_taken = w.loop.condition(w.d, w.next, all);
        }
        plain_step(w);
        most -= steps + 1;
        continue;
      }
      for (std::int64_t n = 0; n < steps; ++n) {
        const auto taken = w.taken_lanes(), other = w.other_lanes();
        if (!hn::AllFalse(w.d, taken)) w.loop.taken(w.d, w.next, taken);
        if (!hn::AllFalse(w.d, other)) w.loop.other(w.d, w.next, other);
        w.tail(w.next, alive);
        w.next = hn::Add(w.next, one);
        w.wants_taken = hn::And(w.loop.condition(w.d, w.next, alive), alive);
      }
      most -= steps;
    }
    plain_step(w);
    --most;
  }
  at.take_over(w);
  return all_steps - most;
}

template <class D, class Loop>
HWY_INLINE std::int64_t run_round_robin(Warp<D, Loop>& w, std::int64_t most) {
  std::int64_t passes = 0;
  while (passes < most) {
    if (!hn::AllFalse(w.d, w.other_lanes())) {
      w.pass(false);
      ++passes;
    }
    if (!hn::AllFalse(w.d, w.taken_lanes())) {
      w.pass(true);
      ++passes;
    } else if (w.done()) {
      break;
    }
  }
  return passes;
}

template <class D, class Loop>
HWY_INLINE std::int64_t run_majority(Warp<D, Loop>& w, std::int64_t most, int flush) {
  std::int64_t step = 1;
  for (; step <= most; ++step) {
    const auto alive = hn::CountTrue(w.d, w.alive), taken = hn::CountTrue(w.d, w.wants_taken);
    if (alive == 0) break;
    bool choice = 2 * taken >= alive;
    if (flush > 0 && step % flush == 0) choice = !choice;
    if (taken == 0) choice = false;
    if (taken == alive) choice = true;
    w.pass(choice);
  }
  return step - 1;
}

/// A step runs T once and F once; lanes whose next iteration takes the other path run both. In order: only T, then F.
template <bool kInOrder, class D, class Loop>
HWY_INLINE std::int64_t run_advance(Warp<D, Loop>& w, std::int64_t most) {
  const auto& d = w.d;
  std::int64_t steps = 0;
  for (; steps < most && !w.done(); ++steps) {
    const auto now = w.wants_taken;
    const auto following = w.plus_one(w.next, w.alive);
    const auto has_following = hn::And(w.alive, w.below_count(following));
    const auto then = hn::And(w.loop.condition(d, following, has_following), has_following);
    // Mode 2: T now, F of the next iteration. Mode 1: F now, T of the next.
    const auto mode2 = hn::And(hn::AndNot(then, now), has_following);
    const auto mode1 = kInOrder ? hn::And(mode2, hn::Not(mode2)) : hn::AndNot(now, then);
    const auto runs_taken = hn::Or(now, mode1), runs_other = hn::Or(hn::AndNot(now, w.alive), mode2);
    if (!hn::AllFalse(d, runs_taken)) {
      const auto i = w.plus_one(w.next, mode1);
      w.loop.taken(d, i, runs_taken);
      w.tail(i, runs_taken);
    }
    if (!hn::AllFalse(d, runs_other)) {
      const auto i = w.plus_one(w.next, mode2);
      w.loop.other(d, i, runs_other);
      w.tail(i, runs_other);
    }
    const auto paired = hn::Or(mode1, mode2);
    w.next = w.plus_one(following, paired);
    w.alive = hn::And(w.alive, w.below_count(w.next));
    if (hn::AllFalse(d, paired)) {
      w.wants_taken = hn::And(then, w.alive);
    } else {
      w.wants_taken = hn::And(w.loop.condition(d, w.next, w.alive), w.alive);
    }
  }
  return steps;
}

template <class D, class Loop>
HWY_INLINE std::int64_t run_policy(Warp<D, Loop>& w, int policy, std::int64_t most, int flush) {
  switch (policy) {
    case CONVERGE_MAJORITY: return run_majority(w, most, flush);
    case CONVERGE_ROUND_ROBIN: return run_round_robin(w, most);
    case CONVERGE_ADVANCE:
      if constexpr (!HasMore<D, Loop>::value) return run_advance<false>(w, most);
      break;
    case CONVERGE_ADVANCE_IN_ORDER:
      if constexpr (!HasMore<D, Loop>::value) return run_advance<true>(w, most);
      break;
    default: break;
  }
  return run_plain(w, most);
}

/// Lets the chooser try the policies in turn on a part of the loop each, then runs the rest with the best.
template <class D, class Loop>
HWY_INLINE void run_auto(Warp<D, Loop>& w, const Options& options, Chooser& chooser) {
  constexpr std::int64_t all = std::int64_t{1} << 62;
  const int allowed = HasMore<D, Loop>::value ? options.allow & CONVERGE_ALLOW_POSTPONE : options.allow;
  while (!w.done()) {
    const Trial trial = chooser.next(allowed);
    const auto before = w.next;
    const auto lanes = w.alive;
    Outcome o;
    const double start = Chooser::ticks();
    o.steps = static_cast<double>(run_policy(w, trial.policy, trial.steps > 0 ? trial.steps : all, options.flush));
    if (trial.steps == 0) continue;
    o.ticks = Chooser::ticks() - start;
    const auto moved = hn::Sub(w.next, before);
    const auto most = hn::Set(w.di, hwy::HighestValue<hn::TFromD<hn::RebindToSigned<D>>>());
    const auto of_lanes = hn::IfThenElse(hn::RebindMask(w.di, lanes), moved, most);
    o.iterations = static_cast<double>(hn::GetLane(hn::SumOfLanes(w.di, moved))) / static_cast<double>(hn::CountTrue(w.d, lanes));
    o.least = static_cast<double>(hn::GetLane(hn::MinOfLanes(w.di, of_lanes)));
    o.ended = hn::CountTrue(w.d, w.alive) < hn::CountTrue(w.d, lanes);
    if (o.ended) o.least = o.iterations;  // nobody was left behind
    const bool in_step = chooser.wants_lanes_in_step();
    chooser.learn(trial, o);
    if (in_step) bring_in_step(w);
  }
  chooser.end_of_loop(static_cast<double>(hn::GetLane(hn::MaxOfLanes(w.di, w.next))));
}

/// Runs the loop for all lanes of one vector: lane k runs iterations 0 ... counts[k] - 1.
template <class D, class Loop>
HWY_INLINE void run(D d, Loop& loop, Iteration<D> counts, const Options& options = {}, Chooser* chooser = nullptr) {
  static_assert(sizeof(hn::TFromD<D>) >= 4, "lanes of 32 or 64 bits: narrower ones cannot count iterations");
  Warp<D, Loop> w{d, {}, loop, hn::Zero(hn::RebindToSigned<D>()), counts, hn::FirstN(d, 0), hn::FirstN(d, 0)};
  w.begin();
  if (options.policy == CONVERGE_AUTO) {
    Chooser own;
    run_auto(w, options, chooser != nullptr ? *chooser : own);
    return;
  }
  constexpr std::int64_t all = std::int64_t{1} << 62;
  run_policy(w, options.policy, all, options.flush);
}

}  // namespace HWY_NAMESPACE
}  // namespace converge
HWY_AFTER_NAMESPACE();

#endif  // CONVERGE_CPU_H_
