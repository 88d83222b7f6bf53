// What the preprocessor asked for decides the analysis: variants of a source that agree there have the same profile to
// the last byte, whatever the other defines are.
#include <gtest/gtest.h>

#include <map>

#include "kernelcast/frontend.h"
#include "profile/profile_bytes.h"

namespace kernelcast {
namespace {

using Names = std::vector<std::string>;

Analysis analysis_of(const std::string& name, const std::string& text, const Names& defines,
                     const std::string& target = "sm_70") {
  Source source;
  source.path = name;
  source.text = text;
  source.defines = defines;
  FrontendOptions options;
  options.target = target;
  return analyze(source, options);
}

constexpr const char* opencl_text = R"(
#define TILE (B * T)
#define FIRST(a, b) a
#define TEXT(a) #a
#ifdef USED
#if MODE == 1
#define STEP S
#else
#define STEP 1
#endif
#endif
__kernel void k(__global const float* in, __global float* out, int n) {
  const int i = get_global_id(0) * STEP + sizeof(TEXT(L)) * 0;
  float sum = 0;
#if MODE == 2
  #pragma unroll U
#endif
  for (int j = 0; j < 16; ++j) sum += in[(i + j * FIRST(2, TILE)) % n];
  if (i < n) out[i] = sum + __LINE__;
}
)";

constexpr const char* cuda_text = R"(
__launch_bounds__(BOUND)
__global__ void k(const float* in, float* out, int n) {
  __shared__ float tile[MODE == 1 ? 256 : 512];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = in[i];
  __syncthreads();
#pragma unroll UNROLL
  for (int j = 0; j < 8; ++j) tile[threadIdx.x] += in[(i + j) % n];
  out[i] = tile[threadIdx.x];
}
void host() { int blocks = GRID; (void)blocks; }
)";

TEST(Consulted, NamesOfOpenClMacros) {
  const Names defines = {"USED", "MODE=1", "S=2", "U=4", "B=8", "T=2", "L=5", "NEVER=3"};
  EXPECT_EQ(analysis_of("k.cl", opencl_text, defines).consulted, (Names{"MODE", "S"}));
  EXPECT_EQ(analysis_of("k.cl", opencl_text, {"USED", "MODE=2", "S=2", "U=4", "B=8", "T=2"}).consulted,
            (Names{"MODE", "U"}));
  // Definitions anew ask, and are warned of by what stood there.
  EXPECT_EQ(
      analysis_of("k.cl", "#define S 1\n__kernel void k(__global int* a) { a[0] = 1; }", {"S=2", "T=3"}).consulted,
      (Names{"S"}));
  EXPECT_EQ(analysis_of("k.cl", "#undef S\n__kernel void k(__global int* a) { a[0] = 1; }", {"S=2", "T=3"}).consulted,
            (Names{"S"}));
  EXPECT_EQ(analysis_of("k.cl", "#if T(1) == 1\n#endif\n__kernel void k(__global int* a) { a[0] = 1; }",
                        {"T(x)=x*A", "A=1", "B=2"})
                .consulted,
            (Names{"A", "T"}));
  EXPECT_EQ(analysis_of("k.cl", "#define __LINE_OF_B B\n__kernel void k(__global int* a) { a[0] = __LINE_OF_B; }",
                        {"A=1", "B=A"})
                .consulted,
            (Names{"A", "B"}));
}

TEST(Consulted, NamesOfCudaMacros) {
  EXPECT_EQ(analysis_of("k.cu", cuda_text, {"BOUND=256", "MODE=1", "UNROLL=2", "GRID=7", "BLOCK=64"}).consulted,
            (Names{"BOUND", "GRID", "MODE", "UNROLL"}));
  // A text may choose what stands before the source.
  EXPECT_EQ(analysis_of("k.cu", cuda_text, {"BOUND=256", "MODE=1", "UNROLL=2", "GRID=7", "TYPE=float4"}).consulted,
            (Names{"BOUND", "GRID", "MODE", "TYPE", "UNROLL"}));
}

