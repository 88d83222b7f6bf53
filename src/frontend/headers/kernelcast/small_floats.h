// What cuda_fp8.h, cuda_fp6.h and cuda_fp4.h share: numbers of at most eight bits, their classes, alone, in pairs and
// in fours. A format F has bits, m (of the mantissa), bias, most (largest code without the sign) and over (what is too
// large becomes where nothing is saturated). Its F::pair() and F::halves() are instructions where the device has them.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };

/// The code of x in the lowest bits, by integers.
template <class F>
KC_HD unsigned char __kc_to_small(float x, bool saturates = true, bool to_zero = false) {
  const unsigned int bits = __builtin_bit_cast(unsigned int, x), size = bits & 0x7fffffffu,
                     sign = bits >> 31 << (F::bits - 1);
  if (size > 0x7f800000u) return (unsigned char)(F::bits == 8 ? sign | 0x7fu : F::most);
  const int exponent = (int)(size >> 23) - 127 + F::bias;
  const int shift = 23 - F::m + (exponent < 1 ? 1 - exponent : 0);
  if (shift > 24) return (unsigned char)sign;
  const unsigned int digits = (size & 0x7fffffu) | 0x800000u;
  const unsigned int nearer = to_zero ? 0u : (1u << (shift - 1)) - 1u + (digits >> shift & 1u);
  const unsigned int kept = (digits + nearer) >> shift;
  const unsigned int code = exponent < 1 ? kept : kept + ((unsigned int)(exponent - 1) << F::m);
  return (unsigned char)(sign | (code <= F::most ? code : saturates ? F::most : F::over));
}
template <class F>
KC_HD float __kc_from_small(unsigned char v) {
  const unsigned int code = v & ((1u << (F::bits - 1)) - 1), sign = (unsigned int)v << (32 - F::bits) & 0x80000000u;
  const float scale = __builtin_bit_cast(float, (unsigned int)(254 - F::bias) << 23);  // 2 to the (127 - bias)
  if (F::bits == 8 && code > (F::m == 3 ? 0x7eu : 0x7cu)) return __builtin_bit_cast(float, 0x7fffffffu);
  if (F::bits == 8 && F::m == 2 && code == 0x7cu) return __builtin_bit_cast(float, sign | 0x7f800000u);
  const float x = __builtin_bit_cast(float, code << (23 - F::m)) * scale;
  return __builtin_bit_cast(float, __builtin_bit_cast(unsigned int, x) | sign);
}
/// A double as a float that rounds to the same number of few bits: cut, its last bit set where something was cut off.
KC_HD float __kc_sticky_float(double x) {
  const float f = (float)x;
  const double back = (double)f;
  unsigned int u = __builtin_bit_cast(unsigned int, f);
  if (back == x || x != x) return f;
  if ((x > 0) == (back > x)) --u;
  return __builtin_bit_cast(float, u | 1u);
}
template <class F>
KC_HD unsigned short __kc_small_pair(float low, float high) {
  return (unsigned short)(__kc_to_small<F>(low) | __kc_to_small<F>(high) << F::lane);
}
template <class F>
KC_HD __half2 __kc_small_halves(unsigned short v) {
  return __half2(__float2half(__kc_from_small<F>((unsigned char)(v & ((1 << F::lane) - 1)))),
                 __float2half(__kc_from_small<F>((unsigned char)(v >> F::lane))));
}
template <class F>
KC_HD float2 __kc_small_floats(unsigned short v) {
  const __half2 h = F::halves(v);
  return make_float2((float)h.x.v, (float)h.y.v);
}
template <class F>
KC_HD unsigned char __kc_small_one(float x) {
  return (unsigned char)(F::pair(x, 0.0f) & ((1 << F::bits) - 1));
}
template <class F>
KC_HD unsigned short __kc_small_doubles(double low, double high) {
  return (unsigned short)(__kc_to_small<F>(__kc_sticky_float(low)) | __kc_to_small<F>(__kc_sticky_float(high))
                                                                         << F::lane);
}

