/* Loops whose lanes disagree, for OpenCL C 1.2 and later: macros around the loop's two paths.
 *
 *   CONVERGE_LOOP(CONVERGE_ROUND_ROBIN, i, 0, i < n, data[i] > 0)     more and condition: expressions over i
 *     CONVERGE_TAKEN { ... }
 *     CONVERGE_OTHER { ... }
 *     CONVERGE_TAIL { ... }                                           may be left out
 *   CONVERGE_END
 *
 * All work-items that vote together must reach the loop together and stay in it until the last is through, which the macros
 * see to: no break, continue, return, goto out of the blocks. Work-items of one sub-group vote together where the device has
 * sub-groups (define CONVERGE_SUB_GROUPS); else those of the work-group, through local memory and barriers: declare
 * CONVERGE_LOCAL_VOTES; at the head of the kernel, in front of any branch. Barriers and votes must not stand in the blocks.
 *
 * Both kinds of advance evaluate the condition of iteration i + 1 before iteration i has run. CONVERGE_AUTO samples
 * CONVERGE_SAMPLE iterations and chooses by CONVERGE_RHO (code in the paths over code outside), CONVERGE_ETA and CONVERGE_ALLOW. */
#ifndef CONVERGE_OPENCL_H
#define CONVERGE_OPENCL_H

#include "converge/policy.h"

#ifndef CONVERGE_RHO
#define CONVERGE_RHO 8.0f
#endif
#ifndef CONVERGE_ETA
#define CONVERGE_ETA 0.5f
#endif
#ifndef CONVERGE_ALLOW
#define CONVERGE_ALLOW CONVERGE_ALLOW_POSTPONE
#endif

typedef struct {
  int policy, step, turn;
  int arrived, alive, want, then;      /* of this work-item; then: path of the next iteration, -1: there is none */
  int phase, shift, run_taken, run_other, ran;
  int before, changes, shares, paths, sampled; /* sample of CONVERGE_AUTO; sums over the voters but for paths */
} converge_state;

#ifdef CONVERGE_SUB_GROUPS
#define CONVERGE_LOCAL_VOTES
#define CONVERGE_SUM(x) ((int)sub_group_reduce_add((int)(x)))
#else
/* Three counters in turn: one is added to, one is read, one is cleared. */
#define CONVERGE_LOCAL_VOTES                                                             \
  __local int converge_votes[3];                                                         \
  int converge_vote = 0;                                                                 \
  if (get_local_id(0) + get_local_id(1) + get_local_id(2) == 0) {                        \
    converge_votes[0] = 0;                                                               \
    converge_votes[1] = 0;                                                               \
    converge_votes[2] = 0;                                                               \
  }                                                                                      \
  barrier(CLK_LOCAL_MEM_FENCE)
static inline int converge_sum(__local int* votes, int* vote, int x) {
  const int now = *vote, next = (now + 1) % 3;
  int result;
  *vote = next;
  if (x != 0) atomic_add(votes + now, x);
  barrier(CLK_LOCAL_MEM_FENCE);
  result = votes[now];
  if (get_local_id(0) + get_local_id(1) + get_local_id(2) == 0) votes[(now + 2) % 3] = 0;
  return result;
}
#define CONVERGE_SUM(x) converge_sum(converge_votes, &converge_vote, (x))
#endif

/* Votes pack two counts into one sum: work-groups have at most 2^15 work-items. */
#define CONVERGE_PACK(low, high) ((low) + ((high) << 16))

static inline converge_state converge_begin(int policy) {
  converge_state s;
  s.policy = policy;
  s.step = 0;
  s.turn = 0;
  s.arrived = 1;
  s.alive = 1;
  s.want = 0;
  s.then = -1;
  s.phase = 0;
  s.shift = 0;
  s.run_taken = s.run_other = s.ran = 0;
  s.before = -1;
  s.changes = s.shares = s.paths = s.sampled = 0;
  return s;
}

/* Postpone: the path of this pass, for `taken` of `alive` work-items wanting T. */
static inline int converge_path(converge_state* s, int taken, int alive) {
  int path;
  ++s->step;
  if (s->policy == CONVERGE_ROUND_ROBIN) {
    path = s->turn;
    if (taken == 0) path = 0;
    if (taken == alive) path = 1;
    s->turn = !path;
    return path;
  }
  path = 2 * taken >= alive;
  if (s->step % CONVERGE_FLUSH == 0) path = !path;
  if (taken == 0) path = 0;
  if (taken == alive) path = 1;
  return path;
}

