// Half precision: a class around _Float16, so that operations become half instructions.
#pragma once
#include "kernelcast/half_common.h"

#define KC_F16 _Float16
typedef KC_F16 __kc_half2 __attribute__((ext_vector_type(2)));
#define KC_NUMBERS(M)                                                                                             \
  M(int)                                                                                                          \
  M(unsigned int) M(short) M(unsigned short) M(long) M(unsigned long) M(long long) M(unsigned long long) M(float) \
      M(double)
struct __attribute__((aligned(2))) __half_raw {
  unsigned short x;
};
struct __attribute__((aligned(4))) __half2_raw {
  unsigned short x, y;
};
struct __nv_bfloat16;
struct __attribute__((aligned(2))) __half {
  KC_F16 v;
  __declspec(property(get = kc_bits, put = kc_set_bits)) unsigned short __x;  // of those who derive from it
  __host__ __device__ constexpr unsigned short kc_bits() const { return __builtin_bit_cast(unsigned short, v); }
  __host__ __device__ constexpr void kc_set_bits(unsigned short bits) { v = __builtin_bit_cast(KC_F16, bits); }
  __half() = default;
  __host__ __device__ constexpr __half(KC_F16 x) : v(x) {}
  __host__ __device__ constexpr __half(__half_raw r) : v(__builtin_bit_cast(KC_F16, r)) {}
  __host__ __device__ operator __half_raw() const { return __builtin_bit_cast(__half_raw, v); }
  __host__ __device__ operator __half_raw() const volatile {
    return __half_raw{__builtin_bit_cast(unsigned short, (KC_F16)v)};
  }
  __host__ __device__ __half& operator=(__half_raw r) { return v = __builtin_bit_cast(KC_F16, r), *this; }
  __host__ __device__ volatile __half& operator=(__half_raw r) volatile {
    return v = __builtin_bit_cast(KC_F16, r), *this;
  }
#ifndef __CUDA_NO_HALF_CONVERSIONS__
#define KC_FROM(T) \
  __host__ __device__ constexpr __half(T x) : v((KC_F16)x) {}
  KC_NUMBERS(KC_FROM)
#undef KC_FROM
  __host__ __device__ explicit __half(__nv_bfloat16 x);
  __host__ __device__ constexpr operator float() const { return (float)v; }
  __host__ __device__ constexpr operator bool() const { return v != (KC_F16)0; }
  KC_INTEGER_OPERATORS(v)
#endif
};
typedef __half __nv_half;
typedef __half_raw __nv_half_raw;
struct __attribute__((aligned(4))) __half2 {
  __half x, y;
  __half2() = default;
  __host__ __device__ constexpr __half2(__half a, __half b) : x(a), y(b) {}
  __host__ __device__ __half2(__half2_raw r) : x(__half_raw{r.x}), y(__half_raw{r.y}) {}
  __host__ __device__ operator __half2_raw() const { return __builtin_bit_cast(__half2_raw, *this); }
};
typedef __half2 __nv_half2;
typedef __half2_raw __nv_half2_raw;
#ifndef CUDA_NO_HALF
typedef __half half;
typedef __half2 half2;
#endif
KC_HD __half __kc_half(KC_F16 x) { return __builtin_bit_cast(__half, x); }
KC_HD __kc_half2 __kc_pair(__half2 a) { return __builtin_bit_cast(__kc_half2, a); }
KC_HD __half2 __kc_unpair(__kc_half2 a) { return __builtin_bit_cast(__half2, a); }
KC_HD float __kc_float(__half a) { return (float)a.v; }
KC_HD KC_F16 __kc_native(__half a) { return a.v; }

#define KC_HALF_NAMED(name, op)                                                                     \
  KC_HD __half name(__half a, __half b) { return __kc_half((KC_F16)(a.v op b.v)); }                 \
  KC_HD __half name##_rn(__half a, __half b) { return name(a, b); }                                 \
  KC_HD __half2 name##2(__half2 a, __half2 b) { return __kc_unpair(__kc_pair(a) op __kc_pair(b)); } \
  KC_HD __half2 name##2_rn(__half2 a, __half2 b) { return name##2(a, b); }
