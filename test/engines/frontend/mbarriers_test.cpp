// mbarriers and copies in bulk, executed: right uses compute and have no findings, each of the usual faults
// has one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engines/frontend/executed_pipeline.h"

namespace kernelcast {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Functions of one instruction each.
const std::string instructions = R"(
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(void* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at(b)), "r"(n) : "memory"); }
__device__ unsigned long long arrive(void* b) {
  unsigned long long s;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(s) : "r"(at(b)) : "memory");
  return s;
}
__device__ void arrive(void* b, int n) {
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0], %1; }" :: "r"(at(b)), "r"(n) : "memory");
}
__device__ void arrive_expect(void* b, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(at(b)), "r"(bytes) : "memory");
}
__device__ void wait(void* b, unsigned long long state) {
  asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.test_wait.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}"
    :: "r"(at(b)), "l"(state) : "memory");
}
__device__ void wait_parity(void* b, int parity) {
  asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra done;\nbra again;\ndone:\n}"
    :: "r"(at(b)), "r"(parity) : "memory");
}
__device__ void bulk(void* to, const void* from, int bytes, void* b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
    :: "r"(at(to)), "l"(from), "r"(bytes), "r"(at(b)) : "memory");
}
typedef unsigned long long u64;
)";

// An mbarrier in place of __syncthreads: 128 threads arrive and wait for the state that they got.
const std::string exchange = instructions + R"(
__global__ void kernel(const float* in, float* out, int n) {
  __shared__ u64 bar;
  __shared__ float tile[128];
  int t = threadIdx.x;
  if (t == 0) init(&bar, 128);
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    tile[t] = in[k * 128 + t];
    u64 s = arrive(&bar);
    wait(&bar, s);
    sum += tile[127 - t];
    s = arrive(&bar);
    wait(&bar, s);
  }
  out[blockIdx.x * 128 + t] = sum;
})";

void expect_sums_of_opposites(const Execution& e) {
  for (int t = 0; t < 128; ++t) {
    float sum = 0;
    for (int k = 0; k < 9; ++k) sum += float_at(e.buffers.at("in"), k * 128 + 127 - t);
    EXPECT_EQ(float_at(e.buffers.at("out"), t), sum) << t;
  }
}

TEST(Mbarriers, state_of_an_arrival_is_waited_for) {
  for (const bool independent : {false, true}) {
    const Execution e = executed(exchange, 128, independent);
    EXPECT_THAT(text_of(e.findings), IsEmpty());
    expect_sums_of_opposites(e);
  }
}

TEST(Mbarriers, missing_wait_is_a_race) {
  const Execution first = executed(replaced(exchange, "wait(&bar, s);\n    sum", "sum"), 128);
  EXPECT_THAT(text_of(first.findings), HasSubstr("race"));
  const Execution second = executed(replaced(exchange, "wait(&bar, s);\n  }", "}"), 128);
  EXPECT_THAT(text_of(second.findings), HasSubstr("race"));
}

TEST(Mbarriers, missing_arrival_is_an_endless_wait) {
  const Execution e = executed(replaced(exchange, "init(&bar, 128)", "init(&bar, 129)"), 128);
  EXPECT_THAT(
      text_of(e.findings),
      HasSubstr("endless wait at 16: waits for an mbarrier whose phase is never complete: arrivals missing: 1"));
}

TEST(Mbarriers, one_arrival_too_many_is_found) {
  const Execution e =
      executed(replaced(exchange, "u64 s = arrive(&bar);", "u64 s = arrive(&bar); arrive(&bar, 200);"), 128);
  EXPECT_THAT(text_of(e.findings), HasSubstr("arrives at an mbarrier more often than it expects"));
}

TEST(Mbarriers, use_before_the_initialisation_is_found) {
  const Execution unordered = executed(replaced(exchange, "__syncthreads();", ""), 128);
  EXPECT_THAT(text_of(unordered.findings), HasSubstr("uses an mbarrier that another thread has initialised"));
  const Execution none = executed(replaced(exchange, "if (t == 0) init(&bar, 128);", ""), 128);
  EXPECT_THAT(text_of(none.findings), HasSubstr("uses an mbarrier that nothing has initialised"));
}

