// What the front end reads from small kernels, checked against the loops and addresses that one sees in their text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "kernelcast/bind.h"
#include "kernelcast/error.h"
#include "kernelcast/frontend.h"

namespace kernelcast {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

KernelProfile profile_of(const std::string& text, Language language = Language::opencl, const std::string& kernel = "",
                         const std::string& target = "sm_70", std::vector<std::string> map = {}) {
  Source source;
  source.path = language == Language::cuda ? "test.cu" : language == Language::c ? "test.c" : "test.cl";
  source.text = text;
  source.language = language;
  FrontendOptions options;
  options.kernel = kernel;
  options.target = target;
  options.map = std::move(map);
  return analyze(source, options).profile;
}

SymbolValues values(std::int64_t lid, std::int64_t wg, std::int64_t lsz, std::int64_t nwg, std::int64_t n) {
  SymbolValues v;
  for (int axis = 0; axis < 3; ++axis) {
    v[local_id(axis)] = axis == 0 ? lid : 0;
    v[group_id(axis)] = axis == 0 ? wg : 0;
    v[local_size(axis)] = axis == 0 ? lsz : 1;
    v[num_groups(axis)] = axis == 0 ? nwg : 1;
  }
  v[argument("n")] = n;
  return v;
}

/// Executions of the loop's body per entry for one lane, counting only if its guard holds.
std::int64_t runs(const Loop& loop, const SymbolValues& v) {
  std::int64_t open = 0;
  for (const Path& p : loop.guard.paths) open += p.condition.evaluate(v);
  return open == 0 ? 0 : loop.trips.evaluate(v);
}

double lane_ops(const KernelProfile& p, OpClass c) {
  double sum = 0;
  for (const Block& b : p.blocks) sum += b.ops[c];
  return sum;
}

// Loops, against the same loop run here.

struct LoopCase {
  const char* name;
  const char* body;  // of `for`, over i, n, lid, gid, gsz
  std::int64_t (*count)(std::int64_t lid, std::int64_t gid, std::int64_t gsz, std::int64_t n);
};

const LoopCase loop_cases[] = {
    {"upwards", "for (int i = 0; i < n; ++i)", [](auto, auto, auto, auto n) { return n; }},
    {"by_three", "for (int i = 1; i <= n; i += 3)",
     [](auto, auto, auto, auto n) { return n < 1 ? 0 : (n - 1) / 3 + 1; }},
    {"downwards", "for (int i = n; i > 0; --i)", [](auto, auto, auto, auto n) { return n; }},
    {"down_by_two", "for (int i = n; i >= 5; i -= 2)",
     [](auto, auto, auto, auto n) { return n < 5 ? 0 : (n - 5) / 2 + 1; }},
    {"grid_stride", "for (int i = gid; i < n; i += gsz)",
     [](auto, auto gid, auto gsz, auto n) { return gid < n ? (n - gid + gsz - 1) / gsz : 0; }},
    {"triangular", "for (int i = 0; i <= gid; ++i)", [](auto, auto gid, auto, auto) { return gid + 1; }},
    {"triangular_rest", "for (int i = gid; i < n; ++i)",
     [](auto, auto gid, auto, auto n) { return gid < n ? n - gid : 0; }},
    {"halving", "for (int i = n; i > 0; i >>= 1)",
     [](auto, auto, auto, auto n) {
       std::int64_t c = 0;
       for (auto i = n; i > 0; i >>= 1) ++c;
       return c;
     }},
    {"quartering", "for (int i = n; i > 3; i /= 4)",
     [](auto, auto, auto, auto n) {
       std::int64_t c = 0;
       for (auto i = n; i > 3; i /= 4) ++c;
       return c;
     }},
    {"doubling", "for (int i = 1; i < n; i *= 2)",
     [](auto, auto, auto, auto n) {
       std::int64_t c = 0;
       for (std::int64_t i = 1; i < n; i *= 2) ++c;
       return c;
     }},
    {"doubling_to", "for (int i = 1; i <= n; i <<= 1)",
     [](auto, auto, auto, auto n) {
       std::int64_t c = 0;
       for (std::int64_t i = 1; i <= n; i <<= 1) ++c;
       return c;
     }},
    {"by_lane", "for (int i = lid; i < n; i += 32)",
     [](auto lid, auto, auto, auto n) { return lid < n ? (n - lid + 31) / 32 : 0; }},
};

class Loops : public ::testing::TestWithParam<LoopCase> {};

TEST_P(Loops, TripCountIsThatOfTheLoopRun) {
  const LoopCase& c = GetParam();
  // A volatile store keeps every iteration alone: no unrolling, so each trip is one execution.
  const KernelProfile p =
      profile_of(std::string("__kernel void k(volatile __global int* out, int n) {\n"
                             "  int lid = get_local_id(0), gid = get_global_id(0), gsz = get_global_size(0);\n"
                             "  #pragma unroll 1\n  ") +
                 c.body + " out[gid] = i;\n}\n");
  ASSERT_THAT(p.loops, SizeIs(1));
  EXPECT_EQ(p.loops[0].unknown, -1);
  EXPECT_EQ(p.loops[0].line.line, 4);
  for (std::int64_t n : {0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 64, 100, 1000})
    for (std::int64_t lid : {0, 1, 31})
      for (std::int64_t wg : {0, 2})
        EXPECT_EQ(runs(p.loops[0], values(lid, wg, 32, 3, n)), c.count(lid, wg * 32 + lid, 96, n))
            << "n " << n << " lid " << lid << " wg " << wg << " trips " << p.loops[0].trips.str();
}

INSTANTIATE_TEST_SUITE_P(Profile, Loops, ::testing::ValuesIn(loop_cases),
                         [](const auto& test) { return std::string(test.param.name); });

// Unrolling must not lose work: the sum over all copies is what the source says.

TEST(Profile, TripCountsOfTwoBillionAndMoreAreNotNegative) {
  const std::pair<const char*, std::int64_t> loops[] = {
      {"for (uint i = 0; i < 2147483648u; ++i)", 2147483648},
      {"for (uint i = 0; i < 4294967295u; ++i)", 4294967295},
      {"for (uint i = 0; i <= 4294967291u; i += 3)", 1431655764},
      {"for (uint i = 4294967295u; i != 5; i -= 2)", 2147483645},
      {"for (uint i = 1; i != 2147483649u; i += 4)", 536870912},
      {"for (uint i = 3000000000u; i > 0; --i)", 3000000000},
      {"for (int i = -10; i < -4; ++i)", 6},
      {"for (int i = -10; i < 2147483646; i += 2)", 1073741828},
  };
  for (const auto& [head, trips] : loops) {
    const std::string text = std::string("#pragma unroll 1\n") + head + " { s = s * b + 1.0f; a[0] = s; }";
    const KernelProfile p =
        profile_of("kernel void f(volatile global float* a, float b) { float s = 0;\n" + text + "}");
    ASSERT_THAT(p.loops, SizeIs(1)) << head;
    EXPECT_EQ(p.loops[0].trips.constant(), trips) << head;
  }
}

TEST(Profile, UnrolledLoopsDoTheWorkOfTheSource) {
  const KernelProfile p = profile_of(
      "__kernel void k(__global const float* a, __global float* out, int n) {\n"
      "  float s = 0;\n  for (int i = 0; i < n; ++i) s += a[i] * a[i + 7];\n  out[get_global_id(0)] = s;\n}\n");
  for (std::int64_t n : {0, 1, 3, 4, 5, 8, 17, 1024}) {
    const SymbolValues v = values(0, 0, 32, 1, n);
    double fmas = 0;
    for (const Block& b : p.blocks) {
      double times = 1;
      for (const Path& path : b.guard.paths)
        if (b.loop < 0) times = static_cast<double>(path.condition.evaluate(v));
      if (b.loop >= 0) times = static_cast<double>(runs(p.loops[static_cast<std::size_t>(b.loop)], v));
      fmas += times * b.ops[OpClass::fp32_fma];
    }
    EXPECT_EQ(fmas, static_cast<double>(n));
  }
}

// Addresses.

const Access& only_access(const KernelProfile& p, MemorySpace space, AccessKind kind) {
  const Access* found = nullptr;
  for (const Block& b : p.blocks)
    for (const Access& a : b.accesses)
      if (a.space == space && a.kind == kind) {
        EXPECT_EQ(found, nullptr) << "more than one access";
        found = &a;
      }
  static const Access none;
  EXPECT_NE(found, nullptr);
  return found ? *found : none;
}

TEST(Profile, AddressesArePolynomialsInIdsAndArguments) {
  const KernelProfile p = profile_of(
      "__kernel void k(__global const float* a, __global float* out, int n) {\n"
      "  int x = get_global_id(0), y = get_global_id(1);\n  out[y * n + x] = a[x * n + y];\n}\n");
  const Expr lx(local_id(0)), ly(local_id(1)), wx(group_id(0)), wy(group_id(1)), sx(local_size(0)), sy(local_size(1)),
      n(argument("n"));
  const Expr x = wx * sx + lx, y = wy * sy + ly;
  EXPECT_EQ(only_access(p, MemorySpace::global, AccessKind::load).offset, 4 * (x * n + y));
  EXPECT_EQ(only_access(p, MemorySpace::global, AccessKind::store).offset, 4 * (y * n + x));
  EXPECT_TRUE(p.parameters[2].used);
}

TEST(Profile, ParametersHaveTheTypesOfTheSourceAlsoWithoutMangling) {
  const KernelProfile p = profile_of(
      "typedef const float* __restrict__ input;\n"
      "extern \"C\" __global__ void k(input a, unsigned char* b, double2* c, int n) { b[n] = a[n] + c[n].x; }\n",
      Language::cuda);
  ASSERT_THAT(p.parameters, SizeIs(4));
  EXPECT_EQ(p.parameters[0].type, "const float *");
  EXPECT_EQ(p.parameters[1].type, "unsigned char *");
  EXPECT_EQ(p.parameters[2].type, "double2 *");
  EXPECT_EQ(p.parameters[3].type, "int");
}

TEST(Profile, PointersKnowTheSizeOfTheirElements) {
  const KernelProfile p = profile_of(R"(
struct Body { float4 at; double mass; };
typedef Body Bodies[3];
struct Hidden;
template <class T> __global__ void move(const T* in, Bodies* rows, float (*matrix)[16], void* any, Hidden* hidden,
                                        Body** table, int n) { ((float*)any)[n] = in[n].mass + matrix[n][3]; }
template __global__ void move(const Body*, Bodies*, float (*)[16], void*, Hidden*, Body**, int);)",
                                     Language::cuda);
  std::vector<int> bytes;
  for (const Parameter& q : p.parameters) bytes.push_back(q.bytes);
  EXPECT_THAT(bytes, testing::ElementsAre(32, 32, 4, 0, 0, 8, 4));
  const KernelProfile o = profile_of(
      "typedef struct { int key; char tag[8]; } Entry;\n"
      "kernel void k(global Entry* e, global float3* v, local double* d) { e[0].key = v[1].x + d[0]; }");
  bytes.clear();
  for (const Parameter& q : o.parameters) bytes.push_back(q.bytes);
  EXPECT_THAT(bytes, testing::ElementsAre(12, 16, 8));
}

TEST(Profile, ModuloAndMasksKeepTheirPeriod) {
  const KernelProfile p = profile_of(
      "__kernel void k(__global const int* a, __global int* out) {\n"
      "  uint i = get_local_id(0);\n  out[i] = a[(i & 7) * 32 + i / 16];\n}\n");
  const Expr offset = only_access(p, MemorySpace::global, AccessKind::load).offset;
  for (std::int64_t i = 0; i < 1024; ++i)
    EXPECT_EQ(offset.evaluate(values(i, 0, 1024, 1, 0)), 128 * (i & 7) + 4 * (i / 16));
}

TEST(Profile, VectorLoadsAreOneAccess) {
  const KernelProfile p = profile_of(
      "__kernel void k(__global const float4* a, __global float4* out) {\n  out[get_global_id(0)] = "
      "a[get_global_id(0)] * 3.0f;\n}\n");
  EXPECT_EQ(only_access(p, MemorySpace::global, AccessKind::load).bytes, 16);
  EXPECT_EQ(lane_ops(p, OpClass::fp32_mul), 4);
}

TEST(Profile, OnlyLoadsOfWhatNobodyWritesAreReadOnly) {
  const KernelProfile p = profile_of(
      "__kernel void k(__global const float* restrict a, __global const float* b, __global float* restrict out) {\n"
      "  int i = get_global_id(0);\n  out[i] = out[i] + a[i] * b[i];\n}\n");
  std::vector<std::string> read_only;
  int loads = 0;
  for (const Block& block : p.blocks)
    for (const Access& a : block.accesses) {
      loads += a.kind == AccessKind::load ? 1 : 0;
      if (a.read_only) read_only.push_back(p.buffers[static_cast<std::size_t>(a.buffer)].name);
    }
  EXPECT_EQ(loads, 3);
  EXPECT_EQ(read_only, std::vector<std::string>{"a"});  // `b` may be `out` by another name
}

