// Six-bit floating point, a value in a byte: as cuda_fp8.h has eight bits, with the sign in bit 5 and no infinity or
// NaN. An instruction converts two from sm_100 on.
#pragma once
#include "cuda_fp8.h"

typedef unsigned char __nv_fp6_storage_t;
typedef unsigned short __nv_fp6x2_storage_t;
typedef unsigned int __nv_fp6x4_storage_t;
enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 };

#if defined(__NVPTX__) && __CUDA_ARCH__ >= 1000
#define KC_FP6_PAIR(name)                                                                    \
  KC_MEMBER unsigned short pair(float low, float high) {                                     \
    unsigned short r;                                                                        \
    asm("cvt.rn.satfinite." name "x2.f32 %0, %2, %1;" : "=h"(r) : "f"(low), "f"(high));      \
    return r;                                                                                \
  }                                                                                          \
  KC_MEMBER unsigned short of_halves(__half2 v) { return pair((float)v.x.v, (float)v.y.v); } \
  KC_MEMBER __half2 halves(unsigned short v) {                                               \
    unsigned int r;                                                                          \
    asm("cvt.rn.f16x2." name "x2 %0, %1;" : "=r"(r) : "h"(v));                               \
    return __builtin_bit_cast(__half2, r);                                                   \
  }
#else
#define KC_FP6_PAIR(name) KC_EMULATED_PAIR
#endif
struct __kc_e2m3 {
  typedef __kc_e2m3 self;
  enum : unsigned { most = 0x1f, over = 0x1f };
  enum { bits = 6, lane = 8, m = 3, bias = 1 };
  KC_FP6_PAIR("e2m3")
};
struct __kc_e3m2 {
  typedef __kc_e3m2 self;
  enum : unsigned { most = 0x1f, over = 0x1f };
  enum { bits = 6, lane = 8, m = 2, bias = 3 };
  KC_FP6_PAIR("e3m2")
};
#undef KC_FP6_PAIR
#define KC_FP6(kind)                                                 \
  KC_SMALL_ONE(__nv_fp6_##kind, __kc_##kind, __nv_fp6_storage_t)     \
  KC_SMALL_TWO(__nv_fp6x2_##kind, __kc_##kind, __nv_fp6x2_storage_t) \
  KC_SMALL_FOUR(__nv_fp6x4_##kind, __kc_##kind, __nv_fp6x4_storage_t, __nv_fp6x2_##kind)
KC_FP6(e2m3)
KC_FP6(e3m2)
#undef KC_FP6
#define KC_FP6_OF(name, x2)                                                                           \
  KC_SMALL_CONVERSIONS(name, x2, __nv_fp6_interpretation_t, __nv_fp6_storage_t, __nv_fp6x2_storage_t, \
                       kind == __NV_E2M3, __kc_e2m3, __kc_e3m2)
KC_FP6_OF(fp6, fp6x2)
#undef KC_FP6_OF
