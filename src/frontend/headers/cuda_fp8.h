// Eight-bit floating point: bytes that convert to and from wider types. Conversions are done with integer operations, as on devices
// before sm_89; later ones have an instruction for two of them.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

// Bits of float to `M` bits of mantissa with exponent bias `Bias`, to the nearest, saturated at `Most`.
template <int M, int Bias, unsigned Most> KC_HD unsigned char __kc_to_fp8(float x) {
  const unsigned int bits = __builtin_bit_cast(unsigned int, x), sign = bits >> 24 & 0x80u, size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) return (unsigned char)(sign | 0x7fu);
  const int exponent = (int)(size >> 23) - 127 + Bias;
  const int shift = 23 - M + (exponent < 1 ? 1 - exponent : 0);
  if (shift > 24) return (unsigned char)sign;
  const unsigned int digits = (size & 0x7fffffu) | 0x800000u;
  const unsigned int kept = (digits + (1u << (shift - 1)) - 1u + (digits >> shift & 1u)) >> shift;
  const unsigned int code = exponent < 1 ? kept : kept + ((unsigned int)(exponent - 1) << M);
  return (unsigned char)(sign | (code > Most ? Most : code));
}
template <int M, int Bias> KC_HD float __kc_from_fp8(unsigned char v) {
  const unsigned int size = (v & 0x7fu) << (23 - M);
  const float scale = __builtin_bit_cast(float, (unsigned int)(254 - Bias) << 23);  // 2 to the (127 - Bias)
  const float x = __builtin_bit_cast(float, size) * scale;
  return v & 0x80u ? -x : x;
}

#define KC_FP8(name, M, Bias, Most)                                                                  \
  struct name {                                                                                      \
    __nv_fp8_storage_t __x;                                                                          \
    name() = default;                                                                                \
    __host__ __device__ explicit name(float x) : __x(__kc_to_fp8<M, Bias, Most>(x)) {}               \
    __host__ __device__ explicit name(double x) : name((float)x) {}                                  \
    __host__ __device__ explicit name(int x) : name((float)x) {}                                     \
    __host__ __device__ explicit name(__half x) : name((float)x) {}                                  \
    __host__ __device__ explicit name(__nv_bfloat16 x) : name((float)x) {}                           \
    __host__ __device__ explicit operator float() const { return __kc_from_fp8<M, Bias>(__x); }      \
    __host__ __device__ explicit operator double() const { return (double)(float)*this; }            \
    __host__ __device__ explicit operator __half() const { return __half((float)*this); }            \
    __host__ __device__ explicit operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); } \
  };
KC_FP8(__nv_fp8_e4m3, 3, 7, 0x7eu)
KC_FP8(__nv_fp8_e5m2, 2, 15, 0x7bu)
#undef KC_FP8
#define KC_FP8_VECTORS(name, x2, x4)                                                                                    \
  struct __attribute__((aligned(2))) x2 {                                                                               \
    __nv_fp8x2_storage_t __x;                                                                                           \
    x2() = default;                                                                                                     \
    __host__ __device__ explicit x2(float2 v) : __x((unsigned short)(name(v.x).__x | name(v.y).__x << 8)) {}            \
    __host__ __device__ explicit x2(__half2 v) : x2(make_float2((float)v.x, (float)v.y)) {}                             \
    __host__ __device__ explicit x2(__nv_bfloat162 v) : x2(make_float2((float)v.x, (float)v.y)) {}                      \
    __host__ __device__ explicit x2(double2 v) : x2(make_float2((float)v.x, (float)v.y)) {}                             \
    __host__ __device__ explicit operator float2() const {                                                              \
      name a, b;                                                                                                        \
      a.__x = (unsigned char)__x, b.__x = (unsigned char)(__x >> 8);                                                    \
      return make_float2((float)a, (float)b);                                                                           \
    }                                                                                                                   \
    __host__ __device__ explicit operator __half2() const {                                                             \
      const float2 v = (float2)*this;                                                                                   \
      return __half2(__half(v.x), __half(v.y));                                                                         \
    }                                                                                                                   \
  };                                                                                                                    \
  struct __attribute__((aligned(4))) x4 {                                                                               \
    __nv_fp8x4_storage_t __x;                                                                                           \
    x4() = default;                                                                                                     \
    __host__ __device__ explicit x4(float4 v)                                                                           \
        : __x(x2(make_float2(v.x, v.y)).__x | (unsigned int)x2(make_float2(v.z, v.w)).__x << 16) {}                     \
    __host__ __device__ explicit x4(__half2 low, __half2 high)                                                          \
        : x4(make_float4((float)low.x, (float)low.y, (float)high.x, (float)high.y)) {}                                  \
    __host__ __device__ explicit x4(__nv_bfloat162 low, __nv_bfloat162 high)                                            \
        : x4(make_float4((float)low.x, (float)low.y, (float)high.x, (float)high.y)) {}                                  \
    __host__ __device__ explicit operator float4() const {                                                              \
      x2 a, b;                                                                                                          \
      a.__x = (unsigned short)__x, b.__x = (unsigned short)(__x >> 16);                                                 \
      const float2 low = (float2)a, high = (float2)b;                                                                   \
      return make_float4(low.x, low.y, high.x, high.y);                                                                 \
    }                                                                                                                   \
  };
KC_FP8_VECTORS(__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3)
KC_FP8_VECTORS(__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2)
#undef KC_FP8_VECTORS

KC_HD __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t, __nv_fp8_interpretation_t kind) {
  return kind == __NV_E4M3 ? __nv_fp8_e4m3(x).__x : __nv_fp8_e5m2(x).__x;
}
KC_HD __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t s, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8((float)__half(x), s, kind);
}
KC_HD __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t s, __nv_fp8_interpretation_t kind) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_fp8(x.x, s, kind) | __nv_cvt_float_to_fp8(x.y, s, kind) << 8);
}
KC_HD __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  return (__half_raw)__half(kind == __NV_E4M3 ? __kc_from_fp8<3, 7>(x) : __kc_from_fp8<2, 15>(x));
}
