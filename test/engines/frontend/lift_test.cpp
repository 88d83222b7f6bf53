// Inline PTX against the same kernel in CUDA C++: accesses, counts and, executed, the numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "kernelcast/execute.h"
#include "kernelcast/frontend.h"

namespace kernelcast {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

Analysis analysed(const std::string& text, const std::string& kernel = "", const std::string& target = "sm_80") {
  Source source;
  source.path = "test.cu";
  source.text = text;
  FrontendOptions options;
  options.kernel = kernel;
  options.target = target;
  options.program = true;
  return analyze(source, options);
}

std::vector<Access> accesses_of(const KernelProfile& p) {
  std::vector<Access> all;
  for (const Block& b : p.blocks) all.insert(all.end(), b.accesses.begin(), b.accesses.end());
  return all;
}

std::string described(const KernelProfile& p) {
  std::string text;
  for (const Access& a : accesses_of(p)) {
    text += std::string(name_of(a.space)) + " " + std::string(name_of(a.kind)) + " " + std::to_string(a.bytes) +
            " at " + (a.buffer < 0 ? "?" : p.buffers[static_cast<std::size_t>(a.buffer)].name) + " + " + a.offset.str();
    text += " x" + std::to_string(a.also.size() + 1) + "\n";
  }
  return text;
}

OpCounts ops_of(const KernelProfile& p) {
  OpCounts sum;
  for (const Block& b : p.blocks) sum += b.ops;
  return sum;
}

/// Two kernels, `plain` and `with_asm`, that do the same.
struct Pair {
  const char* name;
  const char* text;
  bool same_arithmetic = true;  // false: addresses are computed in other widths
};

class AsmLikeSource : public ::testing::TestWithParam<Pair> {};

TEST_P(AsmLikeSource, has_the_same_accesses_and_operations) {
  const Analysis plain = analysed(GetParam().text, "plain"), with_asm = analysed(GetParam().text, "with_asm");
  EXPECT_EQ(described(plain.profile), described(with_asm.profile));
  EXPECT_THAT(with_asm.profile.unmodeled, IsEmpty());
  const OpCounts a = ops_of(plain.profile), b = ops_of(with_asm.profile);
  for (std::size_t k = 0; k < op_class_count; ++k)
    if (GetParam().same_arithmetic || is_memory(static_cast<OpClass>(k)) || static_cast<OpClass>(k) == OpClass::barrier)
      EXPECT_EQ(a.n[k], b.n[k]) << name_of(static_cast<OpClass>(k));
}

const Pair pairs[] = {
    {"vector_copy", R"(
__global__ void plain(const float4* in, float4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
__global__ void with_asm(const float4* in, float4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float4 v;
    asm volatile("ld.global.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(in + i));
    asm volatile("st.global.cs.v4.f32 [%0], {%1,%2,%3,%4};" :: "l"(out + i), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
  }
})"},
    {"arithmetic", R"(
__global__ void plain(const int* in, int* out, int n) {
  int i = threadIdx.x, a = in[i];
  out[i] = (a * n + 7) ^ (a & n);
}
__global__ void with_asm(const int* in, int* out, int n) {
  int i = threadIdx.x, a = in[i], r;
  asm("{ .reg .b32 t, u; mad.lo.s32 t, %1, %[n], 7; and.b32 u, %1, %[n]; xor.b32 %0, t, u; }" : "=r"(r) : "r"(a), [n] "r"(n));
  out[i] = r;
})"},
    {"predicate", R"(
__global__ void plain(const float* in, float* out, int n) {
  int i = threadIdx.x;
  float v = 0;
  if (i < n) v = in[i];
  out[i] = v;
}
__global__ void with_asm(const float* in, float* out, int n) {
  int i = threadIdx.x;
  float v = 0;
  asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, %2; @p ld.global.f32 %0, [%3]; }" : "+f"(v) : "r"(i), "r"(n), "l"(in + i));
  out[i] = v;
})"},
    {"shared", R"(
__global__ void plain(const float* in, float* out, int n) {
  __shared__ float tile[256];
  int i = threadIdx.x;
  tile[i] = in[i];
  __syncthreads();
  out[i] = tile[(i * 3) & 255];
}
__global__ void with_asm(const float* in, float* out, int n) {
  __shared__ float tile[256];
  int i = threadIdx.x;
  unsigned base = (unsigned)__cvta_generic_to_shared(tile);
  asm volatile("st.shared.f32 [%0], %1;" :: "r"(base + 4 * i), "f"(in[i]) : "memory");
  asm volatile("bar.sync 0;" ::: "memory");
  float v;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(base + 4 * ((i * 3) & 255)) : "memory");
  out[i] = v;
})",
     false},
};

