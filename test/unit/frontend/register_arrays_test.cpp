// Which private arrays of unknown index live in registers, as ptxas 12.4 has them for the PTX of NVRTC 12.4 (sm_75).
#include <gtest/gtest.h>

#include <string>

#include "unit/frontend/ptx_support.h"

namespace kernelcast::frontend {
namespace {

bool in_registers(const std::string& type, int elements, const std::string& loop) {
  const std::string n = std::to_string(elements);
  return ptx_of(type + " v[" + n + "];\nfor (int i = 0; i < " + n +
                    "; ++i) v[i] = a[i];\n#pragma unroll 1\nfor (int k = 0; k < n; ++k) {" + loop +
                    "}\nfor (int i = 0; i < " + n + "; ++i) c[threadIdx.x + i * 32] = v[i];",
                type, "sm_75")
             .find(".local.") == std::string::npos;
}

std::string repeated(int times, const std::string& before, const std::string& after) {
  std::string text;
  for (int i = 0; i < times; ++i) text += before + std::to_string(7 * i) + after;
  return text;
}

/// Most elements of an array with which `loop` keeps it in registers.
struct Kept {
  std::string loop;
  int elements;
};

TEST(RegisterArrays, OfUnknownIndexLiveInRegistersUpToTheLimitsOfPtxas) {
  const Kept limits[] = {{repeated(1, "v[d[k + ", "]] += a[k];"), 7},
                         {repeated(2, "v[d[k + ", "]] += a[k];"), 5},
                         {repeated(3, "v[d[k + ", "]] += a[k];"), 4},
                         {repeated(3, "v[d[k + ", "]] = a[k];"), 7},
                         {repeated(6, "v[d[k + ", "]] = a[k];"), 5}};
  for (const auto& [loop, elements] : limits) {
    EXPECT_TRUE(in_registers("float", elements, loop)) << loop;
    EXPECT_FALSE(in_registers("float", elements + 1, loop)) << loop;
  }
}

// nvcc 13.0 for sm_86: no stack beside 160 multiply-adds, 32 bytes of it beside 16. Three vectors: 48 bytes in both.
TEST(RegisterArrays, ALongLoopKeepsMoreOfThemInRegisters) {
  const auto without_memory = [](int vectors, int length) {
    std::string body =
        "__shared__ float4 s[1024]; float sum = 0; int t = threadIdx.x;\nfor (int i = 0; i < n; ++i) {\n";
    for (int k = 0; k < vectors; ++k)
      body +=
          "{ unsigned long long at = i * 32 + t % 8 * 4; int4 v{0, 0, 0, 0};\n"
          "if (t + " +
          std::to_string(k * 32) + " < d[0] && at < d[1]) v = *(const int4*)&a[(t + " + std::to_string(k * 32) +
          ") * d[1] + at];\n"
          "if (at + 4 > d[1]) { unsigned long long bad = at + 4 - d[1]; float* p = (float*)&v;\n"
          "for (unsigned long long j = 0; j < bad; ++j) p[3 - j] = 0; }\n"
          "*(int4*)&s[t + " +
          std::to_string(k * 128) + "] = v; }\n";
    body += "__syncthreads();\n#pragma unroll\nfor (int j = 0; j < " + std::to_string(length) +
            "; ++j) sum += ((float*)s)[(t + j * 32) % 4096] * ((float*)s)[t / 32 * 32 + j];\n__syncthreads(); }\n"
            "c[t] = sum;";
    return ptx_of(body, "float", "sm_86").find(".local.") == std::string::npos;
  };
  EXPECT_TRUE(without_memory(2, 160));
  EXPECT_FALSE(without_memory(2, 16));
  EXPECT_FALSE(without_memory(3, 160));
}

TEST(RegisterArrays, ACounterMeansTheElementsOfItsPassagesAndNeighboursCountOnce) {
  const auto passages = [](int unrolled, int number) {
    const std::string n = std::to_string(unrolled * number);
    return in_registers("float", unrolled * number,
                        "float x = a[k];\n#pragma unroll " + std::to_string(unrolled) + "\nfor (int j = 0; j < " + n +
                            "; ++j) { v[j] += x * rsqrtf(x); x += 1.f; }");
  };
  for (const auto& [unrolled, most] : {std::pair{1, 7}, {2, 11}, {4, 13}, {8, 8}}) {
    EXPECT_TRUE(passages(unrolled, most)) << unrolled;
    EXPECT_FALSE(passages(unrolled, most + (unrolled == 4 ? 4 : 1))) << unrolled;  // 64 elements are the most
  }
}

// nvcc 13.0 for sm_86: stores of two elements, which are constant, and a load of local memory; no table.
TEST(RegisterArrays, ConstantTablesOfAThreadAreStoredInItsMemory) {
  std::string values;
  for (int k = 0; k < 64; ++k) values += std::to_string(k * 37 % 23) + ".5f, ";
  const std::string ptx = ptx_of("const float t[64] = {" + values + "}; c[threadIdx.x] = t[d[threadIdx.x] & 63];");
  EXPECT_NE(ptx.find("st.local"), std::string::npos);
  EXPECT_NE(ptx.find("ld.local"), std::string::npos);
  const std::string table = ptx_of("static const float t[64] = {" + values + "}; c[threadIdx.x] = t[d[threadIdx.x]];");
  EXPECT_EQ(table.find(".local."), std::string::npos);
}

// nvcc 13.0 for sm_75: LDG.E.128 and STS.128, no stack.
TEST(RegisterArrays, OfStructuresThatAreOnlyCopiedLiveInRegisters) {
  const std::string ptx = ptx_of(R"(
    __shared__ float4 s[128];
    float4 v[4];
    for (int k = 0; k < n; ++k) {
      if (k + 1 < n) for (int i = 0; i < 4; ++i) v[i] = reinterpret_cast<const float4*>(a)[k * 128 + i * 32 + threadIdx.x];
      __syncthreads();
      c[threadIdx.x + k] = s[threadIdx.x].x;
      __syncthreads();
      if (k + 1 < n) for (int i = 0; i < 4; ++i) s[i * 32 + threadIdx.x] = v[i];
    })");
  EXPECT_EQ(ptx.find(".local."), std::string::npos) << ptx;
  EXPECT_NE(ptx.find("ld.global.v4"), std::string::npos);
  EXPECT_NE(ptx.find("st.shared.v4"), std::string::npos);
}

TEST(RegisterArrays, OfSixtyFourBitElementsStayInMemory) {
  EXPECT_FALSE(in_registers("double", 2, "v[d[k]] += a[k];"));
  EXPECT_TRUE(in_registers("float", 2, "v[d[k]] += a[k];"));
}

// nvcc 13.0 for sm_86: the zeros are a register that the predicated load overwrites; one STL.128 behind it.
TEST(RegisterArrays, WhatOneWayOverwritesIsStoredOnTheOtherWay) {
  const std::string ptx = ptx_of(
      "double2 v{0, 0};\nif (d[0] > 3) v = *(const double2*)&a[threadIdx.x * 2];\n"
      "if (d[1] > 3) ((double*)&v)[d[2]] = 1;\n*(double2*)&c[threadIdx.x * 2] = v;",
      "double", "sm_86");
  const std::size_t branch = ptx.find("bra"), store = ptx.find("st.local");
  ASSERT_NE(branch, std::string::npos) << ptx;
  ASSERT_NE(store, std::string::npos) << ptx;
  EXPECT_GT(store, branch) << ptx;
  const std::string read = ptx_of(
      "double2 v{a[5], a[6]};\nc[9] = ((double*)&v)[d[3]];\nif (d[0] > 3) v = *(const double2*)&a[threadIdx.x * 2];\n"
      "if (d[1] > 3) ((double*)&v)[d[2]] = 1;\n*(double2*)&c[threadIdx.x * 2] = v;",
      "double", "sm_86");
  EXPECT_LT(read.find("st.local"), read.find("bra")) << read;
}

TEST(RegisterArrays, FragmentsOfHalvesStayInTheirRegisters) {
  Source s;
  s.path = "test.cu";
  s.text =
      "#include <mma.h>\nusing namespace nvcuda;\nextern \"C\" __global__ void k(half* out, const half* a, int n) {\n"
      "wmma::fragment<wmma::accumulator, 16, 16, 16, half> c;\nwmma::fill_fragment(c, 0.0);\n"
      "for (int k = 0; k < n; k += 16) {\nwmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;\n"
      "wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;\nwmma::load_matrix_sync(x, a + k, n);\n"
      "wmma::load_matrix_sync(y, a + k * n, n);\nwmma::mma_sync(c, x, y, c); }\n"
      "wmma::store_matrix_sync(out, c, n, wmma::mem_row_major); }";
  const TargetCode code = code_of_source(s, "k", "sm_80");
  EXPECT_NE(code.assembly.find("mma.sync"), std::string::npos);
  EXPECT_EQ(code.assembly.find("65535"), std::string::npos) << "a register taken apart";
}

// An array of halves that the product reads and writes as registers of two.
TEST(RegisterArrays, HalvesThatMatrixInstructionsJoinAreCarriedAsOneRegister) {
  Source s;
  s.path = "test.cu";
  s.text = R"(#include <cuda_fp16.h>
  extern "C" __global__ void k(const unsigned* x, __half* out, int n) {
    __half sums[4][4];
    unsigned (&pairs)[4][2] = reinterpret_cast<unsigned (&)[4][2]>(sums);
    for (int i = 0; i < 4; ++i) for (int j = 0; j < 4; ++j) sums[i][j] = 0;
#pragma unroll 1
    for (int k = 0; k < n; ++k)
      for (int i = 0; i < 4; ++i)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %6};"
                     : "=r"(pairs[i][0]), "=r"(pairs[i][1])
                     : "r"(x[k]), "r"(x[k + 1]), "r"(x[k + i]), "r"(pairs[i][0]), "r"(pairs[i][1]));
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) out[(i * 4 + j) * 64 + threadIdx.x * (j + 1)] = sums[i][j];
  })";
  const std::string ptx = code_of_source(s, "k", "sm_80").assembly;
  const std::size_t loop = ptx.find("mma.sync"), end = ptx.find("bra", loop);
  ASSERT_NE(loop, std::string::npos);
  EXPECT_EQ(ptx.substr(loop, end - loop).find("shr"), std::string::npos) << ptx;
  EXPECT_EQ(ptx.find("65535"), std::string::npos) << ptx;
}

