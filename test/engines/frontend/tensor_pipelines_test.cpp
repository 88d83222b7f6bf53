// Products of halves on tensor cores through pipelines of three stages, lane by lane against plain sums: by cp.async,
// by copies in bulk with a warp that copies, and the latter as PTX.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "engines/frontend/executed_pipeline.h"

namespace kernelcast {
namespace {

using ::testing::IsEmpty;

constexpr int rows = 128, columns = 64, depth = 96;  // a block makes 64 x 64

/// Four warps make 32 x 32 each from a stage of 64 x 16 of A, by rows, and 64 x 16 of B, by columns.
const std::string use_of_a_stage = R"(
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void multiply(float (&c)[2][4][4], const half* a, const half* b, int warp, int lane) {
  unsigned q[4][2];
  for (int j = 0; j < 4; ++j)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(q[j][0]), "=r"(q[j][1])
      : "r"(at(b + (warp / 2 * 32 + j * 8 + lane % 8) * 16 + lane / 8 % 2 * 8)) : "memory");
  for (int i = 0; i < 2; ++i) {
    unsigned r[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
      : "r"(at(a + (warp % 2 * 32 + i * 16 + lane % 16) * 16 + lane / 16 * 8)) : "memory");
    for (int j = 0; j < 4; ++j)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[i][j][0]), "+f"(c[i][j][1]), "+f"(c[i][j][2]), "+f"(c[i][j][3])
        : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(q[j][0]), "r"(q[j][1]));
  }
}
__device__ void store(const float (&c)[2][4][4], float* C, int warp, int lane) {
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int e = 0; e < 4; ++e) {
        int row = blockIdx.x * 64 + warp % 2 * 32 + i * 16 + lane / 4 + e / 2 * 8;
        C[row * 64 + warp / 2 * 32 + j * 8 + lane % 4 * 2 + e % 2] = c[i][j][e];
      }
}
)";

const std::string by_cp_async = "#include <cuda_fp16.h>\n" + use_of_a_stage + R"(
__device__ void fetch(half* a, half* b, const half* A, const half* B, int K, int k, int t) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at(a + t * 8)),
    "l"(A + (blockIdx.x * 64 + t / 2) * K + k * 16 + t % 2 * 8) : "memory");
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at(b + t * 8)),
    "l"(B + t / 2 * K + k * 16 + t % 2 * 8) : "memory");
}
__global__ void product(const half* A, const half* B, float* C, int K) {
  __shared__ __align__(16) half a[3][64 * 16], b[3][64 * 16];
  int t = threadIdx.x;
  float c[2][4][4] = {};
  for (int s = 0; s < 2; ++s) {
    fetch(a[s], b[s], A, B, K, s, t);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  for (int k = 0; k < K / 16; ++k) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    multiply(c, a[k % 3], b[k % 3], t / 32, t % 32);
    if (k + 2 < K / 16) fetch(a[(k + 2) % 3], b[(k + 2) % 3], A, B, K, k + 2, t);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  store(c, C, t / 32, t % 32);
})";

/// A and B lie in tiles of 64 x 16, one a step, that are copied whole.
const std::string by_bulk_copies = "#include <cuda_fp16.h>\n" + use_of_a_stage + R"(
typedef unsigned long long u64;
__device__ void init(u64* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at(b)), "r"(n) : "memory"); }
__device__ void wait(u64* b, int parity) {
  asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra done;\nbra again;\ndone:\n}"
    :: "r"(at(b)), "r"(parity) : "memory");
}
__device__ void bulk(half* to, const half* from, u64* b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 2048, [%2];"
    :: "r"(at(to)), "l"(from), "r"(at(b)) : "memory");
}
__global__ void product(const half* A, const half* B, float* C, int K) {
  __shared__ __align__(16) half a[3][64 * 16], b[3][64 * 16];
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
  int steps = K / 16;
  if (t >= 128) {
    if (t == 128)
      for (int k = 0; k < steps; ++k) {
        int s = k % 3;
        if (k >= 3) wait(&empty[s], (k / 3 - 1) % 2);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" :: "r"(at(&full[s])) : "memory");
        bulk(a[s], A + (blockIdx.x * steps + k) * 1024, &full[s]);
        bulk(b[s], B + k * 1024, &full[s]);
      }
    return;
  }
  float c[2][4][4] = {};
  for (int k = 0; k < steps; ++k) {
    int s = k % 3;
    wait(&full[s], k / 3 % 2);
    multiply(c, a[s], b[s], t / 32, t % 32);
    __syncwarp();
    if (t % 32 == 0) asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" :: "r"(at(&empty[s])) : "memory");
  }
  store(c, C, t / 32, t % 32);
})";

