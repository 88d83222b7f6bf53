/* The loop of the sweep on GPUs: the same text for CUDA, OpenCL C and the host, which runs it lane by lane and knows what
 * must come out. Both paths and the rest are chains of multiply-adds, `path` and `rest` rounds of eight. */
#ifndef CONVERGE_BENCH_GPU_LOOP_H
#define CONVERGE_BENCH_GPU_LOOP_H

#define SWEEP_CHAINS 8

#if defined(__CUDA__) || defined(__CUDACC__) || defined(__HIPCC__)
#define SWEEP_FUNCTION __host__ __device__ static inline
#else
#define SWEEP_FUNCTION static inline
#endif

/* Pattern: coins by a hash of lane and iteration below `threshold`, or, with a slope, changes of path that are spread evenly:
 * slope / 2^31 of each iteration. */
SWEEP_FUNCTION unsigned sweep_offset(unsigned lane) {
  unsigned x = lane * 0x9E3779B1u + 0x51ED270Bu;
  x ^= x >> 16;
  x *= 0x7FEB352Du;
  return x ^ (x >> 15);
}
SWEEP_FUNCTION int sweep_condition(unsigned lane_offset, unsigned i, unsigned threshold, unsigned slope) {
  unsigned x;
  if (slope != 0u) return (int)((i * slope + lane_offset) >> 31);
  x = (i + lane_offset) * 0x9E3779B1u;
  x ^= x >> 15;
  x *= 0x85EBCA77u;
  x ^= x >> 13;
  return x < threshold;
}

/* Rounds of one path on its eight sums; SWEEP_FMA is the fused multiply-add of the language. */
#define SWEEP_WORK(rounds, factor, add, x)                                                 \
  for (int sweep_r = 0; sweep_r < (rounds); ++sweep_r)                                     \
    for (int sweep_k = 0; sweep_k < SWEEP_CHAINS; ++sweep_k) (x)[sweep_k] = SWEEP_FMA((x)[sweep_k], factor, add)
#define SWEEP_TAKEN(rounds, x) SWEEP_WORK(rounds, 0.99f, 0.01f, x)
#define SWEEP_OTHER(rounds, x) SWEEP_WORK(rounds, 0.98f, 0.02f, x)
#define SWEEP_REST(rounds, x) SWEEP_WORK(rounds, 0.97f, 0.03f, x)
#define SWEEP_BEGIN(k) (1.0f + 0.0078125f * (float)(k))

#endif
