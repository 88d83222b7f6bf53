// libconverge/include/converge/device.h on the same inputs as converge.cl; results must be the same for every policy.
#include "converge/device.h"

#define TAKES(i) ((paths[((i) * n + id) % size] & mask) == 0)

template <class F>
__device__ void with_policy(int policy, F f) {
  switch (policy) {
    case CONVERGE_MAJORITY: f.template run<CONVERGE_MAJORITY>(); break;
    case CONVERGE_ROUND_ROBIN: f.template run<CONVERGE_ROUND_ROBIN>(); break;
    case CONVERGE_ADVANCE: f.template run<CONVERGE_ADVANCE>(); break;
    case CONVERGE_ADVANCE_IN_ORDER: f.template run<CONVERGE_ADVANCE_IN_ORDER>(); break;
    case CONVERGE_AUTO: f.template run<CONVERGE_AUTO>(); break;
    default: f.template run<CONVERGE_PLAIN>(); break;
  }
}

struct Ordered {
  const unsigned* paths;
  unsigned& state;
  int id, n, size, mine;
  unsigned mask;
  template <int policy>
  __device__ void run() {
    converge::Settings settings;
    settings.allow = CONVERGE_ALLOW_POSTPONE | CONVERGE_ALLOW_ADVANCE_IN_ORDER;
    settings.rho = 20.0f;
    converge::loop<policy>(
        0, [&](int i) { return i < mine; }, [&](int i) { return TAKES(i); },
        [&](int i) { state = state * 1664525u + (unsigned)i; },
        [&](int i) { state = (state ^ (unsigned)i) * 22695477u + 1u; }, [&](int) { state ^= state >> 9; }, settings);
  }
};

__global__ void converge_ordered(const unsigned* paths, unsigned* out, unsigned* wrong, int size, int count, unsigned mask,
                                 int policy) {
  const int id = (int)(blockIdx.x * blockDim.x + threadIdx.x), n = (int)(gridDim.x * blockDim.x);
  const int mine = count + id % 5;
  unsigned plain = id, state = id;
  for (int i = 0; i < mine; ++i) {
    if (TAKES(i)) {
      plain = plain * 1664525u + (unsigned)i;
    } else {
      plain = (plain ^ (unsigned)i) * 22695477u + 1u;
    }
    plain ^= plain >> 9;
  }
  with_policy(policy, Ordered{paths, state, id, n, size, mine, mask});
  out[id] = state;
  wrong[id] = plain != state;
}

struct Commuting {
  const unsigned* paths;
  unsigned& state;
  int id, n, size, count;
  unsigned mask;
  template <int policy>
  __device__ void run() {
    converge::loop<policy>(
        0, [&](int i) { return i < count; }, [&](int i) { return TAKES(i); },
        [&](int i) { state += paths[(i * 7 + id) % size]; }, [&](int i) { state += (unsigned)i * 3u; });
  }
};

__global__ void converge_commuting(const unsigned* paths, unsigned* out, unsigned* wrong, int size, int count, unsigned mask,
                                   int policy) {
  const int id = (int)(blockIdx.x * blockDim.x + threadIdx.x), n = (int)(gridDim.x * blockDim.x);
  unsigned plain = 0, state = 0;
  for (int i = 0; i < count; ++i) {
    if (TAKES(i)) {
      plain += paths[(i * 7 + id) % size];
    } else {
      plain += (unsigned)i * 3u;
    }
  }
  with_policy(policy, Commuting{paths, state, id, n, size, count, mask});
  out[id] = state;
  wrong[id] = plain != state;
}

struct Escaping {
  const unsigned* paths;
  unsigned& state;
  int id, n, size, count;
  unsigned mask;
  template <int policy>
  __device__ void run() {
    converge::loop<policy>(
        0, [&](int i) { return i < count && (state & 63u) != 7u; }, [&](int i) { return TAKES(i); },
        [&](int) { state = state * 1664525u + 1013904223u; }, [&](int) { state = (state >> 3) ^ (state * 69069u); });
  }
};

__global__ void converge_escaping(const unsigned* paths, unsigned* out, unsigned* wrong, int size, int count, unsigned mask,
                                  int policy) {
  const int id = (int)(blockIdx.x * blockDim.x + threadIdx.x), n = (int)(gridDim.x * blockDim.x);
  unsigned plain = id + 1, state = id + 1;
  for (int i = 0; i < count && (plain & 63u) != 7u; ++i) {
    if (TAKES(i)) {
      plain = plain * 1664525u + 1013904223u;
    } else {
      plain = (plain >> 3) ^ (plain * 69069u);
    }
  }
  with_policy(policy, Escaping{paths, state, id, n, size, count, mask});
  out[id] = state;
  wrong[id] = plain != state;
}
