// Named comparisons of one and of two values of 16 bits, for cuda_fp16.h and cuda_bf16.h: native where NVIDIA's device
// has them as an instruction, else plain.
#pragma once

// Comparisons: ordered ones are false and unordered ones true where a NaN takes part.
#define KC_COMPARISONS(M)                                                                                              \
  M(eq, x == y)                                                                                                        \
  M(ne, x<y || x> y) M(lt, x < y) M(le, x <= y) M(gt, x > y) M(ge, x >= y) M(equ, !(x < y) && !(x > y)) M(neu, x != y) \
      M(ltu, !(x >= y)) M(leu, !(x > y)) M(gtu, !(x <= y)) M(geu, !(x < y))
/// N: the type that is compared, from a T by number(a).
#define KC_COMPARE_ONE(T, N, number, name, holds) \
  KC_HD bool __h##name(T a, T b) {                \
    const N x = number(a), y = number(b);         \
    return holds;                                 \
  }
#define KC_COMPARE_native(T2, type, one, name)                                                               \
  KC_HD unsigned int __h##name##2_mask(T2 a, T2 b) {                                                         \
    unsigned int r;                                                                                          \
    asm("set." #name ".u32." type " %0, %1, %2;" : "=r"(r) : "r"(__kc_bits32(a)), "r"(__kc_bits32(b)));      \
    return r;                                                                                                \
  }                                                                                                          \
  KC_HD T2 __h##name##2(T2 a, T2 b) {                                                                        \
    unsigned int r;                                                                                          \
    asm("set." #name "." type "." type " %0, %1, %2;" : "=r"(r) : "r"(__kc_bits32(a)), "r"(__kc_bits32(b))); \
    return __builtin_bit_cast(T2, r);                                                                        \
  }                                                                                                          \
  KC_HD bool __hb##name##2(T2 a, T2 b) { return __h##name##2_mask(a, b) == 0xffffffffu; }
#define KC_COMPARE_plain(T2, type, one, name)                                                                       \
  KC_HD unsigned int __h##name##2_mask(T2 a, T2 b) {                                                                \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);                         \
  }                                                                                                                 \
  KC_HD T2 __h##name##2(T2 a, T2 b) { return __builtin_bit_cast(T2, __h##name##2_mask(a, b) & (one | one << 16)); } \
  KC_HD bool __hb##name##2(T2 a, T2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }
