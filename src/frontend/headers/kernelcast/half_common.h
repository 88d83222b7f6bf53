// What cuda_fp16.h and cuda_bf16.h share: families of functions for a type T of 16 bits and the pair T2 of them. `how` is
// native where NVIDIA's device has the instruction, else plain. `type` is PTX's name: "f16", "bf16".
#pragma once

template <class T> KC_HD unsigned short __kc_bits16(T a) { return __builtin_bit_cast(unsigned short, a); }
template <class T2> KC_HD unsigned int __kc_bits32(T2 a) { return __builtin_bit_cast(unsigned int, a); }
/// From the nearest T (`bits`, whose value is `near`) to the one that `x` is rounded to by `way`: 'z' toward zero, 'd' down, 'u' up.
template <class F> KC_HD unsigned short __kc_toward(unsigned short bits, F near, F x, char way) {
  const bool negative = bits >> 15 != 0;
  const bool above = near > x, below = near < x;
  const bool less = above && (way == 'd' || (way == 'z' && !negative));
  const bool more = below && (way == 'u' || (way == 'z' && negative));
  if (!less && !more) return bits;
  return (unsigned short)(less == negative ? bits + 1 : bits - 1);
}

/// The number for such a rounding. Of 64 bits, all that the type cannot hold becomes one bit.
KC_HD float __kc_exact(float x) { return x; }
template <class V> KC_HD double __kc_exact(V x) {
  const bool large = sizeof(V) == 8 && (x >> 52) != 0 && (x >> 52) != (V)-1;
  return (double)(large && (x & 4095) != 0 ? (V)((x & ~(V)4095) | 2048) : x);
}

// Conversions from wider numbers with a stated rounding, and to integers. K: PTX's name, c: constraint.
#define KC_ASM1(text, R, r, c, x)      \
  R value;                             \
  asm(text : r(value) : c(x));         \
  return value
#define KC_ROUND_native(T, type, name, V, K, c, near)                                                                       \
  KC_HD unsigned short __kc##name##_rz(V x) { KC_ASM1("cvt.rz." type "." K " %0, %1;", unsigned short, "=h", c, x); }       \
  KC_HD unsigned short __kc##name##_rd(V x) { KC_ASM1("cvt.rm." type "." K " %0, %1;", unsigned short, "=h", c, x); }       \
  KC_HD unsigned short __kc##name##_ru(V x) { KC_ASM1("cvt.rp." type "." K " %0, %1;", unsigned short, "=h", c, x); }       \
  KC_ROUND_named(T, name, V)
#define KC_WIDE(near, x) (decltype(__kc_exact(x)))__kc_float(near)
#define KC_ROUND_plain(T, type, name, V, K, c, near)                                                                        \
  KC_HD unsigned short __kc##name##_rz(V x) { return __kc_toward(__kc_bits16(near), KC_WIDE(near, x), __kc_exact(x), 'z'); }          \
  KC_HD unsigned short __kc##name##_rd(V x) { return __kc_toward(__kc_bits16(near), KC_WIDE(near, x), __kc_exact(x), 'd'); }          \
  KC_HD unsigned short __kc##name##_ru(V x) { return __kc_toward(__kc_bits16(near), KC_WIDE(near, x), __kc_exact(x), 'u'); }          \
  KC_ROUND_named(T, name, V)
#define KC_ROUND_named(T, name, V)                                                            \
  KC_HD T name##_rz(V x) { return __builtin_bit_cast(T, __kc##name##_rz(x)); }                \
  KC_HD T name##_rd(V x) { return __builtin_bit_cast(T, __kc##name##_rd(x)); }                \
  KC_HD T name##_ru(V x) { return __builtin_bit_cast(T, __kc##name##_ru(x)); }
