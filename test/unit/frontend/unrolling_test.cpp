// Which loops are unrolled, and how far, as NVRTC 11.8, 12.4 and 13.0 do it (all three alike, sm_80).
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "unit/frontend/ptx_support.h"

namespace kernelcast::frontend {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

std::string replaced(std::string text, const std::string& from, int number) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at))
    text.replace(at, from.size(), std::to_string(number));
  return text;
}

/// Largest number of trips N at which NVRTC leaves no loop (no array in local memory).
struct Limit {
  const char* body;
  int trips;
};

// By nvcc 13.0 for sm_90a: each is a signed division, and the loop of 32 trips has eight copies.
TEST(Unrolling, RegistersOfTheLaunchHaveNoSignWhereTheyAreDivided) {
  for (const char* e :
       {"(int)threadIdx.x / 16", "((int)threadIdx.y * 32 + (int)threadIdx.x) / 16", "(int)blockIdx.x / 16"})
    EXPECT_NE(count(ptx_of("c[0] = " + std::string(e) + ";", "int"), "shr.s32"), 0U) << e;
  const std::string tile = ptx_of(
      "extern __shared__ float s[]; int tid = threadIdx.z * 64 + threadIdx.y * 32 + threadIdx.x;\n"
      "for (int i = 0; i < 32; ++i) { int row = i * 4 + tid / 32, col = tid % 32;\n"
      "s[row / 16 * 512 + col / 16 * 256 + row % 16 * 16 + col % 16] = a[(blockIdx.y * 128 + row) * n + col]; }\n"
      "__syncthreads(); c[tid] = s[tid ^ 7];");
  EXPECT_EQ(count(tile, "ld.global"), 8U);
}

TEST(Unrolling, LoopsAreUnrolledWholeUpToTheSizeOfNvrtc) {
  constexpr Limit limits[] = {
      {"float s = 0; for (int i = 0; i < N; ++i) s += a[i * 1024 + threadIdx.x]; c[threadIdx.x] = s;", 57},
      {"float s = 0; for (int i = 0; i < N; ++i) s += a[i]; c[threadIdx.x] = s;", 80},
      {"for (int i = 0; i < N; ++i) c[i * 1024 + threadIdx.x] = 1;", 67},
      {"for (int i = 0; i < N; ++i) c[i * 1024 + threadIdx.x] = a[i * 1024 + threadIdx.x];", 50},
      {"float s = 0; for (int i = 0; i < N; ++i) s += a[d[i * 32 + threadIdx.x]]; c[threadIdx.x] = s;", 44},
      {"float s = a[0], x = a[1], y = a[2];\n"
       "for (int i = 0; i < N; ++i) { s = s * x + y; s = s * y + x; s = s * x + y; s = s * y + x; } c[threadIdx.x] = "
       "s;",
       44}};
  for (const auto& [body, trips] : limits) {
    EXPECT_EQ(count(ptx_of(replaced(body, "N", trips)), "bra"), 0U) << body;
    EXPECT_NE(count(ptx_of(replaced(body, "N", trips + 1 + trips % 2)), "bra"), 0U) << body;  // odd: not in two steps
  }
}