// nvcc 13.0 has 128 HGMMA operands in registers over the loop, and 32 stores of four behind it.
TEST(RegisterArrays, ManyAccumulatorsStayInRegistersOverTheLoopThatFillsThem) {
  Source s;
  s.path = "test.cu";
  std::string operands, list;
  for (int k = 0; k < 128; ++k) {
    operands += std::string(k ? "," : "") + "%" + std::to_string(k);
    list += std::string(k ? "," : "") + "\"+f\"(c[" + std::to_string(k) + "])";
  }
  s.text = R"(extern "C" __global__ void k(float* out, unsigned long long a, int n, int stride) {
  float c[128];
  for (int i = 0; i < 128; ++i) c[i] = 0;
  for (int k = 0; k < n; ++k) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int i = 0; i < 4; ++i)
      asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {)" +
           operands + R"(}, %128, %129, p, 1, 1, 0, 0;}" : )" + list + R"( : "l"(a + i), "l"(a + k));
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
#pragma unroll 1
  for (int r = 0; r < 128; ++r) if (r * stride < n) out[r * stride + threadIdx.x] = c[r];
})";
  const std::string ptx = code_of_source(s, "k", "sm_90").assembly;
  const std::size_t loop = ptx.find("wgmma.fence"), end = ptx.find("wgmma.wait_group", loop);
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(ptx.substr(loop, end - loop).find("st.local"), std::string::npos);
  EXPECT_EQ(ptx.substr(loop, end - loop).find("ld.local"), std::string::npos);
  EXPECT_NE(ptx.find("st.local", end), std::string::npos) << "the last loop takes them by their number";
}

}  // namespace
}  // namespace kernelcast::frontend
