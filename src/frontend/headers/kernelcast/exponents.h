// The scale factors of eight-bit floating point: a byte is an exponent, 2 to the (byte - 127), 255 not a number.
#pragma once

/// Of a bfloat16, rounded toward zero or up; its sign does not count.
KC_HD unsigned char __kc_exponent(unsigned int bits, bool up, bool saturates) {
  const unsigned int size = bits & 0x7fffu;
  unsigned int e = size >> 7;
  if (up && (size & 0x7fu) != 0 && size > 0x40u && size < 0x7f80u) ++e;
  return (unsigned char)(saturates && e == 0xffu && size <= 0x7f80u ? 0xfeu : e);
}
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 1000
#define KC_E8M0_WAYS(text, ...)                                    \
  const bool up = rounding == cudaRoundPosInf;                     \
  unsigned short r;                                                \
  if (saturate == __NV_SATFINITE && up)                            \
    asm("cvt.rp.satfinite.ue8m0x2." text : "=h"(r) : __VA_ARGS__); \
  else if (saturate == __NV_SATFINITE)                             \
    asm("cvt.rz.satfinite.ue8m0x2." text : "=h"(r) : __VA_ARGS__); \
  else if (up)                                                     \
    asm("cvt.rp.ue8m0x2." text : "=h"(r) : __VA_ARGS__);           \
  else                                                             \
    asm("cvt.rz.ue8m0x2." text : "=h"(r) : __VA_ARGS__);           \
  return r
KC_HD __nv_fp8x2_storage_t __nv_cvt_bfloat162raw_to_e8m0x2(__nv_bfloat162_raw x, __nv_saturation_t saturate,
                                                           cudaRoundMode rounding) {
  KC_E8M0_WAYS("bf16x2 %0, %1;", "r"(__kc_bits32(x)));
}
KC_HD __nv_fp8x2_storage_t __nv_cvt_float2_to_e8m0x2(float2 x, __nv_saturation_t saturate, cudaRoundMode rounding) {
  KC_E8M0_WAYS("f32 %0, %2, %1;", "f"(x.x), "f"(x.y));
}
#undef KC_E8M0_WAYS
KC_HD __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t x) {
  unsigned int r;
  asm("cvt.rn.bf16x2.ue8m0x2 %0, %1;" : "=r"(r) : "h"(x));
  return __builtin_bit_cast(__nv_bfloat162_raw, r);
}
#else
KC_HD __nv_fp8x2_storage_t __nv_cvt_bfloat162raw_to_e8m0x2(__nv_bfloat162_raw x, __nv_saturation_t saturate,
                                                           cudaRoundMode rounding) {
  const bool up = rounding == cudaRoundPosInf, saturates = saturate == __NV_SATFINITE;
  return (unsigned short)(__kc_exponent(x.x, up, saturates) | __kc_exponent(x.y, up, saturates) << 8);
}
KC_HD unsigned char __kc_float_exponent(float x, bool up, bool saturates) {
  const unsigned int bits = __builtin_bit_cast(unsigned int, x) & 0x7fffffffu;
  const bool more = up && (bits & 0xffffu) != 0 && bits < 0x7f800000u;
  return __kc_exponent((bits >> 16) + (more ? 1 : 0), up, saturates);
}
KC_HD __nv_fp8x2_storage_t __nv_cvt_float2_to_e8m0x2(float2 x, __nv_saturation_t saturate, cudaRoundMode rounding) {
  const bool up = rounding == cudaRoundPosInf, saturates = saturate == __NV_SATFINITE;
  return (unsigned short)(__kc_float_exponent(x.x, up, saturates) | __kc_float_exponent(x.y, up, saturates) << 8);
}
KC_HD unsigned short __kc_power(unsigned int e) {
  return (unsigned short)(e == 0xffu ? 0x7fffu : e == 0 ? 0x40u : e << 7);
}
KC_HD __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t x) {
  return __nv_bfloat162_raw{__kc_power(x & 0xffu), __kc_power(x >> 8)};
}
#endif
KC_HD __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw x, __nv_saturation_t saturate,
                                                      cudaRoundMode rounding) {
  return (unsigned char)__nv_cvt_bfloat162raw_to_e8m0x2(__nv_bfloat162_raw{x.x, 0}, saturate, rounding);
}
KC_HD __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float x, __nv_saturation_t saturate, cudaRoundMode rounding) {
  return (unsigned char)__nv_cvt_float2_to_e8m0x2(make_float2(x, 0.0f), saturate, rounding);
}
KC_HD __nv_fp8_storage_t __nv_cvt_double_to_e8m0(double x, __nv_saturation_t saturate, cudaRoundMode rounding) {
  return __nv_cvt_float_to_e8m0(__kc_sticky_float(x), saturate, rounding);
}
KC_HD __nv_fp8x2_storage_t __nv_cvt_double2_to_e8m0x2(double2 x, __nv_saturation_t saturate, cudaRoundMode rounding) {
  return __nv_cvt_float2_to_e8m0x2(make_float2(__kc_sticky_float(x.x), __kc_sticky_float(x.y)), saturate, rounding);
}
KC_HD __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x) {
  return __nv_bfloat16_raw{__nv_cvt_e8m0x2_to_bf162raw(x).x};
}

