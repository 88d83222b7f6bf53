// bfloat16: arithmetic is done in float and rounded back. NVIDIA's devices from sm_80 on have instructions for it, which
// the compiler makes of float arithmetic between conversions of the type __bf16; elsewhere integers convert.
#pragma once
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 800
#define KC_BF16_NATIVE 1
#endif

struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short bits;
  __nv_bfloat16() = default;
  __host__ __device__ __nv_bfloat16(float x) : bits(round(x)) {}
  __host__ __device__ __nv_bfloat16(double x) : bits(round((float)x)) {}
  __host__ __device__ __nv_bfloat16(int x) : bits(round((float)x)) {}
#ifdef KC_BF16_NATIVE
  __host__ __device__ operator float() const { return (float)__builtin_bit_cast(__bf16, bits); }
  static __host__ __device__ __inline__ __attribute__((always_inline)) unsigned short round(float x) {
    return __builtin_bit_cast(unsigned short, (__bf16)x);
  }
#else
  __host__ __device__ operator float() const { return __builtin_bit_cast(float, (unsigned int)bits << 16); }
  static __host__ __device__ __inline__ __attribute__((always_inline)) unsigned short round(float x) {
    const unsigned int u = __builtin_bit_cast(unsigned int, x);
    return (unsigned short)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
  }
#endif
};
struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __host__ __device__ __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#ifdef KC_BF16_NATIVE
typedef __bf16 __kc_bf16x2 __attribute__((ext_vector_type(2)));
typedef float __kc_floatx2 __attribute__((ext_vector_type(2)));
KC_HD __bf16 __kc_bf16(__nv_bfloat16 a) { return __builtin_bit_cast(__bf16, a); }
KC_HD __kc_bf16x2 __kc_bf16(__nv_bfloat162 a) { return __builtin_bit_cast(__kc_bf16x2, a); }
KC_HD __kc_floatx2 __kc_wide(__nv_bfloat162 a) { return __builtin_convertvector(__kc_bf16(a), __kc_floatx2); }
#define KC_BF16_ONE(value) __builtin_bit_cast(__nv_bfloat16, value)
#define KC_BF16_PAIR(value) __builtin_bit_cast(__nv_bfloat162, value)
#define KC_BF16_PAIRS(op) KC_BF16_PAIR(__builtin_convertvector(__kc_wide(a) op __kc_wide(b), __kc_bf16x2))
#define KC_BF16_FMA(T) T(__builtin_elementwise_fma(__kc_bf16(a), __kc_bf16(b), __kc_bf16(c)))
#define KC_BF16_MOST(T, which) T(__builtin_elementwise_##which(__kc_bf16(a), __kc_bf16(b)))
#else
#define KC_BF16_PAIRS(op) __nv_bfloat162(a.x op b.x, a.y op b.y)
#endif
#define KC_BF16(op, name)                                                                                               \
  KC_HD __nv_bfloat16 operator op(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a op (float)b); }    \
  KC_HD __nv_bfloat162 operator op(__nv_bfloat162 a, __nv_bfloat162 b) { return KC_BF16_PAIRS(op); }                      \
  KC_HD __nv_bfloat16& operator op##=(__nv_bfloat16& a, __nv_bfloat16 b) { return a = a op b; }                        \
  KC_HD __nv_bfloat16 __h##name(__nv_bfloat16 a, __nv_bfloat16 b) { return a op b; }                                   \
  KC_HD __nv_bfloat162 __h##name##2(__nv_bfloat162 a, __nv_bfloat162 b) { return a op b; }
KC_BF16(+, add) KC_BF16(-, sub) KC_BF16(*, mul) KC_BF16(/, div)
#undef KC_BF16
#ifdef KC_BF16_NATIVE
KC_HD __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { return KC_BF16_FMA(KC_BF16_ONE); }
KC_HD __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) { return KC_BF16_FMA(KC_BF16_PAIR); }
KC_HD __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) { return KC_BF16_MOST(KC_BF16_ONE, max); }
KC_HD __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) { return KC_BF16_MOST(KC_BF16_ONE, min); }
KC_HD __nv_bfloat162 __hmax2(__nv_bfloat162 a, __nv_bfloat162 b) { return KC_BF16_MOST(KC_BF16_PAIR, max); }
KC_HD __nv_bfloat162 __hmin2(__nv_bfloat162 a, __nv_bfloat162 b) { return KC_BF16_MOST(KC_BF16_PAIR, min); }
#else
KC_HD __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { return __nv_bfloat16((float)a * (float)b + (float)c); }
KC_HD __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) { return __nv_bfloat162(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }
KC_HD __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a < (float)b ? b : a; }
KC_HD __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)b < (float)a ? b : a; }
KC_HD __nv_bfloat162 __hmax2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
KC_HD __nv_bfloat162 __hmin2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
#endif
#define KC_BF16_COMPARE(op, name)                                                                                         \
  KC_HD bool operator op(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a op (float)b; }                               \
  KC_HD bool __h##name(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a op (float)b; }                                 \
  KC_HD bool __hb##name##2(__nv_bfloat162 a, __nv_bfloat162 b) { return (float)a.x op (float)b.x && (float)a.y op (float)b.y; } \
  KC_HD __nv_bfloat162 __h##name##2(__nv_bfloat162 a, __nv_bfloat162 b) {                                                 \
    return __nv_bfloat162(__nv_bfloat16((int)((float)a.x op (float)b.x)), __nv_bfloat16((int)((float)a.y op (float)b.y))); \
  }
