// Memory instructions that AMD's compilers know as built-in functions: their bytes count, or they are named.
#include <gtest/gtest.h>

#include <map>

#include "kernelcast/frontend.h"

namespace kernelcast {
namespace {

Analysis analysed_hip(const std::string& body) {
  Source source;
  source.path = "test.hip";
  source.text =
      "#include <hip/hip_runtime.h>\ntypedef int i4 __attribute__((ext_vector_type(4)));\n"
      "extern \"C\" __device__ int by_number(i4, int, int, int) __asm(\"llvm.amdgcn.raw.buffer.load.i32\");\n"
      "extern \"C\" __global__ void k(const int* a, int* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
      body + "}\n";
  FrontendOptions options;
  options.target = "gfx942";
  return analyze(source, options);
}

/// Bytes of a lane's accesses by space and kind.
std::map<std::string, int> bytes_of(const Analysis& a) {
  std::map<std::string, int> sum;
  for (const Block& block : a.profile.blocks)
    for (const Access& access : block.accesses)
      sum[std::string(name_of(access.space)) + " " + std::string(name_of(access.kind))] +=
          access.bytes * static_cast<int>(access.also.size() + 1);
  return sum;
}

const std::string resource =
    "  __amdgpu_buffer_rsrc_t r = __builtin_amdgcn_make_buffer_rsrc((void*)a, 0, n * 4, 0x27000);\n";

TEST(AmdMemory, BufferLoadsReadWhereTheirResourcePoints) {
  const Analysis a = analysed_hip(resource + "  b[i] = __builtin_amdgcn_raw_buffer_load_b32(r, i * 4, 0, 0);\n");
  EXPECT_TRUE(a.profile.unmodeled.empty());
  EXPECT_EQ(bytes_of(a), (std::map<std::string, int>{{"global load", 4}, {"global store", 4}}));
  for (const Block& block : a.profile.blocks)
    for (const Access& access : block.accesses)
      if (access.kind == AccessKind::load)
        EXPECT_EQ(a.profile.buffers.at(static_cast<std::size_t>(access.buffer)).name, "a");
}

TEST(AmdMemory, BufferStoresWrite) {
  const Analysis a = analysed_hip(
      "  __amdgpu_buffer_rsrc_t r = __builtin_amdgcn_make_buffer_rsrc(b, 0, n * 4, 0x27000);\n"
      "  __builtin_amdgcn_raw_buffer_store_b128(i4{i, i, i, i}, r, i * 16, 0, 0);\n");
  EXPECT_EQ(bytes_of(a), (std::map<std::string, int>{{"global store", 16}}));
}

TEST(AmdMemory, DirectLoadsToLdsReadAndWrite) {
  const Analysis a = analysed_hip(
      "  __shared__ int t[256];\n  __builtin_amdgcn_global_load_lds((const __attribute__((address_space(1))) void*)(a "
      "+ i), "
      "(__attribute__((address_space(3))) void*)(t + threadIdx.x / 64 * 64), 4, 0, 0);\n"
      "  __syncthreads();\n  b[i] = t[threadIdx.x];\n");
  EXPECT_EQ(bytes_of(a), (std::map<std::string, int>{
                             {"global load", 4}, {"global store", 4}, {"shared load", 4}, {"shared store", 4}}));
}

TEST(AmdMemory, AccessesWhoseAddressIsNotKnownAreNamed) {
  const Analysis a = analysed_hip("  b[i] = by_number(i4{(int)(long)a, (int)((long)a >> 32), n, 0}, i * 4, 0, 0);\n");
  ASSERT_EQ(a.profile.unmodeled.size(), 1U);
  EXPECT_EQ(a.profile.unmodeled[0].what, "raw.buffer");
  EXPECT_EQ(a.profile.unmodeled[0].line.line, 6);
}

}  // namespace
}  // namespace kernelcast