TEST(Profile, GathersAreIrregularWithTheReason) {
  const KernelProfile p = profile_of(
      "__kernel void k(__global const float* a, __global const int* index, __global float* out) {\n"
      "  int i = get_global_id(0);\n  out[i] = a[index[i]];\n}\n");
  int irregular = 0;
  for (const Block& b : p.blocks)
    for (const Access& a : b.accesses)
      if (a.unknown >= 0) {
        ++irregular;
        EXPECT_EQ(p.unknowns[static_cast<std::size_t>(a.unknown)].key, "access:3");
        EXPECT_THAT(p.unknowns[static_cast<std::size_t>(a.unknown)].reason, HasSubstr("test.cl:3"));
      }
  EXPECT_EQ(irregular, 1);
}

TEST(Profile, AnAddressWhoseShiftIsNotKnownIsIrregular) {
  Source source;
  source.path = "shift.cu";
  source.text =
      "__global__ void k(float* a) {\n  const int bits = __ffs(blockDim.x) - 3;\n"
      "  a[(threadIdx.x & (1 << bits) - 1) << 2 | threadIdx.x >> bits] = 1;\n}\n";
  FrontendOptions options;
  options.target = "sm_80";
  const KernelProfile p = analyze(source, options).profile;
  int unknown = 0;
  for (const auto& block : p.blocks)
    for (const auto& access : block.accesses) unknown += access.unknown >= 0 ? 1 : 0;
  EXPECT_EQ(unknown, 1);
}

