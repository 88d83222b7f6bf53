// bfloat16: arithmetic is done in float and rounded back, as devices without the instructions do.
#pragma once

struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short bits;
  __nv_bfloat16() = default;
  __host__ __device__ __nv_bfloat16(float x) : bits(round(x)) {}
  __host__ __device__ __nv_bfloat16(double x) : bits(round((float)x)) {}
  __host__ __device__ __nv_bfloat16(int x) : bits(round((float)x)) {}
  __host__ __device__ operator float() const { return __builtin_bit_cast(float, (unsigned int)bits << 16); }
  static __host__ __device__ __inline__ __attribute__((always_inline)) unsigned short round(float x) {
    const unsigned int u = __builtin_bit_cast(unsigned int, x);
    return (unsigned short)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
  }
};
struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __host__ __device__ __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#define KC_BF16(op, name)                                                                                               \
  KC_HD __nv_bfloat16 operator op(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a op (float)b); }    \
  KC_HD __nv_bfloat162 operator op(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.x op b.x, a.y op b.y); } \
  KC_HD __nv_bfloat16& operator op##=(__nv_bfloat16& a, __nv_bfloat16 b) { return a = a op b; }                        \
  KC_HD __nv_bfloat16 __h##name(__nv_bfloat16 a, __nv_bfloat16 b) { return a op b; }                                   \
  KC_HD __nv_bfloat162 __h##name##2(__nv_bfloat162 a, __nv_bfloat162 b) { return a op b; }
KC_BF16(+, add) KC_BF16(-, sub) KC_BF16(*, mul) KC_BF16(/, div)
#undef KC_BF16
KC_HD __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { return __nv_bfloat16((float)a * (float)b + (float)c); }
KC_HD __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) { return __nv_bfloat162(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }
KC_HD __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a < (float)b ? b : a; }
KC_HD __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)b < (float)a ? b : a; }
KC_HD __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
KC_HD __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
KC_HD __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
KC_HD float __bfloat162float(__nv_bfloat16 x) { return (float)x; }
KC_HD __nv_bfloat162 __float2bfloat162_rn(float x) { return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(x)); }
KC_HD __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(y)); }
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
