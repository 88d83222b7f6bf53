// What is kept of a file for its next kernel is what reading it again gives, and is not used when a header changes.
#include "frontend/source/unit_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "frontend/source/kernels.h"
#include "profile/profile_bytes.h"
#include "unit/frontend/compile_support.h"

namespace kernelcast::frontend {
namespace {

namespace fs = std::filesystem;

constexpr const char* two_kernels =
    "__device__ float twice(float x) { return x + x; }\n"
    "template <int N> __global__ void first(float* a) { for (int i = 0; i < N; ++i) a[threadIdx.x + i * 64] *= 3; }\n"
    "__global__ void second(float* a, int n) { __shared__ float s[64]; s[threadIdx.x] = twice(a[threadIdx.x]);\n"
    "  __syncthreads(); for (int i = 0; i < n; ++i) a[i] += s[i % 64]; }\n"
    "void host(float* a) { undeclared(a); first<5><<<1, 64>>>(a); }\n";  // an error of host code

std::string profile_of(const Source& s, const std::string& kernel) {
  FrontendOptions options;
  options.target = "sm_70";
  options.kernel = kernel;
  return bytes_of(analyze(s, options).profile);
}

TEST(UnitMemory, TheNextKernelIsAnalyzedAsIfItWereTheFirst) {
  const Source s = source("two_kernels.cu", two_kernels);
  const std::string key = run_key(s, Language::cuda, "sm_70");
  ASSERT_FALSE(recall_run(key, "second"));
  const std::string alone = profile_of(s, "second");
  EXPECT_TRUE(recall_run(key, "second"));
  EXPECT_TRUE(recall_run(key, "first<5>"));
  EXPECT_FALSE(recall_run(key, "first<6>"));
  const std::string first = profile_of(s, "first<5>");
  EXPECT_EQ(profile_of(s, "second"), alone);
  Source other = s;  // another name, so that it is read again
  other.defines.push_back("UNUSED");
  EXPECT_EQ(profile_of(other, "first<5>"), first);
}

TEST(UnitMemory, AnInstanceThatNobodyLaunchesIsMadeAlthoughTheFileIsKnown) {
  const Source s = source("instances.cu", two_kernels);
  (void)profile_of(s, "second");
  const CompiledUnit unit = compile_unit(s, "sm_70", 60, "first<7>");
  EXPECT_NE(unit.wanted_symbol, "");
  const auto kernels = list_kernels(*unit.module, unit.language);
  EXPECT_EQ(pick_kernel(kernels, unit.wanted_symbol).demangled, "first<7>(float*)");
}

TEST(UnitMemory, AHeaderThatChangesOrAppearsIsRead) {
  const fs::path folder = fs::path(testing::TempDir()) / "kernelcast_unit_memory";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const auto write = [&](const char* name, const std::string& text) { std::ofstream(folder / name) << text; };
  write("n.h", "#define N 2\n");
  const Source s = source((folder / "k.cu").string(),
                          "#include \"n.h\"\n#include \"more.h\"\n#ifndef STEP\n#define STEP 1\n#endif\n"
                          "__global__ void a(int* p) { p[threadIdx.x] = N * STEP; }\n"
                          "__global__ void b(int* p) { p[threadIdx.x] = N + STEP; }\n");
  const std::string key = run_key(s, Language::cuda, "sm_70");
  const auto stores = [&](const char* constant) {
    return module_text(compile_unit(s, "sm_70", 60, "b")).find(std::string("store i32 ") + constant) !=
           std::string::npos;
  };
  EXPECT_TRUE(stores("3"));
  EXPECT_TRUE(recall_run(key, "a"));
  write("n.h", "#define N 20000\n");
  EXPECT_FALSE(recall_run(key, "a"));
  EXPECT_TRUE(stores("20001"));
  EXPECT_TRUE(recall_run(key, "a"));
  write("more.h", "#define STEP 5\n");
  EXPECT_FALSE(recall_run(key, "a"));
  EXPECT_TRUE(stores("20005"));
  fs::remove_all(folder);
}

TEST(UnitMemory, OneKernelIsNotKept) {
  const Source s = source("one.cu", "__global__ void only(int* p) { *p = 1; }\n");
  (void)compile_unit(s, "sm_70", 60, "only");
  EXPECT_FALSE(recall_run(run_key(s, Language::cuda, "sm_70"), ""));
}

}  // namespace
}  // namespace kernelcast::frontend
