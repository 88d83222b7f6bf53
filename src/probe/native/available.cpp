#include "probe/native/native.h"

namespace kernelcast::probe::native {

#if defined(__x86_64__)
extern const Kernels sse2, avx2, avx512;
Sets available() {
  Sets out{{&sse2}, 1};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) out.sets[out.count++] = &avx2;
  if (__builtin_cpu_supports("avx512f")) out.sets[out.count++] = &avx512;
  return out;
}
#elif defined(__aarch64__)
extern const Kernels neon;
Sets available() { return {{&neon}, 1}; }
#else
Sets available() { return {{}, 0}; }
#endif

const void* chase(const void* at, std::int64_t steps) {
  for (; steps > 0; steps -= 16)
    for (int i = 0; i < 16; ++i) at = *static_cast<const void* const*>(at);
  asm volatile("" : "+r"(at));
  return at;
}

void clock_loop(std::int64_t n) {
  std::uint64_t x = 1, a = 3;
  asm volatile("" : "+r"(a));
  for (; n > 0; --n)
    for (int i = 0; i < clock_ops; ++i) {
      x += a;
      asm volatile("" : "+r"(x));
    }
}

}  // namespace kernelcast::probe::native
