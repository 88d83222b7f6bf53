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
      if (access.kind == AccessKind::load) {
        EXPECT_EQ(a.profile.buffers.at(static_cast<std::size_t>(access.buffer)).name, "a");
      }
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

/// As Triton's compiler writes it for gfx942, shortened.
TEST(AmdMemory, TextOfLaterVersionsOfLlvmIsRead) {
  Source source;
  source.path = "k.llir";
  source.text = R"(target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @k(ptr addrspace(1) inreg nofree writeonly captures(none) %0, ptr addrspace(1) inreg readonly captures(address, read_provenance) %1, i1 %2) {
  %4 = tail call i32 @llvm.amdgcn.workitem.id.x()
  %5 = shl i32 %4, 2
  %6 = tail call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %1, i16 0, i64 2147483646, i32 159744)
  %7 = tail call float @llvm.amdgcn.raw.ptr.buffer.load.f32(ptr addrspace(8) %6, i32 %5, i32 0, i32 0)
  %8 = select i1 %2, float %7, float -inf
  %9 = fmul float %8, f0x3FB8AA3B
  %10 = zext nneg i32 %4 to i64
  %11 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %10
  store float %9, ptr addrspace(1) %11, align 4
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) readnone, i16, i64, i32)
declare float @llvm.amdgcn.raw.ptr.buffer.load.f32(ptr addrspace(8) readonly captures(none), i32, i32, i32 immarg)
)";
  FrontendOptions options;
  options.target = "gfx942";
  const Analysis a = analyze(source, options);
  EXPECT_TRUE(a.profile.unmodeled.empty());
  EXPECT_EQ(bytes_of(a), (std::map<std::string, int>{{"global load", 4}, {"global store", 4}}));
}

KernelProfile hip_kernel(const std::string& text) {
  Source source;
  source.path = "k.hip";
  source.text = "#include <hip/hip_runtime.h>\n" + text;
  FrontendOptions options;
  options.target = "gfx942";
  return analyze(source, options).profile;
}

TEST(AmdMemory, LaunchBoundsSayHowManyRegistersThereAre) {
  const auto kernel = [](const std::string& bounds) {
    return hip_kernel("__global__ void " + bounds +
                      " k(const float* a, float* b) {\n"
                      "  float x[200];\n  int t = threadIdx.x;\n"
                      "#pragma unroll\n  for (int i = 0; i < 200; ++i) x[i] = a[t + i * 256];\n"
                      "  __syncthreads();\n"
                      "#pragma unroll\n  for (int i = 0; i < 200; ++i) b[t + i * 256] = x[i];\n}\n");
  };
  const KernelProfile open = kernel(""), bound = kernel("__launch_bounds__(256)"),
                      waves = kernel("__launch_bounds__(256, 4)");
  EXPECT_EQ(open.max_threads_per_block, 0);  // hipcc's 1024: 128 registers
  EXPECT_GT(open.registers.spill_bytes, 0);
  EXPECT_EQ(bound.max_threads_per_block, 256);
  EXPECT_EQ(bound.registers.spill_bytes, 0);
  EXPECT_GE(bound.registers.per_thread, 200);
  EXPECT_LE(waves.registers.per_thread, 128);
  EXPECT_GT(waves.registers.spill_bytes, 0);
}

TEST(AmdMemory, ArraysThatAreOnlyCopiedWholeAreRegisters) {
  const KernelProfile p = hip_kernel(
      "__global__ void k(const short* a, short* b, int n) {\n"
      "  __shared__ short tile[8192];\n  short buffer[32];\n  const int t = threadIdx.x * 8;\n"
      "  for (int k = 0; k < n; ++k) {\n"
      "    for (int i = 0; i < 4; ++i) *(float4*)(buffer + i * 8) = *(const float4*)(a + k * 8192 + i * 2048 + t);\n"
      "    __syncthreads();\n    b[k * 256 + threadIdx.x] = tile[t * 33 % 8192];\n    __syncthreads();\n"
      "    for (int i = 0; i < 4; ++i) *(float4*)(tile + i * 2048 + t) = *(const float4*)(buffer + i * 8);\n  }\n}\n");
  EXPECT_EQ(p.stack_bytes, 0);
}

}  // namespace
}  // namespace kernelcast
