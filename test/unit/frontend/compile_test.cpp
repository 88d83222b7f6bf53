// Small sources in every language: what is in the module, under which names, with no toolkit.
#include "frontend/source/compile.h"

#include <gmock/gmock.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>

#include "kernelcast/error.h"
#include "unit/frontend/compile_support.h"

namespace kernelcast::frontend {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Compile, OpenclKernelsAreFoundOnBothVendors) {
  const std::string text =
      "__kernel void first(__global float* a) { a[get_global_id(0)] = exp(a[0]); }\n"
      "float helper(float x) { return x; }\n"
      "__kernel void second(__global float* a, __local float* s) {\n"
      "  s[0] = helper(a[1]); barrier(CLK_LOCAL_MEM_FENCE); a[0] = s[0]; }\n";
  for (const std::string target : {"sm_35", "sm_90", "gfx90a", "gfx1030"}) {
    const CompiledUnit unit = compiled("k.cl", text, target);
    EXPECT_THAT(names(unit), ElementsAre("first", "second")) << target;
    EXPECT_THAT(module_text(unit),
                AllOf(HasSubstr("@_Z13get_global_idj"), HasSubstr("@_Z3expf"), HasSubstr("@_Z7barrierj")))
        << target;
    EXPECT_THAT(unit.diagnostics, IsEmpty());
    EXPECT_THAT(unit.notes, IsEmpty());
  }
}

TEST(Compile, OpenclStandardFallsBackToWhatFits) {
  // Generic pointers came with OpenCL C 2.0, and so did the keyword pipe.
  EXPECT_NO_THROW(compiled("k.cl", "int f(int* p) { return *p; }\n__kernel void k(__global int* a) { a[1] = f(a); }"));
  EXPECT_NO_THROW(compiled("k.cl", "__kernel void k(__global int* a) { int pipe = 1; a[0] = pipe; }"));
}

TEST(Compile, CudaIdsAndMathHaveTheDocumentedNames) {
  const std::string text =
      "__global__ void add(const float* __restrict__ a, float* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) b[i] += __expf(a[i]) + expf(a[i]) + pow(a[i], 2.0f) + exp((double)a[i]);\n"
      "}\n";
  const std::string nvidia = module_of("k.cu", text);
  for (const char* name :
       {"@llvm.nvvm.read.ptx.sreg.tid.x()", "@llvm.nvvm.read.ptx.sreg.ctaid.x()", "@llvm.nvvm.read.ptx.sreg.ntid.x()",
        "@_Z10native_expf(", "@_Z3expf(", "@_Z3expd(", "@_Z3powff(", "target triple = \"nvptx64-nvidia-cuda\""}) {
    EXPECT_THAT(nvidia, HasSubstr(name));
  }
  const std::string amd = module_of("k.cu", text, "gfx90a");
  for (const char* name : {"@llvm.amdgcn.workitem.id.x()", "@llvm.amdgcn.workgroup.id.x()", "@_Z14get_local_sizej(",
                           "@_Z3expf(", "amdgpu_kernel", "target triple = \"amdgcn-amd-amdhsa\""}) {
    EXPECT_THAT(amd, HasSubstr(name));
  }
}

TEST(Compile, ValueNamesAndLinesAreKept) {
  const std::string text =
      "__global__ void k(float* out) {\n  float product = out[0] * 2.0f;\n  out[1] = product;\n}\n";
  EXPECT_THAT(module_of("k.cu", text),
              AllOf(HasSubstr("%product"), HasSubstr("!DILocation(line: 2"), Not(HasSubstr("optnone"))));
}

TEST(Compile, IntrinsicsTakeTheLineOfTheirCaller) {
  const std::string module = module_of("k.cu", "__global__ void k(int* a) {\n  a[0] = __popc(a[1]);\n}\n");
  EXPECT_THAT(module, Not(HasSubstr("kernelcast-headers")));
}

