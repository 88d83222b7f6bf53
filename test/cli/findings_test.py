"""Planted faults: each is found at its line, by its lanes. Clean kernels: nothing is."""

import re
import unittest

from check_schema import checked
from program import Case

LOCKSTEP, INDEPENDENT = ("--threads", "lockstep"), ("--threads", "independent")

HALF_A_WARP = """
__global__ void k(int* a) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 16) {
    s[threadIdx.x] += 1;
    __syncthreads();  // HERE
  }
  a[threadIdx.x] = s[threadIdx.x];
}"""

# Three stages of copies that go on while the last one is used, and a warp that copies in bulk for another one.
COPIES = """
__global__ void k(const float* in, float* out, int n) {
  __shared__ float s[3][64];
  unsigned t = threadIdx.x, to = (unsigned)__cvta_generic_to_shared(s);
  for (int k = 0; k < 2; ++k) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to + (k * 64 + t) * 4), "l"(in + k * 64 + t) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    sum += s[k % 3][63 - t];  // HERE
    int c = k + 2;
    if (c < n)
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to + (c % 3 * 64 + t) * 4), "l"(in + c * 64 + t) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  out[t] = sum;
}"""
IN_BULK = """
__device__ void wait(unsigned bar, int parity) {
  asm volatile("{ .reg .pred p; A: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra A; }" :: "r"(bar), "r"(parity) : "memory");  // WAIT
}
__global__ void k(const float* in, float* out, int n) {
  __shared__ __align__(16) float s[2][64];
  __shared__ unsigned long long full[2], empty[2];
  unsigned t = threadIdx.x, to = (unsigned)__cvta_generic_to_shared(s);
  unsigned f = (unsigned)__cvta_generic_to_shared(full), e = (unsigned)__cvta_generic_to_shared(empty);
  if (t == 0)
    for (int k = 0; k < 2; ++k) {
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(f + 8 * k) : "memory");
      asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(e + 8 * k) : "memory");
    }
  __syncthreads();
  if (t >= 32) {
    if (t > 32) return;
    for (int k = 0; k < n; ++k) {
      int b = k % 2;
      if (k >= 2) wait(e + 8 * b, k / 2 - 1 & 1);
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" :: "r"(f + 8 * b) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"  // COPY
                   :: "r"(to + 256 * b), "l"(in + k * 64), "r"(f + 8 * b) : "memory");
    }
    return;
  }
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    int b = k % 2;
    wait(f + 8 * b, k / 2 & 1);
    sum += s[b][2 * t] - s[b][63 - t];
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(e + 8 * b) : "memory");
  }
  out[t] = sum;
}"""
OF_COPIES = ("--device", "a100", "--arg", "n=9", "--buffer", "in=576")
OF_BULK = ("--device", "h100", "--arg", "n=9", "--buffer", "in=576")
READ = "    sum += s[b][2 * t] - s[b][63 - t];\n"
GIVEN_BACK = '    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(e + 8 * b) : "memory");\n'
WAIT_GROUP = 'asm volatile("cp.async.wait_group 1;" ::: "memory");'

