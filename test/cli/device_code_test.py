"""Device code as programs have it: bodies in other files, names of instances, textures, jumps into loops."""

import json
import unittest

from check_schema import checked
from program import Case

LAUNCH = ("--device", "v100", "--grid", "16", "--block", "64")
# An address that counts a loop's iterations is used outside of it, by way of a jump into its body.
JUMP = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
  .reg .pred %p<9>;
  .reg .b32 %r<20>;
  .reg .f64 %fd<4>;
  .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [c];
  ld.global.nc.u32 %r2, [%rd2+4];
  cvt.s64.s32 %rd4, %r7;
  mul.wide.s32 %rd5, %r7, 8;
  add.s64 %rd6, %rd3, %rd5;
  setp.lt.s32 %p2, %r3, 2;
  @%p2 bra L33;
  cvt.u32.u64 %r8, %rd4;
  add.s32 %r9, %r2, -2;
  sub.s32 %r4, %r9, %r8;
  and.b32 %r15, %r4, 3;
  setp.lt.u32 %p3, %r5, 3;
  mov.u32 %r10, 0;
  @%p3 bra L25;
L6:
  add.s32 %r12, %r12, 4;
L25:
  setp.eq.s32 %p1, %r15, 0;
  @%p1 bra L33;
  cvt.s64.s32 %rd7, %r12;
  add.s64 %rd8, %rd7, %rd4;
  shl.b64 %rd9, %rd8, 3;
  add.s64 %rd10, %rd1, %rd9;
  mul.wide.s32 %rd12, %r10, 8;
  add.s64 %rd13, %rd6, %rd12;
  ld.global.nc.f64 %fd1, [%rd10];
  add.s32 %r10, %r10, 1;
  st.global.f64 [%rd13+8], %fd1;
L33:
  @%p4 bra L6;
  ret;
}
"""

# nvcc 13.0 takes these.
HOST_TYPES = """#include <cub/cub.cuh>
#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>
#include <cusparse.h>
#include <nccl.h>
#include <cuda/std/functional>
#include <thrust/adjacent_difference.h>
#include <thrust/device_malloc.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct View {
  cudaGraphicsResource* resource;
  cudaGraphicsResource_t other;
  cudaStream_t stream;
  cudaEvent_t event;
  cublasHandle_t handle;
  cufftHandle plan;
  float* data;
  __host__ View(int n) : name(n, 'x') { cudaMalloc(&data, n); }
  __device__ float at(int i) const { return data[i]; }
  std::string name;
};
struct Plain {
  cudaStream_t stream;
  cudaGraphicsResource_t resource;
  float* data;
  cudaError_t state;
};
struct Square { __host__ __device__ float operator()(float x) const { return x * x; } };
__device__ cudaError_t checked(int i) { return i < 0 ? cudaErrorInvalidValue : cudaSuccess; }
__global__ void k(Plain p, const View* v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && checked(i) == cudaSuccess) p.data[i] = Square()(v->at(i));
}
void host(std::vector<float>& in, std::map<std::string, int>& names, float* d, size_t n) {
  thrust::device_vector<float> v(in.begin(), in.end());
  thrust::transform(v.begin(), v.end(), v.begin(), Square());
  float sum = thrust::reduce(thrust::device, v.begin(), v.end(), 0.0f, thrust::plus<float>());
  thrust::sort_by_key(v.begin(), v.end(), v.begin());
  void* temporary = nullptr;
  size_t bytes = 0;
  thrust::device_ptr<void> raw = thrust::device_malloc(n);
  temporary = raw.get();
  cub::DeviceReduce::Sum(temporary, bytes, d, d, (int)n);
  cub::DeviceRadixSort::SortPairs(temporary, bytes, d, d, d, d, n);
  cublasSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &sum, d, 1, d, 1, &sum, d, 1);
  std::unique_ptr<View> view(new View(4));
  k<<<names["a"], 64>>>(Plain{}, view.get(), (int)n);
}
"""
GROUPS = """#include <cooperative_groups.h>
#include <cuda/barrier>
#include <utility>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__device__ int rank_of(cg::thread_group g) { g.sync(); return g.thread_rank() + g.size() + g.num_threads(); }