TEST(Compile, FastMathReplacesFunctions) {
  Source unit = source("k.cu", "__global__ void k(float* a) { a[0] = expf(a[1]) + sinf(a[2]); }");
  unit.fast_math = true;
  EXPECT_THAT(module_text(compile_unit(unit, "sm_70", 60)),
              AllOf(HasSubstr("@_Z10native_expf("), HasSubstr("@_Z10native_sinf("), Not(HasSubstr("@_Z3expf("))));
}

// Each line is the body of a kernel over (float* f, double* d, int* i, unsigned* u, unsigned long long* l, float4* v).
class CudaBody : public testing::TestWithParam<const char*> {};

TEST_P(CudaBody, CompilesForEveryTarget) {
  const std::string text =
      "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cooperative_groups.h>\n#include <mma.h>\n#include "
      "<curand_kernel.h>\n#include <cuda_fp8.h>\n#include <cuda_fp4.h>\n#include <cuda_pipeline.h>\n#include "
      "<cuda/barrier>\n#include <cuda/ptx>\n#include <cuda/pipeline>\n#include "
      "<cuda/atomic>\n#include "
      "<cuda/std/limits>\n#include <cufft.h>\n"
      "#include <cuComplex.h>\n#include <helper_math.h>\n#include <math_constants.h>\n__constant__ float "
      "coefficients[16];\n"
      "__global__ void __launch_bounds__(256, 2) k(float* f, double* d, int* i, unsigned* u, unsigned long long* l, "
      "float4* v) {\n" +
      std::string(GetParam()) + "\n}\n";
  for (const std::string target : {"sm_35", "sm_70", "sm_90", "gfx906", "gfx1100"}) {
    EXPECT_NO_THROW({
      const CompiledUnit unit = compiled("k.cu", text, target);
      EXPECT_EQ(names(unit).size(), 1u);
      EXPECT_THAT(unit.notes, IsEmpty()) << target;
      EXPECT_THAT(unit.diagnostics, IsEmpty()) << target;
    }) << target;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Features, CudaBody,
    testing::Values(
        "__shared__ float tile[32][33]; extern __shared__ float dynamic[]; tile[threadIdx.x][0] = dynamic[0]; "
        "__syncthreads(); f[0] = tile[0][1] + coefficients[2];",
        "f[0] = __ldg(&f[1]); v[0] = __ldg(v + 1); __stcg(f, 1.0f);",
        "u[0] = __ballot_sync(~0u, i[0]) + __any_sync(~0u, i[1]) + __all_sync(~0u, 1) + __activemask(); u[1] = "
        "__ballot(1) + __any(0);",
        "f[0] = __shfl_sync(~0u, f[1], 3) + __shfl_up_sync(~0u, f[1], 1) + __shfl_down(f[2], 2) + __shfl_xor_sync(~0u, "
        "f[3], 16, 16);",
        "d[0] = __shfl_down_sync(~0u, d[1], 3); l[0] = __shfl_xor_sync(~0u, l[1], 1); i[0] = __shfl(i[1], 0);",
        "u[0] = __match_any_sync(~0u, u[1]) + __reduce_add_sync(~0u, u[2]);",
        "atomicAdd(f, 1.0f); atomicAdd(d, 1.0); atomicAdd(i, 1); atomicAdd(u, 1u); atomicAdd(l, 1ull); atomicSub(i, "
        "2); atomicExch(f, 2.0f);",
        "atomicMin(i, 1); atomicMax(u, 2u); atomicMin(l, 3ull); atomicAnd(i, 1); atomicOr(u, 2u); atomicXor(l, 1ull); "
        "atomicCAS(i, 1, 2); atomicInc(u, 3u); atomicDec(u, 3u);",
        "atomicAdd_block(i, 1); atomicAdd_system(f, 1.0f); atomicCAS_block(u, 1u, 2u);",
        "v[0] = make_float4(1, 2, 3, 4); int2 a = make_int2(1, 2); uchar4 c = make_uchar4(1, 2, 3, 4); double2 e = "
        "make_double2(1, 2); f[0] = a.x + c.w + e.y;",
        "f[0] = sqrtf(f[1]) + rsqrtf(f[2]) + fmaf(f[1], f[2], f[3]) + fminf(f[1], f[2]) + fabsf(f[3]) + floorf(f[4]) + "
        "max(f[1], f[2]) + abs(f[3]) + exp(i[0]) + pow(f[0], 2);",
        "d[0] = sqrt(d[1]) + tgamma(d[2]) + erfinv(d[3]) + fma(d[1], d[2], d[3]) + max(d[0], 1.0) + log1p(d[4]) + "
        "hypot(d[1], d[2]) + std::fabs(d[3]);",
        "float s, c; sincosf(f[0], &s, &c); __sincosf(f[1], &s, &c); f[0] = s + c + __fdividef(s, c) + __powf(s, c) + "
        "__logf(s) + __frcp_rn(s) + __saturatef(c) + __fmul_rn(s, c);",
        "i[0] = __popc(u[1]) + __clz(i[2]) + __ffs(i[3]) + __mulhi(i[1], i[2]) + __mul24(i[1], i[2]) + __dp4a(i[0], "
        "i[1], i[2]); u[0] = __brev(u[1]) + __byte_perm(u[1], u[2], 0x3210) + __umulhi(u[1], u[2]) + "
        "__funnelshift_l(u[0], u[1], 3);",
        "i[0] = __float2int_rn(f[0]) + __float_as_int(f[1]) + __double2int_rz(d[0]) + __double2hiint(d[1]); f[0] = "
        "__int_as_float(i[0]) + __int2float_rn(i[1]); d[0] = __longlong_as_double((long long)l[0]);",
        "half h = __float2half(f[0]); half2 p = __half2half2(h); p = __hfma2(p, p, p); h = h * h + hexp(h); f[0] = "
        "__half2float(h) + __low2float(p) + (h < __float2half(1.0f));",
        "__nv_bfloat16 b = __float2bfloat16(f[0]); b = b * b; f[0] = __bfloat162float(__hfma(b, b, b));",
        "namespace cg = cooperative_groups; cg::thread_block g = cg::this_thread_block(); auto t = "
        "cg::tiled_partition<32>(g); float x = f[g.thread_rank()]; for (int n = t.size() / 2; n > 0; n /= 2) x += "
        "t.shfl_down(x, n); t.sync(); g.sync(); cg::this_grid().sync(); f[t.thread_rank()] = x;",
        "struct P { float x; double y; }; auto t = cooperative_groups::tiled_partition<16>(cooperative_groups::"
        "this_thread_block()); P p{f[0], d[0]}; p = t.shfl_xor(p, 3); f[0] = p.x; d[0] = p.y;",
        "using namespace nvcuda; wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a; "
        "wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b; wmma::fragment<wmma::accumulator, 16, "
        "16, 16, float> c; wmma::fill_fragment(c, 0.0f); wmma::load_matrix_sync(a, (half*)f, 16); "
        "wmma::load_matrix_sync(b, (half*)d, 16); wmma::mma_sync(c, a, b, c); wmma::store_matrix_sync(f, c, 16, "
        "wmma::mem_row_major);",
        "curandState state; curand_init(1, 2, 3, &state); f[0] = curand_uniform(&state) + CUDART_PI_F;",
        "i[0] = __syncthreads_count(i[1]) + __syncthreads_or(i[2]) + __syncthreads_and(i[3]); __threadfence(); "
        "__threadfence_block(); __syncwarp(); clock_t begin = clock(); l[0] = clock64() + clock() - begin;",
        "printf(\"%f\\n\", f[0]); assert(f[0] > 0);",
        "f[0] = tex2D<float>((cudaTextureObject_t)l[0], f[1], f[2]) + tex1Dfetch<float>((cudaTextureObject_t)l[1], "
        "i[0]);",
        "__nv_fp8_e4m3 e(f[0]); __nv_fp8x4_e5m2 w(v[0]); v[1] = (float4)w; "
        "__half2 p = +__floats2half2_rn(f[1], f[0]); f[3] = (float)(+p.x * p.y); "
        "__nv_bfloat162 h = +__floats2bfloat162_rn(f[0], f[2]); __nv_fp8x4_e4m3 four(h, h); f[2] = ((float4)four).x; "
        "f[1] = (float)e + "
        "(float)__nv_fp8_e5m2(d[0]);",
        "__shared__ cuda::barrier<cuda::thread_scope_block> b; if (threadIdx.x == 0) init(&b, blockDim.x); __shared__ "
        "float "
        "t[256]; cuda::memcpy_async(t + threadIdx.x, f + threadIdx.x, cuda::aligned_size_t<4>(4), b); "
        "b.arrive_and_wait(); f[0] = t[255 - threadIdx.x];",
        "__shared__ float t[256]; auto p = cuda::make_pipeline(); p.producer_acquire(); cuda::memcpy_async(t, f, 4, "
        "p); "
        "p.producer_commit(); cuda::pipeline_consumer_wait_prior<0>(p); f[1] = t[0]; p.consumer_release();",
        "cuda::atomic_ref<int, cuda::thread_scope_device> r(i[0]); r.fetch_add(2, cuda::memory_order_relaxed); r += 3; "
        "i[1] = r.load() + cuda::std::numeric_limits<int>::max();",
        "__nv_bfloat16 h = __float2bfloat16(f[0]); h = +__hadd(h, __shfl_xor_sync(~0u, h, 1)); "
        "*(__nv_bfloat162*)u = __float22bfloat162_rn(make_float2(f[1], hexp(h))); i[0] = __hgt(h, -h);",
        "f[0] = (float)__nv_fp4_e2m1(f[1]) + (float)__nv_fp6_e3m2(f[2]) + ((float2)__nv_fp4x2_e2m1(make_float2(f[3], "
        "f[4]))).y;",
        "__shared__ float4 t[256]; __pipeline_memcpy_async(t + threadIdx.x, v + threadIdx.x, 16); __pipeline_commit(); "
        "__pipeline_wait_prior(0); __syncthreads(); v[0] = t[255 - threadIdx.x];",
        "auto c = cooperative_groups::this_cluster(); c.sync(); i[0] = c.block_rank() + c.num_blocks();",
        "CUtensorMap m; i[0] = sizeof m + alignof(CUtensorMap);",
        "cufftComplex z = make_cuComplex(f[0], f[1]); f[2] = cuCrealf(z);",
        "cuComplex z = cuCmulf(make_cuComplex(f[0], f[1]), make_cuComplex(1, 2)); f[0] = cuCabsf(z); float3 w = "
        "make_float3(1, 2, 3) * 2.0f; f[1] = dot(w, w) + length(w);"));

TEST(Compile, StructuresKeepTheirNamesOnEveryTarget) {
  const std::string text = "struct S { int w, h; }; __global__ void k(float* a, S size) { a[size.w] = size.h; }";
  for (const std::string target : {"sm_70", "gfx906"}) {
    EXPECT_THAT(module_text(compiled("k.cu", text, target)), ContainsRegex("@_Z1kPf1S\\(.* %size\\)")) << target;
  }
}

TEST(Compile, TexturesBecomeCallsThatTheAnalysisCanName) {
  const std::string text =
      "texture<float, 2, cudaReadModeElementType> image;\n__global__ void k(float* a) { a[0] = tex2D(image, 1.0f, "
      "2.0f); }";
  EXPECT_THAT(module_of("k.cu", text), HasSubstr("@kc_texture_read("));
}

TEST(Compile, InlinePtxStaysInlineAssembly) {
  const std::string text =
      "__global__ void k(int* a) { int r; asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(r)); a[0] = r; }";
  EXPECT_THAT(module_of("k.cu", text), HasSubstr("asm sideeffect \"mov.u32 $0, %laneid;\""));
}

TEST(Compile, SubGroupsOfOpenclAreExchangesOfAWarp) {
  const std::string text =
      "kernel void k(global float* a, global int* b, global ulong* c) {\n  int i = get_global_id(0);\n"
      "  float x = sub_group_reduce_add(a[i]) + sub_group_broadcast(a[i], 3) + sub_group_shuffle_xor(a[i], 1u);\n"
      "  if (sub_group_any(b[i] > 3)) x += sub_group_scan_exclusive_max(b[i]);\n"
      "  c[i] = sub_group_reduce_max(c[i]) + sub_group_ballot(b[i]).x;\n"
      "  a[i] = x + get_sub_group_id() + get_sub_group_size();\n}\n";
  for (const std::string target : {"sm_70", "gfx906", "gfx1030"}) {
    const std::string module = module_of("k.cl", text, target);
    EXPECT_THAT(module, HasSubstr(target == "sm_70" ? "@llvm.nvvm.shfl.sync" : "@llvm.amdgcn.ds.bpermute")) << target;
    EXPECT_THAT(module, Not(ContainsRegex("call .*@_Z[0-9]+sub_group_(reduce|scan|any|broadcast|shuffle|ballot)")));
  }
}

TEST(Compile, ExtensionsThatNvidiaLacksAreSwitchedOnWhereASourceNeedsThem) {
  const std::string half =
      "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\nkernel void k(global half* a) { a[0] *= (half)2; }\n";
  EXPECT_THAT(compiled("k.cl", half, "sm_70").notes, ElementsAre(HasSubstr("extensions")));
  EXPECT_THAT(compiled("k.cl", half, "gfx906").notes, IsEmpty());
  // A source that has another way keeps it.
  const std::string either =
      "#ifdef cl_khr_fp16\nkernel void with(global half* a) { a[0] = 1; }\n#else\nkernel void without(global float* a) "
      "{ a[0] = "
      "1; }\n#endif\n";
  EXPECT_THAT(names(compiled("k.cl", either, "sm_70")), ElementsAre("without"));
}

TEST(Compile, WhatNeedsALaterCppIsSaidToNeedIt) {
  try {
    compiled("k.cu", "#include <algorithm>\n__global__ void k(float* a) { a[0] = std::ranges::max(1, 2); }\n");
    FAIL() << "std::ranges in C++17";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("std"));
  }
  Source later = source("k.cu", "#include <algorithm>\n__global__ void k(float* a) { a[0] = std::max(1, 2); }\n");
  later.standard = "c++20";
  EXPECT_EQ(names(compile_unit(later, "sm_70", 60)).size(), 1u);
}

