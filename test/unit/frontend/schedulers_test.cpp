// Kernels whose blocks stay and take one tile after the other: how the loop over tiles is counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "kernelcast/bind.h"
#include "kernelcast/frontend.h"

namespace kernelcast {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

KernelProfile profile_of_cuda(const std::string& text, const std::string& path = "test.cu") {
  Source source;
  source.path = path;
  source.text = text;
  source.language = Language::cuda;
  FrontendOptions options;
  options.target = options.capability = "sm_90";
  return analyze(source, options).profile;
}

/// Runs of the outer loop of block `block` of 8, of n tiles.
std::int64_t tiles_of(const KernelProfile& p, std::int64_t block, std::int64_t n) {
  SymbolValues v;
  for (int axis = 0; axis < 3; ++axis) {
    v[local_id(axis)] = 0;
    v[group_id(axis)] = axis == 0 ? block : 0;
    v[local_size(axis)] = axis == 0 ? 128 : 1;
    v[num_groups(axis)] = axis == 0 ? 8 : 1;
  }
  v[argument("rows")] = n / 4;
  v[argument("columns")] = 4;
  const Loop& loop = p.loops.at(0);
  bool open = false;
  for (const Path& path : loop.guard.paths) open = open || path.condition.evaluate(v) != 0;
  return open ? loop.trips.evaluate(v) : 0;
}

void expect_tiles(const KernelProfile& p, std::int64_t blocks) {
  ASSERT_THAT(p.loops, SizeIs(1));
  EXPECT_EQ(p.loops[0].unknown, -1);
  for (const std::int64_t n : {4, 12, 32, 64})
    for (const std::int64_t block : {0, 3, 7}) {
      const std::int64_t first = block * blocks / 8;
      EXPECT_EQ(tiles_of(p, block, n), first < n ? (n - first + blocks - 1) / blocks : 0) << n << " tiles, " << block;
    }
}

const std::string body_of_tile = "p[tile * 128 + threadIdx.x] = 1;";

TEST(Schedulers, ATileThatIsNoneEndsTheLoop) {
  const std::string scheduler = R"(
struct Schedule {
  int number, rows, columns;
  __device__ int next() {
    if (number >= rows * columns) return -1;
    const int row = number / columns, column = number % columns;
    number += 8;
    return row * columns + column;
  }
};
)";
  expect_tiles(profile_of_cuda(scheduler + R"(
__global__ void k(float* p, int rows, int columns) {
  Schedule s{int(blockIdx.x), rows, columns};
#pragma unroll 1
  for (int tile = s.next(); tile >= 0; tile = s.next()) )" +
                               body_of_tile + "}"),
               8);
}

TEST(Schedulers, AnAnswerOfNoEndsTheLoop) {
  expect_tiles(profile_of_cuda(R"(
struct Schedule {
  int step, rows, columns;
  __device__ bool next(int& row, int& column) {
    const int number = step * 8 + blockIdx.x;
    if (number >= rows * columns) return false;
    row = number / columns;
    column = number % columns;
    ++step;
    return true;
  }
};
__global__ void k(float* p, int rows, int columns) {
  Schedule s{0, rows, columns};
  int row, column;
#pragma unroll 1
  while (s.next(row, column)) {
    const int tile = row * columns + column;
    )" + body_of_tile + "}}"),
               8);
}

// What other values end a loop is not known: 16 iterations by default.
TEST(Schedulers, DataThatMayEndTheLoopStillDecide) {
  const KernelProfile p = profile_of_cuda(R"(
__global__ void k(float* p, const int* next, int rows, int columns) {
#pragma unroll 1
  for (int tile = blockIdx.x < rows ? next[blockIdx.x] : -1; tile >= 0; tile = tile < rows ? next[tile] : -1)
    )" + body_of_tile + "}");
  ASSERT_THAT(p.loops, SizeIs(1));
  EXPECT_NE(p.loops[0].unknown, -1);
}

TEST(Schedulers, ClustersAreNeighboursWhereTheCodeFixesTheirShape) {
  const auto text = [](const std::string& dims) {
    return R"(
__global__ void )" +
           dims + R"( k(float* p, int rows, int columns) {
  unsigned cluster, rank;
  asm volatile("mov.u32 %0, %clusterid.x;\n" : "=r"(cluster) :);
  asm volatile("mov.u32 %0, %cluster_ctarank;\n" : "=r"(rank) :);
#pragma unroll 1
  for (int tile = cluster; tile < rows * columns; tile += 4) p[(tile * 2 + rank) * 128 + threadIdx.x] = 1;
})";
  };
  const KernelProfile p = profile_of_cuda(text("__cluster_dims__(2, 1, 1)"));
  EXPECT_THAT(p.unmodeled, IsEmpty());
  expect_tiles(p, 4);
  EXPECT_NE(profile_of_cuda(text("")).loops.at(0).unknown, -1);
}

// Both registers of a kind were the one that came last.
TEST(Schedulers, ComponentsOfClusterRegistersDiffer) {
  const KernelProfile p = profile_of_cuda(R"(
__global__ void __cluster_dims__(2, 4, 1) k(float* p, int rows, int columns) {
  unsigned x, y, nx, ny;
  asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(x));
  asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(y));
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(nx));
  asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(ny));