double half_number(const std::vector<unsigned char>& bytes, int n) {
  std::uint16_t h = 0;
  std::memcpy(&h, bytes.data() + 2 * n, 2);
  const int exponent = h >> 10 & 31, mantissa = h & 1023;
  const double size = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return h & 0x8000 ? -size : size;
}

/// Element (row, k) of A, or of B by columns.
int in_rows(int row, int k) { return row * depth + k; }
int in_tiles(int row, int k) { return (row / 64 * (depth / 16) + k / 16) * 1024 + row % 64 * 16 + k % 16; }

void expect_product(const Source& source, int threads, int (*place)(int, int), bool independent) {
  FrontendOptions options;
  options.target = "sm_90";
  options.program = true;
  const Analysis a = analyze(source, options);
  ASSERT_TRUE(a.program) << a.no_program;
  const auto name = [&](std::size_t n) { return a.profile.parameters.at(n).name; };
  Launch launch;
  launch.grid = {rows / 64, 1, 1};
  launch.block = {threads, 1, 1};
  launch.args[name(3)] = std::int64_t{depth};
  ExecuteOptions o;
  o.sample = -1;
  o.jobs = 1;
  o.keep_buffers = true;
  o.independent_threads = independent;
  // Halves in [-2, 2): steps of 1/256 are exact.
  const auto halves = [](int count, int seed) {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(2 * count));
    for (int n = 0; n < count; ++n) {
      const double v = ((n * 7919 + seed) % 1021 - 510) / 256.0;
      int exponent = 0;
      const double m = std::frexp(std::abs(v), &exponent);
      const auto bits =
          v == 0 ? 0U : static_cast<unsigned>((exponent + 14) << 10) + static_cast<unsigned>(m * 2048 - 1024);
      const auto h = static_cast<std::uint16_t>(bits | (v < 0 ? 0x8000U : 0U));
      std::memcpy(bytes.data() + 2 * n, &h, 2);
    }
    return bytes;
  };
  o.contents[name(0)] = halves(rows * depth, 3);
  o.contents[name(1)] = halves(columns * depth, 5);
  launch.buffers[name(2)] = {rows * columns, "zero"};
  const Execution e = execute(a.profile, *a.program, launch, MemoryGeometry{}, o);
  EXPECT_THAT(text_of(e.findings), IsEmpty());
  const auto &A = e.buffers.at(name(0)), &B = e.buffers.at(name(1)), &C = e.buffers.at(name(2));
  double largest = 0;
  for (int m = 0; m < rows; ++m)
    for (int n = 0; n < columns; ++n) {
      double sum = 0, sizes = 0;
      for (int k = 0; k < depth; ++k) {
        const double term = half_number(A, place(m, k)) * half_number(B, place(n, k));
        sum += term;
        sizes += std::abs(term);
      }
      ASSERT_NEAR(float_at(C, m * columns + n), sum, 1e-2 * std::max(std::abs(sum), 1e-3 * sizes)) << m << ", " << n;
      largest = std::max(largest, std::abs(sum));
    }
  EXPECT_GT(largest, 10);
}

Source cuda(const std::string& text) {
  Source source;
  source.path = "test.cu";
  source.text = text;
  return source;
}

TEST(TensorPipelines, three_stages_by_cp_async) {
  for (const bool independent : {false, true}) expect_product(cuda(by_cp_async), 128, in_rows, independent);
}

TEST(TensorPipelines, three_stages_by_copies_in_bulk_of_another_warp) {
  for (const bool independent : {false, true}) expect_product(cuda(by_bulk_copies), 160, in_tiles, independent);
}

TEST(TensorPipelines, three_stages_by_copies_in_bulk_as_ptx) {
  Source source;
  source.path = KERNELCAST_SOURCE_DIR "/test/data/ptx/bulk_pipeline.ptx";
  std::ifstream in(source.path);
  std::stringstream text;
  text << in.rdbuf();
  source.text = text.str();
  ASSERT_FALSE(source.text.empty());
  for (const bool independent : {false, true}) expect_product(source, 160, in_tiles, independent);
}

}  // namespace
}  // namespace kernelcast
