// Half precision: a class around _Float16, so that operations become half instructions.
#pragma once
#include "kernelcast/half_common.h"

#define KC_F16 _Float16
typedef KC_F16 __kc_half2 __attribute__((ext_vector_type(2)));
#define KC_NUMBERS(M) M(int) M(unsigned int) M(short) M(unsigned short) M(long) M(unsigned long) M(long long) M(unsigned long long) M(float) M(double)
struct __attribute__((aligned(2))) __half_raw { unsigned short x; };
struct __attribute__((aligned(4))) __half2_raw { unsigned short x, y; };
struct __nv_bfloat16;
struct __attribute__((aligned(2))) __half {
  KC_F16 v;
  __half() = default;
  __host__ __device__ constexpr __half(KC_F16 x) : v(x) {}
  __host__ __device__ constexpr __half(__half_raw r) : v(__builtin_bit_cast(KC_F16, r)) {}
  __host__ __device__ operator __half_raw() const { return __builtin_bit_cast(__half_raw, v); }
  __host__ __device__ operator __half_raw() const volatile { return __half_raw{__builtin_bit_cast(unsigned short, (KC_F16)v)}; }
  __host__ __device__ volatile __half& operator=(__half_raw r) volatile { return v = __builtin_bit_cast(KC_F16, r), *this; }
#ifndef __CUDA_NO_HALF_CONVERSIONS__
#define KC_FROM(T) __host__ __device__ constexpr __half(T x) : v((KC_F16)x) {}
  KC_NUMBERS(KC_FROM)
#undef KC_FROM
  __host__ __device__ explicit __half(__nv_bfloat16 x);
  __host__ __device__ constexpr operator float() const { return (float)v; }
  __host__ __device__ constexpr operator bool() const { return v != (KC_F16)0; }
  KC_INTEGER_OPERATORS(KC_DECLARE_OPERATOR)
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
KC_HD __kc_half2 __kc_pair(__half2 a) { return __kc_half2{a.x.v, a.y.v}; }
KC_HD __half2 __kc_unpair(__kc_half2 a) { return __half2(__half(a.x), __half(a.y)); }
KC_HD float __kc_float(__half a) { return (float)a.v; }
KC_HD KC_F16 __kc_native(__half a) { return a.v; }

#define KC_HALF_NAMED(name, op)                                                                                        \
  KC_HD __half name(__half a, __half b) { return __half((KC_F16)(a.v op b.v)); }                                       \
  KC_HD __half name##_rn(__half a, __half b) { return name(a, b); }                                                    \
  KC_HD __half2 name##2(__half2 a, __half2 b) { return __kc_unpair(__kc_pair(a) op __kc_pair(b)); }                    \
  KC_HD __half2 name##2_rn(__half2 a, __half2 b) { return name##2(a, b); }
KC_HALF_NAMED(__hadd, +) KC_HALF_NAMED(__hsub, -) KC_HALF_NAMED(__hmul, *)
#undef KC_HALF_NAMED
KC_HD __half __hdiv(__half a, __half b) { return __half((KC_F16)(a.v / b.v)); }
KC_HD __half2 __h2div(__half2 a, __half2 b) { return __kc_unpair(__kc_pair(a) / __kc_pair(b)); }
KC_HD __half __hneg(__half a) { return __half((KC_F16)-a.v); }
KC_HD __half2 __hneg2(__half2 a) { return __kc_unpair(-__kc_pair(a)); }
KC_HD __half __habs(__half a) { return __half((KC_F16)__builtin_elementwise_abs(a.v)); }
KC_HD __half2 __habs2(__half2 a) { return __kc_unpair(__builtin_elementwise_abs(__kc_pair(a))); }
KC_HD __half __hfma(__half a, __half b, __half c) { return __half((KC_F16)__builtin_elementwise_fma(a.v, b.v, c.v)); }
KC_HD __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return __kc_unpair(__builtin_elementwise_fma(__kc_pair(a), __kc_pair(b), __kc_pair(c)));
}
KC_HD __half __hmax(__half a, __half b) { return __half((KC_F16)__builtin_elementwise_max(a.v, b.v)); }
KC_HD __half __hmin(__half a, __half b) { return __half((KC_F16)__builtin_elementwise_min(a.v, b.v)); }
KC_HD __half2 __hmax2(__half2 a, __half2 b) { return __kc_unpair(__builtin_elementwise_max(__kc_pair(a), __kc_pair(b))); }
KC_HD __half2 __hmin2(__half2 a, __half2 b) { return __kc_unpair(__builtin_elementwise_min(__kc_pair(a), __kc_pair(b))); }
KC_HD __half2 __hcmadd(__half2 a, __half2 b, __half2 c) {
  return __half2(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}
KC_HD bool __hisnan(__half a) { return a.v != a.v; }
KC_HD int __hisinf(__half a) {
  const unsigned short bits = __kc_bits16(a);
  return (bits & 0x7fff) == 0x7c00 ? 1 - (bits >> 14 & 2) : 0;
}

// Comparisons, saturation and rectification.
#define KC_COMPARE(name, holds)                                        \
  KC_COMPARE_ONE(__half, KC_F16, __kc_native, name, holds)             \
  KC_COMPARE_F16(__half2, "f16x2", 0x3c00u, name)
#ifdef __NVPTX__
#define KC_COMPARE_F16 KC_COMPARE_native
#define KC_LIMITED(name, op)                                                                                               \
  KC_HD __half name##_sat(__half a, __half b) { KC_ASM2(op ".sat.f16", __half, unsigned short, "h", __kc_bits16(a), __kc_bits16(b)); } \
  KC_HD __half2 name##2_sat(__half2 a, __half2 b) { KC_ASM2(op ".sat.f16x2", __half2, unsigned int, "r", __kc_bits32(a), __kc_bits32(b)); }
#define KC_LIMITED3(suffix, op)                                                                                            \
  KC_HD __half __hfma##suffix(__half a, __half b, __half c) {                                                              \
    KC_ASM3(op ".f16", __half, unsigned short, "h", __kc_bits16(a), __kc_bits16(b), __kc_bits16(c));                       \
  }                                                                                                                        \
  KC_HD __half2 __hfma2##suffix(__half2 a, __half2 b, __half2 c) {                                                         \
    KC_ASM3(op ".f16x2", __half2, unsigned int, "r", __kc_bits32(a), __kc_bits32(b), __kc_bits32(c));                      \
  }