INSTANTIATE_TEST_SUITE_P(Lift, AsmLikeSource, ::testing::ValuesIn(pairs),
                         [](const auto& i) { return std::string(i.param.name); });

const char* const product = R"(
#include <cuda_fp16.h>
__global__ void gemm(const half* A, const half* B, float* C) {  // A 16x16 by rows, B 16x8 by columns
  __shared__ __align__(16) half a[16 * 16];
  __shared__ __align__(16) half bt[8 * 16];
  int l = threadIdx.x;
  unsigned da = (unsigned)__cvta_generic_to_shared(a) + l * 16, db = (unsigned)__cvta_generic_to_shared(bt) + (l % 16) * 16;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" :: "r"(da), "l"(A + l * 8));
  asm volatile("{\n .reg .pred p;\n setp.lt.s32 p, %2, 16;\n @p cp.async.ca.shared.global [%0], [%1], 16;\n}\n" :: "r"(db), "l"(B + l * 8), "r"(l));
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  unsigned r[4], q[2];
  unsigned pa = (unsigned)__cvta_generic_to_shared(a) + (l % 16) * 32 + (l / 16) * 16;
  unsigned pb = (unsigned)__cvta_generic_to_shared(bt) + (l % 8) * 32 + (l / 8 % 2) * 16;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(pa));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(q[0]), "=r"(q[1]) : "r"(pb));
  float c[4] = {0, 0, 0, 0};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(q[0]), "r"(q[1]));
  int g = l / 4, t = l % 4;
  C[g * 8 + 2 * t] = c[0]; C[g * 8 + 2 * t + 1] = c[1]; C[(g + 8) * 8 + 2 * t] = c[2]; C[(g + 8) * 8 + 2 * t + 1] = c[3];
})";

double half_at(const std::vector<unsigned char>& bytes, int n) {
  std::uint16_t h = 0;
  std::memcpy(&h, bytes.data() + 2 * n, 2);
  const int exponent = h >> 10 & 31, mantissa = h & 1023;
  const double size = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return h & 0x8000 ? -size : size;
}

TEST(LiftedAsm, product_of_halves_on_matrix_units_computes_the_product) {
  const Analysis a = analysed(product);
  ASSERT_TRUE(a.program) << a.no_program;
  Launch launch;
  launch.grid = {1, 1, 1};
  launch.block = {32, 1, 1};
  launch.buffers["A"] = {256, "uniform(-2,2)"};
  launch.buffers["B"] = {128, "uniform(-2,2)"};
  launch.buffers["C"] = {128, "zero"};
  ExecuteOptions o;
  o.sample = -1;
  o.jobs = 1;
  o.keep_buffers = true;
  const auto buffers = execute(a.profile, *a.program, launch, MemoryGeometry{}, o).buffers;
  double largest = 0;
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 8; ++n) {
      double sum = 0;
      for (int k = 0; k < 16; ++k) sum += half_at(buffers.at("A"), m * 16 + k) * half_at(buffers.at("B"), n * 16 + k);
      float got = 0;
      std::memcpy(&got, buffers.at("C").data() + 4 * (m * 8 + n), 4);
      EXPECT_NEAR(got, sum, 1e-2 * std::max(1.0, std::abs(sum))) << m << ", " << n;
      largest = std::max(largest, std::abs(sum));
    }
  EXPECT_GT(largest, 1);
}

TEST(LiftedAsm, statement_that_the_reader_does_not_know_is_listed) {
  const Analysis a = analysed(R"(
__global__ void k(int* out) {
  int r;
  asm volatile("frobnicate.b32 %0, 1;" : "=r"(r));
  asm volatile("frobnicate.b32 %0, 1;" : "=r"(r));
  out[threadIdx.x] = r;
})");
  ASSERT_THAT(a.profile.unmodeled, SizeIs(1));
  EXPECT_EQ(a.profile.unmodeled[0].what, "asm: frobnicate.b32");
  EXPECT_EQ(a.profile.unmodeled[0].count, 2);
  EXPECT_EQ(a.profile.unmodeled[0].line.line, 4);
}