KC_HALF_NAMED(__hadd, +)
KC_HALF_NAMED(__hsub, -) KC_HALF_NAMED(__hmul, *)
#undef KC_HALF_NAMED
    KC_HD __half __hdiv(__half a, __half b) {
  return __kc_half((KC_F16)(a.v / b.v));
}
KC_HD __half2 __h2div(__half2 a, __half2 b) { return __kc_unpair(__kc_pair(a) / __kc_pair(b)); }
KC_HD __half __hneg(__half a) { return __kc_half((KC_F16)-a.v); }
KC_HD __half2 __hneg2(__half2 a) { return __kc_unpair(-__kc_pair(a)); }
KC_HD __half __habs(__half a) { return __kc_half((KC_F16)__builtin_elementwise_abs(a.v)); }
KC_HD __half2 __habs2(__half2 a) { return __kc_unpair(__builtin_elementwise_abs(__kc_pair(a))); }
KC_HD __half __hfma(__half a, __half b, __half c) {
  return __kc_half((KC_F16)__builtin_elementwise_fma(a.v, b.v, c.v));
}
KC_HD __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return __kc_unpair(__builtin_elementwise_fma(__kc_pair(a), __kc_pair(b), __kc_pair(c)));
}
KC_HD __half __hmax(__half a, __half b) { return __kc_half((KC_F16)__builtin_elementwise_max(a.v, b.v)); }
KC_HD __half __hmin(__half a, __half b) { return __kc_half((KC_F16)__builtin_elementwise_min(a.v, b.v)); }
KC_HD __half2 __hmax2(__half2 a, __half2 b) {
  return __kc_unpair(__builtin_elementwise_max(__kc_pair(a), __kc_pair(b)));
}
KC_HD __half2 __hmin2(__half2 a, __half2 b) {
  return __kc_unpair(__builtin_elementwise_min(__kc_pair(a), __kc_pair(b)));
}
KC_HD bool __hisnan(__half a) { return a.v != a.v; }
KC_HD int __hisinf(__half a) {
  const unsigned short bits = __kc_bits16(a);
  return (bits & 0x7fff) == 0x7c00 ? 1 - (bits >> 14 & 2) : 0;
}

#ifndef __CUDA_NO_HALF_OPERATORS__
KC_ARITHMETIC_OPERATOR(__half, +, __hadd)
KC_ARITHMETIC_OPERATOR(__half, -, __hsub) KC_ARITHMETIC_OPERATOR(__half, *, __hmul)
KC_ARITHMETIC_OPERATOR(__half, /, __hdiv) KC_HD __half
    operator+(__half a) {
  return a;
}
KC_HD __half operator-(__half a) { return __hneg(a); }
KC_COMPARISON_OPERATORS(__half, __half2, __kc_native, KC_COMPARES_ONE)
KC_STEP_OPERATORS(__half, __hadd, __hsub, __kc_half((KC_F16)1))
#endif
#ifndef __CUDA_NO_HALF2_OPERATORS__
KC_ARITHMETIC_OPERATOR(__half2, +, __hadd2)
KC_ARITHMETIC_OPERATOR(__half2, -, __hsub2) KC_ARITHMETIC_OPERATOR(__half2, *, __hmul2)
KC_ARITHMETIC_OPERATOR(__half2, /, __h2div) KC_HD __half2
    operator+(__half2 a) {
  return a;
}
KC_HD __half2 operator-(__half2 a) { return __hneg2(a); }
KC_COMPARISON_OPERATORS(__half, __half2, __kc_native, KC_COMPARES_PAIR)
KC_STEP_OPERATORS(__half2, __hadd2, __hsub2, __kc_unpair(__kc_half2{1, 1}))
#endif
#ifndef KC_SKIP_COMPARISONS
#include "kernelcast/half_compare.h"
#ifdef __NVPTX__
#define KC_COMPARE_F16 KC_COMPARE_native
#else
#define KC_COMPARE_F16 KC_COMPARE_plain
#endif
#define KC_COMPARE(name, holds)                            \
  KC_COMPARE_ONE(__half, KC_F16, __kc_native, name, holds) \
  KC_COMPARE_F16(__half2, "f16x2", 0x3c00u, name)
KC_COMPARISONS(KC_COMPARE)
#undef KC_COMPARE
#undef KC_COMPARE_F16
KC_HD __half2 __hisnan2(__half2 a) { return __hneu2(a, a); }
#endif
#ifndef KC_SKIP_LIMITS
#include "kernelcast/half_limits.h"
#endif
#include "kernelcast/half_math.h"
#ifndef KC_SKIP_CONVERSIONS
#include "kernelcast/half_convert.h"
#define KC_NEAREST_HALF(x) __kc_half((KC_F16)(x))
#ifdef __NVPTX__
KC_ROUND_native(__half, "f16", __float2half, float, "f32", "f", )
    KC_INTEGERS(native, __half, "f16", half2, 2half, KC_NEAREST_HALF)
#else
KC_ROUND_plain(__half, "f16", __float2half, float, "f32", "f", KC_NEAREST_HALF(x))
    KC_INTEGERS(plain, __half, "f16", half2, 2half, KC_NEAREST_HALF)
#endif
        KC_BYTES(__half, half2)
#undef KC_NEAREST_HALF
#endif
#undef KC_NUMBERS
#undef KC_F16
