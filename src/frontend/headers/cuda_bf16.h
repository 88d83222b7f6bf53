// bfloat16: arithmetic is done in float and rounded back. NVIDIA's devices from sm_80 on have instructions for it,
// which the compiler makes of float arithmetic between conversions of the type __bf16; elsewhere integers convert.
#pragma once
#include "kernelcast/half_common.h"
#ifdef KC_SKIP_HALVES  // a source that names none
struct __half;
#else
#include "cuda_fp16.h"
#endif
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 800
#define KC_BF16_NATIVE 1
#endif
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 900  // comparisons and conversions as well
#define KC_BF16_FULL 1
#endif

struct __attribute__((aligned(2))) __nv_bfloat16_raw {
  unsigned short x;
};
struct __attribute__((aligned(4))) __nv_bfloat162_raw {
  unsigned short x, y;
};
struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short bits;
  __declspec(property(get = kc_bits, put = kc_set_bits)) unsigned short __x;  // of those who derive from it
  __host__ __device__ constexpr unsigned short kc_bits() const { return bits; }
  __host__ __device__ constexpr void kc_set_bits(unsigned short x) { bits = x; }
  __nv_bfloat16() = default;
  __host__ __device__ constexpr __nv_bfloat16(__nv_bfloat16_raw r) : bits(r.x) {}
  __host__ __device__ operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{bits}; }
  __host__ __device__ operator __nv_bfloat16_raw() const volatile { return __nv_bfloat16_raw{bits}; }
  __host__ __device__ __nv_bfloat16& operator=(__nv_bfloat16_raw r) { return bits = r.x, *this; }
  __host__ __device__ volatile __nv_bfloat16& operator=(__nv_bfloat16_raw r) volatile { return bits = r.x, *this; }
#ifdef KC_BF16_NATIVE
  static __host__ __device__ __inline__ __attribute__((always_inline)) unsigned short round(float x) {
    return __builtin_bit_cast(unsigned short, (__bf16)x);
  }
#else
  static __host__ __device__ __inline__ __attribute__((always_inline)) unsigned short round(float x) {
    const unsigned int u = __builtin_bit_cast(unsigned int, x);
    return (u & 0x7fffffff) > 0x7f800000 ? 0x7fff : (unsigned short)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
  }
#endif
#ifndef __CUDA_NO_BFLOAT16_CONVERSIONS__
#define KC_FROM(T) \
  __host__ __device__ __nv_bfloat16(T x) : bits(round((float)x)) {}
  KC_FROM(float)
  KC_FROM(double) KC_FROM(short) KC_FROM(unsigned short) KC_FROM(int) KC_FROM(unsigned int) KC_FROM(long)
  KC_FROM(unsigned long) KC_FROM(long long) KC_FROM(unsigned long long)
#undef KC_FROM
          __host__ __device__ explicit __nv_bfloat16(__half x);
#ifdef KC_BF16_NATIVE
  __host__ __device__ operator float() const { return (float)__builtin_bit_cast(__bf16, bits); }
#else
  __host__ __device__ operator float() const { return __builtin_bit_cast(float, (unsigned int)bits << 16); }
#endif
  __host__ __device__ operator bool() const { return (bits & 0x7fff) != 0; }
  KC_INTEGER_OPERATORS((float)*this)
