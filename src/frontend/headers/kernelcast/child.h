// Dynamic parallelism: launches in device code are written as calls of __kc_launch_child before the compiler sees them (host_code.h).
#pragma once

extern "C" __attribute__((device)) void kc_launch_child(unsigned long long blocks, unsigned long long threads);
struct __kc_child_launch { dim3 grid, block; };
template <class... Rest> KC_D __kc_child_launch __kc_child(dim3 grid, dim3 block, const Rest&...) { return {grid, block}; }
template <class... A> KC_D void __kc_launch_child(const __kc_child_launch& c, const A&...) {
  kc_launch_child((unsigned long long)c.grid.x * c.grid.y * c.grid.z, (unsigned long long)c.block.x * c.block.y * c.block.z);
}
// The runtime of device code: calls without a cost of their own.
#define KC_RUNTIME(name) template <class... A> KC_D int name(const A&...) { return 0; }
KC_RUNTIME(cudaDeviceSynchronize) KC_RUNTIME(cudaGetLastError) KC_RUNTIME(cudaPeekAtLastError) KC_RUNTIME(cudaStreamCreateWithFlags)
KC_RUNTIME(cudaStreamDestroy) KC_RUNTIME(cudaStreamWaitEvent) KC_RUNTIME(cudaEventCreateWithFlags) KC_RUNTIME(cudaEventRecord)
KC_RUNTIME(cudaEventDestroy) KC_RUNTIME(cudaMemcpyAsync) KC_RUNTIME(cudaMemsetAsync) KC_RUNTIME(cudaGetDevice) KC_RUNTIME(cudaGetDeviceCount)
KC_RUNTIME(cudaDeviceGetAttribute) KC_RUNTIME(cudaDeviceGetLimit) KC_RUNTIME(cudaFuncGetAttributes) KC_RUNTIME(cudaFree)
#undef KC_RUNTIME
template <class T> KC_D int cudaMalloc(T** to, size_t bytes) { return *to = (T*)malloc(bytes), 0; }
