// Six-bit floating point: as cuda_fp8.h has eight bits, with the sign in bit 5 and no infinity or NaN.
#pragma once
#include "cuda_fp8.h"

typedef unsigned char __nv_fp6_storage_t;
enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 };
#define KC_SMALL_FLOAT(name, storage, M, Bias, Bits)                                                          \
  struct name {                                                                                               \
    storage __x;                                                                                              \
    name() = default;                                                                                         \
    __host__ __device__ explicit name(float x) {                                                              \
      const unsigned char v = __kc_to_fp8<M, Bias, (1u << (Bits - 1)) - 1>(x);                                 \
      __x = (storage)((v & ((1 << (Bits - 1)) - 1)) | (v & 0x80 ? 1 << (Bits - 1) : 0));                       \
    }                                                                                                         \
    __host__ __device__ explicit name(double x) : name((float)x) {}                                           \
    __host__ __device__ explicit name(int x) : name((float)x) {}                                              \
    __host__ __device__ explicit name(__half x) : name((float)x) {}                                           \
    __host__ __device__ explicit name(__nv_bfloat16 x) : name((float)x) {}                                    \
    __host__ __device__ explicit operator float() const {                                                     \
      return __kc_from_fp8<M, Bias>((unsigned char)((__x & ((1 << (Bits - 1)) - 1)) | (__x >> (Bits - 1) & 1) << 7)); \
    }                                                                                                         \
    __host__ __device__ explicit operator __half() const { return __half((float)*this); }                     \
    __host__ __device__ explicit operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); }       \
  };
KC_SMALL_FLOAT(__nv_fp6_e2m3, __nv_fp6_storage_t, 3, 1, 6)
KC_SMALL_FLOAT(__nv_fp6_e3m2, __nv_fp6_storage_t, 2, 3, 6)