TEST(Compile, FunctionsOfHalfThatTheLibraryLacksAreThoseOfFloat) {
  const Source half = source("k.cl",
                             "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
                             "kernel void k(global half* a, global half4* b) {\n"
                             "  a[0] = max(a[1], a[2]);\n  b[0] = clamp(b[1], b[2], b[3]);\n}\n");
  FrontendOptions options;
  options.target = "sm_70";
  for (const Assumption& a : analyze(half, options).profile.assumptions)
    EXPECT_THAT(a.what, Not(HasSubstr("has no body"))) << a.what;
}

TEST(Compile, PackedDotProductsOfOpencl) {
  const std::string text =
      "kernel void k(global int* a) { a[0] = dot_acc_sat_4x8packed_ss_int((uint)a[1], (uint)a[2], a[3]); }\n";
  EXPECT_THAT(module_of("k.cl", text, "sm_70"), HasSubstr("dp4a.s32.s32"));
  EXPECT_THAT(module_of("k.cl", text, "gfx906"), Not(HasSubstr("4x8packed")));
}

TEST(Compile, HeadersOfHostLibrariesBringTheTypesOfTheirs) {
  for (const char* header : {"cublas_v2.h", "cublasLt.h", "cusparse.h"}) {
    const CompiledUnit unit =
        compiled("k.cu", "#include <" + std::string(header) +
                             ">\n__global__ void k(__nv_bfloat162* a, half* b, cuComplex* c) {}\n");
    EXPECT_EQ(names(unit).size(), 1u) << header;
    EXPECT_THAT(unit.notes, IsEmpty()) << header;
  }
}