#endif
};
struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __host__ __device__ __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
  __host__ __device__ __nv_bfloat162(__nv_bfloat162_raw r) : x(__nv_bfloat16_raw{r.x}), y(__nv_bfloat16_raw{r.y}) {}
  __host__ __device__ operator __nv_bfloat162_raw() const { return __builtin_bit_cast(__nv_bfloat162_raw, *this); }
};
#ifndef CUDA_NO_BFLOAT16
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#endif
KC_HD __nv_bfloat16 __kc_near_bf16(float x) { return __builtin_bit_cast(__nv_bfloat16, __nv_bfloat16::round(x)); }
#ifdef KC_BF16_NATIVE
typedef __bf16 __kc_bf16x2 __attribute__((ext_vector_type(2)));
typedef float __kc_floatx2 __attribute__((ext_vector_type(2)));
KC_HD __bf16 __kc_bf16(__nv_bfloat16 a) { return __builtin_bit_cast(__bf16, a); }
KC_HD __kc_bf16x2 __kc_bf16(__nv_bfloat162 a) { return __builtin_bit_cast(__kc_bf16x2, a); }
KC_HD __kc_floatx2 __kc_wide(__nv_bfloat162 a) { return __builtin_convertvector(__kc_bf16(a), __kc_floatx2); }
KC_HD float __kc_bf16_float(__nv_bfloat16 a) { return (float)__kc_bf16(a); }
#define KC_BF16_ONE(value) __builtin_bit_cast(__nv_bfloat16, value)
#define KC_BF16_PAIR(value) __builtin_bit_cast(__nv_bfloat162, value)
#define KC_BF16_PAIRS(op, name) KC_BF16_PAIR(__builtin_convertvector(__kc_wide(a) op __kc_wide(b), __kc_bf16x2))
#define KC_BF16_FMA(T) T(__builtin_elementwise_fma(__kc_bf16(a), __kc_bf16(b), __kc_bf16(c)))
#define KC_BF16_MOST(T, which) T(__builtin_elementwise_##which(__kc_bf16(a), __kc_bf16(b)))
#else
KC_HD float __kc_bf16_float(__nv_bfloat16 a) { return __builtin_bit_cast(float, (unsigned int)a.bits << 16); }
#define KC_BF16_PAIRS(op, name) __nv_bfloat162(__h##name(a.x, b.x), __h##name(a.y, b.y))
#endif
KC_HD float __kc_float(__nv_bfloat16 a) { return __kc_bf16_float(a); }
#define KC_BF16(op, name)                                            \
  KC_HD __nv_bfloat16 __h##name(__nv_bfloat16 a, __nv_bfloat16 b) {  \
    return __kc_near_bf16(__kc_bf16_float(a) op __kc_bf16_float(b)); \
  }                                                                  \
  KC_HD __nv_bfloat162 __h##name##2(__nv_bfloat162 a, __nv_bfloat162 b) { return KC_BF16_PAIRS(op, name); }
KC_BF16(+, add)
KC_BF16(-, sub) KC_BF16(*, mul) KC_BF16(/, div)
#undef KC_BF16
#define KC_BF16_ROUNDED(name)                                                            \
  KC_HD __nv_bfloat16 name##_rn(__nv_bfloat16 a, __nv_bfloat16 b) { return name(a, b); } \
  KC_HD __nv_bfloat162 name##2_rn(__nv_bfloat162 a, __nv_bfloat162 b) { return name##2(a, b); }
    KC_BF16_ROUNDED(__hadd) KC_BF16_ROUNDED(__hsub) KC_BF16_ROUNDED(__hmul)
#undef KC_BF16_ROUNDED
        KC_HD __nv_bfloat162 __h2div(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __hdiv2(a, b);
}
#ifdef KC_BF16_NATIVE
KC_HD __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { return KC_BF16_FMA(KC_BF16_ONE); }
KC_HD __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) { return KC_BF16_FMA(KC_BF16_PAIR); }
KC_HD __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) { return KC_BF16_MOST(KC_BF16_ONE, max); }
KC_HD __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) { return KC_BF16_MOST(KC_BF16_ONE, min); }
KC_HD __nv_bfloat162 __hmax2(__nv_bfloat162 a, __nv_bfloat162 b) { return KC_BF16_MOST(KC_BF16_PAIR, max); }
KC_HD __nv_bfloat162 __hmin2(__nv_bfloat162 a, __nv_bfloat162 b) { return KC_BF16_MOST(KC_BF16_PAIR, min); }
#else
KC_HD __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  return __kc_near_bf16(__kc_bf16_float(a) * __kc_bf16_float(b) + __kc_bf16_float(c));
}
KC_HD __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return __nv_bfloat162(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
KC_HD __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __kc_bf16_float(a) < __kc_bf16_float(b) || (a.bits & 0x7fff) > 0x7f80 ? b : a;
}
KC_HD __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __kc_bf16_float(b) < __kc_bf16_float(a) || (a.bits & 0x7fff) > 0x7f80 ? b : a;
}
KC_HD __nv_bfloat162 __hmax2(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __nv_bfloat162(__hmax(a.x, b.x), __hmax(a.y, b.y));
}
KC_HD __nv_bfloat162 __hmin2(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __nv_bfloat162(__hmin(a.x, b.x), __hmin(a.y, b.y));
}
#endif
KC_HD __nv_bfloat16 __hneg(__nv_bfloat16 a) {
  return __builtin_bit_cast(__nv_bfloat16, (unsigned short)(a.bits ^ 0x8000));
}
KC_HD __nv_bfloat162 __hneg2(__nv_bfloat162 a) {
  return __builtin_bit_cast(__nv_bfloat162, __kc_bits32(a) ^ 0x80008000u);
}
KC_HD __nv_bfloat16 __habs(__nv_bfloat16 a) {
  return __builtin_bit_cast(__nv_bfloat16, (unsigned short)(a.bits & 0x7fff));
}
KC_HD __nv_bfloat162 __habs2(__nv_bfloat162 a) {
  return __builtin_bit_cast(__nv_bfloat162, __kc_bits32(a) & 0x7fff7fffu);
}
KC_HD bool __hisnan(__nv_bfloat16 a) { return (a.bits & 0x7fff) > 0x7f80; }
KC_HD int __hisinf(__nv_bfloat16 a) { return (a.bits & 0x7fff) == 0x7f80 ? 1 - (a.bits >> 14 & 2) : 0; }