KC_LIMITED3(_sat, "fma.rn.sat")
#else
#define KC_COMPARE_F16 KC_COMPARE_plain
#define KC_UNIT(a) __hmin(__hmax(a, __half((KC_F16)0)), __half((KC_F16)1))
#define KC_LIMITED(name, op)                                                                                               \
  KC_HD __half name##_sat(__half a, __half b) { return KC_UNIT(name(a, b)); }                                              \
  KC_HD __half2 name##2_sat(__half2 a, __half2 b) { return __half2(name##_sat(a.x, b.x), name##_sat(a.y, b.y)); }
KC_HD __half __hfma_sat(__half a, __half b, __half c) { return KC_UNIT(__hfma(a, b, c)); }
KC_HD __half2 __hfma2_sat(__half2 a, __half2 b, __half2 c) { return __half2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)); }
#endif
KC_COMPARISONS(KC_COMPARE)
KC_LIMITED(__hadd, "add") KC_LIMITED(__hsub, "sub") KC_LIMITED(__hmul, "mul")
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 800
KC_LIMITED3(_relu, "fma.rn.relu")
#define KC_NAN_WINS(least, name)                                                                                           \
  KC_HD __half name##_nan(__half a, __half b) { KC_ASM2(least ".NaN.f16", __half, unsigned short, "h", __kc_bits16(a), __kc_bits16(b)); } \
  KC_HD __half2 name##2_nan(__half2 a, __half2 b) { KC_ASM2(least ".NaN.f16x2", __half2, unsigned int, "r", __kc_bits32(a), __kc_bits32(b)); }
#else
#define KC_NAN_WINS(least, name)                                                                                           \
  KC_HD __half name##_nan(__half a, __half b) { return __hisnan(a) ? a : __hisnan(b) ? b : name(a, b); }                   \
  KC_HD __half2 name##2_nan(__half2 a, __half2 b) { return __half2(name##_nan(a.x, b.x), name##_nan(a.y, b.y)); }
KC_HD __half __hfma_relu(__half a, __half b, __half c) { return __hmax(__hfma(a, b, c), __half((KC_F16)0)); }
KC_HD __half2 __hfma2_relu(__half2 a, __half2 b, __half2 c) { return __half2(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)); }
#endif
KC_NAN_WINS("max", __hmax) KC_NAN_WINS("min", __hmin)
KC_HD __half2 __hisnan2(__half2 a) { return __hneu2(a, a); }
#undef KC_COMPARE
#undef KC_COMPARE_F16
#undef KC_UNIT
#undef KC_LIMITED
#undef KC_LIMITED3
#undef KC_NAN_WINS

#define KC_HALF_OPERATOR(T, op, name)                                                \
  KC_HD T operator op(T a, T b) { return name(a, b); }                               \
  KC_HD T& operator op##=(T& a, T b) { return a = name(a, b); }
#ifndef __CUDA_NO_HALF_OPERATORS__
KC_HALF_OPERATOR(__half, +, __hadd) KC_HALF_OPERATOR(__half, -, __hsub) KC_HALF_OPERATOR(__half, *, __hmul) KC_HALF_OPERATOR(__half, /, __hdiv)
KC_HD __half operator+(__half a) { return a; }
KC_HD __half operator-(__half a) { return __hneg(a); }
KC_ONE_OPERATORS(__half, 0x3c00u)
#endif
#ifndef __CUDA_NO_HALF2_OPERATORS__
KC_HALF_OPERATOR(__half2, +, __hadd2) KC_HALF_OPERATOR(__half2, -, __hsub2) KC_HALF_OPERATOR(__half2, *, __hmul2) KC_HALF_OPERATOR(__half2, /, __h2div)
KC_HD __half2 operator+(__half2 a) { return a; }
KC_HD __half2 operator-(__half2 a) { return __hneg2(a); }
KC_PAIR_OPERATORS(__half2, 0x3c00u)
#endif
#undef KC_HALF_OPERATOR
#include "kernelcast/half_math.h"
