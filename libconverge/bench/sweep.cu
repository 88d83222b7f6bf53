// The sweep's loop for CUDA, one kernel for each policy: compiled to PTX by clang or nvcc, run by sweep_cuda.
#include "converge/device.h"

// An instruction for both compilers: clang without the toolkit has no body for __fmaf_rn.
#ifdef __clang__
#define SWEEP_FMA __builtin_fmaf
#else
#define SWEEP_FMA __fmaf_rn
#endif
#include "gpu_loop.h"

namespace {

__device__ float sum_of(const float* taken, const float* other, const float* tail) {
  float sum = 0.0f;
  for (int k = 0; k < SWEEP_CHAINS; ++k) sum += taken[k] + other[k] + tail[k];
  return sum;
}

template <int policy>
__device__ void run(float* out, int iterations, int path, int rest, unsigned threshold, unsigned slope) {
  const unsigned id = blockIdx.x * blockDim.x + threadIdx.x, lane = sweep_offset(id);
  float taken[SWEEP_CHAINS], other[SWEEP_CHAINS], tail[SWEEP_CHAINS];
  for (int k = 0; k < SWEEP_CHAINS; ++k) taken[k] = other[k] = tail[k] = SWEEP_BEGIN(k);
  converge::Settings settings;
  settings.allow = CONVERGE_ALLOW_POSTPONE | CONVERGE_ALLOW_ADVANCE | CONVERGE_ALLOW_ADVANCE_IN_ORDER;
  settings.rho = 2.0f * static_cast<float>(path) / static_cast<float>(rest);
  converge::loop<policy>(
      0, [&](int i) { return i < iterations; },
      [&](int i) { return sweep_condition(lane, static_cast<unsigned>(i), threshold, slope) != 0; },
      [&](int) { SWEEP_TAKEN(path, taken); }, [&](int) { SWEEP_OTHER(path, other); }, [&](int) { SWEEP_REST(rest, tail); },
      settings);
  out[id] = sum_of(taken, other, tail);
}

}  // namespace

#define SWEEP_KERNEL(name, policy)                                                                                       \
  extern "C" __global__ void name(float* out, int iterations, int path, int rest, unsigned threshold, unsigned slope) {  \
    run<policy>(out, iterations, path, rest, threshold, slope);                                                          \
  }
SWEEP_KERNEL(sweep_plain, CONVERGE_PLAIN)
SWEEP_KERNEL(sweep_majority, CONVERGE_MAJORITY)
SWEEP_KERNEL(sweep_round_robin, CONVERGE_ROUND_ROBIN)
SWEEP_KERNEL(sweep_advance, CONVERGE_ADVANCE)
SWEEP_KERNEL(sweep_advance_in_order, CONVERGE_ADVANCE_IN_ORDER)
SWEEP_KERNEL(sweep_auto, CONVERGE_AUTO)

// The loop as one writes it.
extern "C" __global__ void sweep_hand(float* out, int iterations, int path, int rest, unsigned threshold, unsigned slope) {
  const unsigned id = blockIdx.x * blockDim.x + threadIdx.x, lane = sweep_offset(id);
  float taken[SWEEP_CHAINS], other[SWEEP_CHAINS], tail[SWEEP_CHAINS];
  for (int k = 0; k < SWEEP_CHAINS; ++k) taken[k] = other[k] = tail[k] = SWEEP_BEGIN(k);
  for (int i = 0; i < iterations; ++i) {
    if (sweep_condition(lane, static_cast<unsigned>(i), threshold, slope) != 0) {
      SWEEP_TAKEN(path, taken);
    } else {
      SWEEP_OTHER(path, other);
    }
    SWEEP_REST(rest, tail);
  }
  out[id] = sum_of(taken, other, tail);
}