// Copies by cp.async that the mbarrier tells of.
const std::string tracked = instructions + R"(
__global__ void kernel(const float* in, float* out, int n) {
  __shared__ u64 bar;
  __shared__ float tile[2][128];
  int t = threadIdx.x;
  if (t == 0) init(&bar, 128);
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at(&tile[k % 2][t])), "l"(in + k * 128 + t) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(at(&bar)) : "memory");
    wait_parity(&bar, k % 2);
    sum += tile[k % 2][127 - t];
  }
  out[blockIdx.x * 128 + t] = sum;
})";

TEST(Mbarriers, completed_phase_tells_of_copies_by_cp_async) {
  for (const bool independent : {false, true}) {
    const Execution e = executed(tracked, 128, independent);
    EXPECT_THAT(text_of(e.findings), IsEmpty());
    expect_sums_of_opposites(e);
  }
  const Execution plain =
      executed(replaced(tracked, "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];\" :: \"r\"(at(&bar))",
                        "{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }\" :: \"r\"(at(&bar))"),
               128);
  EXPECT_THAT(text_of(plain.findings), HasSubstr("before another thread has waited for its cp.async"));
}

TEST(Mbarriers, counts_drops_and_states) {
  const Execution e = executed(instructions + R"(
__device__ int pending(u64 s) {
  int n;
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(s));
  return n;
}
__global__ void kernel(const float* in, float* out, int n) {
  __shared__ u64 bar;
  if (threadIdx.x != 0) return;
  init(&bar, 5);
  u64 s = arrive(&bar);
  out[0] = pending(s);
  asm volatile("{ .reg .b64 s; mbarrier.arrive.noComplete.shared::cta.b64 s, [%0], 2; }" :: "r"(at(&bar)) : "memory");
  s = arrive(&bar);
  out[1] = pending(s);
  asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];" : "=l"(s) : "r"(at(&bar)) : "memory");
  wait(&bar, s);
  wait_parity(&bar, 0);
  s = arrive(&bar);
  out[2] = pending(s);
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 48;" :: "r"(at(&bar)) : "memory");
  arrive(&bar, 3);
  int done;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 1; selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(&bar)) : "memory");
  out[3] = done;
  asm volatile("mbarrier.complete_tx.shared::cta.relaxed.cta.b64 [%0], 48;" :: "r"(at(&bar)) : "memory");
  wait_parity(&bar, 1);
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(at(&bar)) : "memory");
  out[4] = 7;
})",
                               32);
  EXPECT_THAT(text_of(e.findings), IsEmpty());
  const float expected[] = {5, 2, 4, 0, 7};
  for (int k = 0; k < 5; ++k) EXPECT_EQ(float_at(e.buffers.at("out"), k), expected[k]) << k;
}

// A warp that copies in bulk and four that use it, over a ring of three stages.
const std::string bulk_ring = instructions + R"(
__global__ void kernel(const float* in, float* out, int n) {
  __shared__ __align__(16) float tile[3][128];
  __shared__ u64 full[3], empty[3];
  int t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < 3; ++s) {
      init(&full[s], 1);
      init(&empty[s], 4);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (t >= 128) {
    if (t == 128)
      for (int k = 0; k < n; ++k) {
        if (k >= 3) wait_parity(&empty[k % 3], (k / 3 - 1) % 2);
        arrive_expect(&full[k % 3], 512);
        bulk(tile[k % 3], in + k * 128, 512, &full[k % 3]);
      }
    return;
  }
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    wait_parity(&full[k % 3], k / 3 % 2);
    sum += tile[k % 3][127 - t];
    __syncwarp();
    if (t % 32 == 0) arrive(&empty[k % 3], 1);
  }
  out[blockIdx.x * 128 + t] = sum;
})";

TEST(BulkCopies, ring_with_a_warp_that_copies_computes_without_findings) {
  for (const bool independent : {false, true}) {
    const Execution e = executed(bulk_ring, 160, independent);
    EXPECT_THAT(text_of(e.findings), IsEmpty());
    expect_sums_of_opposites(e);
  }
}

