// Several analyses at a time give what each gives alone: a tuner keeps all cores busy with them.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "kernelcast/error.h"
#include "kernelcast/frontend.h"
#include "profile/profile_bytes.h"

namespace kernelcast::parallel_test {
namespace {

std::string analysed(int variant) {
  Source source;
  source.path = "k.cl";
  source.text =
      "__kernel void k(__global float* a, int n) {\n"
      "  int i = get_global_id(0);\n"
      "  float s = 0;\n"
      "  for (int j = 0; j < N; ++j) s += a[i * N + j] * sqrt(s);\n"
      "  if (i < n) a[i] = s;\n"
      "}\n";
  source.defines = {"N=" + std::to_string(variant + 1)};
  FrontendOptions options;
  options.target = variant % 2 == 0 ? "sm_70" : "sm_20";
  return bytes_of(analyze(source, options).profile);
}

TEST(Parallel, AnalysesDoNotDisturbOneAnother) {
  constexpr int variants = 12;
  std::array<std::string, variants> alone, together;
  for (int v = 0; v < variants; ++v) alone[static_cast<std::size_t>(v)] = analysed(v);
  std::array<std::thread, 3> threads;
  for (int t = 0; t < 3; ++t) {
    threads[static_cast<std::size_t>(t)] = std::thread([&together, t] {
      for (int v = t; v < variants; v += 3) together[static_cast<std::size_t>(v)] = analysed(v);
    });
  }
  for (std::thread& t : threads) t.join();
  for (std::size_t v = 0; v < variants; ++v) EXPECT_TRUE(together[v] == alone[v]) << v;
}

// LLVM remembers annotations by the addresses of module and function, which a later module may have.
TEST(Parallel, BoundsOfEarlierKernelsAreForgotten) {
  const auto profile = [](int threads) {
    Source source;
    source.path = "k.cu";
    source.text =
        "__global__ void __launch_bounds__(THREADS) k(float* a) {\n"
        "  if (threadIdx.x >= 40) a[threadIdx.x] = 1;\n"
        "  if (threadIdx.x >= 140) a[threadIdx.x + 2048] = 2;\n"
        "  if (threadIdx.x >= 340) a[threadIdx.x + 4096] = 3;\n"
        "}\n";
    source.defines = {"THREADS=" + std::to_string(threads)};
    FrontendOptions options;
    options.target = "sm_80";
    return analyze(source, options).profile.blocks.size();
  };
  constexpr std::array<int, 4> bounds{32, 128, 256, 512};
  std::mt19937 random(1);
  std::map<int, std::set<std::size_t>> blocks;
  for (int again = 0; again < 100; ++again) {
    const int threads = bounds[random() % bounds.size()];
    blocks[threads].insert(profile(threads));
  }
  for (const auto& [threads, seen] : blocks) EXPECT_EQ(seen.size(), 1u) << threads;
}

TEST(Parallel, AMessageOfTheCodeGeneratorReachesTheAnalysisThatItIsOf) {
  Source broken;
  broken.path = "broken.ll";
  broken.text =
      "target triple = \"nvptx64-nvidia-cuda\"\n"
      "define ptx_kernel void @k(ptr %p) {\n"
      "  %v = call i32 @llvm.amdgcn.workitem.id.x()\n"
      "  store i32 %v, ptr %p\n"
      "  ret void\n"
      "}\n"
      "declare i32 @llvm.amdgcn.workitem.id.x()\n";
  FrontendOptions options;
  options.target = "sm_70";
  const std::string alone = analysed(0);
  std::string together;
  std::thread other([&together] { together = analysed(0); });
  EXPECT_THROW(static_cast<void>(analyze(broken, options)), LimitError);
  other.join();
  EXPECT_EQ(together == alone, true);
}

}  // namespace
}  // namespace kernelcast::parallel_test