// Branches.

TEST(Profile, BranchVerdictsSayWhy) {
  const KernelProfile p = profile_of(
      "__kernel void k(__global volatile float* a, int n) {\n"
      "  int i = get_global_id(0);\n"
      "  if (n > 7) a[0] = 1;\n"
      "  if (get_local_id(0) < 5) a[1] = 2;\n"
      "  if (a[i] > 0) a[2] = 3;\n"
      "  if (i < n) a[3] = 4;\n}\n");
  std::map<int, const Branch*> by_line;
  for (const Branch& b : p.branches) by_line[b.line.line] = &b;
  ASSERT_TRUE(by_line.contains(3) && by_line.contains(4) && by_line.contains(5) && by_line.contains(6));
  EXPECT_EQ(by_line[3]->verdict, Branch::Verdict::uniform);
  EXPECT_EQ(by_line[4]->verdict, Branch::Verdict::divergent);
  EXPECT_THAT(by_line[4]->reason, HasSubstr("lid.x"));
  EXPECT_EQ(by_line[5]->verdict, Branch::Verdict::unknown);
  EXPECT_THAT(by_line[5]->reason, HasSubstr("floating-point"));
  EXPECT_EQ(by_line[6]->verdict, Branch::Verdict::divergent);
}

TEST(Profile, BranchesOnVotesAreTheSameForAWarp) {
  Source source;
  source.path = "vote.cu";
  source.text =
      "__global__ void k(volatile float* a) {\n"
      "  if (__any_sync(~0u, a[threadIdx.x] > 1)) a[0] = 1;\n"
      "  if (__shfl_sync(~0u, a[threadIdx.x], 0) > 2) a[1] = 2;\n"
      "  if (__shfl_down_sync(~0u, a[threadIdx.x], 1) > 3) a[2] = 3;\n"
      "  if (__syncthreads_or(a[threadIdx.x] > 4)) a[3] = 4;\n}\n";
  FrontendOptions options;
  options.target = "sm_80";
  const KernelProfile p = analyze(source, options).profile;
  std::map<int, Branch::Verdict> by_line;
  for (const Branch& b : p.branches) by_line[b.line.line] = b.verdict;
  ASSERT_EQ(by_line.size(), 4u);
  EXPECT_EQ(by_line[2], Branch::Verdict::uniform);
  EXPECT_EQ(by_line[3], Branch::Verdict::uniform);
  EXPECT_EQ(by_line[4], Branch::Verdict::unknown);
  EXPECT_EQ(by_line[5], Branch::Verdict::uniform);
  for (const Unknown& u : p.unknowns) EXPECT_EQ(u.uniform, u.line.line != 4) << u.key;
}

