// CUDA's own: votes, shuffles, launch bounds, inline PTX, templates.
extern "C" __global__ void warp_sum(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? in[i] : 0.0f;
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
  if ((threadIdx.x & 31) == 0) atomicAdd(out, v);
}

extern "C" __global__ void __launch_bounds__(256) compact(const int* in, int* out, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = i < n ? in[i] : 0;
  unsigned mask = __ballot_sync(0xffffffffu, v > 0);
  int lane = threadIdx.x & 31, base = 0;
  if (lane == 0) base = atomicAdd(count, __popc(mask));
  for (int d = 16; d > 0; d >>= 1) base += __shfl_down_sync(0xffffffffu, base, d);
  if (v > 0) out[base + __popc(mask & ((1u << lane) - 1))] = v;
}

extern "C" __global__ void cached_copy(const float4* in, float4* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 v;
  asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(in + i));
  asm volatile("st.global.cs.v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(out + i), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
}

template <int N>
__device__ void polynomial(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i], r = 0.0f;
  for (int k = 0; k < N; ++k) r = r * v + k * 0.5f;
  y[i] = r;
}
extern "C" __global__ void horner32(float* y, const float* x) { polynomial<32>(y, x); }

// 64 accumulators: more than the cap of 1024 threads per block allows.
extern "C" __global__ void __launch_bounds__(1024) accumulators(float* out, const float* a, const float* b, int n) {
  float sum[8][8];
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) sum[i][j] = 0.0f;
  int t = threadIdx.x;
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) sum[i][j] += a[k * 8192 + t * 8 + i] * b[k * 8192 + t * 8 + j];
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) out[(t * 8 + i) * 8 + j] = sum[i][j];
}

extern "C" __global__ void accumulators_free(float* out, const float* a, const float* b, int n) {
  float sum[8][8];
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) sum[i][j] = 0.0f;
  int t = threadIdx.x;
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) sum[i][j] += a[k * 8192 + t * 8 + i] * b[k * 8192 + t * 8 + j];
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) out[(t * 8 + i) * 8 + j] = sum[i][j];
}