#define KC_WHOLE_native(T, type, name, V, K, r)                                                        \
  KC_HD V name##_rn(T a) { KC_ASM1("cvt.rni." K "." type " %0, %1;", V, r, "h", __kc_bits16(a)); }     \
  KC_HD V name##_rz(T a) { KC_ASM1("cvt.rzi." K "." type " %0, %1;", V, r, "h", __kc_bits16(a)); }     \
  KC_HD V name##_rd(T a) { KC_ASM1("cvt.rmi." K "." type " %0, %1;", V, r, "h", __kc_bits16(a)); }     \
  KC_HD V name##_ru(T a) { KC_ASM1("cvt.rpi." K "." type " %0, %1;", V, r, "h", __kc_bits16(a)); }
#define KC_WHOLE_plain(T, type, name, V, K, r)                                                \
  KC_HD V name##_rn(T a) { return (V)__builtin_elementwise_rint(__kc_float(a)); }             \
  KC_HD V name##_rz(T a) { return (V)__kc_float(a); }                                         \
  KC_HD V name##_rd(T a) { return (V)__builtin_elementwise_floor(__kc_float(a)); }            \
  KC_HD V name##_ru(T a) { return (V)__builtin_elementwise_ceil(__kc_float(a)); }
// All integers: `to` is half2 or bfloat162, `from` 2half or 2bfloat16, near(x) the nearest number.
#define KC_INTEGERS(how, T, type, to, from, near)                                                                        \
  KC_INTEGER(how, T, type, to, from, near, int, int, "s32", "r") KC_INTEGER(how, T, type, to, from, near, uint, unsigned int, "u32", "r") \
  KC_INTEGER(how, T, type, to, from, near, short, short, "s16", "h")                                                     \
  KC_INTEGER(how, T, type, to, from, near, ushort, unsigned short, "u16", "h")                                           \
  KC_INTEGER(how, T, type, to, from, near, ll, long long, "s64", "l")                                                    \
  KC_INTEGER(how, T, type, to, from, near, ull, unsigned long long, "u64", "l")
#define KC_INTEGER(how, T, type, to, from, near, word, V, K, c)  \
  KC_WHOLE_##how(T, type, __##to##word, V, K, "=" c)             \
  KC_HD T __##word##from##_rn(V x) { return near(x); }           \
  KC_ROUND_##how(T, type, __##word##from, V, K, c, near(x))
// Bytes saturate.
#define KC_BYTES(T, to)                                                                                               \
  KC_HD signed char __##to##char_rz(T a) { return (signed char)__kc_clamped(__##to##int_rz(a), -128, 127); }          \
  KC_HD unsigned char __##to##uchar_rz(T a) { return (unsigned char)__kc_clamped(__##to##int_rz(a), 0, 255); }
KC_HD int __kc_clamped(int x, int least, int most) { return x < least ? least : x > most ? most : x; }

// Comparisons: ordered ones are false and unordered ones true where a NaN takes part.
#define KC_COMPARISONS(M)                                                                                                                    \
  M(eq, x == y) M(ne, x < y || x > y) M(lt, x < y) M(le, x <= y) M(gt, x > y) M(ge, x >= y) M(equ, !(x < y) && !(x > y)) M(neu, x != y) \
  M(ltu, !(x >= y)) M(leu, !(x > y)) M(gtu, !(x <= y)) M(geu, !(x < y))
/// N: the type that is compared, from a T by number(a).
#define KC_COMPARE_ONE(T, N, number, name, holds)      \
  KC_HD bool __h##name(T a, T b) {                     \
    const N x = number(a), y = number(b);              \
    return holds;                                      \
  }
#define KC_COMPARE_native(T2, type, one, name)                                                                                       \
  KC_HD unsigned int __h##name##2_mask(T2 a, T2 b) {                                                                                 \
    unsigned int r;                                                                                                                  \
    asm("set." #name ".u32." type " %0, %1, %2;" : "=r"(r) : "r"(__kc_bits32(a)), "r"(__kc_bits32(b)));                              \
    return r;                                                                                                                        \
  }                                                                                                                                  \
  KC_HD T2 __h##name##2(T2 a, T2 b) {                                                                                                \
    unsigned int r;                                                                                                                  \
    asm("set." #name "." type "." type " %0, %1, %2;" : "=r"(r) : "r"(__kc_bits32(a)), "r"(__kc_bits32(b)));                         \
    return __builtin_bit_cast(T2, r);                                                                                                \
  }                                                                                                                                  \
  KC_HD bool __hb##name##2(T2 a, T2 b) { return __h##name##2_mask(a, b) == 0xffffffffu; }
