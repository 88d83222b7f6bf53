// ARGS: predict {} --device amd-radeon-rx-7900-xtx --kernel products --grid 4 --block 64
// EXIT: 1
// STDERR: builtin_of_another_gpu.hip:12:.*'__builtin_amdgcn_mfma_f32_16x16x16f16' needs target feature mai-insts
// STDERR: note: AMD Instinct MI100 \(gfx908\) has it
// STDERR: note: kernels without errors, for --kernel: add\(

#include <hip/hip_runtime.h>
typedef float float4_ __attribute__((ext_vector_type(4)));
typedef _Float16 half4_ __attribute__((ext_vector_type(4)));

__global__ void products(const half4_* a, float4_* c) {
  c[threadIdx.x] = __builtin_amdgcn_mfma_f32_16x16x16f16(a[threadIdx.x], a[threadIdx.x + 64], c[threadIdx.x], 0, 0, 0);
}

__global__ void add(float* a) { a[threadIdx.x] += 1; }