#pragma unroll 1
  for (unsigned i = x + 10 * y; i < 100 * nx + 1000 * ny; ++i) p[i * 128 + threadIdx.x] = 1;
})");
  ASSERT_THAT(p.loops, SizeIs(1));
  SymbolValues v;
  for (int axis = 0; axis < 3; ++axis) v[local_id(axis)] = 0, v[group_id(axis)] = 5, v[local_size(axis)] = 1;
  EXPECT_EQ(p.loops[0].trips.evaluate(v), 100 * 2 + 1000 * 4 - (5 % 2 + 10 * (5 % 4)));
}

TEST(Schedulers, LanesThatWaitForABarrierStayTogether) {
  const KernelProfile p = profile_of_cuda(R"(
__global__ void k(float* p, int rows, int columns) {
  __shared__ unsigned long long full[4];
  int stage = 0;
  for (int t = 0; t < rows; ++t) {
    for (int k = 0; k < columns; ++k, ++stage) {
      if (stage == 4) stage = 0;
      const unsigned at = __cvta_generic_to_shared(&full[stage]);
      asm volatile("{\n.reg .pred P;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P, [%0], 0;\n@P bra DONE;\n"
                   "bra WAIT;\nDONE:\n}" ::"r"(at) : "memory");
    }
    p[t * 128 + threadIdx.x] = 1;
  }
})");
  Launch launch;
  launch.grid = {8, 1, 1};
  launch.block = {128, 1, 1};
  launch.args = {{"rows", std::int64_t{3}}, {"columns", std::int64_t{5}}};
  const Workload w = Binder(p, MemoryGeometry{}).bind(launch);
  const AccessCount& waits = w.at(MemorySpace::shared, AccessKind::load);
  EXPECT_EQ(waits.requests, 8 * 4 * 3 * 5);
  EXPECT_EQ(waits.bank_passes, 2 * waits.requests);  // 8 bytes a lane: half a warp a pass, here
}

TEST(PointerTables, StagesOfSharedMemoryAreKnown) {
  const auto accesses = [](const std::string& stages) {
    return profile_of_cuda(R"(
__global__ void k(float* p, int rows, int columns) {
  extern __shared__ float memory[];
  float* stage[] = {)" + stages +
                           R"(};
#pragma unroll 1
  for (int t = 0; t < rows; ++t) stage[t % 4][threadIdx.x] = p[t * 128 + threadIdx.x];
  p[threadIdx.x] = memory[rows];
})");
  };
  const auto stored = [](const KernelProfile& p, std::int64_t iteration) {
    for (const Block& b : p.blocks)
      for (const Access& a : b.accesses)
        if (a.space == MemorySpace::shared && a.kind == AccessKind::store) {
          SymbolValues v;
          for (const Symbol s : a.offset.symbols()) v[s] = s == local_id(0) ? 3 : iteration;
          return a.offset.evaluate(v);
        }
    return std::int64_t{-1};
  };
  const KernelProfile even = accesses("memory, memory + 128, memory + 256, memory + 384");
  for (const std::int64_t t : {0, 1, 3, 6}) EXPECT_EQ(stored(even, t), t % 4 * 512 + 12) << t;
  const KernelProfile uneven = accesses("memory, memory + 512, memory + 128, memory + 100");
  const std::int64_t offset[] = {0, 2048, 512, 400};
  for (const std::int64_t t : {0, 1, 2, 7}) EXPECT_EQ(stored(uneven, t), offset[t % 4] + 12) << t;
  EXPECT_EQ(stored(accesses("memory, memory + 128, p, memory + 384"), 1), -1) << "two memories: unknown";
}

/// A header with `text` beside a source that includes it and nothing more.
KernelProfile profile_of_header(const std::string& text) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "kernelcast_included";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "kernels.cuh") << text;
  KernelProfile p = profile_of_cuda("#include \"kernels.cuh\"\n", (folder / "test.cu").string());
  std::filesystem::remove_all(folder);
  return p;
}

TEST(IncludedKernels, AreReadInNvccsSpellingToo) {
  const KernelProfile p = profile_of_header(R"(
template <int N> struct Tile { float a[N]; };
__global__ void k(float* p) {
  __shared__ alignas(128) float a[32];
  extern __shared__ Tile<64> b;
  unsigned lane;
  asm volatile("mov.u32 %0, %laneid;" : "=r"(lane) :);
  a[threadIdx.x] = b.a[lane] = p[threadIdx.x];
  if (threadIdx.x == 0) k<<<1, 32>>>(p);
  p[threadIdx.x] = a[31 - lane] + b.a[threadIdx.x];
})"
                                            "\n");
  EXPECT_EQ(p.static_shared_bytes, 32 * 4 + 64 * 4);
}

TEST(IncludedKernels, WideStoresTakeWhatConverts) {
  EXPECT_THAT(profile_of_cuda(R"(
#include <cuda_bf16.h>
__global__ void k(__nv_bfloat16* p, float x) { __stwt(&p[threadIdx.x], x); __stcs(&p[threadIdx.x + 32], x); }
)")
                  .blocks.at(0)
                  .accesses,
              SizeIs(1));
}

}  // namespace
}  // namespace kernelcast