__global__ void block(int* out) {
  cg::thread_block b = cg::this_thread_block();
  auto token = b.barrier_arrive();
  out[b.thread_rank()] = b.size() + b.num_threads() + b.group_index().x + b.thread_index().y + b.group_dim().z + b.dim_threads().x;
  b.barrier_wait(std::move(token));
  cg::sync(b);
  b.sync();
  out[cg::thread_rank(b)] += cg::group_size(b) + rank_of(b) + rank_of(cg::tiled_partition(b, 16));
}

__global__ void grid(int* out) {
  cg::grid_group g = cg::this_grid();
  if (!g.is_valid()) return;
  out[g.thread_rank()] = g.size() + g.num_threads() + g.num_blocks() + g.block_rank() + g.group_dim().x + g.dim_blocks().y + g.block_index().z;
  auto token = g.barrier_arrive();
  g.barrier_wait(std::move(token));
  g.sync();
}

__global__ void tile(int* out, float* f) {
  auto b = cg::this_thread_block();
  auto t = cg::tiled_partition<16>(b);
  cg::thread_block_tile<4, cg::thread_block_tile<16, cg::thread_block>> s = cg::tiled_partition<4>(t);
  cg::thread_block_tile<32> w = cg::tiled_partition<32>(b);
  int v = out[t.thread_rank()], same = 0;
  v += t.shfl(v, 1) + t.shfl_up(v, 1) + t.shfl_down(v, 2) + t.shfl_xor(v, 3) + t.any(v) + t.all(v) + t.ballot(v) + t.match_any(v) + t.match_all(v, same);
  v += t.size() + t.num_threads() + t.meta_group_rank() + t.meta_group_size() + s.thread_rank() + s.meta_group_rank();
  t.sync();
  w.sync();
  v += cg::reduce(w, v, cg::plus<int>()) + cg::reduce(t, v, cg::greater<int>()) + cg::reduce(w, v, cg::bit_xor<int>());
  v += cg::reduce(w, v, [](int a, int b) { return a > b ? a : b; });
  v += cg::inclusive_scan(w, v) + cg::exclusive_scan(w, v) + cg::inclusive_scan(w, v, cg::less<int>()) + cg::exclusive_scan(w, v, cg::plus<int>());
  out[b.thread_rank()] = v + same + rank_of(t);
  f[b.thread_rank()] = cg::reduce(w, f[b.thread_rank()], cg::plus<float>());
}

__global__ void active(int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = out[i], same = 0;
  if (v & 1) {
    cg::coalesced_group a = cg::coalesced_threads();
    v += a.size() + a.num_threads() + a.thread_rank() + a.shfl(v, 0) + a.shfl_up(v, 1) + a.shfl_down(v, 1) + a.any(v) + a.all(v) + a.ballot(v);
    v += a.match_any(v) + a.match_all(v, same) + a.meta_group_rank() + a.meta_group_size();
    a.sync();
    v += cg::reduce(a, v, cg::plus<int>()) + cg::inclusive_scan(a, v) + cg::exclusive_scan(a, v, cg::plus<int>());
    cg::coalesced_group half = cg::tiled_partition(a, 4);
    v += half.thread_rank() + rank_of(a);
  }
  auto w = cg::tiled_partition<32>(cg::this_thread_block());
  auto odd = cg::binary_partition(w, v & 1);
  auto label = cg::labeled_partition(w, v & 3);
  v += odd.thread_rank() + label.size();
  cg::invoke_one(w, [&] { same = 2; });
  v += cg::invoke_one_broadcast(w, [&] { return v + 1; });
  out[i] = v + same;
}