TEST(Compile, HipNamesWork) {
  const std::string text =
      "#include <hip/hip_runtime.h>\n__global__ void k(float* a) { a[hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x] = "
      "warpSize; }\n"
      "int main() { float* a; hipMalloc(&a, 4); hipStream_t s; hipStreamCreateWithFlags(&s, hipStreamDefault); "
      "hipLaunchKernelGGL(k, dim3(1), dim3(64), 0, 0, a); "
      "hipDeviceSynchronize(); }\n";
  const CompiledUnit unit = compiled("k.hip", text, "gfx90a");
  EXPECT_THAT(names(unit), ElementsAre("k(float*)"));
  EXPECT_THAT(unit.notes, IsEmpty());
  EXPECT_EQ(unit.language, Language::hip);
}

TEST(Compile, FragmentsOfRocwmmaAreMatrixInstructions) {
  const std::string text =
      "#include <rocwmma/rocwmma.hpp>\n"
      "using namespace rocwmma;\n"
      "template <class T, class C> __device__ void product(const T* a, const T* b, C* c) {\n"
      "  fragment<matrix_a, 32, 32, 32, T, row_major> x;\n"
      "  fragment<matrix_b, 32, 32, 32, T, row_major> y;\n"
      "  fragment<accumulator, 32, 32, 32, C> z;\n"
      "  fill_fragment(z, C(0));\n"
      "  load_matrix_sync(x, a, 64);\n  load_matrix_sync(y, b, 64);\n"
      "  mma_sync(z, x, y, z);\n  store_matrix_sync(c, z, 64, mem_row_major);\n}\n"
      "__global__ void halves(const float16_t* a, const float16_t* b, float* c) { product(a, b, c); }\n"
      "__global__ void bfloats(const bfloat16_t* a, const bfloat16_t* b, float* c) { product(a, b, c); }\n"
      "__global__ void bytes(const rocwmma::int8_t* a, const rocwmma::int8_t* b, rocwmma::int32_t* c) { product(a, b, "
      "c); }\n";
  // For 32 x 32 results over a depth of 32: products of as many multiply-adds, whatever the shape.
  const std::map<std::string, std::array<double, 3>> halves_bfloats_bytes = {{"gfx908", {4, 8, 4}},
                                                                             {"gfx90a", {4, 4, 4}},
                                                                             {"gfx942", {4, 4, 2}},
                                                                             {"gfx1100", {8, 8, 8}},
                                                                             {"gfx1201", {8, 8, 8}}};
  for (const auto& [target, instructions] : halves_bfloats_bytes) {
    int k = 0;
    for (const char* name : {"halves", "bfloats", "bytes"}) {
      FrontendOptions options;
      options.target = target;
      options.kernel = name;
      double found = 0, products = 0;
      for (const Block& b : analyze(source("k.hip", text), options).profile.blocks) {
        found += b.ops[OpClass::tensor];
        for (std::size_t t = 0; t < tensor_type_count; ++t) products += b.ops.tensor.of(static_cast<TensorType>(t));
      }
      EXPECT_EQ(found, instructions[static_cast<std::size_t>(k++)]) << target << ' ' << name;
      EXPECT_EQ(products, 32.0 * 32 * 32) << target << ' ' << name;
    }
  }
}