TEST(Profile, DataDecidedTripCountsAreUnknownWithTheirFlag) {
  const KernelProfile p = profile_of(
      "__kernel void spmv(__global const int* row, __global const float* v, __global float* y, int n) {\n"
      "  int r = get_global_id(0);\n  float s = 0;\n"
      "  for (int k = row[r]; k < row[r + 1]; ++k) s += v[k];\n  y[r] = s;\n}\n");
  ASSERT_THAT(p.loops, SizeIs(1));
  ASSERT_GE(p.loops[0].unknown, 0);
  EXPECT_EQ(p.unknowns[static_cast<std::size_t>(p.loops[0].unknown)].key, "trips:4");
}

double stored_lanes(const KernelProfile& p, const Workload& w) {
  double lanes = 0;
  std::size_t n = 0;
  for (const Block& b : p.blocks) {
    for (const Access& a : b.accesses) {
      if (a.kind == AccessKind::store) lanes += w.access_counts[n].lanes;
      ++n;
    }
  }
  return lanes;
}

TEST(Profile, ComparisonsOfFloatingPointArgumentsAreKnownAtLaunch) {
  // The branch as the source has it, against its own arithmetic here.
  struct Case {
    const char* condition;
    bool (*holds)(double beta);
  };
  const Case cases[] = {
      {"beta == 0.f", [](double b) { return b == 0; }},   {"beta != 0.f", [](double b) { return b != 0; }},
      {"beta > 0.5f", [](double b) { return b > 0.5; }},  {"beta >= 0.5f", [](double b) { return b >= 0.5; }},
      {"beta < -2.f", [](double b) { return b < -2; }},   {"!(beta <= 1.5f)", [](double b) { return !(b <= 1.5); }},
      {"alpha < beta", [](double b) { return 1.0 < b; }},
  };
  for (const Case& c : cases) {
    const KernelProfile p = profile_of(
        "__kernel void k(__global float* a, float alpha, float beta) {\n  int i = "
        "get_global_id(0);\n  a[i] = 2;\n  if (" +
        std::string(c.condition) + ")\n    a[i + 4096] = a[i + 8192];\n}\n");
    EXPECT_THAT(p.unknowns, SizeIs(0)) << c.condition;
    Binder binder(p, {});
    for (const double beta : {-1e30, -2.5, -2.0, -0.0, 0.0, 0.25, 0.5, 1.0, 1.5, 1.5000001, 3e38}) {
      Launch l;
      l.grid = {1};
      l.block = {32};
      l.args = {{"alpha", ArgValue{std::int64_t{1}}}, {"beta", ArgValue{beta}}};
      EXPECT_EQ(stored_lanes(p, binder.bind(l)), c.holds(beta) ? 64 : 32) << c.condition << " with " << beta;
    }
  }
}

TEST(Profile, AFloatingPointArgumentThatDecidesIsOneUnlessGivenAndSaidSo) {
  const KernelProfile p =
      profile_of("__kernel void k(__global float* a, float beta) { if (beta != 1.f) a[get_global_id(0)] = beta; }");
  Launch l;
  l.grid = {1};
  l.block = {32};
  Workload w = Binder(p, {}).bind(l);
  EXPECT_EQ(stored_lanes(p, w), 0);
  ASSERT_THAT(w.assumptions, SizeIs(1));
  EXPECT_EQ(w.assumptions[0].what, "argument 'beta'");
  EXPECT_EQ(w.assumptions[0].value, "1.0");
  l.args["beta"] = std::nan("");
  EXPECT_THROW((void)Binder(p, {}).bind(l), ArgumentError);
}

TEST(Profile, ALoopThatEndsByAFlagIsCounted) {
  Source source;
  source.path = "flag.ll";
  source.language = Language::llvm_ir;
  source.text =
      "target triple = \"nvptx64-nvidia-cuda\"\n"
      "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
      "define ptx_kernel void @flag(ptr addrspace(1) %out) {\n"
      "entry:\n"
      "  %lid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
      "  br label %loop\n"
      "loop:\n"
      "  %last = phi i1 [ false, %entry ], [ true, %loop ]\n"
      "  %at = phi i32 [ %lid, %entry ], [ %next, %loop ]\n"
      "  %place = getelementptr float, ptr addrspace(1) %out, i32 %at\n"
      "  store volatile float 1.0, ptr addrspace(1) %place\n"
      "  %next = add nsw i32 %at, 32\n"
      "  br i1 %last, label %done, label %loop, !llvm.loop !0\n"
      "done:\n"
      "  ret void\n"
      "}\n"
      "!0 = distinct !{!0, !1}\n"
      "!1 = !{!\"llvm.loop.unroll.disable\"}\n";
  FrontendOptions options;
  options.target = "sm_70";
  const KernelProfile p = analyze(source, options).profile;
  ASSERT_THAT(p.loops, SizeIs(1));
  EXPECT_LT(p.loops[0].unknown, 0);
  EXPECT_EQ(runs(p.loops[0], values(3, 0, 32, 1, 0)), 2);
}

