// Loops whose lanes disagree, for CUDA and HIP device code: one call a loop.
//
//   converge::loop<CONVERGE_ROUND_ROBIN>(0,
//       [&](int i) { return i < n; },              // more: is there an iteration i?
//       [&](int i) { return data[i] > 0; },        // condition: does it take T?
//       [&](int i) { ... },                        // path T
//       [&](int i) { ... },                        // path F
//       [&](int i) { ... });                       // optional: code behind the branch
//
// The threads of a warp that arrive together vote together: the mask is taken on entry, every one of them stays in the loop
// until the last is through, and all votes name it, so that independent thread scheduling (Volta and later) cannot take
// them apart. No barrier, shuffle or vote may stand in the functions. Both kinds of advance call the condition, and `more`,
// for iteration i + 1 before iteration i has run. CONVERGE_AUTO samples CONVERGE_SAMPLE iterations and chooses by Settings.
#ifndef CONVERGE_DEVICE_H
#define CONVERGE_DEVICE_H

#include "converge/policy.h"

namespace converge {

/// What CONVERGE_AUTO knows of the loop: rho is code in the paths over code outside, eta the policy's cost over the latter.
struct Settings {
  int allow = CONVERGE_ALLOW_POSTPONE;
  float rho = 8.0f, eta = 0.5f;
  int flush = CONVERGE_FLUSH;  // majority: every so many passes that of fewer lanes; 0: never
};

#if defined(__HIP__) || defined(__HIPCC__) || defined(__HIP_DEVICE_COMPILE__)
using Lanes = unsigned long long;
__device__ inline Lanes lanes_here() { return __ballot(1); }
__device__ inline Lanes ballot(Lanes, bool x) { return __ballot(x ? 1 : 0); }
__device__ inline int count(Lanes lanes) { return __popcll(lanes); }
__device__ inline void meet(Lanes) {}
#else
using Lanes = unsigned;
__device__ inline Lanes lanes_here() { return __activemask(); }
__device__ inline Lanes ballot(Lanes mask, bool x) { return __ballot_sync(mask, x ? 1 : 0); }
__device__ inline int count(Lanes lanes) { return __popc(lanes); }
__device__ inline void meet(Lanes mask) { __syncwarp(mask); }
#endif

struct NoTail {
  __device__ void operator()(int) const {}
};

/// One lane's part of a loop.
template <class More, class Condition, class Taken, class Other, class Tail>
struct Runner {
  More& more;
  Condition& condition;
  Taken& taken;
  Other& other;
  Tail& tail;
  Lanes mask;
  int i;
  bool alive, want;

  __device__ void arrive() {
    alive = alive && more(i);
    want = alive && condition(i);
  }
  __device__ void taken_at(int at) {
    taken(at);
    tail(at);
  }
  __device__ void other_at(int at) {
    other(at);
    tail(at);
  }

  /// All lanes run iterations together, `most` of them; counts for CONVERGE_AUTO if asked.
  struct Sample {
    int paths = 0, iterations = 0, lanes = 0, taken = 0, changes = 0;
  };
  __device__ void plain(int most, Sample* sample) {
    Lanes before = 0, alive_before = 0;
    for (int step = 0; step != most; ++step) {
      const Lanes all = ballot(mask, alive);
      if (all == 0) return;
      if (sample != nullptr) {
        const Lanes wants = ballot(mask, alive && want);
        sample->paths += (wants != 0 ? 1 : 0) + (wants != all ? 1 : 0);
        ++sample->iterations;
        sample->lanes += count(all);
        sample->taken += count(wants);
        sample->changes += count((wants ^ before) & all & alive_before);
        before = wants;
        alive_before = all;
      }
      if (alive) {
        if (want) {
          taken(i);
        } else {
          other(i);
        }
        tail(i);
        ++i;
        arrive();
      }
      meet(mask);
    }
  }

  /// A pass of one path for the lanes that want it.
  __device__ void pass(bool path) {
    if (alive && want == path) {
      if (path) {
        taken_at(i);
      } else {
        other_at(i);
      }
      ++i;
      arrive();
    }
    meet(mask);
  }

  __device__ void postpone(bool majority, int flush) {
    bool turn = false;
    for (int step = 1;; ++step) {
      const Lanes all = ballot(mask, alive);
      if (all == 0) return;
      const Lanes wants = ballot(mask, alive && want);
      bool path = turn;
      if (majority) {
        path = 2 * count(wants) >= count(all);
        if (flush > 0 && step % flush == 0) path = !path;
      }
      if (wants == 0) path = false;
      if (wants == all) path = true;
      turn = !path;
      pass(path);
    }
  }

  __device__ void advance(bool in_order) {
    for (;;) {
      if (ballot(mask, alive) == 0) return;
      const bool has_next = alive && more(i + 1);
      const bool then = has_next && condition(i + 1);
      const bool pair = has_next && then != want && (want || !in_order);
      // T first: of this iteration in mode 2, of the next in mode 1.
      if (alive && (want || pair)) taken_at(want ? i : i + 1);
      meet(mask);
      if (alive && (!want || pair)) other_at(want ? i + 1 : i);
      meet(mask);
      if (alive) {
        i += pair ? 2 : 1;
        if (pair) {
          arrive();
        } else {
          alive = has_next;
          want = then;
        }
      }
    }
  }

  __device__ void run(int policy, const Settings& settings) {
    if (policy == CONVERGE_AUTO) {
      Sample s;
      plain(CONVERGE_SAMPLE, &s);
      const float n = s.lanes > 0 ? static_cast<float>(s.lanes) : 1.0f;
      const float steps = s.iterations > 0 ? static_cast<float>(s.iterations) : 1.0f;
      policy = converge_choose(settings.allow, static_cast<float>(s.paths) / steps, static_cast<float>(s.taken) / n,
                               static_cast<float>(s.changes) / n, settings.rho, settings.eta);
    }
    if (policy == CONVERGE_MAJORITY || policy == CONVERGE_ROUND_ROBIN) {
      postpone(policy == CONVERGE_MAJORITY, settings.flush);
    } else if (policy == CONVERGE_ADVANCE || policy == CONVERGE_ADVANCE_IN_ORDER) {
      advance(policy == CONVERGE_ADVANCE_IN_ORDER);
    } else {
      plain(-1, nullptr);
    }
  }
};

template <int policy, class More, class Condition, class Taken, class Other, class Tail>
__device__ void loop(int first, More more, Condition condition, Taken taken, Other other, Tail tail,
                     Settings settings = Settings()) {
  Runner<More, Condition, Taken, Other, Tail> r{more, condition, taken, other, tail, lanes_here(), first, true, false};
  r.arrive();
  r.run(policy, settings);
}

template <int policy, class More, class Condition, class Taken, class Other>
__device__ void loop(int first, More more, Condition condition, Taken taken, Other other) {
  loop<policy>(first, more, condition, taken, other, NoTail());
}

}  // namespace converge

#endif
