// Copies that NVIDIA's libraries make by cp.async: on the architectures that have it, with the waits that the source
// means.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "frontend/pipeline/code_of_source.h"
#include "kernelcast/frontend.h"

namespace kernelcast::frontend {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string assembly_of(const std::string& text, const std::string& target) {
  Source s;
  s.path = "test.cu";
  s.text = text;
  return code_of_source(s, "k", target).assembly;
}

/// Three stages: two copies are on their way while one is read. `copy` goes from in to tile[stage][threadIdx.x].
std::string ring_of(const std::string& headers, const std::string& before, const std::string& copy,
                    const std::string& commit, const std::string& wait) {
  return headers + R"(
extern "C" __global__ void k(const float4* in, float4* out, int n) {
  __shared__ float4 tile[3][128];
)" + before +
         R"(  for (int s = 0; s < 2; ++s) { const float4* from = in + s * 128 + threadIdx.x; float4* to = &tile[s][threadIdx.x]; )" +
         copy + commit + R"( }
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
)" + wait +
         R"(
    __syncthreads();
    sum += tile[i % 3][127 - threadIdx.x].x;
    if (i + 2 < n) { const float4* from = in + (i + 2) * 128 + threadIdx.x; float4* to = &tile[(i + 2) % 3][threadIdx.x]; )" +
         copy + " }\n" + commit + R"(
  }
  out[threadIdx.x].x = sum;
})";
}

void expect_ring(const std::string& text) {
  const std::string ptx = assembly_of(text, "sm_80");
  EXPECT_THAT(ptx, HasSubstr("cp.async.cg.shared.global"));
  EXPECT_THAT(ptx, HasSubstr("cp.async.commit_group"));
  EXPECT_THAT(ptx, HasSubstr("cp.async.wait_group 1")) << "the wait leaves the newest group on its way";
  EXPECT_THAT(ptx, Not(HasSubstr("cp.async.wait_group 2")));
  EXPECT_THAT(ptx, Not(HasSubstr("st.shared")));
  const std::string before = assembly_of(text, "sm_70");
  EXPECT_THAT(before, Not(HasSubstr("cp.async")));
  EXPECT_THAT(before, HasSubstr("st.shared"));
}

// ptxas 13.0 gives a block's barrier 8 bytes of shared memory and the state of a pipeline of two stages 40.
TEST(LibraryCopies, BarriersTakeSharedMemory) {
  EXPECT_NO_THROW(assembly_of(R"(#include <cuda/barrier>
#include <cuda/pipeline>
static_assert(sizeof(cuda::barrier<cuda::thread_scope_block>) == 8 && alignof(cuda::barrier<cuda::thread_scope_block>) == 8);
static_assert(sizeof(cuda::pipeline_shared_state<cuda::thread_scope_block, 2>) == 40);
extern "C" __global__ void k(int* out) { out[threadIdx.x] = 0; })",
                              "sm_80"));
}

TEST(LibraryCopies, OfPipelinePrimitives) {
  expect_ring(ring_of("#include <cuda_pipeline.h>", "", "__pipeline_memcpy_async(to, from, 16);",
                      "__pipeline_commit();", "__pipeline_wait_prior(1);"));
}

// The number of groups that may be on their way is that of commits less that of waits.
TEST(LibraryCopies, OfPipelines) {
  expect_ring(ring_of("#include <cuda/pipeline>", "auto pipe = cuda::make_pipeline();\n",
                      "cuda::memcpy_async(to, from, cuda::aligned_size_t<16>(16), pipe);",
                      "pipe.producer_commit(); pipe.producer_acquire();", "pipe.consumer_wait();"));
}

TEST(LibraryCopies, OfPipelinesWithAGivenPrior) {
  expect_ring(ring_of("#include <cuda/pipeline>", "auto pipe = cuda::make_pipeline();\n",
                      "cuda::memcpy_async(to, from, cuda::aligned_size_t<16>(16), pipe);", "pipe.producer_commit();",
                      "cuda::pipeline_consumer_wait_prior<1>(pipe);"));
}

TEST(LibraryCopies, OfCooperativeGroups) {
  const std::string text = R"(#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const float4* in, float* out) {
  __shared__ float4 tile[256];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in, sizeof(float4) * 256);
  cg::wait(block);
  out[threadIdx.x] = tile[255 - threadIdx.x].x;
})";
  EXPECT_THAT(assembly_of(text, "sm_80"), HasSubstr("cp.async.cg.shared.global"));
  EXPECT_THAT(assembly_of(text, "sm_80"), HasSubstr("cp.async.wait_group 0"));
  EXPECT_THAT(assembly_of(text, "sm_70"), Not(HasSubstr("cp.async")));
}

TEST(LibraryCopies, OfBarriersAndOfElementsThatAreNoneOfItsSizes) {
  const auto text = [](const std::string& type) {
    return R"(#include <cuda/barrier>
extern "C" __global__ void k(const )" +
           type + "* in, " + type + R"(* out) {
  __shared__ )" +
           type + R"( tile[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(tile + threadIdx.x, in + threadIdx.x, sizeof()" +
           type + R"(), bar);
  bar.arrive_and_wait();
  out[threadIdx.x] = tile[255 - threadIdx.x];
})";
  };
  EXPECT_THAT(assembly_of(text("double"), "sm_80"), HasSubstr("cp.async.ca.shared.global"));
  EXPECT_THAT(assembly_of(text("double"), "sm_80"), HasSubstr("cp.async.wait_all"));
  EXPECT_THAT(assembly_of(text("short"), "sm_80"), Not(HasSubstr("cp.async.ca")));
}

}  // namespace
}  // namespace kernelcast::frontend
