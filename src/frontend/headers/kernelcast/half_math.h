// Functions and conversions of half precision, its constants, atomics and shuffles: the second part of cuda_fp16.h.
#pragma once

// Mathematics: OpenCL's functions of half (_Z3expDh, ...).
#define KC_HALF_MATH(name, symbol)                                           \
  KC_PURE KC_F16 __kc_half_##name(KC_F16) __asm__(symbol);                   \
  KC_D __half h##name(__half a) { return __kc_half(__kc_half_##name(a.v)); } \
  KC_D __half2 h2##name(__half2 a) { return __kc_unpair(__kc_half2{__kc_half_##name(a.x.v), __kc_half_##name(a.y.v)}); }
KC_HALF_MATH(exp, "_Z3expDh")
KC_HALF_MATH(exp2, "_Z4exp2Dh") KC_HALF_MATH(exp10, "_Z5exp10Dh") KC_HALF_MATH(log, "_Z3logDh")
KC_HALF_MATH(log2, "_Z4log2Dh") KC_HALF_MATH(log10, "_Z5log10Dh") KC_HALF_MATH(sqrt, "_Z4sqrtDh")
KC_HALF_MATH(rsqrt, "_Z5rsqrtDh") KC_HALF_MATH(sin, "_Z3sinDh") KC_HALF_MATH(cos, "_Z3cosDh")
KC_HALF_MATH(rcp, "_Z12native_recipDh") KC_HALF_MATH(tanh, "_Z4tanhDh") KC_HALF_MATH(floor, "_Z5floorDh")
KC_HALF_MATH(ceil, "_Z4ceilDh") KC_HALF_MATH(trunc, "_Z5truncDh") KC_HALF_MATH(rint, "_Z4rintDh")
#undef KC_HALF_MATH
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 750
                    KC_D __half htanh_approx(__half a) {
  KC_ASM1("tanh.approx.f16 %0, %1;", KC_F16, "=h", "h", a.v);
}
KC_D __half2 h2tanh_approx(__half2 a) {
  unsigned int r;
  asm("tanh.approx.f16x2 %0, %1;" : "=r"(r) : "r"(__kc_bits32(a)));
  return __builtin_bit_cast(__half2, r);
}
#else
                    KC_D __half htanh_approx(__half a) {
  return htanh(a);
}
KC_D __half2 h2tanh_approx(__half2 a) { return h2tanh(a); }
#endif

// Conversions and packing.
#define KC_NEAREST_HALF(x) __kc_half((KC_F16)(x))
KC_HD __half __float2half(float x) { return KC_NEAREST_HALF(x); }
KC_HD __half __float2half_rn(float x) { return KC_NEAREST_HALF(x); }
KC_HD __half __double2half(double x) { return KC_NEAREST_HALF(x); }
KC_HD float __half2float(__half x) { return (float)x.v; }
KC_HD __half2 __float2half2_rn(float x) { return __half2(KC_NEAREST_HALF(x), KC_NEAREST_HALF(x)); }
KC_HD __half2 __floats2half2_rn(float x, float y) { return __half2(KC_NEAREST_HALF(x), KC_NEAREST_HALF(y)); }
KC_HD __half2 __float22half2_rn(float2 a) { return __half2(KC_NEAREST_HALF(a.x), KC_NEAREST_HALF(a.y)); }
KC_HD float2 __half22float2(__half2 a) { return make_float2((float)a.x.v, (float)a.y.v); }
KC_HD float __low2float(__half2 a) { return (float)a.x.v; }
KC_HD float __high2float(__half2 a) { return (float)a.y.v; }
KC_HD __half __low2half(__half2 a) { return a.x; }
KC_HD __half __high2half(__half2 a) { return a.y; }
KC_HD __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
KC_HD __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }
KC_HD __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }
KC_HD __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
KC_HD __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
KC_HD __half2 __half2half2(__half a) { return __half2(a, a); }
KC_HD __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
KC_HD __half2 make_half2(__half a, __half b) { return __half2(a, b); }
KC_HD unsigned short __half_as_ushort(__half a) { return __builtin_bit_cast(unsigned short, a.v); }
KC_HD short __half_as_short(__half a) { return __builtin_bit_cast(short, a.v); }
KC_HD __half __ushort_as_half(unsigned short a) { return __builtin_bit_cast(__half, a); }
KC_HD __half __short_as_half(short a) { return __builtin_bit_cast(__half, a); }

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00u)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fffu)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001u)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bffu)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000u)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000u)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00u)

KC_D __half atomicAdd(__half* p, __half v) {
  return __half(__scoped_atomic_fetch_add(&p->v, v.v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE));
}
#ifdef __NVPTX__
KC_D __half2 atomicAdd(__half2* p, __half2 v) {
  unsigned int r;
  asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(__kc_bits32(v)) : "memory");
  return __builtin_bit_cast(__half2, r);
}
#else
KC_D __half2 atomicAdd(__half2* p, __half2 v) { return __half2(atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)); }
#endif
#ifdef KC_FULL_MASK
#define KC_HALF_SHUFFLE(kind, D)                                                                                   \
  KC_D __half __shfl##kind##_sync(__kc_mask m, __half v, D d, int w = __KERNELCAST_WARP_SIZE) {                    \
    return __builtin_bit_cast(__half,                                                                              \
                              (unsigned short)KC_SHFL(kind)(m, (int)__builtin_bit_cast(unsigned short, v), d, w)); \
  }                                                                                                                \
  KC_D __half2 __shfl##kind##_sync(__kc_mask m, __half2 v, D d, int w = __KERNELCAST_WARP_SIZE) {                  \
    return __builtin_bit_cast(__half2, KC_SHFL(kind)(m, __builtin_bit_cast(int, v), d, w));                        \
  }
KC_HALF_SHUFFLE(, int)
KC_HALF_SHUFFLE(_up, unsigned int) KC_HALF_SHUFFLE(_down, unsigned int) KC_HALF_SHUFFLE(_xor, int)
#undef KC_HALF_SHUFFLE
#endif
#undef KC_NEAREST_HALF
