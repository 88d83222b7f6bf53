// Functions and conversions of bfloat16, its constants, atomics and shuffles: the second part of cuda_bf16.h.
#pragma once

#ifdef KC_BF16_NATIVE
#define KC_BF16_MATH(name, symbol, call)                                                                      \
  KC_PURE __bf16 __kc_bf16_##name(__bf16) __asm__(symbol);                                                    \
  KC_D __nv_bfloat16 h##name(__nv_bfloat16 a) { return KC_BF16_ONE(__kc_bf16_##name(__kc_bf16(a))); }         \
  KC_D __nv_bfloat162 h2##name(__nv_bfloat162 a) {                                                            \
    return KC_BF16_PAIR((__kc_bf16x2{__kc_bf16_##name(__kc_bf16(a)[0]), __kc_bf16_##name(__kc_bf16(a)[1])})); \
  }
#else
#define KC_BF16_MATH(name, symbol, call)        \
  KC_D __nv_bfloat16 h##name(__nv_bfloat16 a) { \
    const float x = __kc_bf16_float(a);         \
    return __kc_near_bf16(call);                \
  }                                             \
  KC_D __nv_bfloat162 h2##name(__nv_bfloat162 a) { return __nv_bfloat162(h##name(a.x), h##name(a.y)); }
#endif
KC_BF16_MATH(exp, "_Z3expDF16b", expf(x))
KC_BF16_MATH(exp2, "_Z4exp2DF16b", exp2f(x)) KC_BF16_MATH(exp10, "_Z5exp10DF16b", exp10f(x))
KC_BF16_MATH(log, "_Z3logDF16b", logf(x)) KC_BF16_MATH(log2, "_Z4log2DF16b", log2f(x))
KC_BF16_MATH(log10, "_Z5log10DF16b", log10f(x)) KC_BF16_MATH(sqrt, "_Z4sqrtDF16b", sqrtf(x))
KC_BF16_MATH(rsqrt, "_Z5rsqrtDF16b", rsqrtf(x)) KC_BF16_MATH(rcp, "_Z12native_recipDF16b", 1.0f / x)
KC_BF16_MATH(sin, "_Z3sinDF16b", sinf(x)) KC_BF16_MATH(cos, "_Z3cosDF16b", cosf(x))
KC_BF16_MATH(tanh, "_Z4tanhDF16b", tanhf(x)) KC_BF16_MATH(floor, "_Z5floorDF16b", floorf(x))
KC_BF16_MATH(ceil, "_Z4ceilDF16b", ceilf(x)) KC_BF16_MATH(trunc, "_Z5truncDF16b", truncf(x))
KC_BF16_MATH(rint, "_Z4rintDF16b", rintf(x))
#undef KC_BF16_MATH
#ifdef KC_BF16_FULL
                                KC_D __nv_bfloat16 htanh_approx(__nv_bfloat16 a) {
  KC_ASM1("tanh.approx.bf16 %0, %1;", __nv_bfloat16, "=h", "h", a.bits);
}
KC_D __nv_bfloat162 h2tanh_approx(__nv_bfloat162 a) {
  unsigned int r;
  asm("tanh.approx.bf16x2 %0, %1;" : "=r"(r) : "r"(__kc_bits32(a)));
  return __builtin_bit_cast(__nv_bfloat162, r);
}
#else
                                KC_D __nv_bfloat16 htanh_approx(__nv_bfloat16 a) {
  return htanh(a);
}
KC_D __nv_bfloat162 h2tanh_approx(__nv_bfloat162 a) { return h2tanh(a); }
#endif
KC_HD __nv_bfloat16 __float2bfloat16(float x) { return __kc_near_bf16(x); }
KC_HD __nv_bfloat16 __float2bfloat16_rn(float x) { return __kc_near_bf16(x); }
KC_HD __nv_bfloat16 __double2bfloat16(double x) { return __kc_near_bf16((float)x); }
KC_HD float __bfloat162float(__nv_bfloat16 x) { return __kc_bf16_float(x); }
KC_HD __nv_bfloat162 __float2bfloat162_rn(float x) { return __nv_bfloat162(__kc_near_bf16(x), __kc_near_bf16(x)); }
KC_HD __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return __nv_bfloat162(__kc_near_bf16(x), __kc_near_bf16(y));
}
// Two values in one instruction from sm_80 on.
KC_HD __nv_bfloat162 __float22bfloat162_rn(float2 a) {
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 800
  unsigned int r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(a.y), "f"(a.x));
  return __builtin_bit_cast(__nv_bfloat162, r);
#else
  return __nv_bfloat162(__kc_near_bf16(a.x), __kc_near_bf16(a.y));
#endif
}
#ifndef KC_SKIP_CONVERSIONS
#include "kernelcast/half_convert.h"
#ifdef KC_BF16_FULL
#define KC_NEAREST_BF16(x) __builtin_bit_cast(__nv_bfloat16, (__bf16)(x))
KC_ROUND_native(__nv_bfloat16, "bf16", __float2bfloat16, float, "f32", "f", )
    KC_INTEGERS(native, __nv_bfloat16, "bf16", bfloat162, 2bfloat16, KC_NEAREST_BF16)
