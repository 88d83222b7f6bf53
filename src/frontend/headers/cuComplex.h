// Complex numbers of the toolkit.
#pragma once

typedef float2 cuFloatComplex;
typedef cuFloatComplex cuComplex;
typedef double2 cuDoubleComplex;
#define KC_COMPLEX(C, T, real, imag, conj, add, sub, mul, div, abs, fma, make, makeT)                                    \
  KC_HD C make(T x, T y) { return makeT(x, y); }                                                                         \
  KC_HD T real(C a) { return a.x; }                                                                                      \
  KC_HD T imag(C a) { return a.y; }                                                                                      \
  KC_HD C conj(C a) { return makeT(a.x, -a.y); }                                                                         \
  KC_HD C add(C a, C b) { return makeT(a.x + b.x, a.y + b.y); }                                                          \
  KC_HD C sub(C a, C b) { return makeT(a.x - b.x, a.y - b.y); }                                                          \
  KC_HD C mul(C a, C b) { return makeT(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }                                  \
  KC_HD C div(C a, C b) {                                                                                                \
    const T d = b.x * b.x + b.y * b.y;                                                                                   \
    return makeT((a.x * b.x + a.y * b.y) / d, (a.y * b.x - a.x * b.y) / d);                                              \
  }                                                                                                                      \
  KC_D T abs(C a) { return hypot(a.x, a.y); }                                                                            \
  KC_HD C fma(C a, C b, C c) { return add(mul(a, b), c); }
KC_COMPLEX(cuFloatComplex, float, cuCrealf, cuCimagf, cuConjf, cuCaddf, cuCsubf, cuCmulf, cuCdivf, cuCabsf, cuCfmaf, make_cuFloatComplex, make_float2)
KC_COMPLEX(cuDoubleComplex, double, cuCreal, cuCimag, cuConj, cuCadd, cuCsub, cuCmul, cuCdiv, cuCabs, cuCfma, make_cuDoubleComplex, make_double2)
#undef KC_COMPLEX
KC_HD cuComplex make_cuComplex(float x, float y) { return make_float2(x, y); }
KC_HD cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return make_double2(a.x, a.y); }
KC_HD cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) { return make_float2((float)a.x, (float)a.y); }