# Source (the line that is meant ends in "// HERE"), block, grid, more arguments, kind, thread of the finding or None.
PLANTED = {
    "write behind a buffer": ("""
__global__ void k(float* a) {
  a[blockIdx.x * 64 + threadIdx.x + 1] = 1;  // HERE
}""", 64, 2, ("--buffer", "a=128"), "out of bounds", (63, 0, 0)),
    "read before a buffer": ("""
__global__ void k(float* a, const float* b) {
  a[threadIdx.x] = b[(int)threadIdx.x - 1];  // HERE
}""", 32, 1, ("--buffer", "a=32", "--buffer", "b=32"), "out of bounds", (0, 0, 0)),
    "index behind a shared array": ("""
__global__ void k(int* a, int shift) {
  __shared__ int s[64];
  s[threadIdx.x + shift] = threadIdx.x;  // HERE
  __syncthreads();
  if (threadIdx.x > 0) a[threadIdx.x] = s[threadIdx.x];
}""", 64, 1, ("--arg", "shift=1"), "out of bounds", (63, 0, 0)),
    "read before a shared array": ("""
__global__ void k(int* a, int shift) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  a[threadIdx.x] = s[(int)threadIdx.x - shift];  // HERE
}""", 64, 1, ("--arg", "shift=4"), "out of bounds", (0, 0, 0)),
    "write before a shared array": ("""
__global__ void k(int* a, int shift) {
  __shared__ int s[64];
  s[(int)threadIdx.x - shift] = threadIdx.x;  // HERE
  __syncthreads();
  if (threadIdx.x < 60) a[threadIdx.x] = s[threadIdx.x];
}""", 64, 1, ("--arg", "shift=4"), "out of bounds", (0, 0, 0)),
    "float4 at four bytes": ("""
__global__ void k(float* a, const float* b) {
  float4 v = *(const float4*)(b + 4 * threadIdx.x + 1);  // HERE
  a[threadIdx.x] = v.x + v.y + v.z + v.w;
}""", 32, 1, ("--buffer", "b=256"), "misaligned", (0, 0, 0)),
    "float4 stored at eight bytes": ("""
__global__ void k(float* a) {
  *(float4*)(a + 4 * threadIdx.x + 2) = make_float4(1, 2, 3, 4);  // HERE
}""", 32, 1, ("--buffer", "a=256"), "misaligned", (0, 0, 0)),
    "float2 of neighbouring floats": ("""
__global__ void k(float* a, const float* b) {
  float2 v = *(const float2*)(b + threadIdx.x);  // HERE
  a[threadIdx.x] = v.x + v.y;
}""", 32, 1, ("--buffer", "b=64"), "misaligned", (1, 0, 0)),
    "double in an array of ints": ("""
__global__ void k(double* a, const int* b) {
  a[threadIdx.x] = *(const double*)(b + 2 * threadIdx.x + 1);  // HERE
}""", 32, 1, ("--buffer", "b=128"), "misaligned", (0, 0, 0)),
    "int4 in shared memory": ("""
__global__ void k(int* a, int shift) {
  __shared__ int s[256];
  for (int i = threadIdx.x; i < 256; i += 32) s[i] = i;
  __syncthreads();
  int4 v = *(int4*)(s + 4 * threadIdx.x + shift);  // HERE
  a[threadIdx.x] = v.x + v.y * v.z + v.w;
}""", 32, 1, ("--arg", "shift=2"), "misaligned", (0, 0, 0)),
    "shared memory that nobody wrote": ("""
__global__ void k(int* a) {
  __shared__ int s[64];
  if (threadIdx.x < 32) s[threadIdx.x] = 1;
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x];  // HERE
}""", 64, 1, (), "uninitialised read", (32, 0, 0)),
    "private array that nobody wrote": ("""
__global__ void k(int* a, int n) {
  int p[16];
  for (int i = 0; i < n; ++i) p[i * 3 & 15] = i;
  a[threadIdx.x] = p[threadIdx.x & 15];  // HERE
}""", 32, 1, ("--arg", "n=4"), "uninitialised read", (1, 0, 0)),
    "private array that is partly written": ("""
__global__ void k(float* a, const int* index, int n) {
  float p[32];
  for (int i = 0; i < n; ++i) p[i] = a[i];
  float s = 0;
  for (int i = 0; i < 4; ++i) s += p[index[threadIdx.x * 4 + i] & 31];  // HERE
  a[threadIdx.x] = s;
}""", 32, 1, ("--arg", "n=16", "--buffer", "index=128:iota"), "uninitialised read", (4, 0, 0)),
    "no barrier between write and read": ("""
__global__ void k(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  s[threadIdx.x] = threadIdx.x * 2 + 1;
  a[threadIdx.x] = s[63 - threadIdx.x];  // HERE
}""", 64, 1, (), "race", (32, 0, 0)),
    "warp reduction without __syncwarp": ("""
__global__ void k(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  s[threadIdx.x + 32] = 0;
  __syncwarp();
  s[threadIdx.x] += s[threadIdx.x + 16];
  s[threadIdx.x] += s[threadIdx.x + 8];  // HERE
  __syncwarp();
  a[threadIdx.x] = s[0];
}""", 32, 1, INDEPENDENT, "race", None),
    "all blocks write one place": ("""
__global__ void k(int* a) {
  a[threadIdx.x] = blockIdx.x + 1;  // HERE
}""", 32, 4, ("--sample", "all", "--jobs", "1"), "race", (0, 0, 0)),
    "a sum beside an atomic": ("""
__global__ void k(int* sum, const int* a) {
  if (blockIdx.x == 1 && threadIdx.x == 0) sum[0] = 7;  // HERE
  atomicAdd(sum, a[threadIdx.x] + 1);
}""", 32, 2, ("--sample", "all", "--buffer", "sum=1"), "race", None),
    "a stencil in place": ("""
__global__ void k(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) {
    float v = a[i - 1] + a[i + 1];  // HERE
    a[i] = v * 0.5f + 1;
  }
}""", 64, 4, ("--sample", "all", "--arg", "n=256", "--buffer", "a=256"), "race", None),
    "threads of a block exchange through global memory": ("""
__global__ void k(int* a, int* b) {
  a[threadIdx.x] = threadIdx.x + 1;
  b[threadIdx.x] = a[63 - threadIdx.x];  // HERE
}""", 64, 1, ("--sample", "all"), "race", (32, 0, 0)),
    "a barrier for half of a warp": (HALF_A_WARP, 32, 1, LOCKSTEP, "barrier in divergent code", (0, 0, 0)),
    "a barrier for half of a warp of independent threads": (HALF_A_WARP, 32, 1, INDEPENDENT, "barrier in divergent code", (0, 0, 0)),
    "one barrier each for both sides": ("""
__global__ void k(int* a) {
  __shared__ int s[32];
  if (threadIdx.x < 20) {
    s[threadIdx.x] = 1;
    __syncthreads();
    a[threadIdx.x] = s[19 - threadIdx.x];
  } else {
    s[threadIdx.x] = 2;
    __syncthreads();  // HERE
    a[threadIdx.x] = s[51 - threadIdx.x] * 3;
  }
}""", 32, 1, INDEPENDENT, "barrier in divergent code", None),
    "a barrier in a loop of as many rounds as the thread's number": ("""
__global__ void k(int* a) {
  int sum = 0;
  for (int i = 0; i < threadIdx.x % 4 + 1; ++i) {
    __syncthreads();
    sum += a[i];
  }
  a[64 + threadIdx.x] = sum;
  __syncthreads();  // HERE
  a[128 + threadIdx.x] = a[64 + threadIdx.x];
}""", 32, 1, INDEPENDENT, "barrier in divergent code", None),
    "copies that nobody waits for": (COPIES.replace(WAIT_GROUP, ""), 64, 1, OF_COPIES, "race", None),
    "a wait for one group too few": (COPIES.replace("wait_group 1", "wait_group 2"), 64, 1, OF_COPIES, "race", (0, 0, 0)),
    "a barrier in front of the wait": (COPIES.replace(WAIT_GROUP, "").replace("__syncthreads();", "__syncthreads(); " + WAIT_GROUP),
                                       64, 1, OF_COPIES, "race", None),
    "a stage that is given back before its last read": (IN_BULK.replace(READ, "").replace(GIVEN_BACK, GIVEN_BACK + READ).replace("COPY", "HERE"),
                                                        64, 1, OF_BULK, "race", None),
    "a phase at which too few bytes arrive": (IN_BULK.replace("_, [%0], 256", "_, [%0], 272").replace("WAIT", "HERE"), 64, 1, OF_BULK,
                                              "endless wait", None),
    "a phase at which too few threads arrive": (IN_BULK.replace("[%0], 32", "[%0], 33").replace("WAIT", "HERE"), 64, 1, OF_BULK,
                                                "endless wait", None),
    "division by zero": ("""
__global__ void k(int* a, const int* b) {
  a[threadIdx.x] = 100 / b[threadIdx.x];  // HERE
}""", 32, 1, ("--buffer", "b=32:iota"), "division by zero", (0, 0, 0)),
    "remainder by zero": ("""
__global__ void k(unsigned* a, const unsigned* b) {
  a[threadIdx.x] = 100u % (b[threadIdx.x] / 2);  // HERE
}""", 32, 1, ("--buffer", "b=32:iota"), "division by zero", (0, 0, 0)),
    "shift by more than the width": ("""
__global__ void k(int* a, const int* b) {
  a[threadIdx.x] = 1 << b[threadIdx.x];  // HERE
}""", 64, 1, ("--buffer", "b=64:iota"), "shift beyond the width", (32, 0, 0)),
    "shift by a negative number": ("""
__global__ void k(unsigned* a, int n) {
  a[threadIdx.x] = a[threadIdx.x] >> ((int)threadIdx.x - n);  // HERE
}""", 32, 1, ("--arg", "n=3"), "shift beyond the width", (0, 0, 0)),
}  # fmt: skip