// By integers: of a format that calls itself self.
#define KC_MEMBER static __inline__ __attribute__((always_inline, nodebug, host, device))
#define KC_EMULATED_PAIR                                                                            \
  KC_MEMBER unsigned short pair(float low, float high) { return __kc_small_pair<self>(low, high); } \
  KC_MEMBER unsigned short of_halves(__half2 v) { return pair((float)v.x.v, (float)v.y.v); }        \
  KC_MEMBER __half2 halves(unsigned short v) { return __kc_small_halves<self>(v); }

#define KC_EXPLICIT __host__ __device__ explicit
#undef KC_CONVERTS
#define KC_CONVERTS KC_EXPLICIT operator
#define KC_SMALL_FROM(name, T) \
  KC_EXPLICIT name(T x) : name((float)x) {}
#define KC_SMALL_ONE(name, F, storage)                                                              \
  struct name {                                                                                     \
    storage __x;                                                                                    \
    name() = default;                                                                               \
    KC_EXPLICIT name(float x) : __x(__kc_small_one<F>(x)) {}                                        \
    KC_EXPLICIT name(double x) : __x((storage)__kc_to_small<F>(__kc_sticky_float(x))) {}            \
    KC_EXPLICIT name(__half x)                                                                      \
        : __x((storage)(F::of_halves(__half2(x, __half((_Float16)0))) & ((1 << F::bits) - 1))) {}   \
    KC_EXPLICIT name(__nv_bfloat16 x) : name(__kc_float(x)) {}                                      \
    KC_SMALL_FROM(name, short)                                                                      \
    KC_SMALL_FROM(name, unsigned short) KC_SMALL_FROM(name, int) KC_SMALL_FROM(name, unsigned int)  \
    KC_SMALL_FROM(name, long) KC_SMALL_FROM(name, unsigned long) KC_SMALL_FROM(name, long long) \
    KC_SMALL_FROM(name, unsigned long long) KC_EXPLICIT \
            operator __half() const {                                                               \
      return F::halves(__x).x;                                                                      \
    }                                                                                               \
    KC_EXPLICIT operator float() const { return __kc_small_floats<F>(__x).x; }                      \
    KC_EXPLICIT operator double() const { return (double)(float)*this; }                            \
    KC_EXPLICIT operator __nv_bfloat16() const { return __float2bfloat16_rz((float)*this); }        \
    KC_EXPLICIT operator bool() const { return (__x & ((1 << (F::bits - 1)) - 1)) != 0; }           \
    KC_INTEGER_OPERATORS(F::halves(__x).x.v)                                                        \
  };
#define KC_SMALL_TWO(name, F, storage)                                             \
  struct __attribute__((aligned(sizeof(storage)))) name {                          \
    storage __x;                                                                   \
    name() = default;                                                              \
    KC_EXPLICIT name(float2 v) : __x((storage)F::pair(v.x, v.y)) {}                \
    KC_EXPLICIT name(__half2 v) : __x((storage)F::of_halves(v)) {}                 \
    KC_EXPLICIT name(__nv_bfloat162 v) : name(__bfloat1622float2(v)) {}            \
    KC_EXPLICIT name(double2 v) : __x((storage)__kc_small_doubles<F>(v.x, v.y)) {} \
    KC_EXPLICIT operator float2() const { return __kc_small_floats<F>(__x); }      \
    KC_EXPLICIT operator __half2() const { return F::halves(__x); }                \
  };
/// `two`: the pair's class.
#define KC_SMALL_FOUR(name, F, storage, two)                                                              \
  struct __attribute__((aligned(sizeof(storage)))) name {                                                 \
    storage __x;                                                                                          \
    name() = default;                                                                                     \
    KC_EXPLICIT name(two low, two high) : __x((storage)(low.__x | (storage)high.__x << (2 * F::lane))) {} \
    KC_EXPLICIT name(float4 v) : name(two(make_float2(v.x, v.y)), two(make_float2(v.z, v.w))) {}          \
    KC_EXPLICIT name(__half2 low, __half2 high) : name(two(low), two(high)) {}                            \
    KC_EXPLICIT name(__nv_bfloat162 low, __nv_bfloat162 high) : name(two(low), two(high)) {}              \
    KC_EXPLICIT name(double4 v) : name(two(make_double2(v.x, v.y)), two(make_double2(v.z, v.w))) {}       \
    KC_EXPLICIT name(double4_16a v) : name(two(make_double2(v.x, v.y)), two(make_double2(v.z, v.w))) {}   \
    KC_EXPLICIT name(double4_32a v) : name(two(make_double2(v.x, v.y)), two(make_double2(v.z, v.w))) {}   \
    KC_EXPLICIT operator float4() const {                                                                 \
      two a, b;                                                                                           \
      a.__x = (decltype(a.__x))__x, b.__x = (decltype(b.__x))(__x >> (2 * F::lane));                      \
      const float2 low = (float2)a, high = (float2)b;                                                     \
      return make_float4(low.x, low.y, high.x, high.y);                                                   \
    }                                                                                                     \
  };

