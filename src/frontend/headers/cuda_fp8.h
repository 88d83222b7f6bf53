// Eight-bit floating point: bytes that convert to and from wider types. NVIDIA's devices from sm_89 on have an
// instruction for two of them; elsewhere integers convert.
#pragma once
#include "kernelcast/small_floats.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

#if defined(__NVPTX__) && __CUDA_ARCH__ >= 890
#define KC_FP8_PAIR(name)                                                               \
  KC_MEMBER unsigned short pair(float low, float high) {                                \
    unsigned short r;                                                                   \
    asm("cvt.rn.satfinite." name "x2.f32 %0, %2, %1;" : "=h"(r) : "f"(low), "f"(high)); \
    return r;                                                                           \
  }                                                                                     \
  KC_MEMBER unsigned short of_halves(__half2 v) {                                       \
    unsigned short r;                                                                   \
    asm("cvt.rn.satfinite." name "x2.f16x2 %0, %1;" : "=h"(r) : "r"(__kc_bits32(v)));   \
    return r;                                                                           \
  }                                                                                     \
  KC_MEMBER __half2 halves(unsigned short v) {                                          \
    unsigned int r;                                                                     \
    asm("cvt.rn.f16x2." name "x2 %0, %1;" : "=r"(r) : "h"(v));                          \
    return __builtin_bit_cast(__half2, r);                                              \
  }
#else
#define KC_FP8_PAIR(name) KC_EMULATED_PAIR
#endif
struct __kc_e4m3 {
  typedef __kc_e4m3 self;
  enum : unsigned { most = 0x7e, over = 0x7f };
  enum { bits = 8, lane = 8, m = 3, bias = 7 };
  KC_FP8_PAIR("e4m3")
};
struct __kc_e5m2 {
  typedef __kc_e5m2 self;
  enum : unsigned { most = 0x7b, over = 0x7c };
  enum { bits = 8, lane = 8, m = 2, bias = 15 };
  KC_FP8_PAIR("e5m2")
};
#undef KC_FP8_PAIR
#define KC_FP8(kind)                                                 \
  KC_SMALL_ONE(__nv_fp8_##kind, __kc_##kind, __nv_fp8_storage_t)     \
  KC_SMALL_TWO(__nv_fp8x2_##kind, __kc_##kind, __nv_fp8x2_storage_t) \
  KC_SMALL_FOUR(__nv_fp8x4_##kind, __kc_##kind, __nv_fp8x4_storage_t, __nv_fp8x2_##kind)
KC_FP8(e4m3)
KC_FP8(e5m2)
#undef KC_FP8

#define KC_FP8_KIND(call) (kind == __NV_E4M3 ? call(__kc_e4m3) : call(__kc_e5m2))
KC_HD __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
#define KC_CONVERTED(F) (saturate == __NV_SATFINITE ? __kc_small_one<F>(x) : __kc_to_small<F>(x, false))
  return KC_FP8_KIND(KC_CONVERTED);
#undef KC_CONVERTED
}
KC_HD __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
#define KC_CONVERTED(F) __kc_to_small<F>(__kc_sticky_float(x), saturate == __NV_SATFINITE)
  return KC_FP8_KIND(KC_CONVERTED);
#undef KC_CONVERTED
}
KC_HD __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t saturate,
                                                    __nv_fp8_interpretation_t kind) {
#define KC_CONVERTED(F)                           \
  (saturate == __NV_SATFINITE ? F::pair(x.x, x.y) \
                              : (unsigned short)(__kc_to_small<F>(x.x, false) | __kc_to_small<F>(x.y, false) << 8))
  return KC_FP8_KIND(KC_CONVERTED);
#undef KC_CONVERTED
}
KC_HD __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 x, __nv_saturation_t saturate,
                                                     __nv_fp8_interpretation_t kind) {
  return (unsigned short)(__nv_cvt_double_to_fp8(x.x, saturate, kind) | __nv_cvt_double_to_fp8(x.y, saturate, kind)
                                                                            << 8);
}
KC_HD __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw x, __nv_saturation_t saturate,
                                                      __nv_fp8_interpretation_t kind) {
#define KC_CONVERTED(F) F::of_halves(__half2(x))
  return saturate == __NV_SATFINITE ? KC_FP8_KIND(KC_CONVERTED)
                                    : __nv_cvt_float2_to_fp8x2(__half22float2(__half2(x)), saturate, kind);
#undef KC_CONVERTED
}
KC_HD __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                 __nv_fp8_interpretation_t kind) {
  return (__nv_fp8_storage_t)__nv_cvt_halfraw2_to_fp8x2(__half2_raw{x.x, 0}, saturate, kind);
}
KC_HD __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturate,
                                                     __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(__kc_float(__nv_bfloat16(x)), saturate, kind);
}
KC_HD __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw x, __nv_saturation_t saturate,
                                                          __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2(__bfloat1622float2(__nv_bfloat162(x)), saturate, kind);
}
KC_HD __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind) {
#define KC_CONVERTED(F) F::halves(x)
  return (__half2_raw)KC_FP8_KIND(KC_CONVERTED);
#undef KC_CONVERTED
}
KC_HD __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  return __half_raw{__nv_cvt_fp8x2_to_halfraw2(x, kind).x};
}
#undef KC_FP8_KIND
#include "kernelcast/exponents.h"
