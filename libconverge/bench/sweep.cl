// The sweep's loop for OpenCL: -D POLICY=0 to 5 (converge/policy.h), -D HAND=1 for the loop as one writes it.
#include "converge/opencl.h"

#define SWEEP_FMA fma
#include "gpu_loop.h"

__kernel void sweep(__global float* restrict out, int iterations, int path, int rest, uint threshold, uint slope) {
  const uint lane = sweep_offset((uint)get_global_id(0));
  float taken[SWEEP_CHAINS], other[SWEEP_CHAINS], tail[SWEEP_CHAINS];
  float sum = 0.0f;
#if !HAND
  CONVERGE_LOCAL_VOTES;
#endif
  for (int k = 0; k < SWEEP_CHAINS; ++k) taken[k] = other[k] = tail[k] = SWEEP_BEGIN(k);
#if HAND
  for (int i = 0; i < iterations; ++i) {
    if (sweep_condition(lane, (uint)i, threshold, slope)) {
      SWEEP_TAKEN(path, taken);
    } else {
      SWEEP_OTHER(path, other);
    }
    SWEEP_REST(rest, tail);
  }
#else
  CONVERGE_LOOP(POLICY, i, 0, i < iterations, sweep_condition(lane, (uint)i, threshold, slope))
    CONVERGE_TAKEN { SWEEP_TAKEN(path, taken); }
    CONVERGE_OTHER { SWEEP_OTHER(path, other); }
    CONVERGE_TAIL { SWEEP_REST(rest, tail); }
  CONVERGE_END
#endif
  for (int k = 0; k < SWEEP_CHAINS; ++k) sum += taken[k] + other[k] + tail[k];
  out[get_global_id(0)] = sum;
}