/* One iteration of the sample, run as plain does. */
static inline void converge_sample(converge_state* s, int taken, int alive) {
  ++s->step;
  s->paths += (taken > 0) + (taken < alive);
  if (!s->alive) return;
  ++s->sampled;
  s->shares += s->want;
  s->changes += s->before >= 0 && s->before != s->want;
  s->before = s->want;
}

/* What this work-item runs in this pass. */
static inline void converge_turn(converge_state* s, int taken, int alive) {
  s->shift = 0;
  if (s->policy == CONVERGE_MAJORITY || s->policy == CONVERGE_ROUND_ROBIN) {
    const int path = converge_path(s, taken, alive);
    s->run_taken = s->alive && s->want && path;
    s->run_other = s->alive && !s->want && !path;
  } else if (s->policy == CONVERGE_ADVANCE || s->policy == CONVERGE_ADVANCE_IN_ORDER) {
    const int pair = s->alive && s->then >= 0 && s->then != s->want && (s->want || s->policy == CONVERGE_ADVANCE);
    const int here = s->phase == 0 ? s->want : !s->want; /* this pass's path is that of iteration i */
    s->run_taken = s->alive && s->phase == 0 && (here || pair);
    s->run_other = s->alive && s->phase == 1 && (here || pair);
    s->shift = !here && pair ? 1 : 0;
  } else {
    s->run_taken = s->alive && s->want;
    s->run_other = s->alive && !s->want;
    if (s->policy == CONVERGE_AUTO) converge_sample(s, taken, alive);
  }
  s->ran = s->run_taken || s->run_other;
}

/* Behind the pass: how far the iteration number moves. */
static inline int converge_moved(converge_state* s) {
  int by = 0;
  if (s->policy == CONVERGE_ADVANCE || s->policy == CONVERGE_ADVANCE_IN_ORDER) {
    if (s->phase == 1 && s->alive)
      by = 1 + (s->then >= 0 && s->then != s->want && (s->want || s->policy == CONVERGE_ADVANCE) ? 1 : 0);
    s->phase = !s->phase;
  } else {
    by = s->ran;
  }
  if (by > 0) s->arrived = 1;
  return by;
}

#define CONVERGE_ADVANCES(s) ((s).policy == CONVERGE_ADVANCE || (s).policy == CONVERGE_ADVANCE_IN_ORDER)

#define CONVERGE_LOOP(policy_number, i, first, more, condition)                                                       \
  {                                                                                                                   \
    int i = (first);                                                                                                  \
    int* const converge_i = &i;                                                                                       \
    converge_state converge_s = converge_begin(policy_number);                                                        \
    for (;;) {                                                                                                        \
      int converge_count;                                                                                             \
      if (converge_s.arrived) {                                                                                       \
        converge_s.arrived = 0;                                                                                       \
        converge_s.alive = converge_s.alive && (more);                                                                \
        if (converge_s.alive) converge_s.want = (condition) ? 1 : 0;                                                  \
        converge_s.then = -1;                                                                                         \
        if (converge_s.alive && CONVERGE_ADVANCES(converge_s)) {                                                      \
          ++i;                                                                                                        \
          if (more) converge_s.then = (condition) ? 1 : 0;                                                            \
          --i;                                                                                                        \
        }                                                                                                             \
      }                                                                                                               \
      converge_count = CONVERGE_SUM(CONVERGE_PACK(converge_s.alive, converge_s.alive && converge_s.want));            \
      if (converge_count == 0) break;                                                                                 \
      if (converge_s.policy == CONVERGE_AUTO && converge_s.step == CONVERGE_SAMPLE) {                                 \
        const float converge_n = (float)CONVERGE_SUM(converge_s.sampled);                                             \
        const float converge_share = (float)CONVERGE_SUM(converge_s.shares) / converge_n;                             \
        const float converge_flips = (float)CONVERGE_SUM(converge_s.changes) / converge_n;                            \
        converge_s.policy = converge_choose(CONVERGE_ALLOW, (float)converge_s.paths / CONVERGE_SAMPLE, converge_share,\
                                            converge_flips, CONVERGE_RHO, CONVERGE_ETA);                              \
      }                                                                                                               \
      converge_turn(&converge_s, converge_count >> 16, converge_count & 0xffff);                                      \
      i += converge_s.shift;

#define CONVERGE_TAKEN if (converge_s.run_taken)
#define CONVERGE_OTHER if (converge_s.run_other)
#define CONVERGE_TAIL if (converge_s.ran)

#define CONVERGE_END                                                                                                  \
      *converge_i += converge_moved(&converge_s) - converge_s.shift;                                                  \
    }                                                                                                                 \
  }

#endif
