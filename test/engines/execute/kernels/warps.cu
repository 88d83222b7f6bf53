// Functions of a warp; warps_twin.cl computes the same through memory. Segments of 32 lanes or fewer, so that the results
// are the same on warps of 64.
extern "C" __global__ void shuffle_down_sum(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d, 32);
  if ((threadIdx.x & 31) == 0) out[i / 32] = v;
}

extern "C" __global__ void shuffle_xor_max(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
  for (int d = 1; d < 16; d <<= 1) v = max(v, __shfl_xor_sync(0xffffffffu, v, d, 16));
  out[i] = v;
}

extern "C" __global__ void shuffle_up_scan(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  float v = in[i];
  for (int d = 1; d < 32; d *= 2) {
    float below = __shfl_up_sync(0xffffffffu, v, d, 32);
    if (lane >= d) v = v + below;
  }
  out[i] = v;
}

extern "C" __global__ void shuffle_gather(const int* in, const int* from, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __shfl_sync(0xffffffffu, in[i], from[i], 8) * 3 + __shfl_sync(0xffffffffu, in[i], 5, 32);
}

extern "C" __global__ void shuffle_wide(const double* in, long long* counts, double* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double v = in[i];
  out[i] = __shfl_xor_sync(0xffffffffu, v, 3, 32) - v;
  counts[i] = __shfl_down_sync(0xffffffffu, counts[i], 2, 32);
}

// A segmented sum of the group in two levels.
extern "C" __global__ void group_sum(const int* in, int* out) {
  __shared__ int part[32];
  int t = threadIdx.x, v = in[blockIdx.x * blockDim.x + t];
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d, 32);
  if ((t & 31) == 0) part[t / 32] = v;
  __syncthreads();
  if (t == 0) {
    int sum = 0;
    for (int k = 0; k < blockDim.x / 32; ++k) sum += part[k];
    out[blockIdx.x] = sum;
  }
}

extern "C" __global__ void votes(const int* in, int* any_out, int* all_out, int limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  any_out[i] = __any_sync(0xffffffffu, in[i] > limit) ? 1 : 0;
  all_out[i] = __all_sync(0xffffffffu, in[i] < limit) ? 1 : 0;
}

extern "C" __global__ void ballot_compact(const int* in, int* out, int* kept) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, base = i - lane;
  bool keep = in[i] % 3 == 0;
  unsigned mask = __ballot_sync(0xffffffffu, keep);
  if (keep) out[base + __popc(mask & ((1u << lane) - 1))] = in[i];
  if (lane == 0) kept[i / 32] = __popc(mask);
}

extern "C" __global__ void barrier_counts(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int count = __syncthreads_count(in[i] > 50);
  int any = __syncthreads_or(in[i] > 98), all = __syncthreads_and(in[i] > 1);
  out[i] = count * 4 + (any ? 2 : 0) + (all ? 1 : 0);
}

extern "C" __global__ void bit_functions(const unsigned* a, const unsigned* b, unsigned* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  unsigned x = a[i], y = b[i];
  out[i] = __brev(x);
  out[i + n] = __ffs(x);
  out[i + 2 * n] = __clz(y);
  out[i + 3 * n] = __popc(x ^ y);
  out[i + 4 * n] = __byte_perm(x, y, 0x3614);
  out[i + 5 * n] = __umulhi(x, y);
  out[i + 6 * n] = __funnelshift_l(x, y, i);
}