TEST(LiftedAsm, bulk_copy_moves_its_bytes) {
  const Analysis a = analysed(R"(
__global__ void k(const float* in) {
  __shared__ __align__(128) float tile[1024];
  __shared__ __align__(8) unsigned long long full;
  unsigned to = (unsigned)__cvta_generic_to_shared(tile), bar = (unsigned)__cvta_generic_to_shared(&full);
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];" :: "r"(to), "l"(in), "r"(bar) : "memory");
})",
                              "", "sm_90");
  EXPECT_THAT(a.profile.unmodeled, SizeIs(0));
  double read = 0, written = 0;
  for (const Block& block : a.profile.blocks)
    for (const Access& access : block.accesses) {
      if (access.space == MemorySpace::global) read += access.bytes * access.copies();
      if (access.space == MemorySpace::shared) written += access.bytes * access.copies();
    }
  EXPECT_EQ(read, 4096);
  EXPECT_EQ(written, 4096);
}

/// Row stride in bytes and whether columns are swizzled.
std::string tile(int stride, bool swizzled) {
  return R"(
__global__ void k(unsigned* out) {
  __shared__ __align__(128) unsigned char tile[64 * 144];
  unsigned base = (unsigned)__cvta_generic_to_shared(tile);
  int lane = threadIdx.x % 32, row = lane % 16, col = lane / 16;
  unsigned addr = base + row * )" +
         std::to_string(stride) + " + " + (swizzled ? "(col ^ (row % 8))" : "col") + R"( * 16;
  unsigned r0, r1, r2, r3;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(addr));
  out[threadIdx.x] = r0 + r1 + r2 + r3;
})";
}

/// Passes through 32 banks of four bytes in which eight lanes at a time read their rows.
int passes(const KernelProfile& p) {
  int sum = 0;
  for (const Access& a : accesses_of(p)) {
    if (a.space != MemorySpace::shared) continue;
    for (int phase = 0; phase < 4; ++phase) {
      std::array<int, 32> uses{};
      for (int lane = 8 * phase; lane < 8 * phase + 8; ++lane) {
        SymbolValues v;
        for (int axis = 0; axis < 3; ++axis) {
          v[local_id(axis)] = axis == 0 ? lane : 0;
          v[local_size(axis)] = axis == 0 ? 32 : 1;
        }
        const auto at = a.offset.evaluate(v);
        for (int word = 0; word < 4; ++word) ++uses[static_cast<std::size_t>(at / 4 + word) % 32];
      }
      sum += *std::max_element(uses.begin(), uses.end());
    }
  }
  return sum;
}

TEST(LiftedAsm, ldmatrix_meets_the_banks_with_its_rows) {
  EXPECT_EQ(passes(analysed(tile(128, false)).profile), 32);
  EXPECT_EQ(passes(analysed(tile(144, false)).profile), 4);
  EXPECT_EQ(passes(analysed(tile(128, true)).profile), 4);
}

/// `before` stands before the kernel's body, `header` before the first instruction of its loop, `later` behind it.
std::string summing_ptx(const std::string& before, const std::string& header, const std::string& later = "") {
  return R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1) )" +
         before + R"({
  .reg .pred %p<3>;
  .reg .f32 %f<3>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [k_param_0];
  ld.param.u32 %r1, [k_param_1];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r2, 0;
  mov.f32 %f1, 0f00000000;
  mov.u64 %rd3, %rd2;
$loop:
  )" + header +
         R"(ld.global.f32 %f2, [%rd3];
  )" + later +
         R"(add.f32 %f1, %f1, %f2;
  add.s64 %rd3, %rd3, 4;
  add.s32 %r2, %r2, 1;
  setp.lt.s32 %p1, %r2, %r1;
  @%p1 bra $loop;
  st.global.f32 [%rd2], %f1;
  ret;
}
)";
}

std::size_t loads_of_loop(const std::string& text) {
  Source source;
  source.path = "test.ptx";
  source.text = text;
  FrontendOptions options;
  options.target = "sm_80";
  std::size_t loads = 0;
  for (const Access& a : accesses_of(analyze(source, options).profile)) loads += a.kind == AccessKind::load ? 1 : 0;
  return loads;
}

TEST(LiftedLoop, stays_whole_where_a_pragma_says_so) {
  const std::string pragma = ".pragma \"nounroll\";\n";
  EXPECT_GT(loads_of_loop(summing_ptx("", "")), 1U);  // the assembler would unroll it
  EXPECT_EQ(loads_of_loop(summing_ptx("", pragma)), 1U);
  EXPECT_EQ(loads_of_loop(summing_ptx(pragma, "")), 1U);
  EXPECT_GT(loads_of_loop(summing_ptx("", "", pragma)), 1U);  // not at the loop's head: ignored
}

}  // namespace
}  // namespace kernelcast