TEST(Unrolling, LoopsOverPrivateArraysAreUnrolledSixTimesAsFar) {
  // NVRTC's limits are met within a quarter: sizes are taken before some of what NVRTC has simplified by then.
  constexpr Limit limits[] = {
      {"float s[N]; for (int i = 0; i < N; ++i) s[i] = a[i];\n"
       "for (int i = 0; i < N; ++i) c[i * 1024 + threadIdx.x] = s[i];",
       303},
      {"float s[N]; for (int i = 0; i < N; ++i) s[i] = 0;\n"
       "for (int k = 0; k < n; ++k) for (int i = 0; i < N; ++i) s[i] += a[k * N + i];\n"
       "for (int i = 0; i < N; ++i) c[i * 1024 + threadIdx.x] = s[i];",
       303},
      {"float s[16 * N], x[16], y[N]; for (int i = 0; i < 16; ++i) for (int j = 0; j < N; ++j) s[i * N + j] = 0;\n"
       "for (int k = 0; k < n; ++k) {\n"
       "for (int i = 0; i < 16; ++i) x[i] = a[k * 16 + i + threadIdx.x * 64];\n"
       "for (int j = 0; j < N; ++j) y[j] = a[k * N + j + threadIdx.x * 64];\n"
       "for (int i = 0; i < 16; ++i) for (int j = 0; j < N; ++j) s[i * N + j] += x[i] * y[j]; }\n"
       "for (int i = 0; i < 16; ++i) for (int j = 0; j < N; ++j) c[(i * N + j) * 1024 + threadIdx.x] = s[i * N + j];",
       18},
      {"float s[4][4][N];\n"
       "for (int x = 0; x < 4; ++x) for (int i = 0; i < 4; ++i) for (int j = 0; j < N; ++j) s[x][i][j] = 0;\n"
       "for (int k = 0; k < n; ++k)\n"
       "for (int x = 0; x < 4; ++x) for (int i = 0; i < 4; ++i) for (int j = 0; j < N; ++j)\n"
       "s[x][i][j] += a[k + x] * a[i * n] * a[j * 512];\n"
       "for (int x = 0; x < 4; ++x) for (int i = 0; i < 4; ++i) for (int j = 0; j < N; ++j)\n"
       "c[((x * 4 + i) * N + j) * 1024 + threadIdx.x] = s[x][i][j];",
       14}};
  for (const auto& [body, trips] : limits) {
    EXPECT_EQ(count(ptx_of(replaced(body, "N", trips * 4 / 5)), ".local."), 0U) << body;
    EXPECT_NE(count(ptx_of(replaced(body, "N", trips * 3 / 2)), ".local."), 0U) << body;
  }
}

// 4 x 4 x 8 products of 16 x 8 x 16 with their operands in private arrays: nvcc 13.0 unrolls them all (241 registers).
TEST(Unrolling, ProductsOfPrivateArraysAreUnrolledWhole) {
  const std::string body =
      "unsigned x[4][4][4], y[4][8][2]; float s[4][8][4] = {};\n"
      "for (int o = 0; o < n; ++o) {\n"
      "for (int k = 0; k < 4; ++k) for (int i = 0; i < 4; ++i) for (int j = 0; j < 4; ++j) x[k][i][j] = d[o + k + i * "
      "j];\n"
      "for (int k = 0; k < 4; ++k) for (int i = 0; i < 8; ++i) for (int j = 0; j < 2; ++j) y[k][i][j] = d[o - k - i * "
      "j];\n"
      "for (int k = 0; k < 4; ++k) for (int i = 0; i < 4; ++i) for (int j = 0; j < 8; ++j)\n"
      "asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
      "%9}, \"\n"
      "\"{%10, %11, %12, %13};\" : \"=f\"(s[i][j][0]), \"=f\"(s[i][j][1]), \"=f\"(s[i][j][2]), \"=f\"(s[i][j][3])\n"
      ": \"r\"(x[k][i][0]), \"r\"(x[k][i][1]), \"r\"(x[k][i][2]), \"r\"(x[k][i][3]), \"r\"(y[k][j][0]), "
      "\"r\"(y[k][j][1]),\n"
      "\"f\"(s[i][j][0]), \"f\"(s[i][j][1]), \"f\"(s[i][j][2]), \"f\"(s[i][j][3]));\n}\n"
      "for (int i = 0; i < 4; ++i) for (int j = 0; j < 8; ++j) for (int k = 0; k < 4; ++k)\n"
      "c[((i * 8 + j) * 4 + k) * 128 + threadIdx.x] = s[i][j][k];";
  const std::string ptx = ptx_of(body);
  EXPECT_EQ(count(ptx, "mma.sync"), 128U);
  EXPECT_EQ(count(ptx, ".local."), 0U);
}

TEST(Unrolling, APragmaOnTheLoopOfAPrivateArrayIsObeyed) {
  const std::string body =
      "float s[32]; for (int i = 0; i < 32; ++i) s[i] = a[i * 8 + threadIdx.x];\n#pragma unroll 1\n"
      "for (int i = 0; i < 32; ++i) c[i * n] = s[i];";
  EXPECT_NE(count(ptx_of(body), "ld.local"), 0U);
}

