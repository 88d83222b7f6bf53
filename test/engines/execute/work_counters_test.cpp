// Kernels whose blocks take work from a counter: a sample of blocks must find what all of them do together.
#include <gtest/gtest.h>

#include <cmath>

#include "kernelcast/execute.h"
#include "kernelcast/frontend.h"

namespace kernelcast {
namespace {

constexpr std::int64_t takers = 40, items = 4000;

struct SharedWork {
  const char* name;
  const char* text;
  double trips;  // of the loop's body, of all warps of all blocks
};

const SharedWork kernels[] = {
    {"a_block_at_a_time",
     "__device__ unsigned next;\n"
     "__global__ void k(float* y, int n) {\n  __shared__ unsigned item;\n  for (;;) {\n"
     "    if (threadIdx.x == 0) item = atomicAdd(&next, 1u);\n    __syncthreads();\n"
     "    unsigned mine = item;\n    __syncthreads();\n    if (mine >= n) break;\n"
     "    y[mine * 64 + threadIdx.x] *= 2;\n  }\n}\n",
     items * 2},
    {"a_warp_at_a_time",
     "__global__ void k(float* y, int n, int* next) {\n  for (;;) {\n    int first = 0;\n"
     "    if (threadIdx.x % 32 == 0) first = atomicAdd(next, 4);\n    first = __shfl_sync(~0u, first, 0);\n"
     "    if (first >= n) break;\n"
     "    for (int k = 0; k < 4; ++k) y[(first + k) * 64 + threadIdx.x] *= 2;\n  }\n}\n",
     items},
    {"from_the_last",
     "__global__ void k(float* y, int n, int* left) {\n  for (;;) {\n    int item = 0;\n"
     "    if (threadIdx.x % 32 == 0) item = n - 1 + atomicSub(left, 1);\n    item = __shfl_sync(~0u, item, 0);\n"
     "    if (item < 0) break;\n    y[item * 64 + threadIdx.x] *= 2;\n  }\n}\n",
     items},
};

class WorkCounters : public ::testing::TestWithParam<SharedWork> {};

/// Warp requests of the stores of y.
double stores(const SharedWork& c, std::int64_t sample) {
  Source source;
  source.path = "k.cu";
  source.text = c.text;
  FrontendOptions front;
  front.target = "sm_70";
  front.program = true;
  const Analysis analysis = analyze(source, front);
  EXPECT_TRUE(analysis.program) << analysis.no_program;
  Launch launch;
  launch.grid = {takers, 1, 1};
  launch.block = {64, 1, 1};
  launch.args["n"] = items;
  launch.buffers["y"] = {items * 64, "uniform"};
  for (const char* counter : {"next", "left"})
    if (std::string(c.text).find(std::string("int* ") + counter) != std::string::npos)
      launch.buffers[counter] = {1, "zero"};
  ExecuteOptions options;
  options.sample = sample;
  options.jobs = 1;
  const Execution e = execute(analysis.profile, *analysis.program, launch, MemoryGeometry{}, options);
  return e.workload.by_space[static_cast<int>(MemorySpace::global)][static_cast<int>(AccessKind::store)].requests;
}

TEST_P(WorkCounters, BlocksTakeEqualShares) {
  const SharedWork& c = GetParam();
  EXPECT_NEAR(stores(c, -1), c.trips, 1);  // every block: the first takes all of it
  for (const std::int64_t sample : {0, 1, 5}) EXPECT_NEAR(stores(c, sample) / c.trips, 1, 0.02) << sample;
}

INSTANTIATE_TEST_SUITE_P(All, WorkCounters, ::testing::ValuesIn(kernels), [](const auto& c) { return c.param.name; });

TEST(WorkCounters, TheLastBlockToArriveIsTheLastOne) {
  const SharedWork reduction{"",
                             "__device__ unsigned arrived;\n"
                             "__global__ void k(float* y, int n) {\n  __shared__ bool last;\n"
                             "  if (threadIdx.x == 0) last = atomicInc(&arrived, gridDim.x) == gridDim.x - 1;\n"
                             "  __syncthreads();\n"
                             "  if (last) for (int i = threadIdx.x; i < n; i += 64) y[i] = 0;\n}\n",
                             0};
  EXPECT_NEAR(stores(reduction, 0), std::ceil(items / 32.0), 2);
}

}  // namespace
}  // namespace kernelcast
