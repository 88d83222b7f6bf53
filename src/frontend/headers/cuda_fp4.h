// Four-bit floating point, one value or two in a byte.
#pragma once
#include "cuda_fp6.h"

typedef unsigned char __nv_fp4_storage_t, __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;
enum __nv_fp4_interpretation_t { __NV_E2M1 };
KC_SMALL_FLOAT(__nv_fp4_e2m1, __nv_fp4_storage_t, 1, 1, 4)
struct __nv_fp4x2_e2m1 {
  __nv_fp4x2_storage_t __x;
  __nv_fp4x2_e2m1() = default;
  __host__ __device__ explicit __nv_fp4x2_e2m1(float2 v)
      : __x((unsigned char)(__nv_fp4_e2m1(v.x).__x | __nv_fp4_e2m1(v.y).__x << 4)) {}
  __host__ __device__ explicit operator float2() const {
    __nv_fp4_e2m1 a, b;
    a.__x = __x & 15, b.__x = __x >> 4;
    return make_float2((float)a, (float)b);
  }
};
