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

// Four bytes each on both: as many as the front end of any core delivers.
#if defined(__x86_64__)
#define KC_NOTHING ".byte 0x0f, 0x1f, 0x40, 0x00\n"
#else
#define KC_NOTHING "nop\n"
#endif
#define KC_EIGHT(text) text text text text text text text text

void nothing_loop(std::int64_t n) {
  for (; n > 0; --n) asm volatile(KC_EIGHT(KC_EIGHT(KC_NOTHING)));
}

#if defined(__x86_64__)
bool can_take_in() { return true; }

#define KC_ZEROES \
  "xor %%eax, %%eax\n xor %%ecx, %%ecx\n xor %%edx, %%edx\n xor %%esi, %%esi\n xor %%edi, %%edi\n xor %%r8d, %%r8d\n"
void zeroing_loop(std::int64_t n) {
  for (; n > 0; --n) asm volatile(KC_EIGHT(KC_ZEROES)::: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "cc");
}

#define KC_MIXED \
  "mov (%0), %%rax\n add %%r9, %%rcx\n add %%r9, %%rdx\n mov 8(%0), %%rsi\n add %%r9, %%rdi\n add %%r9, %%r8\n"
void mixed_loop(const void* from, std::int64_t n) {
  for (; n > 0; --n) asm volatile(KC_EIGHT(KC_MIXED)::"r"(from) : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "cc");
}
#else
bool can_take_in() { return false; }
void zeroing_loop(std::int64_t) {}
void mixed_loop(const void*, std::int64_t) {}
#endif

#if defined(__x86_64__)
#define KC_REGISTER "x"
#else
#define KC_REGISTER "w"
#endif

void narrow_read(const void* from, std::size_t bytes) {
  const double* p = static_cast<const double*>(from);
  for (const double* end = p + bytes / sizeof(double); p != end; p += 64)
    for (int i = 0; i < 64; ++i) {
      const double value = p[i];
      asm volatile("" ::KC_REGISTER(value));
    }
}

void column_read(const void* from, std::size_t stride, std::int64_t count) {
  const char* p = static_cast<const char*>(from);
  for (; count > 0; count -= 16)
    for (int i = 0; i < 16; ++i, p += stride) {
      const double value = *reinterpret_cast<const double*>(p);
      asm volatile("" ::KC_REGISTER(value));
    }
}

void nested_loops(std::int64_t times, std::int64_t trips) {
  for (; times > 0; --times) {
    std::int64_t left = trips;
#if defined(__x86_64__)
    asm volatile("1: dec %0\n jnz 1b\n" : "+r"(left)::"cc");
#elif defined(__aarch64__)
    asm volatile("1: subs %0, %0, #1\n b.ne 1b\n" : "+r"(left)::"cc");
#else
    do asm volatile("" : "+r"(left));
    while (--left > 0);
#endif
  }
}

#if defined(__x86_64__)
bool can_gather() { return __builtin_cpu_supports("avx2") != 0; }

// The mask is used up by a gather; the register that it fills is read as well, so it is cleared first.
#define KC_GATHER(to)                 \
  "vpcmpeqd %%ymm0, %%ymm0, %%ymm0\n" \
  "vpxor " to ", " to ", " to         \
  "\n"                                \
  "vgatherqpd %%ymm0, (%0, %%ymm1, 8), " to "\n"

void gather_loop(const void* from, std::int64_t n) {
  static constexpr std::int64_t lines[gather_values] = {0, 8, 16, 24};
  for (; n > 0; --n)
    asm volatile("vmovdqu (%1), %%ymm1\n" KC_GATHER("%%ymm2") KC_GATHER("%%ymm3") KC_GATHER("%%ymm4")
                     KC_GATHER("%%ymm5") KC_GATHER("%%ymm6") KC_GATHER("%%ymm7") KC_GATHER("%%ymm8")
                         KC_GATHER("%%ymm9") "vzeroupper\n"
                 :
                 : "r"(from), "r"(lines)
                 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "memory");
}

bool can_scatter() { return __builtin_cpu_supports("avx512vl") != 0; }

// The mask is used up by a scatter too.
#define KC_SCATTER(from)      \
  "kxnorw %%k1, %%k1, %%k1\n" \
  "vscatterqpd " from ", (%0, %%ymm1, 8) %{%%k1%}\n"

__attribute__((target("avx512f,avx512vl"))) void scatter_loop(void* to, std::int64_t n) {
  static constexpr std::int64_t lines[gather_values] = {0, 8, 16, 24};
  for (; n > 0; --n)
    asm volatile("vmovdqu (%1), %%ymm1\n" KC_SCATTER("%%ymm2") KC_SCATTER("%%ymm3") KC_SCATTER("%%ymm4")
                     KC_SCATTER("%%ymm5") KC_SCATTER("%%ymm2") KC_SCATTER("%%ymm3") KC_SCATTER("%%ymm4")
                         KC_SCATTER("%%ymm5") "vzeroupper\n"
                 :
                 : "r"(to), "r"(lines)
                 : "k1", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "memory");
}
#else
bool can_gather() { return false; }
void gather_loop(const void*, std::int64_t) {}
bool can_scatter() { return false; }
void scatter_loop(void*, std::int64_t) {}
#endif

}  // namespace kernelcast::probe::native