TEST(Compile, LoopNestsKeepTheirPragmas) {
  const std::string text =
      "static void scale(float* a, int n) {\n#pragma omp parallel for collapse(2) \\\n  schedule(static)\n  for (int i "
      "= 0; i < n; ++i)\n    for (int j = 0; j < n; ++j)\n"
      "      a[i * n + j] *= 2.0f;\n}\nint no_loop(int x) { return x + 1; }\n#pragma acc routine\nvoid other(float* a) "
      "{\n  #pragma acc parallel loop\n  for (int i = 0; i < 4; ++i) a[i] = 0;\n}\n";
  const CompiledUnit unit = compiled("nest.c", text);
  EXPECT_THAT(names(unit), ElementsAre("scale", "other"));
  ASSERT_EQ(unit.pragmas.size(), 3u);
  EXPECT_EQ(unit.pragmas[0].line, 2);
  EXPECT_EQ(unit.pragmas[0].text, "omp parallel for collapse(2) schedule(static)");
  EXPECT_EQ(unit.pragmas[2].line, 11);
  EXPECT_EQ(unit.pragmas[2].text, "acc parallel loop");
  EXPECT_THAT(module_text(unit), HasSubstr("target triple = \"x86_64"));
}

TEST(Compile, IrIsReadAsItIs) {
  const std::string text =
      "define void @walk(ptr %a, i64 %n) {\nentry:\n  br label %loop\nloop:\n  %i = phi i64 [0, %entry], [%j, %loop]\n"
      "  %p = getelementptr float, ptr %a, i64 %i\n  store float 0.0, ptr %p\n  %j = add i64 %i, 1\n  %c = icmp ult "
      "i64 %j, %n\n"
      "  br i1 %c, label %loop, label %done\ndone:\n  ret void\n}\n";
  const CompiledUnit unit = compiled("walk.ll", text);
  EXPECT_THAT(names(unit), ElementsAre("walk"));
  EXPECT_EQ(unit.language, Language::llvm_ir);
}