__global__ void copy(int* out, const int* in) {
  __shared__ int s[256];
  auto b = cg::this_thread_block();
  auto w = cg::tiled_partition<32>(b);
  cg::memcpy_async(b, s, in, sizeof(int) * 256);
  cg::wait(b);
  cg::memcpy_async(w, s, in, cuda::aligned_size_t<16>(512));
  cg::wait_prior<0>(w);
  cg::memcpy_async(b, s, 256, in, 128);
  cg::wait(b);
  out[b.thread_rank()] = s[b.thread_rank()];
}

__global__ void update(int* out, int* sum) {
  auto w = cg::tiled_partition<32>(cg::this_thread_block());
  __shared__ cuda::atomic<int, cuda::thread_scope_block> total;
  cuda::atomic_ref<int, cuda::thread_scope_device> all(*sum);
  cg::reduce_update_async(w, total, out[threadIdx.x], cg::plus<int>());
  cg::reduce_store_async(w, total, out[threadIdx.x], cg::plus<int>());
  out[threadIdx.x] = cg::exclusive_scan_update(w, all, 1, cg::plus<int>()) + cg::inclusive_scan_update(w, all, 1, cg::plus<int>());
}

__global__ void big(int* out) {
  __shared__ cg::block_tile_memory<256> memory;
  auto b = cg::this_thread_block(memory);
  auto t = cg::tiled_partition<128>(b);
  int v = out[b.thread_rank()];
  v += t.any(v) + t.all(v) + t.shfl(v, 5) + cg::reduce(t, v, cg::plus<int>()) + t.meta_group_rank();
  t.sync();
  out[b.thread_rank()] = v;
}
"""
CLUSTER = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(2, 1, 1) cluster(int* out) {
  __shared__ int s[64];
  cg::cluster_group c = cg::this_cluster();
  s[threadIdx.x] = c.block_rank() + c.num_blocks() + c.thread_rank() + c.num_threads() + c.size() + c.block_index().x + c.thread_index().x + c.dim_blocks().x + c.dim_threads().y;
  c.barrier_arrive();
  c.barrier_wait();
  c.sync();
  int* other = c.map_shared_rank(s, 1 - c.block_rank());
  out[c.thread_rank()] = other[threadIdx.x] + c.query_shared_rank(other);
  auto g = cg::this_grid();
  out[0] = g.cluster_rank() + g.num_clusters() + g.cluster_index().x + g.dim_clusters().x;
  c.sync();
}
"""