/// __nv_cvt_*, with a rounding to the nearest or to zero, of two formats, the first where `is_first`.
#define KC_SMALL_CONVERSIONS(n, n2, kinds, one, two, is_first, F, G)                                          \
  KC_HD one __nv_cvt_float_to_##n(float x, kinds kind, cudaRoundMode how) {                                   \
    if (how == cudaRoundNearest) return (one)(is_first ? __kc_small_one<F>(x) : __kc_small_one<G>(x));        \
    return (one)(is_first ? __kc_to_small<F>(x, true, true) : __kc_to_small<G>(x, true, true));               \
  }                                                                                                           \
  KC_HD one __nv_cvt_double_to_##n(double x, kinds kind, cudaRoundMode how) {                                 \
    const float f = __kc_sticky_float(x);                                                                     \
    const bool zero = how == cudaRoundZero;                                                                   \
    return (one)(is_first ? __kc_to_small<F>(f, true, zero) : __kc_to_small<G>(f, true, zero));               \
  }                                                                                                           \
  KC_HD one __nv_cvt_halfraw_to_##n(__half_raw x, kinds kind, cudaRoundMode how) {                            \
    return __nv_cvt_float_to_##n(__half2float(__half(x)), kind, how);                                         \
  }                                                                                                           \
  KC_HD one __nv_cvt_bfloat16raw_to_##n(__nv_bfloat16_raw x, kinds kind, cudaRoundMode how) {                 \
    return __nv_cvt_float_to_##n(__kc_float(__nv_bfloat16(x)), kind, how);                                    \
  }                                                                                                           \
  KC_HD two __nv_cvt_float2_to_##n2(float2 x, kinds kind, cudaRoundMode how) {                                \
    if (how == cudaRoundNearest) return (two)(is_first ? F::pair(x.x, x.y) : G::pair(x.x, x.y));              \
    return (two)(__nv_cvt_float_to_##n(x.x, kind, how) | __nv_cvt_float_to_##n(x.y, kind, how) << F::lane);   \
  }                                                                                                           \
  KC_HD two __nv_cvt_double2_to_##n2(double2 x, kinds kind, cudaRoundMode how) {                              \
    return (two)(__nv_cvt_double_to_##n(x.x, kind, how) | __nv_cvt_double_to_##n(x.y, kind, how) << F::lane); \
  }                                                                                                           \
  KC_HD two __nv_cvt_halfraw2_to_##n2(__half2_raw x, kinds kind, cudaRoundMode how) {                         \
    return __nv_cvt_float2_to_##n2(__half22float2(__half2(x)), kind, how);                                    \
  }                                                                                                           \
  KC_HD two __nv_cvt_bfloat16raw2_to_##n2(__nv_bfloat162_raw x, kinds kind, cudaRoundMode how) {              \
    return __nv_cvt_float2_to_##n2(__bfloat1622float2(__nv_bfloat162(x)), kind, how);                         \
  }                                                                                                           \
  KC_HD __half2_raw __nv_cvt_##n2##_to_halfraw2(two x, kinds kind) {                                          \
    return (__half2_raw)(is_first ? F::halves(x) : G::halves(x));                                             \
  }                                                                                                           \
  KC_HD __half_raw __nv_cvt_##n##_to_halfraw(one x, kinds kind) {                                             \
    return (__half_raw)(is_first ? F::halves(x) : G::halves(x)).x;                                            \
  }
