// Dynamic parallelism: launches in device code are written as calls of __kc_launch_child before the compiler sees them (host_code.h).
#pragma once

extern "C" __attribute__((device)) void kc_launch_child(unsigned long long blocks, unsigned long long threads);
struct __kc_child_launch { dim3 grid, block; };
template <class... Rest> KC_D __kc_child_launch __kc_child(dim3 grid, dim3 block, const Rest&...) { return {grid, block}; }
template <class... A> KC_D void __kc_launch_child(const __kc_child_launch& c, const A&...) {
  kc_launch_child((unsigned long long)c.grid.x * c.grid.y * c.grid.z, (unsigned long long)c.block.x * c.block.y * c.block.z);
}
KC_D int cudaDeviceSynchronize() { return 0; }
KC_D int cudaGetLastError() { return 0; }
KC_D int cudaPeekAtLastError() { return 0; }