#define KC_E8M0_FROM(T, wide) \
  KC_EXPLICIT __nv_fp8_e8m0(T x) : __nv_fp8_e8m0((wide)x) {}
struct __nv_fp8_e8m0 {
  __nv_fp8_storage_t __x;
  __nv_fp8_e8m0() = default;
  KC_EXPLICIT __nv_fp8_e8m0(float x) : __x(__nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf)) {}
  KC_EXPLICIT __nv_fp8_e8m0(double x) : __x(__nv_cvt_double_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf)) {}
  KC_EXPLICIT __nv_fp8_e8m0(__half x) : __nv_fp8_e8m0((float)x.v) {}
  KC_EXPLICIT __nv_fp8_e8m0(__nv_bfloat16 x) : __x(__nv_cvt_bfloat16raw_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf)) {}
  KC_E8M0_FROM(short, float)
  KC_E8M0_FROM(unsigned short, float) KC_E8M0_FROM(int, double) KC_E8M0_FROM(unsigned int, double) KC_EXPLICIT
      __nv_fp8_e8m0(unsigned long long x)
      : __nv_fp8_e8m0(__ull2bfloat16_ru(x)) {}
  KC_EXPLICIT __nv_fp8_e8m0(long long x) : __nv_fp8_e8m0(x < 0 ? __ll2bfloat16_rd(x) : __ll2bfloat16_ru(x)) {}
  KC_E8M0_FROM(long, long long)
  KC_E8M0_FROM(unsigned long, unsigned long long) KC_EXPLICIT operator __nv_bfloat16() const {
    return __nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(__x));
  }
  KC_EXPLICIT operator float() const { return __kc_float((__nv_bfloat16) * this); }
  KC_EXPLICIT operator double() const { return (double)(float)*this; }
  KC_EXPLICIT operator __half() const { return __float2half_rn((float)*this); }
  KC_EXPLICIT operator bool() const { return true; }
  KC_INTEGER_OPERATORS((float)*this)
};
#undef KC_E8M0_FROM
struct __attribute__((aligned(2))) __nv_fp8x2_e8m0 {
  __nv_fp8x2_storage_t __x;
  __nv_fp8x2_e8m0() = default;
  KC_EXPLICIT __nv_fp8x2_e8m0(float2 v) : __x(__nv_cvt_float2_to_e8m0x2(v, __NV_SATFINITE, cudaRoundPosInf)) {}
  KC_EXPLICIT __nv_fp8x2_e8m0(double2 v) : __x(__nv_cvt_double2_to_e8m0x2(v, __NV_SATFINITE, cudaRoundPosInf)) {}
  KC_EXPLICIT __nv_fp8x2_e8m0(__half2 v) : __nv_fp8x2_e8m0(__half22float2(v)) {}
  KC_EXPLICIT __nv_fp8x2_e8m0(__nv_bfloat162 v)
      : __x(__nv_cvt_bfloat162raw_to_e8m0x2(v, __NV_SATFINITE, cudaRoundPosInf)) {}
  KC_EXPLICIT operator __nv_bfloat162() const { return __nv_bfloat162(__nv_cvt_e8m0x2_to_bf162raw(__x)); }
  KC_EXPLICIT operator float2() const { return __bfloat1622float2((__nv_bfloat162) * this); }
  KC_EXPLICIT operator __half2() const { return __float22half2_rn((float2) * this); }
};
struct __kc_exponents {
  enum { lane = 8 };
};
KC_SMALL_FOUR(__nv_fp8x4_e8m0, __kc_exponents, __nv_fp8x4_storage_t, __nv_fp8x2_e8m0)
