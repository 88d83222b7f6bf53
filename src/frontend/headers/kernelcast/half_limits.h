// Half precision: results between 0 and 1, results of at least 0, extremes that keep NaN, complex products.
#pragma once

KC_HD __half2 __hcmadd(__half2 a, __half2 b, __half2 c) {
  return __half2(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}
#ifdef __NVPTX__
#define KC_LIMITED(name, op)                                                              \
  KC_HD __half name##_sat(__half a, __half b) {                                           \
    KC_ASM2(op ".sat.f16", __half, unsigned short, "h", __kc_bits16(a), __kc_bits16(b));  \
  }                                                                                       \
  KC_HD __half2 name##2_sat(__half2 a, __half2 b) {                                       \
    KC_ASM2(op ".sat.f16x2", __half2, unsigned int, "r", __kc_bits32(a), __kc_bits32(b)); \
  }
#define KC_LIMITED3(suffix, op)                                                                       \
  KC_HD __half __hfma##suffix(__half a, __half b, __half c) {                                         \
    KC_ASM3(op ".f16", __half, unsigned short, "h", __kc_bits16(a), __kc_bits16(b), __kc_bits16(c));  \
  }                                                                                                   \
  KC_HD __half2 __hfma2##suffix(__half2 a, __half2 b, __half2 c) {                                    \
    KC_ASM3(op ".f16x2", __half2, unsigned int, "r", __kc_bits32(a), __kc_bits32(b), __kc_bits32(c)); \
  }
KC_LIMITED3(_sat, "fma.rn.sat")
#else
#define KC_UNIT(a) __hmin(__hmax(a, __kc_half((KC_F16)0)), __kc_half((KC_F16)1))
#define KC_LIMITED(name, op)                                                  \
  KC_HD __half name##_sat(__half a, __half b) { return KC_UNIT(name(a, b)); } \
  KC_HD __half2 name##2_sat(__half2 a, __half2 b) { return __half2(name##_sat(a.x, b.x), name##_sat(a.y, b.y)); }
KC_HD __half __hfma_sat(__half a, __half b, __half c) { return KC_UNIT(__hfma(a, b, c)); }
KC_HD __half2 __hfma2_sat(__half2 a, __half2 b, __half2 c) {
  return __half2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
}
#endif
KC_LIMITED(__hadd, "add")
KC_LIMITED(__hsub, "sub") KC_LIMITED(__hmul, "mul")
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 800
    KC_LIMITED3(_relu, "fma.rn.relu")
#define KC_NAN_WINS(least, name)                                                             \
  KC_HD __half name##_nan(__half a, __half b) {                                              \
    KC_ASM2(least ".NaN.f16", __half, unsigned short, "h", __kc_bits16(a), __kc_bits16(b));  \
  }                                                                                          \
  KC_HD __half2 name##2_nan(__half2 a, __half2 b) {                                          \
    KC_ASM2(least ".NaN.f16x2", __half2, unsigned int, "r", __kc_bits32(a), __kc_bits32(b)); \
  }
#else
#define KC_NAN_WINS(least, name)                                                                         \
  KC_HD __half name##_nan(__half a, __half b) { return __hisnan(a) ? a : __hisnan(b) ? b : name(a, b); } \
  KC_HD __half2 name##2_nan(__half2 a, __half2 b) { return __half2(name##_nan(a.x, b.x), name##_nan(a.y, b.y)); }
    KC_HD __half __hfma_relu(__half a, __half b, __half c) {
  return __hmax(__hfma(a, b, c), __kc_half((KC_F16)0));
}
KC_HD __half2 __hfma2_relu(__half2 a, __half2 b, __half2 c) {
  return __half2(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));
}
#endif
        KC_NAN_WINS("max", __hmax) KC_NAN_WINS("min", __hmin)
#undef KC_UNIT
#undef KC_LIMITED
#undef KC_LIMITED3
#undef KC_NAN_WINS
