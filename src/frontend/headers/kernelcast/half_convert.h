// Conversions between 16 bits and integers or wider numbers with a stated rounding, for cuda_fp16.h and cuda_bf16.h.
// `how` is native where NVIDIA's device has the instruction, else plain. `type` is PTX's name: "f16", "bf16".
#pragma once

/// From the nearest T (`bits`, whose value is `near`) to the one that `x` is rounded to by `way`: 'z' toward zero, 'd'
/// down, 'u' up.
template <class F>
KC_HD unsigned short __kc_toward(unsigned short bits, F near, F x, char way) {
  const bool negative = bits >> 15 != 0;
  const bool above = near > x, below = near < x;
  const bool less = above && (way == 'd' || (way == 'z' && !negative));
  const bool more = below && (way == 'u' || (way == 'z' && negative));
  if (!less && !more) return bits;
  return (unsigned short)(less == negative ? bits + 1 : bits - 1);
}

/// The number for such a rounding. Of 64 bits, all that the type cannot hold becomes one bit.
KC_HD float __kc_exact(float x) { return x; }
template <class V>
KC_HD double __kc_exact(V x) {
  const bool large = sizeof(V) == 8 && (x >> 52) != 0 && (x >> 52) != (V)-1;
  return (double)(large && (x & 4095) != 0 ? (V)((x & ~(V)4095) | 2048) : x);
}

// Conversions from wider numbers with a stated rounding, and to integers. K: PTX's name, c: constraint.
#define KC_ROUND_native(T, type, name, V, K, c, near)                                                                 \
  KC_HD unsigned short __kc##name##_rz(V x) { KC_ASM1("cvt.rz." type "." K " %0, %1;", unsigned short, "=h", c, x); } \
  KC_HD unsigned short __kc##name##_rd(V x) { KC_ASM1("cvt.rm." type "." K " %0, %1;", unsigned short, "=h", c, x); } \
  KC_HD unsigned short __kc##name##_ru(V x) { KC_ASM1("cvt.rp." type "." K " %0, %1;", unsigned short, "=h", c, x); } \
  KC_ROUND_named(T, name, V)
#define KC_WIDE(near, x) (decltype(__kc_exact(x)))__kc_float(near)
#define KC_ROUND_plain(T, type, name, V, K, c, near)                             \
  KC_HD unsigned short __kc##name##_rz(V x) {                                    \
    return __kc_toward(__kc_bits16(near), KC_WIDE(near, x), __kc_exact(x), 'z'); \
  }                                                                              \
  KC_HD unsigned short __kc##name##_rd(V x) {                                    \
    return __kc_toward(__kc_bits16(near), KC_WIDE(near, x), __kc_exact(x), 'd'); \
  }                                                                              \
  KC_HD unsigned short __kc##name##_ru(V x) {                                    \
    return __kc_toward(__kc_bits16(near), KC_WIDE(near, x), __kc_exact(x), 'u'); \
  }                                                                              \
  KC_ROUND_named(T, name, V)
#define KC_ROUND_named(T, name, V)                                             \
  KC_HD T name##_rz(V x) { return __builtin_bit_cast(T, __kc##name##_rz(x)); } \
  KC_HD T name##_rd(V x) { return __builtin_bit_cast(T, __kc##name##_rd(x)); } \
  KC_HD T name##_ru(V x) { return __builtin_bit_cast(T, __kc##name##_ru(x)); }
#define KC_WHOLE_native(T, type, name, V, K, r)                                                    \
  KC_HD V name##_rn(T a) { KC_ASM1("cvt.rni." K "." type " %0, %1;", V, r, "h", __kc_bits16(a)); } \
  KC_HD V name##_rz(T a) { KC_ASM1("cvt.rzi." K "." type " %0, %1;", V, r, "h", __kc_bits16(a)); } \
  KC_HD V name##_rd(T a) { KC_ASM1("cvt.rmi." K "." type " %0, %1;", V, r, "h", __kc_bits16(a)); } \
  KC_HD V name##_ru(T a) { KC_ASM1("cvt.rpi." K "." type " %0, %1;", V, r, "h", __kc_bits16(a)); }
#define KC_WHOLE_plain(T, type, name, V, K, r)                                     \
  KC_HD V name##_rn(T a) { return (V)__builtin_elementwise_rint(__kc_float(a)); }  \
  KC_HD V name##_rz(T a) { return (V)__kc_float(a); }                              \
  KC_HD V name##_rd(T a) { return (V)__builtin_elementwise_floor(__kc_float(a)); } \
  KC_HD V name##_ru(T a) { return (V)__builtin_elementwise_ceil(__kc_float(a)); }
// All integers: `to` is half2 or bfloat162, `from` 2half or 2bfloat16, near(x) the nearest number.
#define KC_INTEGERS(how, T, type, to, from, near)                                      \
  KC_INTEGER(how, T, type, to, from, near, int, int, "s32", "r")                       \
  KC_INTEGER(how, T, type, to, from, near, uint, unsigned int, "u32", "r")             \
  KC_INTEGER(how, T, type, to, from, near, short, short, "s16", "h") \
  KC_INTEGER(how, T, type, to, from, near, ushort, unsigned short, "u16", "h") \
  KC_INTEGER(how, T, type, to, from, near, ll, long long, "s64", "l") \
  KC_INTEGER(how, T, type, to, from, near, ull, unsigned long long, "u64", "l")
#define KC_INTEGER(how, T, type, to, from, near, word, V, K, c)                                           \
  KC_WHOLE_##how(T, type, __##to##word, V, K, "=" c) KC_HD T __##word##from##_rn(V x) { return near(x); } \
  KC_ROUND_##how(T, type, __##word##from, V, K, c, near(x))
// Bytes saturate.
#define KC_BYTES(T, to)                                                                                      \
  KC_HD signed char __##to##char_rz(T a) { return (signed char)__kc_clamped(__##to##int_rz(a), -128, 127); } \
  KC_HD unsigned char __##to##uchar_rz(T a) { return (unsigned char)__kc_clamped(__##to##int_rz(a), 0, 255); }