KC_BF16_COMPARE(==, eq) KC_BF16_COMPARE(!=, ne) KC_BF16_COMPARE(<, lt) KC_BF16_COMPARE(<=, le) KC_BF16_COMPARE(>, gt) KC_BF16_COMPARE(>=, ge)
#undef KC_BF16_COMPARE
KC_HD __nv_bfloat16 operator+(__nv_bfloat16 a) { return a; }
KC_HD __nv_bfloat162 operator+(__nv_bfloat162 a) { return a; }
KC_HD __nv_bfloat16 operator-(__nv_bfloat16 a) { return __builtin_bit_cast(__nv_bfloat16, (unsigned short)(a.bits ^ 0x8000)); }
KC_HD __nv_bfloat162 operator-(__nv_bfloat162 a) { return __nv_bfloat162(-a.x, -a.y); }
KC_HD __nv_bfloat16 __hneg(__nv_bfloat16 a) { return -a; }
KC_HD __nv_bfloat162 __hneg2(__nv_bfloat162 a) { return -a; }
KC_HD __nv_bfloat16 __habs(__nv_bfloat16 a) { return __builtin_bit_cast(__nv_bfloat16, (unsigned short)(a.bits & 0x7fff)); }
KC_HD __nv_bfloat162 __habs2(__nv_bfloat162 a) { return __nv_bfloat162(__habs(a.x), __habs(a.y)); }
KC_HD bool __hisnan(__nv_bfloat16 a) { return (a.bits & 0x7fff) > 0x7f80; }
KC_HD int __hisinf(__nv_bfloat16 a) { return (a.bits & 0x7fff) == 0x7f80; }
KC_HD __nv_bfloat16 __hmax_nan(__nv_bfloat16 a, __nv_bfloat16 b) { return __hmax(a, b); }
KC_HD __nv_bfloat16 __hmin_nan(__nv_bfloat16 a, __nv_bfloat16 b) { return __hmin(a, b); }
KC_HD __nv_bfloat162 __hmax2_nan(__nv_bfloat162 a, __nv_bfloat162 b) { return __hmax2(a, b); }
KC_HD __nv_bfloat162 __hmin2_nan(__nv_bfloat162 a, __nv_bfloat162 b) { return __hmin2(a, b); }
KC_HD __nv_bfloat16 __hfma_relu(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { return __hmax(__hfma(a, b, c), __nv_bfloat16(0.0f)); }
KC_HD __nv_bfloat162 __hfma2_relu(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) { return __hmax2(__hfma2(a, b, c), __nv_bfloat162(__nv_bfloat16(0.0f), __nv_bfloat16(0.0f))); }
#ifdef KC_BF16_NATIVE
#define KC_BF16_MATH(name, symbol, call)                                                                        \
  KC_PURE __bf16 __kc_bf16_##name(__bf16) __asm__(symbol);                                                      \
  KC_D __nv_bfloat16 h##name(__nv_bfloat16 a) { return KC_BF16_ONE(__kc_bf16_##name(__kc_bf16(a))); }           \
  KC_D __nv_bfloat162 h2##name(__nv_bfloat162 a) { return __nv_bfloat162(h##name(a.x), h##name(a.y)); }
#else
#define KC_BF16_MATH(name, symbol, call)                                                                        \
  KC_D __nv_bfloat16 h##name(__nv_bfloat16 a) { const float x = (float)a; return __nv_bfloat16(call); }         \
  KC_D __nv_bfloat162 h2##name(__nv_bfloat162 a) { return __nv_bfloat162(h##name(a.x), h##name(a.y)); }
#endif
KC_BF16_MATH(exp, "_Z3expDF16b", expf(x)) KC_BF16_MATH(exp2, "_Z4exp2DF16b", exp2f(x)) KC_BF16_MATH(exp10, "_Z5exp10DF16b", exp10f(x))
KC_BF16_MATH(log, "_Z3logDF16b", logf(x)) KC_BF16_MATH(log2, "_Z4log2DF16b", log2f(x)) KC_BF16_MATH(log10, "_Z5log10DF16b", log10f(x))
KC_BF16_MATH(sqrt, "_Z4sqrtDF16b", sqrtf(x)) KC_BF16_MATH(rsqrt, "_Z5rsqrtDF16b", rsqrtf(x)) KC_BF16_MATH(rcp, "_Z12native_recipDF16b", 1.0f / x)
KC_BF16_MATH(sin, "_Z3sinDF16b", sinf(x)) KC_BF16_MATH(cos, "_Z3cosDF16b", cosf(x)) KC_BF16_MATH(tanh, "_Z4tanhDF16b", tanhf(x))
KC_BF16_MATH(floor, "_Z5floorDF16b", floorf(x)) KC_BF16_MATH(ceil, "_Z4ceilDF16b", ceilf(x)) KC_BF16_MATH(trunc, "_Z5truncDF16b", truncf(x))
KC_BF16_MATH(rint, "_Z4rintDF16b", rintf(x))
KC_HD __nv_bfloat162 __h2div(__nv_bfloat162 a, __nv_bfloat162 b) { return a / b; }
#undef KC_BF16_MATH
KC_HD __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
KC_HD __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
KC_HD __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
KC_HD float __bfloat162float(__nv_bfloat16 x) { return (float)x; }
KC_HD __nv_bfloat162 __float2bfloat162_rn(float x) { return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(x)); }
KC_HD __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(y)); }
// Two values in one instruction from sm_80 on.
KC_HD __nv_bfloat162 __float22bfloat162_rn(float2 a) {
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 800
  unsigned int r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(a.y), "f"(a.x));
  return __builtin_bit_cast(__nv_bfloat162, r);