TEST(Compile, DefinesAndStandardReachTheCompiler) {
  Source unit = source("k.cu",
                       "#ifndef WIDTH\n#error no width\n#endif\n__global__ void k(int* a) { a[0] = WIDTH; "
                       "static_assert(__cplusplus == 202002L); }");
  unit.defines = {"WIDTH=48", "WIDE"};
  unit.undefines = {"WIDE"};
  unit.standard = "c++20";
  EXPECT_THAT(module_text(compile_unit(unit, "sm_80", 60)), HasSubstr("store i32 48"));
}

TEST(Compile, AToolkitsFolderGoesBehindTheHeadersHere) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "toolkit" / "include";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "cuda_runtime_api.h") << "#define FROM_TOOLKIT 1\n";
  std::ofstream(folder / "cuda_fp16.h") << "#error of the toolkit\n";
  std::ofstream(folder / "only_there.h") << "const int only_there = 7;\n";
  Source unit = source("k.cu",
                       "#include <cuda_fp16.h>\n#include <only_there.h>\n"
                       "__global__ void k(half* a, int* b) { a[0] = __hadd(a[1], a[2]); b[0] = only_there; }\n");
  unit.include_dirs = {folder.string()};
  EXPECT_EQ(names(compile_unit(unit, "sm_80", 60)).size(), 1u);
}

