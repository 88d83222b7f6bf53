// Copies in bulk, mbarriers and matrices in shared memory: closed forms and execution count the same.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "engines/execute/both_counts.h"

namespace kernelcast {
namespace {

Analysis analysed_pipeline(const std::string& path, const std::string& text) {
  Source source;
  source.path = path;
  source.text = text;
  FrontendOptions options;
  options.target = "sm_90";
  options.program = true;
  return analyze(source, options);
}

/// Blocks that count what only some lanes of a matrix instruction do hold no instructions and are never entered.
std::string without_blocks_of_some_lanes(const std::string& text) {
  std::stringstream in(text);
  std::string kept;
  for (std::string line; std::getline(in, line);)
    if (!line.starts_with("block ") || !line.ends_with("twin 0") || line.find(" access ") != std::string::npos)
      kept += line + "\n";
  return kept;
}

TEST(PipelineCounts, product_by_copies_in_bulk) {
  const std::string path = KERNELCAST_SOURCE_DIR "/test/data/ptx/bulk_pipeline.ptx";
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  const Analysis a = analysed_pipeline(path, text.str());
  Launch launch;
  launch.grid = {2, 1, 1};
  launch.block = {160, 1, 1};
  launch.args[a.profile.parameters.at(3).name] = std::int64_t{96};
  EXPECT_EQ(without_blocks_of_some_lanes(both::differences(a, launch, MemoryGeometry{})), "");
}

TEST(PipelineCounts, stmatrix_and_copies_out_of_shared_memory) {
  const Analysis a = analysed_pipeline("test.cu", R"(
__global__ void kernel(const uint4* in, uint4* out) {
  __shared__ __align__(16) uint4 tile[128];
  int t = threadIdx.x;
  unsigned at = (unsigned)__cvta_generic_to_shared(tile);
  uint4 v = in[t];
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};"
    :: "r"(at + t * 16), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 2048;" :: "l"(out), "r"(at) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
})");
  Launch launch;
  launch.grid = {1, 1, 1};
  launch.block = {128, 1, 1};
  EXPECT_EQ(both::differences(a, launch, MemoryGeometry{}), "");
}

}  // namespace
}  // namespace kernelcast