TEST(Consulted, NothingIsSaidAfterErrorsThatWerePassedOver) {
  const std::string text = std::string(cuda_text) + "void broken() { undeclared(); kernel<<<1, 1>>>(); }\n";
  const Analysis a = analysis_of("k.cu", text, {"BOUND=256", "MODE=1", "UNROLL=2", "GRID=7"});
  EXPECT_FALSE(a.profile.notes.empty());
  EXPECT_EQ(a.consulted, std::nullopt);
}

TEST(Consulted, LlvmIrAsksForNothing) {
  const char* ir =
      "define ptx_kernel void @k(ptr addrspace(1) %p) {\n  store float 1.0, ptr addrspace(1) %p\n  ret void\n}\n";
  EXPECT_EQ(analysis_of("k.ll", ir, {"A=1"}).consulted, Names{});
}

TEST(Consulted, AnOlderStandardThatIsTriedNextAsksForBoth) {
  const char* text =
      "#if __OPENCL_C_VERSION__ >= 200\n#if A\n#error written for OpenCL 1.2\n#endif\n#endif\n#if B\n#endif\n"
      "__kernel void k(__global int* p) { p[0] = 1; }";
  const Analysis a = analysis_of("k.cl", text, {"A=1", "B=1", "C=1"});
  EXPECT_EQ(a.consulted, (Names{"A", "B"}));
}

/// All values of all names; names with the places of their values.
void every_variant(const std::vector<Names>& choices, std::size_t from, Names& chosen,
                   const std::function<void(const Names&)>& use) {
  if (from == choices.size()) {
    use(chosen);
    return;
  }
  for (const std::string& define : choices[from]) {
    chosen.push_back(define);
    every_variant(choices, from + 1, chosen, use);
    chosen.pop_back();
  }
}

struct Shared {
  std::size_t variants = 0, distinct = 0;
};

/// Profiles of variants that agree in what one of them consulted are the same bytes.
Shared check_all(const std::string& name, const std::string& text, const std::vector<Names>& choices,
                 const std::string& target) {
  struct Known {
    std::map<std::string, std::string> answers;  // of consulted names
    std::string bytes;
  };
  std::vector<Known> known;
  Shared shared;
  Names chosen;
  every_variant(choices, 0, chosen, [&](const Names& defines) {
    ++shared.variants;
    const Analysis a = analysis_of(name, text, defines, target);
    const std::string bytes = bytes_of(a.profile);
    std::map<std::string, std::string> all, answers;
    for (const std::string& d : defines) all.emplace(d.substr(0, d.find('=')), d);
    ASSERT_TRUE(a.consulted);
    for (const std::string& n : *a.consulted) answers.emplace(n, all.at(n));
    bool fresh = true;
    for (const Known& k : known) {
      bool same = true;
      for (const auto& [n, define] : k.answers) same = same && all.at(n) == define;
      if (!same) continue;
      fresh = false;
      EXPECT_EQ(answers, k.answers);
      EXPECT_EQ(bytes, k.bytes);
    }
    if (!fresh) return;
    ++shared.distinct;
    known.push_back({answers, bytes});
  });
  return shared;
}

TEST(Consulted, OpenClVariantsThatAgreeThereAreTheSame) {
  for (const char* target : {"sm_70", "gfx90a"}) {
    const Shared s = check_all(
        "k.cl", opencl_text,
        {{"USED"}, {"MODE=0", "MODE=1", "MODE=2"}, {"S=1", "S=2"}, {"U=2", "U=10000000"}, {"B=8", "B=1000"}}, target);
    EXPECT_EQ(s.variants, 24U);
    EXPECT_EQ(s.distinct, 1U + 2U + 2U) << target;
  }
}

TEST(Consulted, CudaVariantsThatAgreeThereAreTheSame) {
  const Shared s = check_all("k.cu", cuda_text,
                             {{"BOUND=256"},
                              {"MODE=1", "MODE=2"},
                              {"UNROLL=1", "UNROLL=8"},
                              {"GRID=1"},
                              {"block_size_x=8", "block_size_x=1024"}},
                             "sm_70");
  EXPECT_EQ(s.variants, 8U);
  EXPECT_EQ(s.distinct, 4U);
}

}  // namespace
}  // namespace kernelcast
