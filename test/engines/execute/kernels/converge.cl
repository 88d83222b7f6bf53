// The loops of libconverge/include/converge/opencl.h under every policy: the same results as the plain loop, which the host
// does not compute here: each kernel runs both and counts where they differ.
#define CONVERGE_RHO 20.0f
#define CONVERGE_ALLOW (CONVERGE_ALLOW_POSTPONE | CONVERGE_ALLOW_ADVANCE_IN_ORDER)
#include "converge/opencl.h"

#define TAKES(i) ((paths[((i) * n + id) % size] & mask) == 0)

__kernel void converge_ordered(__global const uint* paths, __global uint* out, __global uint* wrong, int size, int count,
                               uint mask, int policy) {
  CONVERGE_LOCAL_VOTES;
  const int id = (int)get_global_id(0), n = (int)get_global_size(0);
  const int mine = count + id % 5;  // work-items differ in length
  uint plain = id, state = id;
  for (int i = 0; i < mine; ++i) {
    if (TAKES(i)) {
      plain = plain * 1664525u + (uint)i;
    } else {
      plain = (plain ^ (uint)i) * 22695477u + 1u;
    }
    plain ^= plain >> 9;
  }
  CONVERGE_LOOP(policy, i, 0, i < mine, TAKES(i))
    CONVERGE_TAKEN { state = state * 1664525u + (uint)i; }
    CONVERGE_OTHER { state = (state ^ (uint)i) * 22695477u + 1u; }
    CONVERGE_TAIL { state ^= state >> 9; }
  CONVERGE_END
  out[id] = state;
  wrong[id] = plain != state;
}

__kernel void converge_commuting(__global const uint* paths, __global uint* out, __global uint* wrong, int size, int count,
                                 uint mask, int policy) {
  CONVERGE_LOCAL_VOTES;
  const int id = (int)get_global_id(0), n = (int)get_global_size(0);
  uint plain = 0, state = 0;
  for (int i = 0; i < count; ++i) {
    if (TAKES(i)) {
      plain += paths[(i * 7 + id) % size];
    } else {
      plain += (uint)i * 3u;
    }
  }
  CONVERGE_LOOP(policy, i, 0, i < count, TAKES(i))
    CONVERGE_TAKEN { state += paths[(i * 7 + id) % size]; }
    CONVERGE_OTHER { state += (uint)i * 3u; }
  CONVERGE_END
  out[id] = state;
  wrong[id] = plain != state;
}

// Ends by data: an escape-time loop. Not for the two kinds of advance.
#undef CONVERGE_ALLOW
#define CONVERGE_ALLOW CONVERGE_ALLOW_POSTPONE
__kernel void converge_escaping(__global const uint* paths, __global uint* out, __global uint* wrong, int size, int count,
                                uint mask, int policy) {
  CONVERGE_LOCAL_VOTES;
  const int id = (int)get_global_id(0), n = (int)get_global_size(0);
  uint plain = id + 1, state = id + 1;
  for (int i = 0; i < count && (plain & 63u) != 7u; ++i) {
    if (TAKES(i)) {
      plain = plain * 1664525u + 1013904223u;
    } else {
      plain = (plain >> 3) ^ (plain * 69069u);
    }
  }
  CONVERGE_LOOP(policy, i, 0, i < count && (state & 63u) != 7u, TAKES(i))
    CONVERGE_TAKEN { state = state * 1664525u + 1013904223u; }
    CONVERGE_OTHER { state = (state >> 3) ^ (state * 69069u); }
  CONVERGE_END
  out[id] = state;
  wrong[id] = plain != state;
}