// What nvcc 13.0 makes for sm_80 and sm_86: `#pragma unroll` on an inner loop unrolls it whole, and what then is the
// innermost loop is unrolled by its size, with a remainder: 4 + 1 copies of 8 loads, 2 + 1 of 16, one of 32.
TEST(Unrolling, ALoopAroundPragmasIsInnermost) {
  const auto loads = [](int k) {
    return count(ptx_of("float s = 0; for (int i = 0; i < n; ++i) {\n#pragma unroll\nfor (int k = 0; k < " +
                        std::to_string(k) + "; ++k) s += a[i * " + std::to_string(k) + " + k] * a[(i * " +
                        std::to_string(k) + " + k) * n + threadIdx.x]; }\nc[threadIdx.x] = s;"),
                 "ld.global");
  };
  EXPECT_EQ(loads(4), 5 * 8U);
  EXPECT_EQ(loads(8), 3 * 16U);
  EXPECT_EQ(loads(16), 32U);
}

/// Multiply-adds in the code of a loop of `statements` multiply-adds, over those of one passage.
std::size_t copies(int statements, const std::string& trips) {
  std::string body = "float s = a[0], x = a[1], y = a[2];\nfor (int i = 0; i < " + trips + "; ++i) {";
  for (int k = 0; k < statements; ++k) body += k % 2 ? " s = s * x + y;" : " s = s * y + x;";
  const std::size_t found = count(ptx_of(body + " }\nc[threadIdx.x] = s;"), "fma.rn");
  EXPECT_EQ(found % static_cast<std::size_t>(statements), 0U);
  return found / static_cast<std::size_t>(statements);
}

// What nvcc 13.0 makes for sm_86. Its front end makes at most 202 instructions of copies by powers of two (a statement
// is two); ptxas unrolls that again.
TEST(Unrolling, KnownTripsAreUnrolledTwice) {
  for (const auto& [statements, number] : {std::pair{1, 320},
                                           {2, 160},
                                           {4, 80},
                                           {6, 48},
                                           {12, 8},
                                           {14, 24},
                                           {24, 4},
                                           {28, 12},
                                           {48, 2},
                                           {56, 6},
                                           {100, 1}})
    EXPECT_EQ(copies(statements, "960"), static_cast<std::size_t>(number)) << statements;
  for (const auto& [trips, number] :
       {std::pair{962, 962}, {990, 990}, {996, 996}, {1000, 160}, {1024, 128}, {194, 194}})
    EXPECT_EQ(copies(2, std::to_string(trips)), static_cast<std::size_t>(number)) << trips;
}

TEST(Unrolling, AddressesThatTakeTurnsAreNoEndlessWay) {
  const std::string body =
      "int p = d[0], q = d[1]; float s = 0;\n"
      "for (int i = 0; i < 500; ++i) { s += a[p] * a[q + 1]; const int last = p; p = q + 3; q = last + 5; }\n"
      "c[threadIdx.x] = s;";
  EXPECT_GT(count(ptx_of(body), "ld.global"), 0U);
}

TEST(Unrolling, LoopsOfUnknownTripsAreUnrolledByFourOrTwo) {
  // With the remainder's one; ptxas unrolls the smallest again, into 16 beside the 4.
  for (const auto& [statements, number] : {std::pair{1, 21}, {12, 5}, {24, 5}, {28, 3}, {40, 3}, {56, 1}})
    EXPECT_EQ(copies(statements, "n"), static_cast<std::size_t>(number)) << statements;
}

/// Loads that nvcc 13.0 makes for sm_90; 5: the loop is unrolled by four.
TEST(Unrolling, LoopsThatStartAndStepAlikeAreNot) {
  for (const auto& [start, step, loads] : {std::tuple{"threadIdx.x / 32", "blockDim.x / 32", 1},
                                           {"threadIdx.x >> 5", "blockDim.x >> 5", 1},
                                           {"threadIdx.y / 32", "blockDim.x / 32", 1},
                                           {"threadIdx.x / 33", "blockDim.x / 33", 1},
                                           {"threadIdx.x & 31", "blockDim.x & 31", 1},
                                           {"threadIdx.x * 2", "blockDim.x * 2", 1},
                                           {"blockIdx.x / 32", "gridDim.x / 32", 1},
                                           {"threadIdx.x", "blockDim.x", 5},
                                           {"threadIdx.x / 32", "blockDim.x / 64", 5},
                                           {"threadIdx.x", "blockDim.x / 32", 5},
                                           {"threadIdx.x / 32", "blockDim.x", 5},
                                           {"threadIdx.x / 32 + n", "blockDim.x / 32", 5},
                                           {"n / 32", "blockDim.x / 32", 5},
                                           {"threadIdx.x / 32", "n / 32", 5}})
    EXPECT_EQ(count(ptx_of(std::string("float s = 0; int step = ") + step + ";\nfor (int j = " + start +
                           "; j < n; j += step) s += a[j];\nc[threadIdx.x] = s;"),
                    "ld.global"),
              static_cast<std::size_t>(loads))
        << start << ' ' << step;
}