TEST(Compile, ClassesDerivedFromNarrowFloatsSeeTheirBits) {
  EXPECT_EQ(names(compiled("k.cu",
                           "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
                           "struct H : __half { __device__ H(__half h) : __half(h) {} };\n"
                           "struct B : __nv_bfloat16 { __device__ B(__nv_bfloat16 b) : __nv_bfloat16(b) {} };\n"
                           "__global__ void k(__half* h, __nv_bfloat16* b, unsigned short* to) {\n"
                           "  H x(h[0]);\n  to[0] = x.__x;\n  x.__x = 7;\n  h[0] = x;\n"
                           "  B y(b[0]);\n  to[1] = y.__x;\n  y.__x = 7;\n  b[0] = y;\n}\n"))
                .size(),
            1u);
}

TEST(Language, IsToldByTheEnding) {
  EXPECT_EQ(language_of("a/b.cl"), Language::opencl);
  EXPECT_EQ(language_of("a/b.cuh"), Language::cuda);
  EXPECT_EQ(language_of("b.hip.cpp"), Language::hip);
  EXPECT_EQ(language_of("x.y/b.cc"), Language::cxx);
  EXPECT_EQ(language_of("b.bc"), Language::llvm_ir);
  EXPECT_THROW(language_of("x.cl/b"), UserError);
  EXPECT_THROW(language_of("b.py"), UserError);
}

}  // namespace
}  // namespace kernelcast::frontend
