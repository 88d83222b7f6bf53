// Pipelines of asynchronous copies, executed: right ones compute and have no findings, each of the usual faults has
// one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engines/frontend/executed_pipeline.h"

namespace kernelcast {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What every kernel here copies with.
#define COPY                                                  \
  "\n__device__ void copy(float* to, const float* from) {\n"  \
  "  unsigned at = (unsigned)__cvta_generic_to_shared(to);\n" \
  "  asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" :: \"r\"(at), \"l\"(from) : \"memory\");\n}"

// Sums of what the neighbour at the other end copied; three stages.
const char* const ring = COPY R"(
__global__ void kernel(const float* in, float* out, int n) {
  __shared__ float tile[3][128];
  int t = threadIdx.x;
  for (int s = 0; s < 2; ++s) {
    copy(&tile[s][t], in + s * 128 + t);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    sum += tile[k % 3][127 - t];  // line 17
    if (k + 2 < n) copy(&tile[(k + 2) % 3][t], in + (k + 2) * 128 + t);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  out[blockIdx.x * 128 + t] = sum;
})";

TEST(AsynchronousCopies, ring_of_three_stages_computes_without_findings) {
  for (const bool independent : {false, true}) {
    const Execution e = executed(ring, 128, independent);
    EXPECT_THAT(text_of(e.findings), IsEmpty());
    for (int t = 0; t < 128; ++t) {
      float sum = 0;
      for (int k = 0; k < 9; ++k) sum += float_at(e.buffers.at("in"), k * 128 + 127 - t);
      EXPECT_EQ(float_at(e.buffers.at("out"), t), sum);
    }
  }
}

TEST(AsynchronousCopies, missing_wait_is_found) {
  const Execution e = executed(replaced(ring, R"(asm volatile("cp.async.wait_group 1;" ::: "memory");)", ""), 128);
  EXPECT_THAT(text_of(e.findings), HasSubstr("race at 17: reads shared memory before another thread has waited for its "
                                             "cp.async"));
}

TEST(AsynchronousCopies, wait_for_one_group_too_few_is_found) {
  const Execution e = executed(replaced(ring, "wait_group 1", "wait_group 2"), 128);
  EXPECT_EQ(text_of(e.findings),
            "race at 17: reads shared memory before another thread has waited for its cp.async to it\n");
}

TEST(AsynchronousCopies, missing_commit_is_found) {
  const Execution e =
      executed(replaced(ring, "* 128 + t);\n    asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n  }\n  float",
                        "* 128 + t);\n  }\n  float"),
               128);
  EXPECT_THAT(text_of(e.findings), HasSubstr("has waited for its cp.async"));
}

TEST(AsynchronousCopies, missing_barrier_behind_the_wait_is_found) {
  const Execution e = executed(replaced(ring, "__syncthreads();", ""), 128);
  EXPECT_THAT(text_of(e.findings), HasSubstr("race at 17"));
}

TEST(AsynchronousCopies, barrier_in_front_of_the_wait_instead_of_behind_it_is_found) {
  const std::string wait = R"(asm volatile("cp.async.wait_group 1;" ::: "memory");)";
  const Execution e = executed(replaced(ring, wait + "\n    __syncthreads();", "__syncthreads();\n    " + wait), 128);
  EXPECT_THAT(text_of(e.findings), HasSubstr("race at 17"));
}

TEST(AsynchronousCopies, copy_from_behind_the_buffer_is_found) {
  const Execution e = executed(replaced(ring, "in + s * 128 + t", "in + 4096 - 64 + s * 32 + t"), 128);
  EXPECT_THAT(text_of(e.findings), HasSubstr("out of bounds at 4: reads 4 bytes at byte 16384 of 'in'"));
}

// Two stages: the next copy goes where the last iteration has read, so that a barrier must stand between.
const char* const two_stages = COPY R"(
__global__ void kernel(const float* in, float* out, int n) {
  __shared__ float tile[2][128];
  int t = threadIdx.x;
  copy(&tile[0][t], in + t);
  asm volatile("cp.async.commit_group;" ::: "memory");
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    if (k + 1 < n) copy(&tile[(k + 1) % 2][t], in + (k + 1) * 128 + t);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    sum += tile[k % 2][127 - t];
    __syncthreads();  // the last
  }
  out[blockIdx.x * 128 + t] = sum;
})";

TEST(AsynchronousCopies, stage_that_is_overwritten_without_a_barrier_is_found) {
  for (const bool independent : {false, true})
    EXPECT_THAT(text_of(executed(two_stages, 128, independent).findings), IsEmpty());
  const Execution e = executed(replaced(two_stages, "__syncthreads();  // the last", ""), 128);
  EXPECT_THAT(text_of(e.findings), HasSubstr("race"));
}