TEST(BulkCopies, missing_wait_for_the_copy_is_found) {
  const Execution e = executed(replaced(bulk_ring, "wait_parity(&full[k % 3], k / 3 % 2);", ""), 160);
  EXPECT_THAT(text_of(e.findings), HasSubstr("race"));
}

TEST(BulkCopies, wait_for_the_wrong_parity_is_found) {
  const Execution e = executed(replaced(bulk_ring, "k / 3 % 2);\n    sum", "1 - k / 3 % 2);\n    sum"), 160);
  EXPECT_FALSE(e.findings.empty());
}

TEST(BulkCopies, stage_that_is_filled_before_it_is_empty_is_found) {
  const Execution e =
      executed(replaced(bulk_ring, "if (k >= 3) wait_parity(&empty[k % 3], (k / 3 - 1) % 2);", ""), 160);
  EXPECT_THAT(text_of(e.findings), HasSubstr("race"));
}

TEST(BulkCopies, arrival_before_the_last_read_is_found) {
  const Execution e =
      executed(replaced(replaced(bulk_ring, "sum += tile[k % 3][127 - t];\n", ""), "arrive(&empty[k % 3], 1);\n",
                        "arrive(&empty[k % 3], 1);\n    sum += tile[k % 3][127 - t];\n"),
               160);
  EXPECT_THAT(text_of(e.findings), HasSubstr("race"));
}

TEST(BulkCopies, bytes_that_never_come_are_an_endless_wait) {
  const Execution e =
      executed(replaced(bulk_ring, "arrive_expect(&full[k % 3], 512)", "arrive_expect(&full[k % 3], 1024)"), 160);
  EXPECT_THAT(text_of(e.findings), HasSubstr("bytes missing: 512"));
}

TEST(BulkCopies, missing_arrival_at_the_empty_stage_is_an_endless_wait) {
  const Execution e = executed(replaced(bulk_ring, "if (t % 32 == 0) arrive", "if (t == 0) arrive"), 160);
  EXPECT_THAT(text_of(e.findings), HasSubstr("endless wait"));
}

TEST(BulkCopies, out_of_bounds_and_misaligned_are_found) {
  const Execution beyond = executed(replaced(bulk_ring, "in + k * 128, 512", "in + k * 128 + 16 * 256, 512"), 160);
  EXPECT_THAT(text_of(beyond.findings), HasSubstr("out of bounds"));
  const Execution odd = executed(replaced(bulk_ring, "in + k * 128, 512", "in + k * 128 + 1, 512"), 160);
  EXPECT_THAT(text_of(odd.findings), HasSubstr("misaligned"));
}

// Out of shared memory, in groups.
const std::string bulk_out = instructions + R"(
__global__ void kernel(const float* in, float* out, int n) {
  __shared__ __align__(16) float tile[128];
  int t = threadIdx.x;
  for (int k = 0; k < 2; ++k) {
    tile[t] = in[k * 128 + t];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" :: "l"(out + k * 128), "r"(at(tile)) : "memory");
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 512;" :: "l"(out + 256), "r"(at(tile)) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
  }
})";

TEST(BulkCopies, copies_and_sums_out_of_shared_memory) {
  for (const bool independent : {false, true}) {
    const Execution e = executed(bulk_out, 128, independent, 1);
    EXPECT_THAT(text_of(e.findings), IsEmpty());
    const auto &in = e.buffers.at("in"), &out = e.buffers.at("out");
    for (int t = 0; t < 128; ++t) {
      EXPECT_EQ(float_at(out, t), float_at(in, t));
      EXPECT_EQ(float_at(out, 128 + t), float_at(in, 128 + t));
      EXPECT_EQ(float_at(out, 256 + t), float_at(in, t) + float_at(in, 128 + t));
    }
  }
}

TEST(BulkCopies, source_that_is_overwritten_before_the_wait_for_its_group_is_found) {
  const Execution e = executed(
      replaced(bulk_out, R"(asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");)", ""), 128, false, 1);
  EXPECT_THAT(text_of(e.findings), HasSubstr("writes shared memory that a copy in bulk may still read"));
}