/// The same of loops whose step is unsigned, and so the sum, too; the last two have a signed one.
TEST(Unrolling, LoopsWhoseCounterMayWrapAreNot) {
  for (const auto& [type, start, step, loads] :
       {std::tuple{"int", "threadIdx.x", "blockDim.x", 1},
        {"unsigned", "threadIdx.x", "blockDim.x", 1},
        {"int", "blockIdx.x * blockDim.x + threadIdx.x", "gridDim.x * blockDim.x", 1},
        {"unsigned", "(threadIdx.y * blockDim.x + threadIdx.x) / 64", "(blockDim.x * blockDim.y) / 64", 1},
        {"int", "(threadIdx.x + 5) / 32", "blockDim.x / 32", 1},
        {"int", "(threadIdx.y * blockDim.x + threadIdx.x) / 64", "(blockDim.x * blockDim.y) / 32", 1},
        {"unsigned", "threadIdx.x / 64", "(unsigned)n / 64", 1},
        {"int", "threadIdx.x / 64", "n / 64", 5},
        {"int", "threadIdx.x / 32", "n", 5}})
    EXPECT_EQ(count(ptx_of("__shared__ float s[4096];\nfor (" + std::string(type) + " j = " + start +
                           "; j < 256; j += " + step +
                           ") s[8 * j] = a[j];\n__syncthreads(); c[threadIdx.x] = s[threadIdx.x ^ 1];"),
                    "ld.global"),
              static_cast<std::size_t>(loads))
        << type << ' ' << start << ' ' << step;
}

TEST(Unrolling, UnsignedSumsAreNoCounters) {
  EXPECT_EQ(
      count(ptx_of("unsigned s = 0; for (int j = 0; j < n; ++j) s += d[32 * j + threadIdx.x];\nc[threadIdx.x] = s;"),
            "ld.global"),
      21U);
}

TEST(Unrolling, BodiesOfMathematicalFunctionsCount) {
  // Loads of nvcc 13.0 for sm_86, with those of the remainder; 16 more where ptxas unrolls again.
  for (const auto& [term, loads] : {std::pair{"sqrtf(a[j])", 5},  // one instruction
                                    {"expf(a[j])", 21},           // 10
                                    {"fmaxf(a[j], 2)", 21},
                                    {"cbrt((double)a[j])", 3},  // 48
                                    {"tgammaf(a[j])", 1},       // 162
                                    {"sinf(a[j])", 1}})         // it has a loop
    EXPECT_EQ(
        count(ptx_of(std::string("float s = 0;\nfor (int j = 0; j < n; ++j) s += ") + term + ";\nc[threadIdx.x] = s;"),
              "ld.global"),
        static_cast<std::size_t>(loads))
        << term;
}

/// Loads of the loop that ptxas 13.0 makes for sm_86, with the 4 and the 1 of what is left; 5: it unrolls no further.
TEST(Unrolling, PtxasUnrollsSmallLoopsOnceMore) {
  for (const auto& [body, loads] : {std::pair{"s += a[t + j];", 21},
                                    {"s += rsqrtf(a[t + j]);", 21},
                                    {"s += a[threadIdx.x * n + j];", 5},  // an unsigned index
                                    {"s += x / a[t + j];", 5},            // branches
                                    {"s += sqrtf(a[t + j]);", 5},         // branches
                                    {"s += logf(a[t + j]);", 5},          // 115 instructions for four
                                    {"s += a[t + j] + a[t + j + 100] + c[t + j];", 63},
                                    {"s += a[t + j] + a[t + j + 100] + c[t + j] + c[t + j + 100];", 20},
                                    {"s += a[t + j] + a[t + j + 100] + c[t + j] + c[t + j + 100] + d[j];", 25}})
    EXPECT_EQ(count(ptx_of(std::string("float s = 0, x = n; int t = threadIdx.x;\n") +
                           "for (int j = 0; j < n; ++j) { " + body + " }\nc[t] = s;"),
                    "ld.global"),
              static_cast<std::size_t>(loads))
        << body;
}

