"""Advice: each rule where it holds and where it does not, gains against forecasts of the changed source, formats, gates."""

import json
import os
import re
import unittest

import jsonschema
from check_schema import checked
from program import ROOT, Case

ONE = ("--grid", "4096", "--block", "256", "--arg", "n=1048576")
SQUARE = ("--grid", "64,64", "--block", "32,32", "--arg", "n=2048")
ID = "int i = blockIdx.x * blockDim.x + threadIdx.x;"


def kernel(parameters, body, before=""):
    return f"{before}\n__global__ void k({parameters}) {{\n  {body}\n}}\n"


TRANSPOSE = """__global__ void k(const float* in, float* out, int n) {{
  __shared__ float tile[32][{row}];
  int x = threadIdx.x, y = threadIdx.y, left = blockIdx.x * 32, top = blockIdx.y * 32;
  tile[y][x] = in[(top + y) * n + left + x];
  __syncthreads();
  out[(left + y) * n + top + x] = tile[x][y];
}}
"""
NAIVE_TRANSPOSE = kernel(
    "const float* in, float* out, int n",
    "int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;\n  out[x * n + y] = in[y * n + x];",
)
ROWS = kernel("const float* a, float* o, int n", f"{ID}\n  float s = 0;\n  for (int k = 0; k < 64; ++k) s += a[i * 64 + k];\n  o[i] = s;")
COLUMNS = kernel("const float* a, float* o, int n", f"{ID}\n  float s = 0;\n  for (int k = 0; k < 64; ++k) s += a[k * n + i];\n  o[i] = s;")
STRUCTURES = kernel("const P* p, float* o, int n", f"{ID}\n  o[i] = p[i].x + p[i].m;", "struct P { float x, y, z, vx, vy, vz, m, q; };")
ARRAYS = kernel("const float* x, const float* m, float* o, int n", f"{ID}\n  o[i] = x[i] + m[i];")
PITCH = kernel("const float* a, float* o, int w", "int x = threadIdx.x, y = blockIdx.x;\n  o[y * 256 + x] = a[y * w + x];")
BYTES = kernel("const unsigned char* a, unsigned char* o, int n", f"{ID}\n  o[i] = a[i] ^ 1;")
SUMS = """__global__ void k(const float* a, float* o, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float r[{0}];
  #pragma unroll
  for (int j = 0; j < {0}; ++j) r[j] = j * i;
  for (int k = 0; k < 64; ++k) {{
    float x = a[(k * 7919) * n + i];
    #pragma unroll
    for (int j = 0; j < {0}; ++j) r[j] = r[j] * x + j;
  }}
  float s = 0;
  #pragma unroll
  for (int j = 0; j < {0}; ++j) s += r[j] * r[{0} - 1 - j];
  o[i] = s;
}}
"""
VECTOR = kernel("const float* a, float* o, int n", f"{ID}\n  o[i] = a[4 * i] + a[4 * i + 1] + a[4 * i + 2] + a[4 * i + 3];")
VECTOR4 = kernel("const float4* a, float* o, int n", f"{ID}\n  float4 v = a[i];\n  o[i] = v.x + v.y + v.z + v.w;")
LOCAL = kernel(
    "const int* a, float* o, int n",
    f"""{ID}
  float h[16];
  for (int k = 0; k < 16; ++k) h[k] = k * i;
  for (int k = 0; k < 64; ++k) h[a[i] + k & 15] += 1.0f;
  float s = 0;
  for (int k = 0; k < 16; ++k) s += h[k];
  o[i] = s;""",
)
NO_BARRIER = kernel("const float* a, float* o, int n", f"{ID}\n  float s = 0;\n  for (int k = 0; k < 64; ++k) {{\n    s = s * a[k] + i;\n  }}\n  o[i] = s;")
BARRIER = NO_BARRIER.replace("+ i;", "+ i;\n    __syncthreads();")
BRANCH = kernel(
    "const float* a, float* o, int n",
    f"""{ID}
  float x = a[i];
  if (threadIdx.x % 2) {{
    for (int k = 0; k < 400; ++k) x = x * 1.01f + 0.5f;
  }} else {{
    for (int k = 0; k < 400; ++k) x = x * 0.99f - sqrtf(fabsf(x));
  }}
  o[i] = x;""",
)
ATOMIC = kernel("const float* a, float* total, int n", f"{ID}\n  atomicAdd(total, a[i]);")
ATOMIC_WARP = kernel(
    "const float* a, float* total, int n",
    f"{ID}\n  float v = a[i];\n  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(~0u, v, d);\n  if ((threadIdx.x & 31) == 0) atomicAdd(total, v);",
)
MATRICES = """__global__ void k(const float* a, unsigned* o, int n) {{
  __shared__ unsigned short tile[64 * 64];
  int lane = threadIdx.x % 32;
  for (int k = threadIdx.x; k < 64 * 64; k += blockDim.x) tile[k] = k;
  __syncthreads();
  unsigned s = 0, r;
  for (int c = 0; c < 8; ++c) {{
    unsigned at = (unsigned)__cvta_generic_to_shared(&tile[lane % 8 * 64 + {column} * 8]);
    for (int t = 0; t < 8; ++t) {{
      asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%0}}, [%1];" : "=r"(r) : "r"(at + t * 1024));
      s += r;
    }}
  }}
  o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}}
"""
STRIPS = """__global__ void k(const float* a, float* o, int n) {{
  float s = 0;
  for (int k = threadIdx.x; k < n; k += 256) s += a[{strip} * n + k];
  o[({place}) * 256 + threadIdx.x] = s;
}}
"""
LOOP = """__global__ void k(const float* a, float* o, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = a[i];
  float s = 0;
  #pragma unroll {factor}
  for (int k = 0; k < 256; ++k) s = s * x + 1.0f;
  o[i] = s;
}}
"""
CONVERT = """
__global__ void k(const float* a, float* o, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = a[i];
  for (int k = 0; k < 1024; ++k)
    s += {value};
  o[i] = s;
}}
"""
SHARED_ATOMIC = kernel(
    "const float* a, float* o, int n",
    f"""__shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  {ID}
  for (int k = 0; k < 64; ++k) atomicAdd(&sum, a[k * n + i]);
  __syncthreads();
  if (threadIdx.x == 0) o[blockIdx.x] = sum;""",
)
DOUBLE = kernel("const float* a, float* o, int n", f"{ID}\n  float x = a[i];\n  for (int k = 0; k < 64; ++k) x = x * 1.01 + 0.5f;\n  o[i] = x;")
SLOW = kernel("const float* a, float* o, int n", f"{ID}\n  float x = a[i];\n  for (int k = 0; k < 64; ++k) x = sinf(x);\n  o[i] = x;")
DIVIDE = kernel("const int* a, int* o, int n, int w", f"{ID}\n  int x = a[i];\n  for (int k = 0; k < 64; ++k) x = x * 5 + x % w;\n  o[i] = x;")
INVARIANT = kernel("const float* s, float* o, int n", f"{ID}\n  for (int k = 0; k < 64; ++k) o[k * n + i] = s[i] * k;")
SUM = kernel("const float* a, float* o, int n", f"{ID}\n  float s = 0;\n  for (int k = i; k < n; k += gridDim.x * blockDim.x) s += a[k];\n  o[i] = s;")
UNROLLED = SUM.replace("k < n; k += gridDim.x * blockDim.x) s += a[k]", "k < n - 262144; k += 327680) s += a[k] + a[k + 81920] + a[k + 163840] + a[k + 245760]")


PRODUCTS = """#include <mma.h>
using namespace nvcuda;
__global__ void k(const half* a, const half* b, float* o) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> s[4];
  wmma::load_matrix_sync(x, a, 16);
  wmma::load_matrix_sync(y, b, 16);
  for (int i = 0; i < 4; ++i) wmma::fill_fragment(s[i], 0.0f);
  for (int r = 0; r < 1024; ++r)
    for (int i = 0; i < 4; ++i) wmma::mma_sync(s[i], x, y, s[i]);
  for (int i = 0; i < 4; ++i) wmma::store_matrix_sync(o + 256 * i, s[i], 16, wmma::mem_row_major);
}
"""
SWEEPS = kernel(
    "const float* a, float* o, int n, int rounds",
    f"{ID}\n  float s = 0;\n  for (int r = 0; r < rounds; ++r)\n    for (int k = i; k < n; k += gridDim.x * blockDim.x) s = s * 0.5f + a[k];\n  o[i] = s;",
)