TEST(BulkCopies, source_that_is_written_without_a_barrier_is_found) {
  const Execution e = executed(replaced(bulk_out, "__syncthreads();\n    if", "if"), 128, false, 1);
  EXPECT_THAT(text_of(e.findings), HasSubstr("race"));
}

// Two warps that write and two that read, by barriers of 128 threads to which one side comes without waiting.
const std::string roles = instructions + R"(
__global__ void kernel(const float* in, float* out, int n) {
  __shared__ float tile[64];
  __shared__ u64 unused;
  int t = threadIdx.x;
  if (t == 0) init(&unused, 1);
  __syncthreads();
  if (t < 64) {
    for (int k = 0; k < n; ++k) {
      asm volatile("bar.sync 2, 128;" ::: "memory");
      tile[t] = in[k * 64 + t];
      asm volatile("bar.arrive 1, 128;" ::: "memory");
    }
    return;
  }
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    asm volatile("bar.arrive 2, 128;" ::: "memory");
    asm volatile("bar.sync 1, 128;" ::: "memory");
    sum += tile[127 - t];
  }
  out[blockIdx.x * 128 + t] = sum;
})";

TEST(BarriersOfSomeThreads, order_those_who_come) {
  for (const bool independent : {false, true}) {
    const Execution e = executed(roles, 128, independent);
    EXPECT_THAT(text_of(e.findings), IsEmpty());
    for (int t = 64; t < 128; ++t) {
      float sum = 0;
      for (int k = 0; k < 9; ++k) sum += float_at(e.buffers.at("in"), k * 64 + 127 - t);
      EXPECT_EQ(float_at(e.buffers.at("out"), t), sum) << t;
    }
  }
  const Execution e = executed(replaced(roles, R"(asm volatile("bar.sync 2, 128;" ::: "memory");)", ""), 128);
  EXPECT_THAT(text_of(e.findings), HasSubstr("race"));
}

// Lanes of one warp that wait for one another: in lock-step the side that runs first never ends.
const std::string lanes_of_a_warp = instructions + R"(
__global__ void kernel(const float* in, float* out, int n) {
  __shared__ u64 bar;
  __shared__ float x;
  if (threadIdx.x == 0) init(&bar, 31);
  __syncthreads();
  if (threadIdx.x == 0) {
    wait_parity(&bar, 0);
    out[blockIdx.x] = x;
  } else {
    if (threadIdx.x == 31) x = in[7];
    arrive(&bar, 1);
  }
})";

TEST(Mbarriers, lanes_of_a_warp_wait_for_one_another_where_threads_are_independent) {
  const Execution good = executed(lanes_of_a_warp, 32, true);
  EXPECT_THAT(text_of(good.findings), IsEmpty());
  EXPECT_EQ(float_at(good.buffers.at("out"), 0), float_at(good.buffers.at("in"), 7));
  const Execution lockstep = executed(lanes_of_a_warp, 32, false);
  EXPECT_THAT(text_of(lockstep.findings), HasSubstr("which they can with independent threads"));
}

TEST(BulkCopies, barriers_of_the_library_have_no_findings) {
  const std::string text = R"(
#include <cuda/barrier>
namespace cde = cuda::device::experimental;
__global__ void kernel(const float* in, float* out, int n) {
  __shared__ __align__(16) float tile[128];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  int t = threadIdx.x;
  if (t == 0) {
    init(&bar, 128);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    cuda::barrier<cuda::thread_scope_block>::arrival_token token;
    if (t == 0) {
      cde::cp_async_bulk_global_to_shared(tile, in + k * 128, 512, bar);
      token = cuda::device::barrier_arrive_tx(bar, 1, 512);
    } else {
      token = bar.arrive();
    }
    bar.wait(token);
    sum += tile[127 - t];
    __syncthreads();
  }
  out[blockIdx.x * 128 + t] = sum;
})";
  for (const bool independent : {false, true}) {
    const Execution e = executed(text, 128, independent);
    EXPECT_THAT(text_of(e.findings), IsEmpty());
    expect_sums_of_opposites(e);
  }
}

}  // namespace
}  // namespace kernelcast