// Each thread reads what it has copied itself: no barrier is needed, but the wait is.
const char* const own = R"(
__global__ void kernel(const float4* in, float* out, int n) {
  __shared__ float4 tile[64];
  int t = threadIdx.x;
  unsigned at = (unsigned)__cvta_generic_to_shared(tile + t);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(at), "l"(in + t), "r"(t < 40 ? 16 : 0) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[t] = tile[t].x + tile[t].w;
})";

TEST(AsynchronousCopies, own_copies_need_no_barrier) {
  for (const bool independent : {false, true}) EXPECT_THAT(text_of(executed(own, 64, independent).findings), IsEmpty());
  const Execution e = executed(replaced(own, R"(asm volatile("cp.async.wait_all;" ::: "memory");)", ""), 64);
  EXPECT_THAT(text_of(e.findings), HasSubstr("reads shared memory before the thread has waited for its cp.async"));
}

TEST(AsynchronousCopies, ignored_source_gives_zeros) {
  const Execution e = executed(R"(
__global__ void kernel(const float4* in, float* out, int n) {
  __shared__ float4 tile[64];
  int t = threadIdx.x;
  unsigned at = (unsigned)__cvta_generic_to_shared(tile + t);
  asm volatile("{ .reg .pred p; setp.ge.s32 p, %2, 40; cp.async.cg.shared.global [%0], [%1], 16, p; }" :: "r"(at), "l"(in + t), "r"(t) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[t] = tile[t].y;
})",
                               64, false, 1);
  EXPECT_THAT(text_of(e.findings), IsEmpty());
  for (int t = 0; t < 64; ++t)
    EXPECT_EQ(float_at(e.buffers.at("out"), t), t < 40 ? float_at(e.buffers.at("in"), 4 * t + 1) : 0) << t;
}

TEST(AsynchronousCopies, plain_store_beside_a_pending_copy_is_found) {
  const Execution e = executed(replaced(own, "asm volatile(\"cp.async.wait_all", R"(tile[t].y = n;
  asm volatile("cp.async.wait_all)"),
                               64);
  EXPECT_THAT(text_of(e.findings), HasSubstr("writes shared memory before the thread has waited"));
}

TEST(AsynchronousCopies, functions_of_the_toolkit_have_no_findings) {
  const char* const primitives = R"(
#include <cuda_pipeline.h>
__global__ void kernel(const float* in, float* out, int n) {
  __shared__ float tile[2][128];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[0][t], in + t, 4);
  __pipeline_commit();
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    if (k + 1 < n) __pipeline_memcpy_async(&tile[(k + 1) % 2][t], in + (k + 1) * 128 + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += tile[k % 2][127 - t];
    __syncthreads();
  }
  out[blockIdx.x * 128 + t] = sum;
})";
  const char* const groups = R"(
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
__global__ void kernel(const float* in, float* out, int n) {
  __shared__ float tile[128];
  auto block = cg::this_thread_block();
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    cg::memcpy_async(block, tile, in + k * 128, sizeof(float) * 128);
    cg::wait(block);
    sum += tile[127 - threadIdx.x];
    block.sync();
  }
  out[blockIdx.x * 128 + threadIdx.x] = sum;
})";
  const char* const stages = R"(
#include <cooperative_groups.h>
#include <cuda/pipeline>
__global__ void kernel(const float* in, float* out, int n) {
  __shared__ float tile[2][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cooperative_groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  pipe.producer_acquire();
  cuda::memcpy_async(block, tile[0], in, sizeof(float) * 128, pipe);
  pipe.producer_commit();
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    pipe.producer_acquire();
    if (k + 1 < n) cuda::memcpy_async(block, tile[(k + 1) % 2], in + (k + 1) * 128, sizeof(float) * 128, pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    sum += tile[k % 2][127 - threadIdx.x];
    pipe.consumer_release();
    block.sync();
  }
  out[blockIdx.x * 128 + threadIdx.x] = sum;
})";
  for (const char* text : {primitives, groups, stages})
    for (const bool independent : {false, true}) {
      const Execution e = executed(text, 128, independent);
      EXPECT_THAT(text_of(e.findings), IsEmpty());
      float sum = 0;
      for (int k = 0; k < 9; ++k) sum += float_at(e.buffers.at("in"), k * 128 + 127);
      EXPECT_EQ(float_at(e.buffers.at("out"), 0), sum);
    }
  EXPECT_THAT(text_of(executed(replaced(primitives, "wait_prior(1)", "wait_prior(2)"), 128).findings),
              HasSubstr("has waited for its cp.async"));
  EXPECT_THAT(text_of(executed(replaced(groups, "cg::wait(block)", "block.sync()"), 128).findings),
              HasSubstr("has waited for its cp.async"));
  EXPECT_THAT(text_of(executed(replaced(stages, "pipe.consumer_wait()", "block.sync()"), 128).findings),
              HasSubstr("has waited for its cp.async"));
}

}  // namespace
}  // namespace kernelcast