CLEAN = {
    "a ring of asynchronous copies": (COPIES, 64, 1, OF_COPIES),
    "a ring of copies in bulk": (IN_BULK, 64, 1, OF_BULK),
    "saxpy": ("""
__global__ void k(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + y[i];
}""", 64, 4, ("--arg", "n=250", "--buffer", "x=250", "--buffer", "y=250")),
    "tiles": ("""
__global__ void k(float* c, const float* a, const float* b, int n) {
  __shared__ float s[8][8], t[8][8];
  int x = threadIdx.x % 8, y = threadIdx.x / 8, column = blockIdx.x % 4 * 8 + x, row = blockIdx.x / 4 * 8 + y;
  float sum = 0;
  for (int p = 0; p < n / 8; ++p) {
    s[y][x] = a[row * n + p * 8 + x];
    t[y][x] = b[(p * 8 + y) * n + column];
    __syncthreads();
    for (int q = 0; q < 8; ++q) sum += s[y][q] * t[q][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}""", 64, 16, ("--arg", "n=32", "--buffer", "a=1024", "--buffer", "b=1024", "--buffer", "c=1024")),
    "sum of a block": ("""
__global__ void k(float* out, const float* in) {
  __shared__ float s[128];
  s[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}""", 128, 4, ()),
    "sum of a warp by shuffles": ("""
__global__ void k(float* out, const float* in) {
  float v = in[blockIdx.x * 32 + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}""", 32, 4, ()),
    "sum of a warp with __syncwarp": ("""
__global__ void k(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  s[threadIdx.x + 32] = 0;
  __syncwarp();
  for (int d = 16; d > 0; d /= 2) {
    int v = s[threadIdx.x + d];
    __syncwarp();
    s[threadIdx.x] += v;
    __syncwarp();
  }
  a[threadIdx.x] = s[0];
}""", 32, 1, ()),
    "histogram": ("""
__global__ void k(int* out, const unsigned char* in, int n) {
  __shared__ int s[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) s[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&s[in[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&out[i], s[i]);
}""", 64, 4, ("--arg", "n=1000", "--buffer", "in=1000", "--buffer", "out=256")),
    "the last block adds up": ("""
__device__ unsigned count = 0;
__global__ void k(float* parts, float* out, const float* in) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = in[blockIdx.x] * 2;
    __threadfence();
    last = atomicInc(&count, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < gridDim.x; ++i) sum += parts[i];
    out[0] = sum;
    count = 0;
  }
}""", 32, 8, ("--buffer", "parts=8", "--buffer", "out=1")),
    "stencil": ("""
__global__ void k(float* b, const float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) b[i] = a[i - 1] + a[i] + a[i + 1];
}""", 64, 4, ("--arg", "n=256", "--buffer", "a=256", "--buffer", "b=256")),
    "a private stack": ("""
__global__ void k(int* out, const int* in, int n) {
  int stack[32], top = 0;
  stack[top++] = threadIdx.x;
  int sum = 0;
  while (top > 0) {
    int v = stack[--top];
    sum += in[v & 63];
    if (v > 0 && top < 30) {
      stack[top++] = v / 2 - 1 > 0 ? v / 2 - 1 : 0;
      if (v % 3 == n) stack[top++] = v / 4;
    }
  }
  out[threadIdx.x] = sum;
}""", 32, 1, ("--arg", "n=1", "--buffer", "in=64")),
    "a private table": ("""
__global__ void k(int* out, const int* index) {
  int t[16];
  for (int i = 0; i < 16; ++i) t[i] = i * i;
  for (int i = 0; i < 8; ++i) t[index[i] & 15] += i;
  int s = 0;
  for (int i = 0; i < 16; ++i) s ^= t[(i + threadIdx.x) & 15];
  out[threadIdx.x] = s;
}""", 32, 1, ("--buffer", "index=8")),
    "a shift that is guarded": ("""
__global__ void k(unsigned* out, const unsigned* in) {
  unsigned n = in[threadIdx.x];
  out[threadIdx.x] = n < 32 ? 5u << n : 0;
  unsigned m = n + 1;
  if (m < 32) out[threadIdx.x] += 3u >> m;
}""", 64, 1, ("--buffer", "in=64:iota")),
    "a division that is guarded": ("""
__global__ void k(int* out, const int* in) {
  int d = in[threadIdx.x];
  out[threadIdx.x] = d != 0 ? 100 / d : 0;
  if (d > 1) out[threadIdx.x] += 77 % (d - 1);
}""", 64, 1, ("--buffer", "in=64:iota")),
    "vectors at their places": ("""
__global__ void k(float4* out, const float4* in, double2* d) {
  float4 v = in[threadIdx.x];
  v.x += v.w;
  out[threadIdx.x] = v;
  d[threadIdx.x] = make_double2(v.x, v.y);
}""", 32, 1, ("--buffer", "in=32")),
    "two halves in turn": ("""
__global__ void k(int* out, int rounds) {
  __shared__ int s[2][64];
  s[0][threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    s[1 - r % 2][threadIdx.x] = s[r % 2][(threadIdx.x + 1) % 64] + 1;
    __syncthreads();
  }
  out[blockIdx.x * 64 + threadIdx.x] = s[rounds % 2][threadIdx.x];
}""", 64, 2, ("--arg", "rounds=5")),
    "a flag that all set alike": ("""
__global__ void k(int* flag, const int* in) {
  if (in[blockIdx.x * 64 + threadIdx.x] >= 0) *flag = 1;
}""", 64, 4, ("--buffer", "in=256:iota", "--buffer", "flag=1")),
    "dynamic behind static shared memory": ("""
__global__ void k(float* out) {
  extern __shared__ float4 d[];
  __shared__ int one;
  if (threadIdx.x == 0) one = 3;
  d[threadIdx.x] = make_float4(1, 2, 3, 4);
  __syncthreads();
  out[blockIdx.x * 32 + threadIdx.x] = d[31 - threadIdx.x].y + one;
}""", 32, 2, ("--shared", "512")),
    "a scan": ("""
__global__ void k(int* out, const int* in) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    int v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  out[blockIdx.x * 128 + t] = s[t];
}""", 128, 2, ()),
    "bitonic sort": ("""
__global__ void k(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = a[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  for (int size = 2; size <= 64; size *= 2)
    for (int d = size / 2; d > 0; d /= 2) {
      int other = threadIdx.x ^ d;
      if (other > threadIdx.x) {
        bool up = (threadIdx.x & size) == 0;
        int x = s[threadIdx.x], y = s[other];
        if ((x > y) == up) { s[threadIdx.x] = y; s[other] = x; }
      }
      __syncthreads();
    }
  a[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
}""", 64, 2, ("--buffer", "a=128")),
    "rows of a sparse matrix": ("""
__global__ void k(float* y, const int* start, const int* column, const float* v, const float* x, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n) return;
  float s = 0;
  for (int i = start[r]; i < start[r + 1]; ++i) s += v[i] * x[column[i]];
  y[r] = s;
}""", 64, 2, ("--arg", "n=100", "--buffer", "start=101:sorted(0,1000)", "--buffer", "column=1000:uniform(0,100)", "--buffer", "v=1000", "--buffer",
              "x=100", "--buffer", "y=100")),
    "a maximum by compare and swap": ("""
__global__ void k(int* most, const int* in) {
  int v = in[blockIdx.x * 64 + threadIdx.x], old = atomicAdd(most, 0);
  while (v > old) {
    int seen = atomicCAS(most, old, v);
    if (seen == old) break;
    old = seen;
  }
}""", 64, 2, ("--buffer", "most=1:0", "--buffer", "in=128:iota")),
    "a block's slice of global memory": ("""
__global__ void k(int* a, int* b) {
  int* mine = a + blockIdx.x * 64;
  mine[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  b[blockIdx.x * 64 + threadIdx.x] = mine[63 - threadIdx.x];
}""", 64, 4, ()),
    "some leave early": ("""
__global__ void k(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0;
  for (int j = 0; j < 4; ++j) s += x[i] * j;
  y[i] = s;
}""", 64, 4, ("--arg", "n=200", "--buffer", "x=200", "--buffer", "y=200")),
}  # fmt: skip


