// bfloat16: results between 0 and 1, results of at least 0, extremes that keep NaN, complex products.
#pragma once

KC_HD __nv_bfloat162 __hcmadd(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return __nv_bfloat162(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}
#define KC_ONE_BF16 __builtin_bit_cast(__nv_bfloat16, (unsigned short)0x3f80)
#define KC_TWO_BF16 __builtin_bit_cast(__nv_bfloat162, 0x3f803f80u)
#define KC_LIMITED(name)                                                   \
  KC_HD __nv_bfloat16 name##_sat(__nv_bfloat16 a, __nv_bfloat16 b) {       \
    return __hmin(__hmax(name(a, b), __nv_bfloat16{}), KC_ONE_BF16);       \
  }                                                                        \
  KC_HD __nv_bfloat162 name##2_sat(__nv_bfloat162 a, __nv_bfloat162 b) {   \
    return __hmin2(__hmax2(name##2(a, b), __nv_bfloat162{}), KC_TWO_BF16); \
  }
KC_LIMITED(__hadd)
KC_LIMITED(__hsub) KC_LIMITED(__hmul) KC_HD __nv_bfloat16
    __hfma_sat(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  return __hmin(__hmax(__hfma(a, b, c), __nv_bfloat16{}), KC_ONE_BF16);
}
KC_HD __nv_bfloat162 __hfma2_sat(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return __hmin2(__hmax2(__hfma2(a, b, c), __nv_bfloat162{}), KC_TWO_BF16);
}
#ifdef KC_BF16_NATIVE
KC_HD __nv_bfloat16 __hfma_relu(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  KC_ASM3("fma.rn.relu.bf16", __nv_bfloat16, unsigned short, "h", a.bits, b.bits, c.bits);
}
KC_HD __nv_bfloat162 __hfma2_relu(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  KC_ASM3("fma.rn.relu.bf16x2", __nv_bfloat162, unsigned int, "r", __kc_bits32(a), __kc_bits32(b), __kc_bits32(c));
}
#define KC_NAN_WINS(least, name)                                                                     \
  KC_HD __nv_bfloat16 name##_nan(__nv_bfloat16 a, __nv_bfloat16 b) {                                 \
    KC_ASM2(least ".NaN.bf16", __nv_bfloat16, unsigned short, "h", a.bits, b.bits);                  \
  }                                                                                                  \
  KC_HD __nv_bfloat162 name##2_nan(__nv_bfloat162 a, __nv_bfloat162 b) {                             \
    KC_ASM2(least ".NaN.bf16x2", __nv_bfloat162, unsigned int, "r", __kc_bits32(a), __kc_bits32(b)); \
  }
#else
KC_HD __nv_bfloat16 __hfma_relu(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  return __hmax(__hfma(a, b, c), __nv_bfloat16{});
}
KC_HD __nv_bfloat162 __hfma2_relu(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return __nv_bfloat162(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));
}
#define KC_NAN_WINS(least, name)                                         \
  KC_HD __nv_bfloat16 name##_nan(__nv_bfloat16 a, __nv_bfloat16 b) {     \
    return __hisnan(a) ? a : __hisnan(b) ? b : name(a, b);               \
  }                                                                      \
  KC_HD __nv_bfloat162 name##2_nan(__nv_bfloat162 a, __nv_bfloat162 b) { \
    return __nv_bfloat162(name##_nan(a.x, b.x), name##_nan(a.y, b.y));   \
  }
#endif
KC_NAN_WINS("max", __hmax) KC_NAN_WINS("min", __hmin)
#undef KC_LIMITED
#undef KC_NAN_WINS
#undef KC_ONE_BF16
#undef KC_TWO_BF16