#ifndef __CUDA_NO_BFLOAT16_OPERATORS__
KC_ARITHMETIC_OPERATOR(__nv_bfloat16, +, __hadd)
KC_ARITHMETIC_OPERATOR(__nv_bfloat16, -, __hsub) KC_ARITHMETIC_OPERATOR(__nv_bfloat16, *, __hmul)
KC_ARITHMETIC_OPERATOR(__nv_bfloat16, /, __hdiv) KC_HD __nv_bfloat16
    operator+(__nv_bfloat16 a) {
  return a;
}
KC_HD __nv_bfloat16 operator-(__nv_bfloat16 a) { return __hneg(a); }
KC_COMPARISON_OPERATORS(__nv_bfloat16, __nv_bfloat162, __kc_bf16_float, KC_COMPARES_ONE)
KC_STEP_OPERATORS(__nv_bfloat16, __hadd, __hsub, __builtin_bit_cast(__nv_bfloat16, (unsigned short)0x3f80))
#endif
#ifndef __CUDA_NO_BFLOAT162_OPERATORS__
KC_ARITHMETIC_OPERATOR(__nv_bfloat162, +, __hadd2)
KC_ARITHMETIC_OPERATOR(__nv_bfloat162, -, __hsub2) KC_ARITHMETIC_OPERATOR(__nv_bfloat162, *, __hmul2)
KC_ARITHMETIC_OPERATOR(__nv_bfloat162, /, __h2div) KC_HD __nv_bfloat162
    operator+(__nv_bfloat162 a) {
  return a;
}
KC_HD __nv_bfloat162 operator-(__nv_bfloat162 a) { return __hneg2(a); }
KC_COMPARISON_OPERATORS(__nv_bfloat16, __nv_bfloat162, __kc_bf16_float, KC_COMPARES_PAIR)
KC_STEP_OPERATORS(__nv_bfloat162, __hadd2, __hsub2, __builtin_bit_cast(__nv_bfloat162, 0x3f803f80u))
#endif
#ifndef KC_SKIP_COMPARISONS
#include "kernelcast/half_compare.h"
#ifdef KC_BF16_FULL
#define KC_COMPARE_BF16 KC_COMPARE_native
#else
#define KC_COMPARE_BF16 KC_COMPARE_plain
#endif
#define KC_COMPARE(name, holds)                                 \
  KC_COMPARE_ONE(__nv_bfloat16, float, __kc_float, name, holds) \
  KC_COMPARE_BF16(__nv_bfloat162, "bf16x2", 0x3f80u, name)
KC_COMPARISONS(KC_COMPARE)
#undef KC_COMPARE
#undef KC_COMPARE_BF16
KC_HD __nv_bfloat162 __hisnan2(__nv_bfloat162 a) { return __hneu2(a, a); }
#endif
#ifndef KC_SKIP_LIMITS
#include "kernelcast/bfloat_limits.h"
#endif
#include "kernelcast/bfloat_math.h"