TEST(Profile, AddressesStayBehindTheirGuardAndSumsInFrontOfTheirs) {
  // 64 products read once and summed twice; sunk behind the two guards they would all stay alive.
  const std::string text =
      "__kernel void two(__global const float* x, __global float* y, int n) {\n"
      "  int i = get_global_id(0);\n  float a = 0, b = 0;\n"
      "  #pragma unroll\n  for (int k = 0; k < 64; ++k) { float v = x[i + k * n]; a += v; b = b * v + 1; }\n"
      "  if (i < n) y[i] = a;\n  if (i + n < 1000) y[i + n] = b;\n}\n";
  const KernelProfile p = profile_of(text);
  EXPECT_LT(p.registers.per_thread, 64);
}

TEST(Profile, DisjointPathsOfAnElseCoverEverything) {
  const KernelProfile p = profile_of(
      "__kernel void k(volatile __global int* a, int n) {\n"
      "  int i = get_local_id(0);\n"
      "  if (i < n) { if (i > 3) a[i] = 1; else a[i] = 2; } else a[i] = 3;\n}\n");
  for (std::int64_t lid : {0, 3, 4, 9, 10, 31}) {
    const SymbolValues v = values(lid, 0, 32, 1, 10);
    std::int64_t stores = 0;
    for (const Block& b : p.blocks)
      for (const Access& a : b.accesses) {
        (void)a;
        for (const Path& path : b.guard.paths) stores += path.condition.evaluate(v);
      }
    EXPECT_EQ(stores, 1) << "lane " << lid;
  }
}

// Dialects tell the same story.