#else
#define KC_NEAREST_BF16(x) __kc_near_bf16((float)(x))
KC_ROUND_plain(__nv_bfloat16, "bf16", __float2bfloat16, float, "f32", "f", KC_NEAREST_BF16(x))
KC_INTEGERS(plain, __nv_bfloat16, "bf16", bfloat162, 2bfloat16, KC_NEAREST_BF16)
#endif
        KC_BYTES(__nv_bfloat16, bfloat162)
#undef KC_NEAREST_BF16
#endif
#ifndef KC_SKIP_HALVES
#ifndef __CUDA_NO_BFLOAT16_CONVERSIONS__
            __host__ __device__ inline __attribute__((always_inline)) __nv_bfloat16::__nv_bfloat16(__half x)
    : bits(round((float)x.v)) {
}
#endif
#ifndef __CUDA_NO_HALF_CONVERSIONS__
__host__ __device__ inline __attribute__((always_inline)) __half::__half(__nv_bfloat16 x)
    : v((_Float16)__kc_bf16_float(x)) {}
#endif
#endif
KC_HD __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.x, a.x); }
KC_HD __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.y); }
KC_HD __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.x, b.x); }
KC_HD __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.y, b.y); }
KC_HD __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.x); }
KC_HD __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162(a, a); }
KC_HD __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
KC_HD __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
KC_HD float2 __bfloat1622float2(__nv_bfloat162 a) { return make_float2(__kc_bf16_float(a.x), __kc_bf16_float(a.y)); }
KC_HD float __low2float(__nv_bfloat162 a) { return __kc_bf16_float(a.x); }
KC_HD float __high2float(__nv_bfloat162 a) { return __kc_bf16_float(a.y); }
KC_HD __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
KC_HD __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
KC_HD unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.bits; }
KC_HD __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) { return __builtin_bit_cast(__nv_bfloat16, a); }
KC_HD __nv_bfloat16 __short_as_bfloat16(short a) { return __builtin_bit_cast(__nv_bfloat16, a); }
KC_HD short __bfloat16_as_short(__nv_bfloat16 a) { return (short)a.bits; }
#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80u)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fffu)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001u)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7fu)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000u)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000u)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80u)

#ifdef KC_BF16_FULL
KC_D __nv_bfloat16 atomicAdd(__nv_bfloat16* p, __nv_bfloat16 v) {
  unsigned short r;
  asm volatile("atom.add.noftz.bf16 %0, [%1], %2;" : "=h"(r) : "l"(p), "h"(v.bits) : "memory");
  return __builtin_bit_cast(__nv_bfloat16, r);
}
KC_D __nv_bfloat162 atomicAdd(__nv_bfloat162* p, __nv_bfloat162 v) {
  unsigned int r;
  asm volatile("atom.add.noftz.bf16x2 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(__kc_bits32(v)) : "memory");
  return __builtin_bit_cast(__nv_bfloat162, r);
}
#else
KC_D __nv_bfloat16
atomicAdd(__nv_bfloat16* p, __nv_bfloat16 v) {  // a loop around compare-and-swap, as on devices without the instruction
  unsigned short* address = (unsigned short*)p;
  unsigned short seen = *address, expected;
  do {
    expected = seen;
    seen = atomicCAS(address, expected, __hadd(__builtin_bit_cast(__nv_bfloat16, expected), v).bits);
  } while (seen != expected);
  return __builtin_bit_cast(__nv_bfloat16, seen);
}
KC_D __nv_bfloat162 atomicAdd(__nv_bfloat162* p, __nv_bfloat162 v) {
  return __nv_bfloat162(atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y));
}
#endif
#ifdef KC_FULL_MASK
#define KC_BF16_SHUFFLE(kind, D)                                                                                \
  KC_D __nv_bfloat16 __shfl##kind##_sync(__kc_mask m, __nv_bfloat16 v, D d, int w = __KERNELCAST_WARP_SIZE) {   \
    return __builtin_bit_cast(__nv_bfloat16, (unsigned short)KC_SHFL(kind)(m, (int)v.bits, d, w));              \
  }                                                                                                             \
  KC_D __nv_bfloat162 __shfl##kind##_sync(__kc_mask m, __nv_bfloat162 v, D d, int w = __KERNELCAST_WARP_SIZE) { \
    return __builtin_bit_cast(__nv_bfloat162, KC_SHFL(kind)(m, __builtin_bit_cast(int, v), d, w));              \
  }
KC_BF16_SHUFFLE(, int)
KC_BF16_SHUFFLE(_up, unsigned int) KC_BF16_SHUFFLE(_down, unsigned int) KC_BF16_SHUFFLE(_xor, int)
#undef KC_BF16_SHUFFLE
#endif
