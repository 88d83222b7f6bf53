// Functions, classes and constants of CUDA's device headers that the headers here declare: sources with them compile.
#include <gtest/gtest.h>

#include <string>

#include "unit/frontend/ptx_support.h"

namespace kernelcast::frontend {
namespace {

std::string code_with(const std::string& headers, const std::string& statements, const std::string& target = "sm_90") {
  Source s;
  s.path = "test.cu";
  s.text = headers + "\nextern \"C\" __global__ void k(char* p) { " + statements + " }\n";
  return code_of_source(s, "k", target).assembly;
}

struct DeclaredCase {
  const char *headers, *statements;
  const char* expected = "";  // in the code
};

TEST(DeviceFunctions, AreDeclared) {
  const DeclaredCase cases[] = {
      // nothing is included
      {"",
       "*(unsigned*)p = __clusterDim().x + __clusterRelativeBlockRank() + __clusterIdx().y; "
       "__cluster_barrier_arrive(); __cluster_barrier_wait();",
       "barrier.cluster.arrive"},
      {"",
       "__shared__ int s; *(int*)p = *(int*)__cluster_map_shared_rank(&s, 1) + __cluster_query_shared_rank(&s); "
       "__threadfence_cluster();",
       "fence.sc.cluster"},
      {"", "*(float4*)p = atomicAdd((float4*)p, *(float4*)(p + 16));", "add.v4.f32"},
      {"", "struct alignas(16) S { long long a, b; }; *(S*)p = atomicCAS((S*)p, *(S*)(p + 16), *(S*)(p + 32));",
       "cas.b128"},
      {"", "*(unsigned*)p = __fns(3u, 1u, 2); __barrier_sync(1); __barrier_sync_count(2, 64);", "fns.b32"},
      {"",
       "*(size_t*)p = __cvta_generic_to_constant(p) + (size_t)__cvta_shared_to_generic(4) + __isLocal(p) + __pm0();"},
      {"",
       "double4_32a a = make_double4_32a(1, 2, 3, 4); *(double4_32a*)p = a; *(ulonglong4_16a*)p = "
       "make_ulonglong4_16a(1, 2, 3, 4);"},
      {"",
       "cudaTextureObject_t t = 1; *(float4*)p = tex2DGrad<float4>(t, 1, 2, make_float2(1, 2), make_float2(3, 4)); "
       "*(int2*)p = tex3DLod<int2>(t, 1, 2, 3, 4);",
       "tex.3d"},
      {"",
       "cudaSurfaceObject_t s = 1; surfCubemapLayeredwrite(1.0f, s, 4, 5, 6, cudaBoundaryModeClamp); "
       "surf1DLayeredread((int*)p, s, 4, 5);",
       "sust"},
      // classes
      {"#include <cuda_fp16.h>",
       "__half h = *(__half*)p; int i = h; ++h; h--; __half2 q(h, h); q *= q; if (q == q && h) q++; *(__half2*)p = q; "
       "*(__half2_raw*)(p + 4) = q; p[9] = i + (char)h;"},
      {"#include <cuda_bf16.h>",
       "nv_bfloat16 h(7ull); h = nv_bfloat16(__half(h)); __nv_bfloat162 q(h, h); q += q; q--; *(__nv_bfloat162*)p = q; "
       "*(__half*)(p + 4) = __half(h); p[9] = (unsigned char)h + (q != q);"},
      {"#include <cuda_fp16.h>",
       "volatile __half* v = (volatile __half*)p; v[1] = CUDART_ONE_FP16; *(__half*)p = __half(v[0]);"},
      {"#define __CUDA_NO_HALF_OPERATORS__\n#define __CUDA_NO_HALF_CONVERSIONS__\n#include <cuda_fp16.h>\n__device__ "
       "__half operator+(const __half& a, const __half& b) { return __hadd(a, b); }",
       "*(__half*)p = *(__half*)p + __float2half(1.0f);"},
      {"#include <cuda_fp8.h>",
       "__nv_fp8_e8m0 e(3.0f); __nv_fp8x4_e8m0 f(make_float4(1, 2, 3, 4)); *(__nv_fp8_e8m0*)p = e; *(float4*)(p + 16) "
       "= (float4)f; p[3] = (char)(int)__nv_fp8_e5m2(7ul);"},
      {"#include <cuda_fp4.h>",
       "__nv_fp4x4_e2m1 v(*(__half2*)p, *(__half2*)p); *(float4*)p = (float4)v; *(__nv_fp6x4_e3m2*)p = "
       "__nv_fp6x4_e3m2(make_double4_16a(1, 2, 3, 4));"},
      // libraries
      {"#include <cuda_awbarrier.h>",
       "__shared__ nvcuda::experimental::awbarrier b; if (threadIdx.x == 0) init(&b, 32); b.arrive_and_wait();",
       "mbarrier.test_wait"},
      {"#include <cuda_pipeline.h>",
       "__shared__ alignas(16) int4 s[32]; nvcuda::experimental::pipeline pipe; memcpy_async(s[threadIdx.x], "
       "((int4*)p)[threadIdx.x], pipe); pipe.commit_and_wait(); *(int4*)p = s[0];",
       "cp.async.cg"},
      {"#include <curand_kernel.h>",
       "auto* s = (curandStatePhilox4_32_10_t*)p; *(uint4*)p = curand_poisson4(s, 3.0); *(double4*)p = "
       "curand_log_normal4_double(s, 1, 2);"},
  };
  for (const DeclaredCase& c : cases) {
    const std::string code = code_with(c.headers, c.statements);
    EXPECT_NE(code.find(c.expected), std::string::npos) << c.headers << "\n" << c.statements << "\n" << code;
  }
}

// What a source leaves unnamed is left out for speed; another file may name it.
TEST(DeviceFunctions, OfHalvesAreThereWhereNamesAreMade) {
  const char* const made = "#include <cuda_fp16.h>\n#define KIND(name) __h##name##2\n";
  EXPECT_NE(code_with(made, "*(__half2*)p = KIND(lt)(*(__half2*)p, *(__half2*)p);").find("set.lt.f16x2"),
            std::string::npos);
}

}  // namespace
}  // namespace kernelcast::frontend