const char* const cuda_matmul =
    "__global__ void mm(const float* A, const float* B, float* C, int M, int N, int K) {\n"
    "  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "  if (row < M && col < N) { float s = 0; for (int k = 0; k < K; ++k) s += A[row * K + k] * B[k * N + col];\n"
    "  C[row * N + col] = s; }\n}\n";
const char* const opencl_matmul =
    "__kernel void mm(__global const float* A, __global const float* B, __global float* C, int M, int N, int K) {\n"
    "  int col = get_global_id(0), row = get_global_id(1);\n"
    "  if (row < M && col < N) { float s = 0; for (int k = 0; k < K; ++k) s += A[row * K + k] * B[k * N + col];\n"
    "  C[row * N + col] = s; }\n}\n";
const char* const c_matmul =
    "void mm(const float* A, const float* B, float* C, int M, int N, int K) {\n"
    "  for (int row = 0; row < M; ++row) for (int col = 0; col < N; ++col) {\n"
    "    float s = 0; for (int k = 0; k < K; ++k) s += A[row * K + k] * B[k * N + col];\n"
    "    C[row * N + col] = s; }\n}\n";

std::vector<std::string> access_texts(const KernelProfile& p) {
  std::vector<std::string> out;
  for (const Block& b : p.blocks)
    for (const Access& a : b.accesses)
      out.push_back(std::string(name_of(a.kind)) + " " + p.buffers[static_cast<std::size_t>(a.buffer)].name + " " +
                    std::to_string(a.bytes) + " x" + std::to_string(static_cast<int>(a.copies())));
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Profile, OpenClCudaAndALoopNestHaveTheSameAccesses) {
  const auto reference = access_texts(profile_of(opencl_matmul));
  EXPECT_EQ(access_texts(profile_of(cuda_matmul, Language::cuda)), reference);
  EXPECT_EQ(access_texts(profile_of(c_matmul, Language::c, "mm", "sm_70", {"row", "col"})), reference);
  EXPECT_EQ(lane_ops(profile_of(c_matmul, Language::c, "mm", "sm_70", {"row", "col"}), OpClass::fp32_fma),
            lane_ops(profile_of(opencl_matmul), OpClass::fp32_fma));
}

TEST(Profile, LoopsMarkedByPragmaBecomeWorkItems) {
  const KernelProfile p = profile_of(
      "void add(const float* a, float* b, int n, int m) {\n#pragma omp parallel for collapse(2)\n"
      "  for (int i = 0; i < n; ++i)\n    for (int j = 0; j < m; ++j)\n      b[i * m + j] += a[i * m + j];\n}\n",
      Language::c);
  EXPECT_EQ(p.mapped_axes, 2);
  ASSERT_THAT(p.mapped_extent, SizeIs(2));
  for (std::int64_t extent : {0, 1, 100}) {
    EXPECT_EQ(p.mapped_extent[0].evaluate({{argument("n"), 7}, {argument("m"), extent}}), extent);
    EXPECT_EQ(p.mapped_extent[1].evaluate({{argument("n"), extent}, {argument("m"), 7}}), extent);
  }
  EXPECT_TRUE(p.loops.empty());
  const Expr m(argument("m"));
  const Expr x = Expr(group_id(0)) * Expr(local_size(0)) + Expr(local_id(0)),
             y = Expr(group_id(1)) * Expr(local_size(1)) + Expr(local_id(1));
  EXPECT_EQ(only_access(p, MemorySpace::global, AccessKind::store).offset, 4 * (y * m + x));
}

// The sum i + 1 is both the next iteration and a bound of the inner loop, in which it is made.
TEST(Profile, ALoopWhoseNextIterationAnInnerLoopNamesBecomesWorkItems) {
  const KernelProfile p = profile_of(
      "void csr(const int* row, const float* v, const float* x, float* y, int n) {\n#pragma omp parallel for\n"
      "  for (int i = 0; i < n; ++i) {\n    float s = 0;\n"
      "    for (int k = row[i]; k < row[i + 1]; ++k) s += v[k] * x[k];\n    y[i] = s;\n  }\n}\n",
      Language::c);
  EXPECT_EQ(p.mapped_axes, 1);
  ASSERT_THAT(p.mapped_extent, SizeIs(1));
  EXPECT_EQ(p.mapped_extent[0].evaluate({{argument("n"), 100}}), 100);
}

TEST(Profile, LoopsThatCannotBeWorkItemsAreRefused) {
  const std::string sum =
      "void f(const float* a, float* b, int n) {\n  float s = 0;\n  for (int i = 0; i < n; ++i) s += a[i];\n  b[0] = "
      "s;\n}\n";
  try {
    profile_of(sum, Language::c, "f", "sm_70", {"i"});
    FAIL() << "accepted";
  } catch (const UserError& e) {
    EXPECT_THAT(e.what(), HasSubstr("carries 's'"));
    EXPECT_THAT(e.what(), HasSubstr("line 3"));
  }
  EXPECT_THROW(profile_of(sum, Language::c, "f", "sm_70", {"q"}), UserError);
  EXPECT_THROW(profile_of(sum, Language::c), UserError);
}

// The join of structure and code loses nothing: lines sum to blocks for every target.

TEST(Profile, LinesSumToBlocksOnEveryTarget) {
  for (const char* target : {"sm_20", "sm_35", "sm_52", "sm_70", "sm_90", "gfx600", "gfx803", "gfx906", "gfx90a",
                             "gfx942", "gfx1030", "gfx1100"}) {
    const KernelProfile p = profile_of(opencl_matmul, Language::opencl, "", target);
    EXPECT_EQ(p.target, target);
    EXPECT_GT(p.registers.per_thread, 0) << target;
    double fma = 0;
    for (const Block& b : p.blocks) {
      OpCounts sum;
      for (const LineOps& l : b.lines) sum += l.ops;
      for (std::size_t c = 0; c < op_class_count; ++c)
        EXPECT_NEAR(sum.n[c], b.ops.n[c], 1e-9) << target << " " << b.name;
      fma += b.ops[OpClass::fp32_fma] + b.ops[OpClass::fp32_mul];
    }
    EXPECT_GT(fma, 0) << target;
  }
}

TEST(Profile, BarriersAfterASharedStoreAreFlat) {
  const KernelProfile p = profile_of(
      "__kernel void k(__global const float* a, __global float* b) {\n  __local float t[64];\n  int i = "
      "get_local_id(0);\n"
      "  t[i] = a[i];\n  barrier(CLK_LOCAL_MEM_FENCE);\n  float v = t[63 - i] * 3.0f;\n  "
      "barrier(CLK_LOCAL_MEM_FENCE);\n  b[i] = v;\n}\n");
  int barriers = 0;
  for (const Block& b : p.blocks) barriers += b.barriers;
  EXPECT_EQ(barriers, 2);
  EXPECT_EQ(p.static_shared_bytes, 256);
}

// What it does would be most of the time: no number.
TEST(Profile, FunctionsWithoutABodyGiveNoProfile) {
  for (const char* target : {"sm_70", "gfx90a"}) {
    try {
      (void)profile_of("float foo(float x);\n__kernel void k(__global float* a) { a[get_global_id(0)] = foo(1.0f); }\n",
                       Language::opencl, "", target);
      ADD_FAILURE() << target;
    } catch (const UserError& e) {
      EXPECT_THAT(e.what(), HasSubstr("calls 'foo' (test.cl:2), which has no body here"));
    }
  }
}

/// What is said about loops that stay.
std::vector<std::string> loops_that_stay(const std::string& body, const std::string& target = "sm_70") {
  const KernelProfile p =
      profile_of("__global__ void k(float* a, int n) {\n" + body + "}\n", Language::cuda, "", target);
  std::vector<std::string> said;
  for (const Assumption& a : p.assumptions)
    if (a.what.find("does not unroll") != std::string::npos) said.push_back(a.what + " = " + a.value);
  return said;
}

TEST(Profile, LoopsThatStayInSpiteOfAPragmaAreNamed) {
  const std::string sum = "for (int i = 0; i < 30000; ++i) s = s * a[i] + a[i + 7];\na[threadIdx.x] = s;";
  EXPECT_THAT(
      loops_that_stay("float s = 0;\n#pragma unroll\n" + sum),
      ElementsAre(AllOf(HasSubstr("test.cu:"), HasSubstr("in spite of its pragma"), HasSubstr("trips are left"))));
  EXPECT_THAT(loops_that_stay("float s = 0;\n#pragma unroll\n" + sum, "gfx90a"), SizeIs(1));
  EXPECT_THAT(loops_that_stay("float s = 0;\n" + sum), SizeIs(0));  // nobody asked
  EXPECT_THAT(loops_that_stay("float s = 0;\n#pragma unroll\nfor (int i = 0; i < 64; ++i) s = s * a[i];\na[0] = s;"),
              SizeIs(0));                                                             // it is unrolled
  EXPECT_THAT(loops_that_stay("float s = 0;\n#pragma unroll 4\n" + sum), SizeIs(0));  // by four, as asked
}

TEST(Profile, LoopsOverAPrivateArrayThatStayAreNamed) {
  const auto sums = [](int size) {
    const std::string n = std::to_string(size);
    return "float s[" + n + "];\nfor (int i = 0; i < " + n + "; ++i) s[i] = 0;\n" +
           "for (int k = 0; k < n; ++k)\nfor (int i = 0; i < " + n + "; ++i)\nfor (int j = 0; j < " + n +
           "; ++j) s[i] += a[k + i] * a[k * j];\n" + "for (int i = 0; i < " + n + "; ++i) a[i * n] = s[i];";
  };
  EXPECT_THAT(loops_that_stay(sums(8)), SizeIs(0));
  EXPECT_THAT(loops_that_stay(sums(48)), Contains(HasSubstr("whose counter indexes a private array")));
}

TEST(Profile, LibraryFunctionsOfOpenClAreCountedOnEveryTarget) {
  for (const char* target : {"sm_70", "gfx90a"}) {
    const KernelProfile p = profile_of(
        "__kernel void k(__global float* a) {\n  int i = get_global_id(0);\n  float4 v = vload4(i, a);\n"
        "  vstore4(fma(v, v, v), i, a);\n}\n",
        Language::opencl, "", target);
    EXPECT_THAT(p.assumptions, SizeIs(0)) << target;
    EXPECT_EQ(lane_ops(p, OpClass::fp32_fma), 4) << target;
    double read = 0, written = 0;
    for (const Block& b : p.blocks)
      for (const Access& a : b.accesses) (a.kind == AccessKind::load ? read : written) += a.copies() * a.bytes;
    EXPECT_EQ(read, 16) << target;
    EXPECT_EQ(written, 16) << target;
  }
}

TEST(Profile, TexturesRecursionAndPointersToFunctionsAreSaidSo) {
  EXPECT_THROW(
      profile_of("__global__ void k(float* a, float (*f)(float)) { a[threadIdx.x] = f(a[0]); }", Language::cuda),
      UserError);
  EXPECT_THROW(profile_of("__device__ int g(int n) { return n < 2 ? n : g(n - 1) * g(n - 2); }\n"
                          "__global__ void k(int* a) { a[0] = g(a[1]); }",
                          Language::cuda),
               UserError);
}

}  // namespace
}  // namespace kernelcast