#define KC_COMPARE_plain(T2, type, one, name)                                                                                        \
  KC_HD unsigned int __h##name##2_mask(T2 a, T2 b) {                                                                                 \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);                                          \
  }                                                                                                                                  \
  KC_HD T2 __h##name##2(T2 a, T2 b) { return __builtin_bit_cast(T2, __h##name##2_mask(a, b) & (one | one << 16)); }                  \
  KC_HD bool __hb##name##2(T2 a, T2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }

// A PTX instruction of two or three operands of type W, in registers of constraint k.
#define KC_ASM2(text, T, W, k, x, y)                                  \
  W r;                                                                \
  asm(text " %0, %1, %2;" : "=" k(r) : k(x), k(y));                   \
  return __builtin_bit_cast(T, r)
#define KC_ASM3(text, T, W, k, x, y, z)                               \
  W r;                                                                \
  asm(text " %0, %1, %2, %3;" : "=" k(r) : k(x), k(y), k(z));         \
  return __builtin_bit_cast(T, r)

/// Operators that follow from named functions.
#define KC_PAIR_OPERATORS(T2, one)                                                                                                  \
  KC_HD bool operator==(T2 a, T2 b) { return __hbeq2(a, b); }                                                                       \
  KC_HD bool operator!=(T2 a, T2 b) { return __hbneu2(a, b); }                                                                      \
  KC_HD bool operator<(T2 a, T2 b) { return __hblt2(a, b); }                                                                        \
  KC_HD bool operator<=(T2 a, T2 b) { return __hble2(a, b); }                                                                       \
  KC_HD bool operator>(T2 a, T2 b) { return __hbgt2(a, b); }                                                                        \
  KC_HD bool operator>=(T2 a, T2 b) { return __hbge2(a, b); }                                                                       \
  KC_STEP_OPERATORS(T2, __builtin_bit_cast(T2, one | one << 16))
#define KC_ONE_OPERATORS(T, one)                                      \
  KC_HD bool operator==(T a, T b) { return __heq(a, b); }             \
  KC_HD bool operator!=(T a, T b) { return __hneu(a, b); }            \
  KC_HD bool operator<(T a, T b) { return __hlt(a, b); }              \
  KC_HD bool operator<=(T a, T b) { return __hle(a, b); }             \
  KC_HD bool operator>(T a, T b) { return __hgt(a, b); }              \
  KC_HD bool operator>=(T a, T b) { return __hge(a, b); }             \
  KC_STEP_OPERATORS(T, __builtin_bit_cast(T, (unsigned short)one))
#define KC_STEP_OPERATORS(T, one)                                     \
  KC_HD T& operator++(T& a) { return a = a + one; }                   \
  KC_HD T& operator--(T& a) { return a = a - one; }                   \
  KC_HD T operator++(T& a, int) { const T was = a; a = a + one; return was; } \
  KC_HD T operator--(T& a, int) { const T was = a; a = a - one; return was; }

// Integers that a class converts to by itself, as CUDA's classes do. The bodies stand behind the conversions.
#define KC_INTEGER_OPERATORS(M)                                                                                      \
  M(signed char, char) M(unsigned char, uchar) M(char, char) M(short, short) M(unsigned short, ushort) M(int, int)   \
  M(unsigned int, uint) M(long, ll) M(unsigned long, ull) M(long long, ll) M(unsigned long long, ull)
#define KC_DECLARE_OPERATOR(V, word) __host__ __device__ operator V() const;