class DeviceCode(Case):
    def forecast(self, path, *args):
        return checked(self.good("predict", path, *LAUNCH, *args, "--format", "json"), "predict")["predictions"][0]

    def assumptions(self, prediction):
        return json.dumps(prediction["assumptions"])

    def test_a_body_in_a_file_beside(self):
        self.path("body.cu", "__device__ float inner(float x);\n__device__ float f(float x) {\n  for (int i = 0; i < 100; ++i) x = x * x + inner(x);\n  return x;\n}\n")
        self.path("inner.cuh", "// f(float) is not here: float f(float x) {\n__device__ float inner(float x) { return x * 0.5f; }\n")
        caller = "__device__ float f(float x);\n__global__ void k(float* a) { a[threadIdx.x] = f(a[threadIdx.x]); }\n"
        whole = "__device__ float inner(float x) { return x * 0.5f; }\n__device__ float f(float x) {\n  for (int i = 0; i < 100; ++i) x = x * x + inner(x);\n  return x;\n}\n" + caller
        apart, together = self.forecast(self.path("caller.cu", caller)), self.forecast(self.path("whole/k.cu".replace("/", "_"), whole))
        self.assertEqual(apart["counts"]["warp_instructions"], together["counts"]["warp_instructions"])

    def test_a_body_in_a_folder_of_includes(self):
        import os

        os.mkdir(self.path("lib"))
        os.mkdir(self.path("src"))
        self.path("lib/body.cu", "__device__ int far(int x) { return x * 3 + 1; }\n")
        source = self.path("src/k.cu", "__device__ int far(int x);\n__global__ void k(int* a) { a[threadIdx.x] = far(a[threadIdx.x]); }\n")
        self.bad(1, "calls 'far.int.'.*no body here", "predict", source, *LAUNCH)
        self.forecast(source, "-I", self.path("lib"))

    def test_names_of_instances(self):
        source = self.path("t.cu", """#include <cstdint>
typedef unsigned int word;
constexpr int size = 4;
enum class Kind { one, two };
template <class T> __global__ void f(T* a) { a[threadIdx.x] += 1; }
template <class T, int n> __global__ void g(const T* a, T* b) { b[threadIdx.x] = a[threadIdx.x] * n; }
template <Kind kind> __global__ void h(int* a) { a[threadIdx.x] = kind == Kind::one; }
template <class T> void launch(T* a) { f<<<1, 64>>>(a); }
void host(unsigned* u, double* d) {
  f<<<1, 64>>>(u);
  launch(d);
  auto kernel = g<float, 4>;
  kernel<<<1, 64>>>(nullptr, nullptr);
}
""")
        for name in ("f<unsigned int>", "f<uint32_t>", "f<std::uint32_t>", "f<unsigned>", "f<word>", "_Z1fIjEvPT_", "f<double>", "void f<double>(double*)",
                     "g<float, 4>", "g<float,size>", "g<float, 4>(const float*, float*)", "f<int64_t>", "f<long>", "h<Kind::two>", "f<uint8_t>",
                     "_Z1fIsEvPT_"):  # fmt: skip
            with self.subTest(name):
                self.forecast(source, "--kernel", name)
        self.bad(2, "has several kernels.*f<unsigned int>.*f<double>.*g<float, 4>", "predict", source, *LAUNCH)

    def test_callers_before_the_template_that_launches(self):
        source = self.path("late.cu", """#include <string>
struct Reader { __device__ float at(int i) const { return i; } };
template <class T, bool twice, class R> void run_test(const std::string& name);
template <class T, bool twice, class R> __global__ void k(T* a) { a[threadIdx.x] = R().at(3) * (twice ? 2 : 1); }
void bench(int single) {
  if (single) run_test<float, true, Reader>("single");
  else run_test<double, false, Reader>("double");
}
template <class T, bool twice, class R> void run_test(const std::string& name) {
  k<T, twice, R><<<1, 64>>>((T*)nullptr);
}
""")
        self.bad(2, r"has several kernels.*k<float, true, Reader>\(float\*\), k<double, false, Reader>\(double\*\)", "predict", source, *LAUNCH)
        self.forecast(source, "--kernel", "k<double, false, Reader>")
        self.bad(2, "--kernel k is ambiguous", "predict", source, *LAUNCH, "--kernel", "k")

    def test_dependent_templates_without_the_keyword(self):
        # nvcc 13.0 takes this.
        self.path("cast.cuh", """template <class T, class S> struct caster {
  template <int n> static __device__ void cast(T* a, const S* b) { for (int i = 0; i < n; ++i) a[i] = b[i]; }
};
template <> struct caster<short, float> {
  template <int n> static __device__ void cast(short* a, const float* b) { for (int i = 0; i < n; ++i) a[i] = (short)b[i]; }
};
template <class T, class S, int n> __device__ void convert(T* a, const S* b) {
  caster<T, S>::cast<n>(a, const_cast<S*>(b));
}
""")
        source = self.path("k.cu", """#include "cast.cuh"
template <class T> __global__ void k(T* a, float* b) { convert<T, float, 4>(a + 4 * threadIdx.x, b); }
template __global__ void k<int>(int*, float*);
template __global__ void k<short>(short*, float*);
template <class T> __global__ void own(T* a, float* b) { caster<T, float>::cast<2>(a + threadIdx.x, b); }
template __global__ void own<int>(int*, float*);
""")
        for kernel in ("k<int>", "k<short>", "own<int>"):
            self.forecast(source, "--kernel", kernel)

    def test_a_header_of_a_folder_around_launches(self):
        import os

        os.makedirs(self.path("program/src"))
        self.path("program/common.cuh", """#pragma once
#include <cublas_v2.h>
static const char* text_of(cublasStatus_t status) { return status == CUBLAS_STATUS_SUCCESS ? "" : "failed"; }
struct Params { dim3 grid, block; cublasComputeType_t type; cudaDataType_t data; };
template <class Kernel, class... A> static void launch(Kernel kernel, const Params& p, A... a) { kernel<<<p.grid, p.block>>>(a...); }
""")
        source = self.path("program/src/k.cu", """#include "common.cuh"
template <int n> __global__ void k(int* a) { a[threadIdx.x] = n; }
template <int n> static void run(int* a, cublasHandle_t handle) {
  Params p = {dim3(1), dim3(64), CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_16BF};
  cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);
  launch(k<n>, p, a);
}
void host(int* a, cublasHandle_t handle) { run<7>(a, handle); }
""")
        for more in ((), ("-I", self.path("program"))):
            self.forecast(source, *more)

    def test_what_nvcc_includes_before_every_source(self):
        source = self.path("moved.cu", """struct S { int a[4]; };
template <class T> __device__ void put(T* to, T&& v) { *to = std::forward<T>(v); }
template <class K, class... A> void launch(K k, A&&... a) { k<<<1, 64>>>(std::forward<A>(a)...); }
template <int n> __global__ void k(S* s) {
  S t = {};
  t.a[0] = std::max(n, 2);
  put(s + threadIdx.x, std::move(t));
}
void host(S* s) { launch(k<3>, s); }
""")
        for device in ("v100", "mi210"):
            self.good("predict", source, "--device", device, "--grid", "16", "--block", "64")

    def test_hundreds_of_kernels_make_no_long_message(self):
        kernels = "template <int n> __global__ void k(int* a) { a[threadIdx.x] = n; }\n"
        source = self.path("many.cu", kernels + "".join(f"template __global__ void k<{n}>(int*);\n" for n in range(200)))
        self.bad(2, "has several kernels.*k<0>.*k<19>.* and 180 more", "predict", source, *LAUNCH)
        self.bad(2, "(?s)ambiguous.*and 180 more", "predict", source, *LAUNCH, "--kernel", "k")
        self.forecast(source, "--kernel", "k<150>")

    def test_textures_surfaces_and_images_are_named(self):
        texture = self.path("t.cu", """texture<float, 2, cudaReadModeElementType> old;
__global__ void sample(cudaTextureObject_t t, cudaSurfaceObject_t s, float* out) {
  float4 v = tex2D<float4>(t, threadIdx.x + 0.5f, 0.5f);
  float w = tex2D(old, threadIdx.x, 1) + tex1Dfetch<float>(t, threadIdx.x) + tex3D<float>(t, 1, 2, 3);
  surf2Dwrite(v.x + w, s, threadIdx.x * 4, 0);
  out[threadIdx.x] = v.y + surf2Dread<float>(s, threadIdx.x * 4, 1);
}
__global__ void beside(float* out) { out[threadIdx.x] = 1; }
void host(cudaGraphicsResource* r, cudaGraphicsResource_t s) {}
""")
        p = self.forecast(texture, "--kernel", "sample")
        self.assertIn("t.cu:3: its memory traffic and its filtering", self.assumptions(p))
        self.assertIn("t.cu:5", self.assumptions(p))
        self.assertNotIn("filtering", self.assumptions(self.forecast(texture, "--kernel", "beside")))
        image = self.path("i.cl", """__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
__kernel void sample(__read_only image2d_t in, __write_only image2d_t out, __global float* sum) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  float4 v = read_imagef(in, nearest, at);
  if (at.x < get_image_width(in)) write_imagef(out, at, v * 2);
  sum[get_global_id(0)] = v.x;
}
__kernel void beside(__global float* out) { out[get_global_id(0)] = 1; }
""")
        p = self.forecast(image, "--kernel", "sample")
        self.assertIn("i.cl:4: its memory traffic", self.assumptions(p))
        self.assertNotIn("filtering", self.assumptions(self.forecast(image, "--kernel", "beside")))
        for source in (texture, image):
            result = self.run_program("predict", source, "--device", "mi210", "--grid", "16", "--block", "64", "--kernel", "sample")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("it counts as nothing", result.stdout)

    def test_pairs_of_thrust_beside_its_algorithms(self):
        source = self.path("pairs.cu", """#include <thrust/device_vector.h>
#include <thrust/pair.h>
#include <thrust/sort.h>
#include <thrust/tuple.h>
__device__ thrust::pair<float, int> split(float x) { return thrust::make_pair(x * 0.5f, (int)x); }
__global__ void k(float* a, int* b) {
  float half;
  int whole, i = blockIdx.x * 64 + threadIdx.x;
  thrust::tie(half, whole) = split(a[i]);
  a[i] = half;
  thrust::tie(half, whole) = thrust::make_tuple(1.0f, whole + 1);
  b[i] = whole;
}
void host(thrust::device_vector<float>& v) { thrust::sort(v.begin(), v.end()); }
""")
        p = self.forecast(source, "--counts", "executed", "--buffer", "a=1024", "--buffer", "b=1024")
        stores = next(m for m in p["counts"]["memory"] if (m["space"], m["kind"]) == ("global", "store"))
        self.assertEqual(stores["requests"], 16 * 2 * 2)

    def test_types_and_algorithms_of_host_code_beside_a_kernel(self):
        p = self.forecast(self.path("host.cu", HOST_TYPES), "--arg", "n=1024")
        self.assertEqual([a["name"] for a in p["assumptions"] if "skipped" in json.dumps(a)], [])
        stores = next(m for m in p["counts"]["memory"] if (m["space"], m["kind"]) == ("global", "store"))
        self.assertEqual(stores["requests"], 16 * 2)

    def test_cooperative_groups_in_full(self):
        source, cluster = self.path("groups.cu", GROUPS), self.path("cluster.cu", CLUSTER)
        for device in ("gtx280", "v100", "h100", "mi210"):
            for kernel in ("block", "grid", "tile", "active", "copy", "update", "big"):
                with self.subTest(device=device, kernel=kernel):
                    text = self.good("predict", source, "--device", device, "--grid", "16", "--block", "256", "--kernel", kernel, "--format", "json")
                    checked(text, "predict")
        launch = ("--device", "h100", "--grid", "16", "--block", "64", "--format", "json")
        mapped = checked(self.good("predict", cluster, *launch), "predict")["predictions"][0]
        self.assertIn("shared memory of other blocks of the cluster", self.assumptions(mapped))
        bounds = {b["name"]: b["why"] for b in mapped["bounds"]}
        self.assertIn("4.096 kB from and 0 B to", bounds["cluster_memory"])
        # The same by PTX: the banks are those of the block's own memory.
        text = """__global__ void __cluster_dims__(2, 1, 1) k(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = out[threadIdx.x];
  asm volatile("barrier.cluster.arrive;\\nbarrier.cluster.wait;" ::: "memory");
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"((unsigned)__cvta_generic_to_shared(&s[threadIdx.x])), "r"(1));
  int v;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(there));
  out[threadIdx.x] = v;
}
"""
        by_ptx = checked(self.good("predict", self.path("mapa.cu", text), *launch), "predict")["predictions"][0]
        self.assertIn("shared memory of other blocks of the cluster", self.assumptions(by_ptx))
        loads = [m for m in by_ptx["counts"]["memory"] if (m["space"], m["kind"]) == ("shared", "load")]
        self.assertEqual([(m["requests"], m["bank_passes"]) for m in loads], [(32, 32)])

    def test_what_cooperative_groups_compute(self):
        # Threads write where an index that groups compute is right: outside of the buffer it would be found.
        source = self.path("ranks.cu", """#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
namespace cg = cooperative_groups;
__global__ void ranks(int* out) {
  auto b = cg::this_thread_block();
  auto w = cg::tiled_partition<32>(b);
  int lane = w.thread_rank(), same = 0;
  bool good = cg::exclusive_scan(w, 1) == lane && cg::inclusive_scan(w, lane, cg::greater<int>()) == lane && w.match_all(7, same) == ~0u && same;
  good = good && w.match_all(lane, same) == 0 && !same && cg::invoke_one_broadcast(w, [&] { return lane + 5; }) == 5;
  if (lane < 20) {
    auto a = cg::coalesced_threads();
    auto part = cg::tiled_partition(a, 8);
    good = good && part.size() == (lane < 16 ? 8 : 4) && part.thread_rank() == lane % 8 && part.meta_group_rank() == lane / 8 && part.meta_group_size() == 3;
    good = good && cg::exclusive_scan(a, 2, cg::plus<int>()) == 2 * lane && a.match_any(lane / 10) == (lane < 10 ? 0x3ffu : 0xffc00u);
  }
  __shared__ cuda::atomic<int, cuda::thread_scope_block> total;
  if (b.thread_rank() == 0) total.store(0);
  b.barrier_wait(b.barrier_arrive());
  int place = cg::exclusive_scan_update(w, total, 1, cg::plus<int>());
  good = good && place % 32 == lane && place < 64;
  out[good ? cg::this_grid().thread_rank() : 1 << 20] = 1;
}
""")
        result = self.run_program("predict", source, *LAUNCH, "--counts", "executed", "--buffer", "out=1024", "--sample", "all", "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(checked(result.stdout, "predict")["findings"], [], result.stderr)

    def test_random_numbers_of_thrust(self):
        # The ten-thousandth number of minstd_rand from its default seed is 399268537 (C++ standard, [rand.predef]).
        source = self.path("random.cu", """#include <thrust/random.h>
struct Draw {
  __host__ __device__ float operator()(unsigned int n) const {
    thrust::default_random_engine engine;
    thrust::uniform_real_distribution<float> place(-1.0f, 1.0f);
    engine.discard(n);
    return place(engine);
  }
};
__global__ void k(float* a, int* b) {
  thrust::minstd_rand engine(1);
  for (int i = 1; i < 10000; ++i) engine();
  thrust::minstd_rand ahead;
  ahead.discard(9999);
  const unsigned int last = engine();
  thrust::random::uniform_int_distribution<int> die(1, 6);
  const int eyes = die(engine);
  thrust::random::normal_distribution<double> normal(0.0, 1.0);
  const float drawn = Draw()(threadIdx.x);
  const bool good = last == 399268537u && ahead() == last && eyes >= 1 && eyes <= 6 && drawn >= -1 && drawn < 1 && normal(ahead) < 40;
  a[blockIdx.x * 64 + threadIdx.x] = drawn;
  b[good ? blockIdx.x * 64 + threadIdx.x : 1 << 20] = eyes;
}
""")
        text = self.good("predict", source, *LAUNCH, "--counts", "executed", "--buffer", "a=1024", "--buffer", "b=1024", "--sample", "1", "--format", "json")
        self.assertEqual(checked(text, "predict")["predictions"][0]["counts_method"], "executed")

    def test_random_numbers_of_curand(self):
        # Philox 4x32-10 of counter and key 0: Random123's known answers. The first number of MRG32k3a from six times 12345: L'Ecuyer's
        # RngStreams. XORWOW's next number from 1 2 3 4 5 and 6: by hand.
        source = self.path("curand.cu", """#include <curand_kernel.h>
template <class S> __device__ bool spread(unsigned int seed) {
  S s;
  curand_init(seed, threadIdx.x, 5, &s);
  float mean = 0, square = 0, fine = 0;
  for (int i = 0; i < 128; ++i) {
    mean += curand_uniform(&s) / 128;
    const float n = curand_normal(&s);
    square += n * n / 128;
    fine += (float)(curand_uniform_double(&s) / 128);
  }
  return mean > 0.3f && mean < 0.7f && fine > 0.3f && fine < 0.7f && square > 0.4f && square < 2.f;
}
__global__ void k(unsigned int* a) {
  curandStatePhilox4_32_10_t p;
  curand_init(0, 0, 0, &p);
  const uint4 four = curand4(&p);
  curand_init(0, 0, 2, &p);
  const unsigned int third = curand(&p);
  bool good = four.x == 0x6627e8d5u && four.y == 0xe169c58du && four.z == 0xbc57ac4cu && four.w == 0x9b00dbd8u && third == four.z;
  curandStateMRG32k3a m;
  for (int i = 0; i < 3; ++i) m.s1[i] = m.s2[i] = 12345;
  const double first = curand_uniform_double(&m);
  good = good && first > 0.12701112 && first < 0.12701113;
  curandStateXORWOW_t x;
  for (int i = 0; i < 5; ++i) x.v[i] = i + 1;
  x.d = 6;
  good = good && curand(&x) == 362529;
  good = good && spread<curandStatePhilox4_32_10_t>(1) && spread<curandStateMRG32k3a>(2) && spread<curandState>(3);
  a[good ? blockIdx.x * 64 + threadIdx.x : 1 << 20] = third;
}
""")
        text = self.good("predict", source, *LAUNCH, "--counts", "executed", "--buffer", "a=1024", "--sample", "1", "--format", "json")
        found = checked(text, "predict")
        self.assertEqual(found["predictions"][0]["counts_method"], "executed")
        self.assertEqual(found["findings"], [])
        named = self.assumptions(self.forecast(source))
        self.assertNotIn("kc_rand", named)

    def test_a_child_is_named_and_counts_as_a_call(self):
        source = self.path("child.cu", """template <class T> __global__ void child(T* a, int n) { if (threadIdx.x < n) a[threadIdx.x] += 1; }
__global__ void plain() {}
__global__ void parent(int* a, int n) {
  if (threadIdx.x == 0) {
    child<int><<<dim3(n / 64, 1), 64, 0>>>(a,
                                           n);
    plain<<<1, 1>>>();
    cudaDeviceSynchronize();
  }
  a[threadIdx.x] = n;
}
void host(int* a) { parent<<<1, 64>>>(a, 64); cudaDeviceSynchronize(); }
""")
        named = self.assumptions(self.forecast(source, "--kernel", "parent", "--arg", "n=64"))
        self.assertIn("child.cu:5, a child: its time", named)
        self.assertIn("child.cu:7, a child: its time", named)
        self.forecast(source, "--kernel", "child<int>", "--arg", "n=64")

    def test_jumps_into_loops(self):
        duff = self.path("duff.cu", """__global__ void k(float* to, const float* from, int count) {
  int n = (count + 3) / 4;
  to += threadIdx.x * count;
  from += threadIdx.x * count;
  switch (count % 4) {
    case 0: do { *to++ = *from++;
    case 3: *to++ = *from++;
    case 2: *to++ = *from++;
    case 1: *to++ = *from++;
    } while (--n > 0);
  }
}
""")
        for counts in ("symbolic", "executed"):
            p = self.forecast(duff, "--arg", "count=64", "--counts", counts, "--buffer", "to=65536", "--buffer", "from=65536")
            self.assertIn("jumps into a loop", self.assumptions(p))
        stores = next(m for m in p["counts"]["memory"] if (m["space"], m["kind"]) == ("global", "store"))
        self.assertEqual(stores["requests"], 16 * 2 * 64)
        jump = self.path("jump.ptx", JUMP)
        self.good("predict", jump, "--device", "a100", "--grid", "8", "--block", "64", "--arg", "3=16", "--counts", "symbolic")
        goto = self.path("goto.cu", "__global__ void k(int* a) {\n  int i = a[0];\nx: i++;\n  if (i & 1) goto y;\nz: if (a[i]) goto x;\ny: if (a[i + 1]) goto z;\n  a[3] = i;\n}\n")
        self.forecast(goto)


if __name__ == "__main__":
    unittest.main()