TEST(Unrolling, LoopsAroundLoopsThatStayAreLeftAlone) {
  for (const char* trips : {"n", "12"})
    EXPECT_EQ(count(ptx_of(std::string("float s = a[0], x = a[1];\nfor (int j = 0; j < ") + trips +
                           "; ++j) for (int i = 0; i < n; ++i) s = s * x + a[j * 8 + i];\nc[threadIdx.x] = s;"),
                    "fma.rn"),
              21U)
        << trips;
  // Unrolled whole inside, the outer loop counts as one without loops.
  EXPECT_EQ(count(ptx_of("float s = a[0], x = a[1];\nfor (int j = 0; j < n; ++j) for (int i = 0; i < 8; ++i)\n"
                         "s = s * x + a[j * 8 + i];\nc[threadIdx.x] = s;"),
                  "fma.rn"),
            40U);
}

// 15 x 15 filters of a tile in shared memory, as many outputs a thread as rows times columns. ptxas 12.4 finds an order
// of 3,200 instructions that fits the registers, and spills 5,252 bytes of one of 8,200 (sm_75, block of 32 x 8).
std::string filter(int columns, int rows) {
  return "#define C " + std::to_string(columns) + "\n#define R " + std::to_string(rows) + R"(
__constant__ float d[225];
extern "C" __global__ void k(float* out, const float* in) {
  __shared__ float t[8 * R + 14][32 * C + 14];
  int x = threadIdx.x, y = threadIdx.y;
  for (int j = y; j < 8 * R + 14; j += 8)
    for (int i = x; i < 32 * C + 14; i += 32) t[j][i] = in[(blockIdx.y * 8 * R + j) * 4110 + blockIdx.x * 32 * C + i];
  __syncthreads();
  float s[R][C] = {};
#pragma unroll
  for (int i = 0; i < 15; ++i)
#pragma unroll
    for (int j = 0; j < 15; ++j)
#pragma unroll
      for (int a = 0; a < R; ++a)
#pragma unroll
        for (int b = 0; b < C; ++b) s[a][b] += t[y + a * 8 + i][x + b * 32 + j] * d[i * 15 + j];
#pragma unroll
  for (int a = 0; a < R; ++a)
#pragma unroll
    for (int b = 0; b < C; ++b) out[((blockIdx.y * R + a) * 8 + y) * 4096 + (blockIdx.x * C + b) * 32 + x] = s[a][b];
}
)";
}

TEST(Unrolling, LongBlocksStayInTheOrderOfTheirText) {
  Source s;
  s.path = "test.cu";
  s.text = filter(2, 4);
  const Registers reordered = code_of_source(s, "k", "sm_75").registers;
  EXPECT_LE(reordered.per_thread, 64);
  EXPECT_EQ(reordered.spill_bytes, 0);
  EXPECT_GT(reordered.in_text_order, 255);
  s.text = filter(7, 3);
  const Registers as_text = code_of_source(s, "k", "sm_75").registers;
  EXPECT_EQ(as_text.per_thread, 255);
  EXPECT_GT(as_text.spill_bytes, 0.7 * 5252);
  EXPECT_LT(as_text.spill_bytes, 1.3 * 5252);
}

// nvcc 13.0 for sm_89: four LDS.128, of an array that the source aligns to 4 bytes.
TEST(Unrolling, SharedLoadsOfNeighbouringIterationsAreOne) {
  const std::string ptx = ptx_of(
      "__shared__ float s[128][64];\n"
      "for (int i = threadIdx.x; i < 8192; i += 256) s[i / 64][i % 64] = a[i];\n"
      "__syncthreads();\n"
      "const float* t = (const float*)s + (threadIdx.x / 32 * 16 + threadIdx.x % 32 / 8 * 4) * 64;\n"
      "float sums[8] = {0};\n"
      "for (int k = 0; k < 64; k++) {\n"
      "  float r[4];\n"
      "  for (int m = 0; m < 4; m++) r[m] = t[m * 64 + k];\n"
      "  for (int i = 0; i < 8; i++) for (int m = 0; m < 4; m++) sums[i] += r[m] * (i + n) * sums[(i + 1) % 8];\n"
      "}\n"
      "float x = 0; for (int i = 0; i < 8; i++) x += sums[i];\n"
      "c[threadIdx.x] = x;\n");
  EXPECT_EQ(count(ptx, "ld.shared.v4.f32"), 4U);
  EXPECT_EQ(count(ptx, "ld.shared.f32"), 0U);
}

}  // namespace
}  // namespace kernelcast::frontend