class Findings(Case):
    def run_one(self, source, block, grid, args):
        path = self.path("k.cu", source)
        if "--jobs" not in args:  # which of two blocks in a race is named depends on who runs first
            args = (*args, "--jobs", "1")
        device = () if "--device" in args else ("--device", "v100")
        result = self.run_program("predict", path, *device, "--counts", "executed", "--model", "roofline", "--grid", str(grid), "--block",
                                  str(block), *args, "--format", "json")  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stderr)
        return checked(result.stdout, "predict")["findings"], result.stderr

    def test_planted(self):
        for name, (source, block, grid, args, kind, thread) in PLANTED.items():
            with self.subTest(name):
                found, stderr = self.run_one(source, block, grid, args)
                line = next(n for n, text in enumerate(source.split("\n"), 1) if text.endswith("// HERE"))
                here = [f for f in found if f["kind"] == kind and f["line"] == line]
                self.assertEqual(len(here), 1, stderr)
                if thread is not None:
                    self.assertEqual(tuple(here[0]["thread"]), thread)
                self.assertRegex(stderr, rf"k\.cu:{line}: ((mem|init|race|sync)check: )?{re.escape(kind)}: .*thread \(")
                self.assertEqual([f for f in found if f["kind"] != kind], [])

    def test_clean(self):
        for name, (source, block, grid, args) in CLEAN.items():
            for threads in (LOCKSTEP, INDEPENDENT):
                with self.subTest(name, threads=threads[1]):
                    found, stderr = self.run_one(source, block, grid, (*args, *threads, "--sample", "all"))
                    self.assertEqual(found, [], stderr)

    def test_a_race_between_blocks_names_both(self):
        source, block, grid, args = PLANTED["all blocks write one place"][:4]
        found, stderr = self.run_one(source, block, grid, args)
        self.assertEqual((found[0]["block"], found[0]["other_block"], found[0]["tool"]), ([1, 0, 0], [0, 0, 0], "racecheck"))
        self.assertIn("and block (0,0,0), thread (0,0,0)", stderr)


if __name__ == "__main__":
    unittest.main()
