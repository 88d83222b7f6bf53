// Eight-bit floating point: bytes that convert to and from wider types. NVIDIA's devices from sm_89 on have an instruction
// for two of them; elsewhere integers convert.
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
  if ((v & 0x7fu) >= (M == 3 ? 0x7fu : 0x7cu))  // not a number; of e5m2 infinite, too
    return __builtin_bit_cast(float, (v & 0x80u) << 24 | 0x7f800000u | (M == 3 || (v & 3u) ? 0x400000u : 0u));
  const float x = __builtin_bit_cast(float, size) * scale;
  return v & 0x80u ? -x : x;
}

// Two values, the first in the lower byte; one value.
template <int M, int Bias, unsigned Most> KC_HD unsigned short __kc_pair_to_fp8(float low, float high) {
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 890
  unsigned short r;
  if constexpr (M == 3)
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %2, %1;" : "=h"(r) : "f"(low), "f"(high));
  else
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %2, %1;" : "=h"(r) : "f"(low), "f"(high));
  return r;
#else
  return (unsigned short)(__kc_to_fp8<M, Bias, Most>(low) | __kc_to_fp8<M, Bias, Most>(high) << 8);
#endif
}
template <int M, int Bias> KC_HD float2 __kc_pair_from_fp8(unsigned short v) {
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 890
  unsigned int r;
  if constexpr (M == 3)
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"(v));
  else
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(r) : "h"(v));
  const __half2 halves = __builtin_bit_cast(__half2, r);
  return make_float2((float)halves.x, (float)halves.y);
#else
  return make_float2(__kc_from_fp8<M, Bias>((unsigned char)v), __kc_from_fp8<M, Bias>((unsigned char)(v >> 8)));
#endif
}

#define KC_FP8(name, M, Bias, Most)                                                                  \
  struct name {                                                                                      \
    __nv_fp8_storage_t __x;                                                                          \
    name() = default;                                                                                \
    __host__ __device__ explicit name(float x) : __x((unsigned char)__kc_pair_to_fp8<M, Bias, Most>(x, 0.0f)) {}              \
    __host__ __device__ explicit name(double x) : name((float)x) {}                                  \
    __host__ __device__ explicit name(int x) : name((float)x) {}                                     \
    __host__ __device__ explicit name(__half x) : name((float)x) {}                                  \
    __host__ __device__ explicit name(__nv_bfloat16 x) : name((float)x) {}                           \
    __host__ __device__ explicit operator float() const { return __kc_pair_from_fp8<M, Bias>(__x).x; } \
    __host__ __device__ explicit operator double() const { return (double)(float)*this; }            \
    __host__ __device__ explicit operator __half() const { return __half((float)*this); }            \
    __host__ __device__ explicit operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); } \
  };
KC_FP8(__nv_fp8_e4m3, 3, 7, 0x7eu)
KC_FP8(__nv_fp8_e5m2, 2, 15, 0x7bu)
#undef KC_FP8
#define KC_FP8_VECTORS(name, M, Bias, Most, x2, x4)                                                                                \
  struct __attribute__((aligned(2))) x2 {                                                                               \
    __nv_fp8x2_storage_t __x;                                                                                           \
    x2() = default;                                                                                                     \
    __host__ __device__ explicit x2(float2 v) : __x(__kc_pair_to_fp8<M, Bias, Most>(v.x, v.y)) {}                      \
    __host__ __device__ explicit x2(__half2 v) : x2(make_float2((float)v.x, (float)v.y)) {}                             \
    __host__ __device__ explicit x2(__nv_bfloat162 v) : x2(make_float2((float)v.x, (float)v.y)) {}                      \
    __host__ __device__ explicit x2(double2 v) : x2(make_float2((float)v.x, (float)v.y)) {}                             \
    __host__ __device__ explicit operator float2() const { return __kc_pair_from_fp8<M, Bias>(__x); }                    \
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
KC_FP8_VECTORS(__nv_fp8_e4m3, 3, 7, 0x7eu, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3)
KC_FP8_VECTORS(__nv_fp8_e5m2, 2, 15, 0x7bu, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2)
#undef KC_FP8_VECTORS

KC_HD __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t, __nv_fp8_interpretation_t kind) {
  return kind == __NV_E4M3 ? __nv_fp8_e4m3(x).__x : __nv_fp8_e5m2(x).__x;
}
KC_HD __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t s, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8((float)__half(x), s, kind);
}
KC_HD __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t, __nv_fp8_interpretation_t kind) {
  return kind == __NV_E4M3 ? __nv_fp8x2_e4m3(x).__x : __nv_fp8x2_e5m2(x).__x;
}
KC_HD __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  return (__half_raw)__half(kind == __NV_E4M3 ? __kc_pair_from_fp8<3, 7>(x).x : __kc_pair_from_fp8<2, 15>(x).x);
}
