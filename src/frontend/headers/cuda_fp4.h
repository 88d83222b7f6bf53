// Four-bit floating point, one value, two or four in the lowest bits. An instruction converts two from sm_100 on.
#pragma once
#include "cuda_fp6.h"

typedef unsigned char __nv_fp4_storage_t, __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;
enum __nv_fp4_interpretation_t { __NV_E2M1 };

struct __kc_e2m1 {
  typedef __kc_e2m1 self;
  enum : unsigned { most = 7, over = 7 };
  enum { bits = 4, lane = 4, m = 1, bias = 1 };
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 1000
  KC_MEMBER unsigned short pair(float low, float high) {
    unsigned short r;
    asm("{.reg .b8 t;\ncvt.rn.satfinite.e2m1x2.f32 t, %2, %1;\nmov.b16 %0, {t, 0};}" : "=h"(r) : "f"(low), "f"(high));
    return r;
  }
  KC_MEMBER unsigned short of_halves(__half2 v) { return pair((float)v.x.v, (float)v.y.v); }
  KC_MEMBER __half2 halves(unsigned short v) {
    unsigned int r;
    asm("{.reg .b8 t, u;\nmov.b16 {t, u}, %1;\ncvt.rn.f16x2.e2m1x2 %0, t;}" : "=r"(r) : "h"(v));
    return __builtin_bit_cast(__half2, r);
  }
#else
  KC_EMULATED_PAIR
#endif
};
KC_SMALL_ONE(__nv_fp4_e2m1, __kc_e2m1, __nv_fp4_storage_t)
KC_SMALL_TWO(__nv_fp4x2_e2m1, __kc_e2m1, __nv_fp4x2_storage_t)
KC_SMALL_FOUR(__nv_fp4x4_e2m1, __kc_e2m1, __nv_fp4x4_storage_t, __nv_fp4x2_e2m1)
KC_SMALL_CONVERSIONS(fp4, fp4x2, __nv_fp4_interpretation_t, __nv_fp4_storage_t, __nv_fp4x2_storage_t, kind == __NV_E2M1,
                     __kc_e2m1, __kc_e2m1)