#else
  return __nv_bfloat162(__nv_bfloat16(a.x), __nv_bfloat16(a.y));
#endif
}
KC_HD __nv_bfloat16 __float2bfloat16_rz(float x) { return __builtin_bit_cast(__nv_bfloat16, (unsigned short)(__builtin_bit_cast(unsigned int, x) >> 16)); }
KC_HD __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.x, a.x); }
KC_HD __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.y); }
KC_HD __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.x, b.x); }
KC_HD __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.y, b.y); }
KC_HD __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.x); }
KC_HD int __bfloat162int_rn(__nv_bfloat16 a) { return (int)__builtin_rintf((float)a); }
KC_HD int __bfloat162int_rz(__nv_bfloat16 a) { return (int)(float)a; }
KC_HD __nv_bfloat16 __int2bfloat16_rn(int a) { return __nv_bfloat16((float)a); }
KC_HD __nv_bfloat16 __uint2bfloat16_rn(unsigned int a) { return __nv_bfloat16((float)a); }
KC_HD __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162(a, a); }
KC_HD __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
KC_HD __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
KC_HD float2 __bfloat1622float2(__nv_bfloat162 a) { return make_float2((float)a.x, (float)a.y); }
KC_HD float __low2float(__nv_bfloat162 a) { return (float)a.x; }
KC_HD float __high2float(__nv_bfloat162 a) { return (float)a.y; }
KC_HD __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
KC_HD __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
KC_HD unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.bits; }
KC_HD __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) { return __builtin_bit_cast(__nv_bfloat16, a); }
KC_HD __nv_bfloat16 __short_as_bfloat16(short a) { return __builtin_bit_cast(__nv_bfloat16, a); }
KC_HD short __bfloat16_as_short(__nv_bfloat16 a) { return (short)a.bits; }
KC_D __nv_bfloat16 atomicAdd(__nv_bfloat16* p, __nv_bfloat16 v) {  // a loop around compare-and-swap, as on devices without the instruction
  unsigned short* address = (unsigned short*)p;
  unsigned short seen = *address, expected;
  do {
    expected = seen;
    seen = atomicCAS(address, expected, (__builtin_bit_cast(__nv_bfloat16, expected) + v).bits);
  } while (seen != expected);
  return __builtin_bit_cast(__nv_bfloat16, seen);
}
KC_D __nv_bfloat162 atomicAdd(__nv_bfloat162* p, __nv_bfloat162 v) { return __nv_bfloat162(atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)); }
#ifdef KC_FULL_MASK
#define KC_BF16_SHUFFLE(name, D)                                                                                        \
  KC_D __nv_bfloat16 name(__kc_mask m, __nv_bfloat16 v, D d, int w = __KERNELCAST_WARP_SIZE) {                          \
    return __ushort_as_bfloat16((unsigned short)name(m, (int)v.bits, d, w));                                            \
  }                                                                                                                     \
  KC_D __nv_bfloat162 name(__kc_mask m, __nv_bfloat162 v, D d, int w = __KERNELCAST_WARP_SIZE) {                        \
    return __builtin_bit_cast(__nv_bfloat162, name(m, __builtin_bit_cast(int, v), d, w));                               \
  }
KC_BF16_SHUFFLE(__shfl_sync, int) KC_BF16_SHUFFLE(__shfl_up_sync, unsigned int) KC_BF16_SHUFFLE(__shfl_down_sync, unsigned int)
KC_BF16_SHUFFLE(__shfl_xor_sync, int)
#undef KC_BF16_SHUFFLE
#endif