class Rules(Case):
    """Where a rule holds and where it does not."""

    def found(self, text, *args, device="a100", name="kernel.cu"):
        result = self.run_program("advise", self.path(name, text), "--device", device, *args, "--all", "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return checked(result.stdout, "advise")["findings"]

    def one(self, rule, text, *args, **keywords):
        (finding,) = [f for f in self.found(text, *args, **keywords) if f["rule"] == rule]
        return finding

    def none(self, rule, text, *args, **keywords):
        self.assertNotIn(rule, [f["rule"] for f in self.found(text, *args, **keywords)])

    def test_tensor_type(self):
        products = ("--grid", "1024", "--block", "256")
        f = self.one("tensor-type", PRODUCTS, *products, device="rtx3080")
        self.assertEqual(f["line"], 11)
        self.assertAlmostEqual(f["gain_fraction"], 0.5, delta=0.05)  # half accumulators run at twice the rate there
        self.none("tensor-type", PRODUCTS, *products, device="a100")  # both at one rate

    def test_tensor_instruction(self):
        products = ("--grid", "1024", "--block", "256")
        f = self.one("tensor-instruction", PRODUCTS, *products, device="h100")
        self.assertIn("mma.sync reaches 66.7 %", f["message"])
        self.assertGreater(f["gain_fraction"], 0.2)
        self.none("tensor-instruction", PRODUCTS, *products, device="a100")

    def test_repeated_sweep(self):
        large = ("--grid", "432", "--block", "256", "--arg", "n=134217728")
        f = self.one("repeated-sweep", SWEEPS, *large, "--arg", "rounds=4")
        self.assertRegex(f["message"], r"read from DRAM (3\.[5-9]|4) times")  # the L2 keeps a part
        once = json.loads(self.good("predict", self.path("once.cu", SWEEPS), "--device", "a100", *large, "--arg", "rounds=1", "--format", "json"))
        # The L2 serves the other three; DRAM moves as much as in one sweep.
        self.assertGreaterEqual(f["changed_time_s"], 0.95 * once["predictions"][0]["time_s"])
        self.none("repeated-sweep", SWEEPS, *large, "--arg", "rounds=1")
        self.none("repeated-sweep", SWEEPS, "--grid", "432", "--block", "256", "--arg", "n=1048576", "--arg", "rounds=4")  # fits into the L2

    def test_uncoalesced_store(self):
        f = self.one("uncoalesced-store", NAIVE_TRANSPOSE, *SQUARE)
        self.assertIn("tile of shared memory", f["change"])
        self.assertGreater(f["gain_fraction"], 0.2)
        self.none("uncoalesced-store", TRANSPOSE.format(row=33), *SQUARE)

    def test_the_gain_of_a_tile_is_that_of_the_kernel_with_one(self):
        f = self.one("uncoalesced-store", NAIVE_TRANSPOSE, *SQUARE)
        changed = json.loads(self.good("predict", self.path("tiled.cu", TRANSPOSE.format(row=33)), "--device", "a100", *SQUARE, "--format", "json"))
        self.assertAlmostEqual(f["changed_time_s"] / changed["predictions"][0]["time_s"], 1, delta=0.1)

    def test_uncoalesced_load(self):
        f = self.one("uncoalesced-load", ROWS, *ONE)
        self.assertEqual((f["line"], f["column"]), (5, 37))
        self.none("uncoalesced-load", COLUMNS, *ONE)
        rows = ROWS.replace("64", "(n / 8192)")
        self.assertIn("transposed", self.one("uncoalesced-load", rows, *ONE)["change"])
        both = rows.replace("s += a[i * (n / 8192) + k]", "s += a[i * (n / 8192) + k] * a[k * n + i]")  # and columns
        self.assertNotIn("transposed", self.one("uncoalesced-load", both, *ONE)["change"])

    def test_array_of_structures(self):
        f = self.one("array-of-structures", STRUCTURES, *ONE)
        self.none("array-of-structures", ARRAYS, *ONE)
        changed = json.loads(self.good("predict", self.path("soa.cu", ARRAYS), "--device", "a100", *ONE, "--format", "json"))
        self.assertAlmostEqual(f["changed_time_s"] / changed["predictions"][0]["time_s"], 1, delta=0.1)

    def test_misaligned_rows(self):
        rows = ("--grid", "65535", "--block", "256", "--arg")
        f = self.one("misaligned-rows", PITCH, *rows, "w=257", device="gtx280")
        self.assertIn("rows of 'a'", f["message"])
        self.none("misaligned-rows", PITCH, *rows, "w=264", device="gtx280")

    def test_narrow_access(self):
        self.assertTrue([f for f in self.found(BYTES, "--grid", "65536", "--block", "256", "--arg", "n=16777216") if f["rule"] == "narrow-access"])
        self.none("narrow-access", ARRAYS, *ONE)
        # Beside wider data, fewer blocks are no part of the gain.
        def gain(text):
            found = self.found(text, "--grid", "65536", "--block", "256", "--arg", "n=16777216")
            return max(f["gain_fraction"] for f in found if f["rule"] == "narrow-access")

        mixed = BYTES.replace("unsigned char* o, int n", "unsigned char* o, double* w, int n").replace("a[i] ^ 1;", "a[i] ^ 1;\n  w[i] = a[i];")
        self.assertLess(gain(mixed), 0.5 * gain(BYTES))
        beside = kernel("const unsigned char* a, float* o, int n", f"{ID}\n  float s = 0;\n  for (int k = 0; k < 64; ++k) s += o[k * n + i];\n  o[i] = s + a[i];")
        self.none("narrow-access", beside, *ONE)  # 1 byte of 261
        # Distances within a row are a window; those of whole rows are not.
        rows = BYTES.replace("a[i] ^ 1", "a[i] ^ a[i + DISTANCE]")
        args = ("--grid", "65536", "--block", "256", "--arg", "n=16777216")
        self.assertNotIn("'a'", " ".join(f["message"] for f in self.found(rows.replace("DISTANCE", "1"), *args) if f["rule"] == "narrow-access"))
        self.assertIn("'a'", " ".join(f["message"] for f in self.found(rows.replace("DISTANCE", "4096"), *args) if f["rule"] == "narrow-access"))

    def test_vector_access(self):
        f = self.one("vector-access", VECTOR, *ONE, device="gtx280")
        self.none("vector-access", VECTOR4, *ONE, device="gtx280")
        changed = json.loads(self.good("predict", self.path("v4.cu", VECTOR4), "--device", "gtx280", *ONE, "--format", "json"))
        self.assertAlmostEqual(f["changed_time_s"] / changed["predictions"][0]["time_s"], 1, delta=0.1)

    def test_bank_conflicts(self):
        f = self.one("bank-conflicts", TRANSPOSE.format(row=32), *SQUARE)
        self.assertIn("[32 + 1]", f["change"])
        self.assertEqual(f["line"], 6)
        self.none("bank-conflicts", TRANSPOSE.format(row=33), *SQUARE)
        padded = json.loads(self.good("predict", self.path("padded.cu", TRANSPOSE.format(row=33)), "--device", "a100", *SQUARE, "--format", "json"))
        self.assertAlmostEqual(f["changed_time_s"] / padded["predictions"][0]["time_s"], 1, delta=0.03)

    def test_asynchronous_copies_are_as_wide_as_their_alignment(self):
        """16 bytes a lane, side by side: four wavefronts, all of them full."""
        copy = """#include <cuda/pipeline>
__global__ void k(const float* a, float* o, int n) {
  __shared__ float tile[1024];
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  const auto shape = cuda::aligned_size_t<ALIGN>(16);
  float s = 0;
  for (int k = 0; k < 64; ++k) {
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[threadIdx.x * 4], &a[(k * gridDim.x + blockIdx.x) * 1024 + threadIdx.x * 4], shape, pipe);
    pipe.producer_commit();
    cuda::pipeline_consumer_wait_prior<0>(pipe);
    __syncthreads();
    s += tile[threadIdx.x ^ 33];
    __syncthreads();
  }
  o[blockIdx.x * 256 + threadIdx.x] = s;
}
"""
        launch = ("--grid", "108", "--block", "256", "--arg", "n=1")
        self.none("bank-conflicts", copy.replace("ALIGN", "16"), *launch)
        # Their conflicts cost nothing here, as the loads take as many passes of the L1: they are in the counts alone.
        for align, conflicts in ("16", "16 +no bank conflict"), ("4", "4 +4-way bank conflicts"):
            explained = self.good("explain", self.path("copy.cu", copy.replace("ALIGN", align)), "--device", "a100", *launch)
            self.assertRegex(explained, "shared store +" + conflicts)

    def test_lines_of_one_buffer_are_one_finding(self):
        twice = TRANSPOSE.format(row=32).replace("tile[x][y];", "tile[x][y];\n  out[(left + y) * n + top + (x ^ 1)] += tile[x][y ^ 1];")
        self.one("bank-conflicts", twice, *SQUARE)

    def test_matrix_conflicts(self):
        f = self.one("matrix-conflicts", MATRICES.format(column="c"), *ONE)
        self.assertIn("'tile'", f["message"])
        self.assertIn("8 wavefronts per request where 1 would do", f["message"])
        self.none("bank-conflicts", MATRICES.format(column="c"), *ONE)  # it says it once
        swizzled = MATRICES.format(column="(c ^ lane % 8)")
        self.none("matrix-conflicts", swizzled, *ONE)
        after = json.loads(self.good("predict", self.path("swizzled.cu", swizzled), "--device", "a100", *ONE, "--format", "json"))
        self.assertAlmostEqual(f["changed_time_s"] / after["predictions"][0]["time_s"], 1, delta=0.15)

    def test_tensor_cores(self):
        launch = ("--grid", "64,64", "--block", "16,16", "--arg", "n=1024", "--format", "json")
        found = checked(self.good("advise", "examples/matmul_tiled.cu", "--device", "a100", *launch), "advise")["findings"]
        (f,) = [f for f in found if f["rule"] == "tensor-cores"]
        self.assertIn("10 bits of mantissa", f["assumptions"][0])
        # Volta multiplies no TF32; a sum is no product of matrices.
        self.assertNotIn("tensor-cores", self.good("advise", "examples/matmul_tiled.cu", "--device", "v100", "--all", *launch))
        self.none("tensor-cores", COLUMNS, *ONE)

    def test_block_order(self):
        launch = ("--grid", "128,64", "--block", "256", "--arg", "n=262144")
        source = STRIPS.format(strip="blockIdx.x", place="blockIdx.y * 128 + blockIdx.x")
        f = self.one("block-order", source, *launch)
        self.assertIn("dim3(64, 128)", f["change"])
        other = STRIPS.format(strip="blockIdx.y", place="blockIdx.x * 128 + blockIdx.y")
        after = json.loads(self.good("predict", self.path("order.cu", other), "--device", "a100", "--grid", "64,128", *launch[2:], "--format", "json"))
        self.assertAlmostEqual(f["changed_time_s"] / after["predictions"][0]["time_s"], 1, delta=0.01)
        self.none("block-order", other, "--grid", "64,128", *launch[2:])
        self.none("block-order", source.replace("* 128", "* gridDim.x"), *launch)  # the size of the grid would change too

    def test_not_unrolled(self):
        f = self.one("not-unrolled", LOOP.format(factor=1), *ONE, "--diff")
        self.assertEqual(f["change"], "#pragma unroll 4")
        self.assertIn("-  #pragma unroll 1\n+  #pragma unroll 4\n", f["diff"])
        self.assertEqual(f["verified"], "rewrite")
        self.none("not-unrolled", LOOP.format(factor=4), *ONE)

    def test_conversion_in_loop(self):
        f = self.one("conversion-in-loop", CONVERT.format(value="(float)(k ^ i)"), *ONE)
        self.assertEqual(f["line"], 6)
        self.none("conversion-in-loop", CONVERT.format(value="__int_as_float(k ^ i)"), *ONE)

    def test_a_division_of_integers_is_no_slow_function(self):
        self.none("slow-function", DIVIDE, *ONE, "--arg", "w=1000")

    def test_tile_in_shared_memory(self):
        launch = ("--device", "a100", "--grid", "64,64", "--block", "16,16", "--arg", "n=1024", "--format", "json")
        naive = checked(self.good("advise", "examples/matmul_naive.cu", *launch), "advise")["findings"]
        (f,) = [f for f in naive if f["rule"] == "tile-in-shared-memory"]
        tiled = json.loads(self.good("predict", "examples/matmul_tiled.cu", *launch))["predictions"][0]["time_s"]
        self.assertAlmostEqual(f["changed_time_s"] / tiled, 1, delta=0.1)
        rules = [f["rule"] for f in checked(self.good("advise", "examples/matmul_tiled.cu", "--all", *launch), "advise")["findings"]]
        self.assertNotIn("tile-in-shared-memory", rules)

    def test_local_array(self):
        args = (*ONE, "--buffer", "a=1048576:uniform(0,16)")
        self.assertIn("a chain of comparisons", self.one("local-array", LOCAL, *args)["change"])
        self.none("local-array", COLUMNS, *ONE)

    def test_needless_barrier(self):
        f = self.one("needless-barrier", BARRIER, *ONE)
        self.assertIn("__syncthreads", BARRIER.split("\n")[f["line"] - 1])
        self.none("needless-barrier", NO_BARRIER, *ONE)
        self.none("needless-barrier", TRANSPOSE.format(row=33), *SQUARE)

    def test_divergent_branch(self):
        f = self.one("divergent-branch", BRANCH, *ONE)
        self.assertGreater(f["gain_fraction"], 0.2)
        self.none("divergent-branch", BRANCH.replace("x % 2", "x / 32 % 2"), *ONE)

    def test_contended_atomic(self):
        self.one("contended-atomic", ATOMIC, *ONE)
        self.none("contended-atomic", ATOMIC_WARP, *ONE)
        self.none("contended-atomic", ATOMIC.replace("float", "int"), *ONE)  # the compiler joins integers
        integers = ATOMIC.replace("float", "int")
        f = self.one("contended-atomic", integers.replace("atomicAdd", "atomicExch"), *ONE)
        self.assertIn("one lane of the warp write", f["change"])
        for update in ("atomicCAS(total, 0, a[i])", "atomicInc((unsigned*)total, 17)"):  # each depends on the one before
            self.none("contended-atomic", integers.replace("atomicAdd(total, a[i])", update), *ONE)
        minimum = "float old = *total;\n  while (a[i] < old) old = __int_as_float(atomicCAS((int*)total, __float_as_int(old), __float_as_int(a[i])));"
        f = self.one("contended-atomic", ATOMIC.replace("atomicAdd(total, a[i]);", minimum), *ONE)
        self.assertIn("within the warp", f["change"])

    def test_shared_atomic(self):
        self.one("shared-atomic", SHARED_ATOMIC, "--grid", "512", "--block", "256", "--arg", "n=131072")
        self.none("shared-atomic", SHARED_ATOMIC.replace("float", "int"), "--grid", "512", "--block", "256", "--arg", "n=131072")
        self.none("shared-atomic", TRANSPOSE.format(row=33), *SQUARE)

    def test_accidental_double(self):
        f = self.one("accidental-double", DOUBLE, *ONE, device="rtx3080")
        self.assertIn("1.01f", f["change"])
        self.assertGreater(f["gain_fraction"], 0.5)
        self.none("accidental-double", DOUBLE.replace("1.01", "1.01f"), *ONE, device="rtx3080")

    def test_slow_function(self):
        self.assertIn("__sinf", self.one("slow-function", SLOW, *ONE)["change"])
        self.none("slow-function", SLOW.replace("sinf", "fabsf"), *ONE)
        self.none("slow-function", SLOW, *ONE, "--use_fast_math")
        once = kernel("const float* a, float* o, int n", f"{ID}\n  o[i] = sinf(a[i]);")
        self.one("slow-function", once, *ONE)
        self.none("slow-function", once, "--grid", "1", "--block", "32", "--arg", "n=32")  # the launch takes the time

    def test_fast_powers_need_a_positive_base(self):
        f = self.one("slow-function", SLOW.replace("sinf(x)", "powf(x, 20)"), *ONE)
        self.assertIn("no base is negative: __powf() of one is NaN", f["assumptions"])
        self.assertIn("as products", f["change"])
        self.assertNotIn("NaN", " ".join(self.one("slow-function", SLOW, *ONE)["assumptions"]))

    def test_a_function_is_named_before_a_division(self):
        both = SLOW.replace("x = sinf(x)", "x = 1.0f / sinf(x)")
        self.assertIn("'sinf'", self.one("slow-function", both, *ONE)["message"])

    def test_padding_that_costs_more_than_it_gains_is_none(self):
        args = ("advise", "examples/transpose.cl", "-D", "PAD=0", "--device", "gtx280", "--global", "2048,2048", "--block", "16,16", "--arg", "n=2048")
        self.assertNotIn("bank-conflicts", self.good(*args, "--all"))  # rows of 17 words take multiplications, which are slow there

    def test_integer_division(self):
        args = (*ONE, "--arg", "w=1000")
        self.assertIn("'w'", self.one("integer-division", DIVIDE, *args)["message"])
        self.none("integer-division", DIVIDE.replace("%", "&"), *args)
        once = DIVIDE.replace("k < 64", "k < 1")
        self.one("integer-division", once, *args)
        self.none("integer-division", once, "--grid", "1", "--block", "32", "--arg", "n=32", "--arg", "w=1000")  # the launch takes the time

    def test_invariant_load(self):
        self.one("invariant-load", INVARIANT, *ONE)
        self.none("invariant-load", INVARIANT.replace("s[i]", "s[k * n + i]"), *ONE)

    def test_loads_in_flight(self):
        args = ("--grid", "320", "--block", "256", "--arg", "n=16777216")
        self.one("loads-in-flight", SUM, *args, device="v100")
        self.none("loads-in-flight", UNROLLED, *args, device="v100")
        # Copies of an unrolled body are loaded together, unless a store may change what they load.
        rows = kernel("const float* QUALIFIED a, float* QUALIFIED p, int n", f"{ID}\n  for (int k = 0; k < n; ++k) p[i * n + k] = __expf(-a[i * n + k]);")
        rows_args = ("--grid", "40", "--block", "256", "--arg", "n=200")
        self.none("loads-in-flight", rows.replace("QUALIFIED", "__restrict__"), *rows_args)
        self.one("loads-in-flight", rows.replace("QUALIFIED", ""), *rows_args)

    def test_async_copy_and_double_buffer(self):
        launch = ("--grid", "64,64", "--block", "16,16", "--arg", "n=1024", "--all", "--format", "json")
        rules = {d: {f["rule"] for f in checked(self.good("advise", "examples/matmul_tiled.cu", "--device", d, *launch), "advise")["findings"]} for d in ("v100", "a100")}
        self.assertIn("async-copy", rules["a100"])
        self.assertNotIn("async-copy", rules["v100"])
        self.assertIn("double-buffer", rules["v100"])
        self.assertNotIn("double-buffer", rules["a100"])

    def test_copies_that_compute_are_no_copies(self):
        with open(os.path.join(ROOT, "examples", "matmul_tiled.cu"), encoding="utf-8") as file:
            tiled = file.read()
        launch = ("--grid", "64,64", "--block", "16,16", "--arg", "n=1024")
        self.assertIn("2 copies", self.one("async-copy", tiled, *launch)["message"])
        joined = tiled.replace(";\n    b_tile[y][x]", ", b_tile[y][x]")  # one line
        self.assertNotEqual(joined, tiled)
        self.assertIn("2 copies", self.one("async-copy", joined, *launch)["message"])
        scaled = tiled.replace("= a[row", "= 2.0f * a[row").replace("= b[(t", "= 2.0f * b[(t")
        self.none("async-copy", scaled, *launch)

    def test_tree_reduction(self):
        tree = kernel(
            "const int* a, int* o, int n",
            f"""__shared__ int part[256];
  {ID}
  part[threadIdx.x] = a[i];
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {{
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    __syncthreads();
  }}
  if (threadIdx.x == 0) o[blockIdx.x] = part[0];""",
        )
        shuffles = kernel(
            "const int* a, int* o, int n",
            f"""__shared__ int part[8];
  {ID}
  int v = a[i];
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(~0u, v, d);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {{
    v = threadIdx.x < 8 ? part[threadIdx.x] : 0;
    for (int d = 4; d > 0; d >>= 1) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x == 0) o[blockIdx.x] = v;
  }}""",
        )
        launch = ("--grid", "32768", "--block", "256", "--arg", "n=8388608")
        f = self.one("tree-reduction", tree, *launch)
        self.none("tree-reduction", shuffles, *launch)
        self.none("tree-reduction", TRANSPOSE.format(row=33), *SQUARE)
        changed = json.loads(self.good("predict", self.path("shuffles.cu", shuffles), "--device", "a100", *launch, "--format", "json"))
        self.assertAlmostEqual(f["changed_time_s"] / changed["predictions"][0]["time_s"], 1, delta=0.15)

    def test_launch_bound(self):
        self.one("launch-bound", ARRAYS, "--grid", "256", "--block", "256", "--arg", "n=65536")
        self.none("launch-bound", ARRAYS, "--grid", "262144", "--block", "256", "--arg", "n=67108864")

    def test_block_size(self):
        f = self.one("block-size", COLUMNS, "--grid", "32768", "--block", "32", "--arg", "n=1048576")
        (grid, block) = map(int, re.match(r"<<<(\d+), (\d+)>>>", f["change"]).groups())
        self.assertEqual(grid * block, 1048576)
        changed = json.loads(self.good("predict", self.path("same.cu", COLUMNS), "--device", "a100", "--grid", str(grid), "--block", str(block), "--arg", "n=1048576", "--format", "json"))
        self.assertAlmostEqual(f["changed_time_s"] / changed["predictions"][0]["time_s"], 1, delta=1e-6)
        self.none("block-size", TRANSPOSE.format(row=33), *SQUARE)
        # As many threads on each SM, in fewer blocks: no more warps, and work as even as before.
        fill = kernel("double* o, int n", f"{ID}\n  o[i] = 0;")
        self.none("block-size", fill, "--grid", "65536", "--block", "256", "--arg", "n=1")

    def test_tail(self):
        heavy = kernel("float* o, int n", f"{ID}\n  float x = i;\n  for (int k = 0; k < 4000; ++k) x = x * 1.01f + 0.5f;\n  o[i] = x;")
        self.one("tail", heavy, "--grid", "865", "--block", "256", "--arg", "n=262144")
        self.none("tail", heavy, "--grid", "864", "--block", "256", "--arg", "n=262144")
        # The last of 19 waves lacks a few blocks: fewer blocks would save their start, not idle SMs.
        fill = kernel("float* o, int n", f"{ID}\n  o[i] = i * 2.5f;")
        worth = [f for f in self.found(fill, "--grid", "16384", "--block", "256", "--arg", "n=1") if f["rule"] == "tail" and f["gain_fraction"] > 0.01]
        self.assertEqual(worth, [])
        # No more is gained than the last round leaves idle.
        f = self.one("tail", heavy, "--grid", "4096", "--block", "256", "--arg", "n=262144")
        self.assertLessEqual(f["gain_fraction"], 1 - 4096 / 864 / 5 + 1e-9)

    def test_small_grid(self):
        self.one("small-grid", SHARED_ATOMIC, "--grid", "16", "--block", "256", "--arg", "n=4096")  # 64 trips are unrolled whole
        self.none("small-grid", SHARED_ATOMIC.replace("64", "4"), "--grid", "16", "--block", "256", "--arg", "n=4096")
        long = SHARED_ATOMIC.replace("64", "2000")
        self.one("small-grid", long, "--grid", "16", "--block", "256", "--arg", "n=4096")
        self.none("small-grid", long, "--grid", "512", "--block", "256", "--arg", "n=131072")
        self.none("small-grid", SUM, "--grid", "16", "--block", "256", "--arg", "n=16777216")  # more-blocks
        serial = kernel("const float* a, float* o, int n", "if (threadIdx.x == 0) {\n    float s = 0;\n    for (int k = 0; k < n; ++k) s = s * 0.5f + a[k];\n    o[0] = s;\n  }")
        self.none("small-grid", serial, "--grid", "1", "--block", "256", "--arg", "n=100000")
        self.one("small-grid", serial.replace("if (threadIdx.x == 0)", "if (threadIdx.x < 64)"), "--grid", "1", "--block", "256", "--arg", "n=100000")

    def test_more_blocks(self):
        f = self.one("more-blocks", SUM, "--grid", "108", "--block", "256", "--arg", "n=16777216")
        grid = int(re.match(r"<<<(\d+), 256>>>", f["change"]).group(1))
        changed = json.loads(self.good("predict", self.path("same.cu", SUM), "--device", "a100", "--grid", str(grid), "--block", "256", "--arg", "n=16777216", "--format", "json"))
        self.assertAlmostEqual(f["changed_time_s"] / changed["predictions"][0]["time_s"], 1, delta=1e-6)
        final = kernel("const float* a, float* o, int n", f"__shared__ float t[256];\n  {ID}\n  float s = 0;\n  for (int k = i; k < n; k += gridDim.x * blockDim.x) s += a[k];\n  t[threadIdx.x] = s;\n  __syncthreads();\n  if (threadIdx.x < 128) o[threadIdx.x] = t[threadIdx.x] + t[threadIdx.x + 128];")
        self.none("more-blocks", final, "--grid", "1", "--block", "256", "--arg", "n=1048576")
        self.one("more-blocks", final, "--grid", "2", "--block", "256", "--arg", "n=1048576")
        self.none("more-blocks", COLUMNS, "--grid", "108", "--block", "256", "--arg", "n=27648")
        f = self.one("more-blocks", SUM, "--grid", "108", "--block", "64,4", "--arg", "n=16777216")
        self.assertRegex(f["change"], r"^<<<\d+, dim3\(64, 4\)>>> in place of <<<108, dim3\(64, 4\)>>>")

    def test_occupancy_by_registers(self):
        """ptxas 13.0 takes 89 for 80 sums and 79 for 70, the estimates are 91 and 80: two blocks and three."""
        launch = ("--grid", "8640", "--block", "256", "--arg", "n=2211840")
        f = self.one("occupancy-registers", SUMS.format(80), *launch)
        self.assertIn("80 would for 24", f["message"])
        self.none("occupancy-registers", SUMS.format(70), *launch)
        self.none("occupancy-registers", SUMS.format(20), *launch)

    def test_tail_that_the_estimate_of_registers_decides(self):
        """240 blocks: 2 each of 108 SMs hold at 90 registers, 3 at 80; the estimate is off by more than that at times."""
        args = ("--grid", "240", "--block", "256", "--arg", "n=61440")
        self.none("tail", SUMS.format(74), *args)
        self.none("tail", SUMS.format(76), *args)
        # What shared memory lets in is known.
        text = SUMS.format(40).replace("float r[40];", "float r[40];\n  extern __shared__ float t[];\n  t[threadIdx.x] = i;")
        self.one("tail", text.replace("o[i] = s;", "__syncthreads();\n  o[i] = s + t[threadIdx.x ^ 1];"), *args, "--shared", "70000")

    def test_imbalance(self):
        uneven = kernel("float* o, int n", f"{ID}\n  float x = i;\n  if (threadIdx.x < 32)\n    for (int k = 0; k < 4000; ++k) x = x * 1.01f + 0.5f;\n  o[i] = x;")
        self.one("imbalance", uneven, "--grid", "512", "--block", "256", "--arg", "n=1")
        self.none("imbalance", uneven.replace("threadIdx.x < 32", "blockIdx.x < 32"), "--grid", "512", "--block", "256", "--arg", "n=1")
        self.none("imbalance", uneven.replace("4000", "40"), "--grid", "1", "--block", "256", "--arg", "n=1")  # the launch takes the time

    def test_block_imbalance(self):
        some = kernel("float* o, int n", f"{ID}\n  float x = i;\n  if (blockIdx.x < 4)\n    for (int k = 0; k < 40000; ++k) x = x * 1.01f + 0.5f;\n  o[i] = x;")
        self.one("block-imbalance", some, "--grid", "512", "--block", "256", "--arg", "n=1")
        self.none("block-imbalance", some.replace("if (blockIdx.x < 4)", ""), "--grid", "512", "--block", "256", "--arg", "n=1")
        # As many long blocks as SMs: the others end at once.
        self.none("block-imbalance", some.replace("< 4", "< 128"), "--grid", "4096", "--block", "256", "--arg", "n=1")
        self.one("block-imbalance", some, "--grid", "4096", "--block", "256", "--arg", "n=1")
        self.none("block-imbalance", some.replace("40000", "40"), "--grid", "512", "--block", "256", "--arg", "n=1")  # the launch takes the time

    def test_divergent_loop(self):
        rows = kernel("float* o, int n", f"{ID}\n  float x = i;\n  for (int k = 0; k < threadIdx.x % 32 * 64; ++k) x = x * 1.01f + 0.5f;\n  o[i] = x;")
        self.assertIn("50 %", self.one("divergent-loop", rows, "--grid", "4096", "--block", "256", "--arg", "n=1")["message"])
        self.none("divergent-loop", rows.replace("threadIdx.x % 32", "threadIdx.x / 32"), "--grid", "4096", "--block", "256", "--arg", "n=1")
        few = kernel("const float* a, float* o, int n", f"{ID}\n  int t = (int)threadIdx.x - 256;\n  if (t < 0) return;\n  float s = a[i];\n  for (int k = t; k < n; k += 32) s = s * 0.5f + sqrtf(a[k + i * 64]);\n  o[i] = s;")
        self.none("divergent-loop", few, "--grid", "4096", "--block", "288", "--arg", "n=12")  # one iteration, or none
        strides = kernel("const float* a, float* o, int n", "float s = 0;\n  for (int k = threadIdx.x; k < 1000; k += 256) s += a[k];\n  o[threadIdx.x] = s;")
        self.none("divergent-loop", strides, "--grid", "4096", "--block", "256", "--arg", "n=1")

    def test_redundant_load(self):
        twice = kernel("const float* a, float* o, int n", f"{ID}\n  o[i] = a[i * 8] + 1.0f;\n  o[i + n] = a[i * 8] * 2.0f;")
        f = self.one("redundant-load", twice, *ONE)
        self.assertIn("'a'", f["message"])
        self.none("redundant-load", twice.replace("const float* a, float* o", "const float* __restrict__ a, float* __restrict__ o"), *ONE)
        sides = kernel("const float* a, float* o, int n", f"{ID}\n  if (i % 64 < 32) o[i] = a[i * 8]; else o[i + n] = a[i * 8] * 2.0f;")
        self.none("redundant-load", sides, *ONE)

    def test_pipeline_stages(self):
        one = """__device__ void copy(void* to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from));
  asm volatile("cp.async.commit_group;");
}
__global__ void k(const float* a, float* o, int n) {
  __shared__ float tile[2][256];
  float s = 0;
  copy(&tile[0][threadIdx.x], &a[threadIdx.x]);
  #pragma unroll 1
  for (int t = 0; t < 256; ++t) {
    copy(&tile[(t + 1) % 2][threadIdx.x], &a[(t + 1) * n + blockIdx.x * 256 + threadIdx.x]);
    asm volatile("cp.async.wait_group 1;");
    __syncthreads();
    s += tile[t % 2][threadIdx.x ^ 32];
    __syncthreads();
  }
  o[blockIdx.x * 256 + threadIdx.x] = s;
}
"""
        args = ("--grid", "108", "--block", "256", "--arg", "n=65536")
        few = [f for f in self.found(one, *args) if f["rule"] == "pipeline-stages"]
        self.assertEqual(len(few), 1)
        self.assertIn("one stage more (3 of", few[0]["change"])
        self.none("pipeline-stages", SUM, "--grid", "108", "--block", "256", "--arg", "n=16777216")

    def test_transfers(self):
        program = """__global__ void k(const float* a, float* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = a[i] * 2.0f;
}
#ifndef __CUDA_ARCH__
void run(float* d_a, float* d_o, const float* a, float* o, int n) {
  for (int step = 0; step < 100; ++step) {
    cudaMemcpy(d_a, a, n * 4, cudaMemcpyHostToDevice);
    k<<<n / 256, 256>>>(d_a, d_o, n);
    cudaMemcpy(o, d_o, n * 4, cudaMemcpyDeviceToHost);
  }
}
#endif
"""
        sizes = ("--buffer", "a=1048576", "--buffer", "o=1048576")
        f = self.one("transfers", program, *ONE, *sizes)
        self.assertIn("4.19 MB to the device and 4.19 MB back", f["message"])
        outside = program.replace("    cudaMemcpy(o, d_o, n * 4, cudaMemcpyDeviceToHost);\n  }", "  }").replace("{\n    cudaMemcpy(d_a, a, n * 4, cudaMemcpyHostToDevice);", "{")
        self.none("transfers", outside, *ONE, *sizes)
        for inner in ("for (int r = 0; r < 10; ++r)\n      ", "for (int r = 0; r < (n + 1) / 2; ++r)\n      if (r % 2) "):
            self.none("transfers", program.replace("    k<<<", f"    {inner}k<<<"), *ONE, *sizes)
        self.one("transfers", program.replace("    k<<<", "    if (n > 0)\n      k<<<"), *ONE, *sizes)
        for form in ("    CHECK(cudaMemcpy(d_a, a, n * 4, cudaMemcpyHostToDevice));", "    // if it moved\n    int e = cudaMemcpy(d_a, a, n * 4, cudaMemcpyHostToDevice);"):
            checked_copy = "#define CHECK(x) x\n" + program.replace("    cudaMemcpy(d_a, a, n * 4, cudaMemcpyHostToDevice);", form)
            self.assertIn("4.19 MB to the device", self.one("transfers", checked_copy, *ONE, *sizes)["message"])
        for branch in ("if (step == 1) {{ {} }}", "if (step == 1)\n      {}", "for (int r = 0; r < step; ++r) {}"):
            some = re.sub(r"cudaMemcpy\([^;]*;", lambda copy: branch.format(copy[0]), program)
            self.none("transfers", some, *ONE, *sizes)
        self.none("transfers", program.replace("cudaMemcpy(d_a", "cudaMemcpy(flag").replace("cudaMemcpy(o, d_o", "cudaMemcpy(o, flag"), *ONE, *sizes)

    def test_an_access_beyond_its_buffer(self):
        copy = kernel("const float* a, float* o, int n", f"{ID}\n  o[i] = a[i] * 2.0f;")
        sizes = ("--buffer", "a=1048576", "--buffer", "o=1048576")
        self.none("beyond-buffer", copy, *ONE, *sizes)
        self.none("beyond-buffer", copy, *ONE)
        f = self.one("beyond-buffer", copy, *ONE, "--buffer", "a=1048576", "--buffer", "o=1048000")
        self.assertEqual((f["severity"], f["gain_fraction"]), ("warning", 0))
        self.assertEqual(f["message"], "thread 255,0,0 of block 4095,0,0 stores 4 bytes at byte 4194300 of o, which has 4192000")
        self.assertNotIn("saves 0 %", self.good("advise", self.path("short.cu", copy), "--device", "a100", *ONE, "--buffer", "o=1048000"))
        guarded = copy.replace("o[i]", "if (i < n) o[i]")
        for n, found in (("1048000", self.none), ("1048001", self.one)):
            found("beyond-buffer", guarded, *ONE[:4], "--arg", f"n={n}", "--buffer", "a=1048576", "--buffer", "o=1048000")
        rows = kernel("float4* o, int n", f"{ID}\n  for (int k = 0; k < n; ++k) o[k * 1024 + i % 1024].w = k;")
        for n, found in (("64", self.none), ("65", self.one)):
            found("beyond-buffer", rows, *ONE[:4], "--arg", f"n={n}", "--buffer", "o=65536")

    def test_what_data_decide_proves_no_access(self):
        sizes = ("--buffer", "a=4096:zero", "--buffer", "o=1024", "--counts", "symbolic")
        for body in ("if (a[i % 4096] > 0) o[i] = 1;", "for (int k = 0; k < n; ++k) { if (a[k % 4096] > 0) return; o[i] = k; }", "o[(int)a[i % 4096]] = 1;",
                     "for (int k = 0; k < a[0]; ++k) o[k * 4096] = 1;"):
            self.none("beyond-buffer", kernel("const float* a, float* o, int n", f"{ID}\n  {body}"), *ONE, *sizes)
        moved = kernel("const int* a, float* o, int n", f"{ID}\n  o[a[blockIdx.x] + i] = 1;")  # alike in each block
        self.none("beyond-buffer", moved, *ONE, "--buffer", "a=4096", "--buffer", "o=1024", "--counts", "symbolic")
        found = kernel("const float* a, float* o, int n", f"{ID}\n  if (a[i % 4096] < 1) o[i] = 1;")  # as executed
        self.one("beyond-buffer", found, *ONE, *sizes[:4], "--counts", "executed")
        self.none("beyond-buffer", found, *ONE, "--buffer", "a=4096", "--buffer", "o=1024", "--counts", "executed")  # generated contents

    def test_an_array_that_stays_mostly_untouched(self):
        copy = kernel("const float* a, float* o, int n", f"{ID}\n  if (i < n) o[i] = a[i] * 2.0f;")
        f = self.one("untouched-array", copy, *ONE, "--buffer", "a=1048576", "--buffer", "o=4194304")
        self.assertEqual(f["message"], "at most 4194304 of the 16777216 bytes of o are touched")
        self.none("untouched-array", copy, *ONE, "--buffer", "a=1048576", "--buffer", "o=2097152")
        gather = kernel("const int* a, float* o, int n", f"{ID}\n  o[a[i]] = 1;")
        self.none("untouched-array", gather, *ONE, "--buffer", "a=1048576", "--buffer", "o=4194304")
        self.none("untouched-array", copy, "--grid", "1", "--block", "256", "--arg", "n=256", "--buffer", "o=8192")  # small
        moved = kernel("const int* a, float* o, int n", f"{ID}\n  o[a[blockIdx.x] + i] = 1;")
        self.none("untouched-array", moved, *ONE, "--buffer", "a=4096", "--buffer", "o=4194304")
        sums = kernel("const float* a, float* o, int n", "if (threadIdx.x == 0) o[blockIdx.x] = a[blockIdx.x];")  # one value a block
        self.none("untouched-array", sums, *ONE, "--buffer", "o=4194304")

    def test_launches_beside_may_touch_the_rest(self):
        program = kernel("float* o", f"{ID}\n  o[i] = 1;") + """int main() {
  float* o;
  cudaMalloc(&o, 4 << 20);
  k<<<1024, 256>>>(o);
}
"""
        two = program.replace("(o);\n}", "(o);\n  k<<<3072, 256>>>(o + (1 << 18));\n}")
        for text, says in ((program, self.assertIn), (two, self.assertNotIn)):
            page = self.path("page.html")
            self.good("report", self.path("program.cu", text), "--device", "a100", "--launch", "1", "-o", page)
            with open(page, encoding="utf-8") as file:
                says("untouched-array", file.read())

    def test_block_shape(self):
        plane = kernel("const float* a, float* o, int n", "int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;\n  o[y * n + x] = a[y * n + x] * 2.0f;")
        f = self.one("block-size", plane, "--grid", "1024,64", "--block", "2,32", "--arg", "n=2048")
        self.assertRegex(f["change"], r"^<<<dim3\(")
        again = kernel("const float* a, float* o, int n", f"{ID}\n  float s = 0;\n  for (int k = 0; k < n; ++k) s += a[i * n + k];\n  o[i] = s;")  # 8 times the same
        self.none("block-size", again, "--grid", "128", "--block", "32,8", "--arg", "n=4096")
        tiled = plane.replace("int x", "__shared__ float t[64];\n  t[threadIdx.x + threadIdx.y] = 1;\n  __syncthreads();\n  int x").replace("* 2.0f", "* t[threadIdx.y]")
        self.none("block-size", tiled, "--grid", "1024,64", "--block", "2,32", "--arg", "n=2048")

    def test_searches_and_cooperating_blocks_are_not_spread(self):
        search = kernel("const int* a, int* o, int n", "int r = *o;\n  while (r < n) {\n    if (a[r] < 0) break;\n    r++;\n  }\n  *o = r;")
        self.none("small-grid", search, "--grid", "1", "--block", "1", "--arg", "n=65536")

    def test_more_blocks_need_iterations(self):
        self.none("more-blocks", SUM, "--grid", "40", "--block", "256", "--arg", "n=10240")

    def test_fast_math_is_not_for_double(self):
        double = kernel("const double* a, double* o, int n", f"{ID}\n  double x = a[i];\n  for (int k = 0; k < 64; ++k) x = sin(x) / 3.0;\n  o[i] = x;")
        self.none("slow-function", double, *ONE)

    def test_launches_that_print_are_left_alone(self):
        prints = kernel("int* o, int n", f'{ID}\n  o[i] = i;\n  printf("%d", i);')
        self.none("launch-bound", prints, "--grid", "1", "--block", "32", "--arg", "n=1")
        random = "#include <curand_kernel.h>\n" + kernel("curandState* o, int n", f"{ID}\n  curandState s = o[i];\n  CALL;\n  o[i] = s;")
        self.none("launch-bound", random.replace("CALL", "curand_init(n, i, 0, &s)"), "--grid", "1", "--block", "32", "--arg", "n=1")
        heap = kernel("int** o, int n", f"{ID}\n  o[i] = CALL;")
        self.none("launch-bound", heap.replace("CALL", "new int[n]"), "--grid", "1", "--block", "32", "--arg", "n=32")
        self.one("launch-bound", heap.replace("CALL", "o[i + n]"), "--grid", "1", "--block", "32", "--arg", "n=32")
        self.one("launch-bound", random.replace("CALL", "curand(&s)"), "--grid", "1", "--block", "32", "--arg", "n=1")

    def test_a_barrier_that_carries_a_value_is_needed(self):
        vote = kernel("const int* a, int* o, int n", f"{ID}\n  o[i] = __syncthreads_and(a[i] > 0);")
        self.none("needless-barrier", vote, *ONE)

    def test_chunks_are_no_structures(self):
        chunk = kernel("const float* a, float* o, int n", f"{ID}\n  float s = 0;\n  for (int k = 0; k < 16; ++k) s += a[i * 16 + k];\n  o[i] = s;")
        self.assertIn("in place of a chunk", self.one("uncoalesced-load", chunk, *ONE)["change"])
        self.none("array-of-structures", chunk, *ONE)

    def test_triples_are_structures(self):
        triple = kernel("float3* d, float c, int n", f"{ID}\n  float3 p = d[i];\n  d[i] = make_float3(p.x * c, p.y * c, p.z * c);")
        self.assertIn("d_x[i]", self.one("array-of-structures", triple, *ONE)["change"])
        self.none("uncoalesced-store", triple, *ONE)

    def test_gaps_that_another_access_fills_are_none(self):
        both = kernel("float* u, int n", f"{ID}\n  u[2 * i + (blockIdx.x & 1)] = 1.0f;\n  u[2 * i + (blockIdx.x + 1 & 1)] = 2.0f;")
        self.none("uncoalesced-store", both, *ONE)

    def test_branches_in_a_search_are_left_alone(self):
        search = kernel(
            "const int* a, int* o, int n",
            f"{ID}\n  int lo = 0, hi = n;\n  while (lo < hi) {{\n    int m = (lo + hi) / 2;\n    if (a[m] < i) {{ lo = m + 1; o[m] = i; }} else {{ hi = m; o[m + n] = i; }}\n  }}\n  o[i] = lo;",
        )
        self.none("divergent-branch", search, "--grid", "64", "--block", "256", "--arg", "n=16384", "--buffer", "a=16384:sorted(0,16384)", "--buffer", "o=40000")


class Command(Case):
    def setUp(self):
        super().setUp()
        self.source = self.path("transpose.cu", TRANSPOSE.format(row=32))
        self.args = (self.source, "--device", "a100", *SQUARE)

    def test_text_shows_line_range_change_and_gain(self):
        text = self.good("advise", *self.args)
        self.assertRegex(text, r"transpose\.cu:6:35: advice: bank conflicts on 'tile': 32 wavefronts per request where 1 would do \[-Wbank-conflicts\]\n")
        self.assertIn("  out[(left + y) * n + top + x] = tile[x][y];\n" + " " * 36 + "^~~~~~~~~~\n", text)
        self.assertRegex(text, r"saves [\d.]+ % \(90 %: -?[\d.]+ % to [\d.]+ %\) on NVIDIA A100-PCIE-40GB: [\d.]+ us -> [\d.]+ us")

    def test_gains_are_sorted_and_of_the_forecast(self):
        value = checked(self.good("advise", *self.args, "--all", "--format", "json"), "advise")
        gains = [f["gain_fraction"] for f in value["findings"]]
        self.assertEqual(gains, sorted(gains, reverse=True))
        time = json.loads(self.good("predict", *self.args, "--format", "json"))["predictions"][0]["time_s"]
        for f in value["findings"]:
            self.assertEqual(f["time_s"], time)
            self.assertAlmostEqual(f["gain_fraction"], 1 - f["changed_time_s"] / time)
            lo, hi = f["gain_interval"]
            self.assertLess(lo, f["gain_fraction"])
            self.assertGreater(hi, f["gain_fraction"])
            self.assertGreaterEqual(f["changed_time_s"], value["devices"][0]["floor_s"])

    def test_launches_of_the_host_code(self):
        heat = ("examples/heat.cu", "--device", "a100")
        self.bad(2, r"4 launches are found; choose one with --launch N", "advise", *heat)
        times = [p["time_s"] for p in json.loads(self.good("predict", *heat, "--format", "json"))["predictions"]]
        value = checked(self.good("advise", *heat, "--launch", "3", "--format", "json", "--all"), "advise")
        self.assertEqual({f["time_s"] for f in value["findings"]}, {times[2]})
        larger = checked(self.good("advise", *heat, "--launch", "3", "--argv", "4096 10", "--format", "json", "--all"), "advise")
        self.assertGreater(larger["findings"][0]["time_s"], 4 * times[2])

    def test_small_gains_need_all(self):
        few = checked(self.good("advise", *self.args, "--format", "json"), "advise")["findings"]
        every = checked(self.good("advise", *self.args, "--all", "--format", "json"), "advise")["findings"]
        self.assertTrue(all(f["gain_fraction"] >= 0.02 for f in few))
        self.assertEqual([f for f in every if f["gain_fraction"] >= 0.02], few)

    def test_rules_are_switched_off_by_flag_and_comment(self):
        self.assertIn("bank-conflicts", self.good("advise", *self.args))
        self.assertNotIn("bank-conflicts", self.good("advise", *self.args, "-Wno-bank-conflicts"))
        text = TRANSPOSE.format(row=32)
        ignoring = text.replace("tile[x][y];", "tile[x][y];  // kernelcast: ignore bank-conflicts")
        above = text.replace("  out[", "  // kernelcast: ignore\n  out[")
        other = text.replace("tile[x][y];", "tile[x][y];  // kernelcast: ignore async-copy")
        for source, shown in ((ignoring, False), (above, False), (other, True)):
            self.assertEqual("bank-conflicts" in self.good("advise", self.path("i.cu", source), *self.args[1:]), shown)

    def test_gates(self):
        self.assertEqual(self.run_program("advise", *self.args, "--fail-on", "bank-conflicts").returncode, 3)
        self.assertEqual(self.run_program("advise", *self.args, "--fail-on", "gain:5%").returncode, 3)
        self.assertEqual(self.run_program("advise", *self.args, "--fail-on", "gain:0.05").returncode, 3)
        self.good("advise", *self.args, "--fail-on", "misaligned-rows", "--fail-on", "gain:99%")

    def test_what_is_wrong_on_the_command_line(self):
        self.bad(2, r"-Wno-bank-conflict: unknown rule 'bank-conflict', did you mean 'bank-conflicts'\?", "advise", *self.args, "-Wno-bank-conflict")
        self.bad(2, r"-Wall: expected -Wno-RULE", "advise", *self.args, "-Wall")
        self.bad(2, r"--fail-on nothing: unknown rule", "advise", *self.args, "--fail-on", "nothing")
        self.bad(2, r"--fail-on gain:200%: expected a gain below 100%", "advise", *self.args, "--fail-on", "gain:200%")
        self.bad(2, r"only ratios of the model kernelcast", "advise", *self.args, "--model", "roofline")
        self.bad(1, r"error: ", "advise", self.path("bad.cu", "__global__ void k( {"), *self.args[1:])

    def test_a_rewrite_is_executed_and_forecast(self):
        value = checked(self.good("advise", *self.args, "--diff", "--format", "json"), "advise")
        (f,) = [f for f in value["findings"] if f["rule"] == "bank-conflicts"]
        self.assertEqual(f["verified"], "rewrite")
        self.assertIn("-  __shared__ float tile[32][32];\n+  __shared__ float tile[32][32 + 1];\n", f["diff"])
        padded = json.loads(self.good("predict", self.path("padded.cu", TRANSPOSE.format(row=33)), *self.args[1:], "--format", "json"))
        self.assertEqual(f["changed_time_s"], padded["predictions"][0]["time_s"])
        self.assertIn("verified: rewrite", self.good("advise", *self.args, "--diff"))

    def rewritten(self, rule, text, *args, device="a100"):
        value = checked(self.good("advise", self.path("rewritten.cu", text), "--device", device, *args, "--diff", "--all", "--format", "json"), "advise")
        (finding,) = [f for f in value["findings"] if f["rule"] == rule]
        return finding

    def test_loads_are_rewritten_as_vectors(self):
        f = self.rewritten("vector-access", VECTOR, *ONE, "--buffer", "a=4194304", "--buffer", "o=1048576", device="gtx280")
        self.assertIn("+  o[i] = reinterpret_cast<const float4*>(a)[i].x + ", f["diff"])
        self.assertEqual(f["verified"], "rewrite")

    def test_changes_that_are_not_compiled_are_counted(self):
        loops = "".join(f"\n  #pragma unroll 1\n  for (int k = 0; k < 256; ++k) s = s * x + {c}.0f;" for c in (1, 2, 3))
        text = kernel("const float* a, float* o, int n", f"{ID}\n  float x = a[i], s = 0;\n  for (int k = 0; k < 64; ++k) x = sinf(x);{loops}\n  o[i] = s;")
        result = self.run_program("advise", self.path("kernel.cu", text), "--device", "a100", *ONE)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("2 changes were not compiled, to save time; --all compiles every one", result.stderr)
        self.assertNotIn("not compiled", self.run_program("advise", self.path("kernel.cu", text), "--device", "a100", *ONE, "--all").stderr)

    def test_apply_writes_one_change_with_equal_results(self):
        path = self.path("apply.cu", TRANSPOSE.format(row=32))
        result = self.run_program("advise", path, *self.args[1:], "--apply")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"--apply: .*apply\.cu changed for bank-conflicts")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), TRANSPOSE.format(row="32 + 1"))
        again = self.run_program("advise", path, *self.args[1:], "--apply")
        self.assertRegex(again.stderr, r"no finding has a rewritten source with equal results; .*apply\.cu is as it was")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), TRANSPOSE.format(row="32 + 1"))

    def test_apply_leaves_a_source_whose_results_would_change(self):
        text = DOUBLE.replace("0.5f", "0.1")
        path = self.path("keep.cu", text)
        self.run_program("advise", path, "--device", "rtx3080", *ONE, "--apply")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), text)

    def test_apply_needs_a_file_that_can_be_written(self):
        result = self.run_program("advise", "-", "--lang", "cuda", *self.args[1:], "--apply", text=TRANSPOSE.format(row=32))
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("--apply: the source is standard input", result.stderr)

    def test_a_rewrite_with_other_results_is_shown_but_not_verified(self):
        args = (self.path("double.cu", DOUBLE.replace("0.5f", "0.1")), "--device", "rtx3080", *ONE)
        value = checked(self.good("advise", *args, "--diff", "--format", "json"), "advise")
        (f,) = [f for f in value["findings"] if f["rule"] == "accidental-double"]
        self.assertEqual(f["verified"], "what-if")
        self.assertIn("1.01f + 0.1f", f["diff"])

    def test_edits_give_the_time_that_was_promised(self):
        """What a program does with the edit is forecast as the finding says."""
        value = checked(self.good("advise", *self.args, "--format", "json"), "advise")
        (f,) = [f for f in value["findings"] if f["rule"] == "bank-conflicts"]
        lines = TRANSPOSE.format(row=32).split("\n")
        for e in f["edit"]["lines"]:
            self.assertEqual(lines[e["line"] - 1], e["before"])
            lines[e["line"] - 1] = e["after"]
        edited = json.loads(self.good("predict", self.path("edited.cu", "\n".join(lines)), *self.args[1:], "--format", "json"))
        self.assertEqual(edited["predictions"][0]["time_s"], f["changed_time_s"])

        small = (self.path("copy.cu", ARRAYS), "--device", "a100", "--arg", "n=1048576")
        value = checked(self.good("advise", *small, "--grid", "32768", "--block", "32", "--all", "--format", "json"), "advise")
        (f,) = [f for f in value["findings"] if f["rule"] == "block-size"]
        grid, block = (",".join(map(str, f["edit"][k])) for k in ("grid", "block"))
        edited = json.loads(self.good("predict", *small, "--grid", grid, "--block", block, "--format", "json"))
        self.assertEqual(edited["predictions"][0]["time_s"], f["changed_time_s"])

        slow = (self.path("slow.cu", SLOW), "--device", "a100", *ONE)
        value = checked(self.good("advise", *slow, "--format", "json"), "advise")
        (f,) = [f for f in value["findings"] if f["rule"] == "slow-function"]
        edited = json.loads(self.good("predict", *slow, f["edit"]["option"], "--format", "json"))
        self.assertEqual(edited["predictions"][0]["time_s"], f["changed_time_s"])

    def test_a_source_named_by_its_whole_path_is_rewritten_all_the_same(self):
        source = self.path("here.cu", TRANSPOSE.format(row=32))
        value = json.loads(self.good("advise", source, *self.args[1:], "--diff", "--format", "json", cwd=self.folder))
        self.assertEqual([f["verified"] for f in value["findings"] if f["rule"] == "bank-conflicts"], ["rewrite"])
        source = self.path("double.cu", DOUBLE)
        value = json.loads(self.good("advise", source, "--device", "rtx3080", *ONE, "--format", "json", cwd=self.folder))
        self.assertIn("accidental-double", [f["rule"] for f in value["findings"]])

    def test_sarif_follows_the_official_schema(self):
        schema = os.environ.get("KERNELCAST_SARIF_SCHEMA")  # sarif-schema-2.1.0.json of oasis-tcs/sarif-spec
        if not schema:
            self.skipTest("KERNELCAST_SARIF_SCHEMA names no file")
        with open(schema, encoding="utf-8") as file:
            official = json.load(file)
        hostile = self.path("a b\u00e9%.cu", TRANSPOSE.format(row=32) + "// </script> \u202e\n")
        for args in (self.args, (self.args[0], "--device", "a100,mi100", *SQUARE), (hostile, *self.args[1:]), (self.args[0], "--device", "a100", *SQUARE, "--all")):
            jsonschema.Draft7Validator(official).validate(json.loads(self.good("advise", *args, "--format", "sarif")))

    def test_sarif(self):
        value = json.loads(self.good("advise", *self.args, "--format", "sarif"))
        self.assertEqual(value["version"], "2.1.0")
        (run,) = value["runs"]
        rules = [r["id"] for r in run["tool"]["driver"]["rules"]]
        self.assertEqual(len(rules), len(set(rules)))
        self.assertTrue(run["results"])
        for r in run["results"]:
            self.assertEqual(rules[r["ruleIndex"]], r["ruleId"])
            self.assertTrue(r["message"]["text"])
            (place,) = r["locations"]
            self.assertTrue(place["physicalLocation"]["artifactLocation"]["uri"].endswith("transpose.cu"))
        (banks,) = [r for r in run["results"] if r["ruleId"] == "bank-conflicts"]
        region = banks["locations"][0]["physicalLocation"]["region"]
        self.assertEqual(region, {"startLine": 6, "startColumn": 35, "endColumn": 45})

    def test_hostile_source_is_escaped(self):
        text = TRANSPOSE.format(row=32).replace("tile[x][y];", "tile[x][y];  // \x1b[31m</script>\u202e")
        shown = self.good("advise", self.path("hostile.cu", text), *self.args[1:])
        self.assertNotIn("\x1b", shown)
        self.assertNotIn("\u202e", shown)
        json.loads(self.good("advise", self.path("hostile.cu", text), *self.args[1:], "--format", "sarif"))

    def test_long_lines_are_not_read(self):
        text = TRANSPOSE.format(row=32).replace("tile[x][y];", "tile[x][y];  // " + "[" * 1000000)
        shown = self.good("advise", self.path("long.cu", text), *self.args[1:], "--diff")
        self.assertIn("bank-conflicts", shown)
        self.assertLess(len(shown), 10000)

    def test_several_devices(self):
        value = checked(self.good("advise", *self.args[:1], "--device", "v100,mi100", *SQUARE, "--format", "json"), "advise")
        self.assertEqual(len(value["devices"]), 2)
        self.assertEqual({f["device"] for f in value["findings"] if f["rule"] == "bank-conflicts"}, {d["device"] for d in value["devices"]})

    def test_every_rule_is_documented(self):
        with open(os.path.join(ROOT, "docs", "reference", "rules.md"), encoding="utf-8") as file:
            text = file.read()
        rules = [r["id"] for r in json.loads(self.good("advise", *self.args, "--format", "sarif"))["runs"][0]["tool"]["driver"]["rules"]]
        self.assertEqual(re.findall(r"^## ([a-z-]+)$", text, re.M), rules)
        for part in re.split(r"^## [a-z-]+$", text, flags=re.M)[1:]:
            for word in ("Sees", "Costs", "Change", "Wrong when", "Gain"):
                self.assertIn(f"**{word}**", part)


if __name__ == "__main__":
    unittest.main()
