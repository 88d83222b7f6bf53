// Mathematics: undefined overloads that mangle as OpenCL's builtins do (_Z3expf), so that one table of costs serves both.
#pragma once

template <class T> struct __kc_whole {};
#define KC_WHOLE(T) template <> struct __kc_whole<T> { typedef double type; };
KC_WHOLE(char) KC_WHOLE(signed char) KC_WHOLE(unsigned char) KC_WHOLE(short) KC_WHOLE(unsigned short) KC_WHOLE(int) KC_WHOLE(unsigned int)
KC_WHOLE(long) KC_WHOLE(unsigned long) KC_WHOLE(long long) KC_WHOLE(unsigned long long) KC_WHOLE(bool)
#undef KC_WHOLE
// Result of a call with two arguments of different arithmetic types: double, as in C++11.
template <class T> struct __kc_number : __kc_whole<T> {};
template <> struct __kc_number<float> { typedef double type; };
template <> struct __kc_number<double> { typedef double type; };
template <class A, class B> struct __kc_mixed { typedef typename __kc_number<A>::type first; typedef typename __kc_number<B>::type type; };
template <class A> struct __kc_mixed<A, A> : __kc_whole<A> {};

#define KC_MATH1(name)                    \
  KC_PURE float name(float);              \
  KC_PURE double name(double);            \
  KC_D float name##f(float x) { return name(x); } \
  template <class T> KC_D typename __kc_whole<T>::type name(T x) { return name((double)x); }
#define KC_MATH2(name)                          \
  KC_PURE float name(float, float);             \
  KC_PURE double name(double, double);          \
  KC_D float name##f(float x, float y) { return name(x, y); } \
  template <class A, class B> KC_D typename __kc_mixed<A, B>::type name(A x, B y) { return name((double)x, (double)y); }

KC_MATH1(acos) KC_MATH1(acosh) KC_MATH1(asin) KC_MATH1(asinh) KC_MATH1(atan) KC_MATH1(atanh) KC_MATH1(cbrt) KC_MATH1(ceil)
KC_MATH1(cosh) KC_MATH1(cospi) KC_MATH1(erf) KC_MATH1(erfc) KC_MATH1(exp2) KC_MATH1(expm1) KC_MATH1(fabs)
KC_MATH1(floor) KC_MATH1(lgamma) KC_MATH1(log1p) KC_MATH1(logb) KC_MATH1(rint) KC_MATH1(round) KC_MATH1(rsqrt) KC_MATH1(sinh)
KC_MATH1(sinpi) KC_MATH1(sqrt) KC_MATH1(tanh) KC_MATH1(tgamma) KC_MATH1(trunc) KC_MATH1(nearbyint)
KC_MATH1(rcbrt) KC_MATH1(erfinv) KC_MATH1(erfcinv) KC_MATH1(erfcx) KC_MATH1(normcdf) KC_MATH1(normcdfinv)
KC_MATH1(cyl_bessel_i0) KC_MATH1(cyl_bessel_i1) KC_MATH1(j0) KC_MATH1(j1) KC_MATH1(y0) KC_MATH1(y1)
KC_MATH2(atan2) KC_MATH2(copysign) KC_MATH2(fdim) KC_MATH2(fmax) KC_MATH2(fmin) KC_MATH2(fmod) KC_MATH2(hypot) KC_MATH2(rhypot)
KC_MATH2(nextafter) KC_MATH2(remainder)

// Fast forms, under the names that OpenCL gives them.
#define KC_FAST1(name, length_and_name) KC_PURE float __kc_##name(float) __asm__("_Z" #length_and_name "f");
KC_FAST1(native_exp, 10native_exp) KC_FAST1(native_exp10, 12native_exp10) KC_FAST1(native_log, 10native_log)
KC_FAST1(native_log2, 11native_log2) KC_FAST1(native_log10, 12native_log10) KC_FAST1(native_sin, 10native_sin)
KC_FAST1(native_cos, 10native_cos) KC_FAST1(native_tan, 10native_tan) KC_FAST1(native_tanh, 11native_tanh)
KC_FAST1(native_recip, 12native_recip) KC_FAST1(native_rsqrt, 12native_rsqrt)
KC_PURE float __kc_native_powr(float, float) __asm__("_Z11native_powrff");
KC_PURE float __kc_native_divide(float, float) __asm__("_Z13native_divideff");
#undef KC_FAST1
KC_D float __expf(float x) { return __kc_native_exp(x); }
KC_D float __exp10f(float x) { return __kc_native_exp10(x); }
KC_D float __logf(float x) { return __kc_native_log(x); }
// Trip counts may hang on it: what is constant is computed here, as the vendor's compiler does.
KC_D float __log2f(float x) { return __builtin_constant_p(x) ? __builtin_log2f(x) : __kc_native_log2(x); }
KC_D float __log10f(float x) { return __kc_native_log10(x); }
KC_D float __sinf(float x) { return __kc_native_sin(x); }
KC_D float __cosf(float x) { return __kc_native_cos(x); }
KC_D float __tanf(float x) { return __kc_native_tan(x); }
KC_D float __tanhf(float x) { return __kc_native_tanh(x); }
// The vendor's compiler computes this one of constants as well, but so late that nothing else gets to know the value.
KC_D float __powf(float x, float y) { return __kc_native_powr(x, y); }
KC_D float __fdividef(float x, float y) { return __kc_native_divide(x, y); }
KC_D float fdividef(float x, float y) { return x / y; }
KC_D void __sincosf(float x, float* s, float* c) { *s = __kc_native_sin(x); *c = __kc_native_cos(x); }
KC_D float __saturatef(float x) { return x < 0.0f ? 0.0f : x > 1.0f ? 1.0f : x; }

// What -use_fast_math replaces.
#ifdef __FAST_MATH__
#define KC_MATH1_FAST(name, fast)        \
  KC_PURE double name(double);           \
  KC_D float name(float x) { return fast(x); } \
  KC_D float name##f(float x) { return fast(x); } \
  template <class T> KC_D typename __kc_whole<T>::type name(T x) { return name((double)x); }
KC_MATH1_FAST(exp, __kc_native_exp) KC_MATH1_FAST(exp10, __kc_native_exp10) KC_MATH1_FAST(log, __kc_native_log)
KC_MATH1_FAST(log2, __kc_native_log2) KC_MATH1_FAST(log10, __kc_native_log10) KC_MATH1_FAST(sin, __kc_native_sin)
KC_MATH1_FAST(cos, __kc_native_cos) KC_MATH1_FAST(tan, __kc_native_tan)
#undef KC_MATH1_FAST
KC_PURE double pow(double, double);
KC_D float pow(float x, float y) { return __kc_native_powr(x, y); }
KC_D float powf(float x, float y) { return __kc_native_powr(x, y); }
template <class A, class B> KC_D typename __kc_mixed<A, B>::type pow(A x, B y) { return pow((double)x, (double)y); }
#else
KC_MATH1(exp) KC_MATH1(exp10) KC_MATH1(log) KC_MATH1(log2) KC_MATH1(log10) KC_MATH1(sin) KC_MATH1(cos) KC_MATH1(tan)
KC_MATH2(pow)
#endif

KC_PURE float fma(float, float, float);
KC_PURE double fma(double, double, double);
KC_D float fmaf(float a, float b, float c) { return fma(a, b, c); }
#define KC_POINTER(name, type)                     \
  KC_EXTERN float name(float, type);               \
  KC_D float name##f(float x, type p) { return name(x, p); }
KC_POINTER(frexp, int*) KC_POINTER(modf, float*)
KC_EXTERN double frexp(double, int*);
KC_EXTERN double modf(double, double*);
#undef KC_POINTER
KC_PURE float ldexp(float, int);
KC_PURE double ldexp(double, int);
KC_D float ldexpf(float x, int n) { return ldexp(x, n); }
KC_D float scalbnf(float x, int n) { return ldexp(x, n); }
KC_D double scalbn(double x, int n) { return ldexp(x, n); }
KC_D float scalbn(float x, int n) { return ldexp(x, n); }
KC_PURE int ilogb(float);
KC_PURE int ilogb(double);
KC_D int ilogbf(float x) { return ilogb(x); }
KC_PURE float __kc_pown(float, int) __asm__("_Z4pownfi");
KC_PURE double __kc_pown(double, int) __asm__("_Z4powndi");
KC_D float powif(float x, int n) { return __kc_pown(x, n); }
KC_D double powi(double x, int n) { return __kc_pown(x, n); }
KC_EXTERN float __kc_sincos(float, float*) __asm__("_Z6sincosfPf");
KC_EXTERN double __kc_sincos(double, double*) __asm__("_Z6sincosdPd");
#define KC_SINCOS(T, name, from) KC_D void name(T x, T* s, T* c) { T cosine; *s = __kc_sincos(from, &cosine); *c = cosine; }
KC_SINCOS(float, sincosf, x) KC_SINCOS(float, sincos, x) KC_SINCOS(double, sincos, x)
KC_SINCOS(float, sincospif, x * 3.14159265f) KC_SINCOS(float, sincospi, x * 3.14159265f)
KC_SINCOS(double, sincospi, x * 3.14159265358979323846)
#undef KC_SINCOS
KC_EXTERN float remquo(float, float, int*);
KC_EXTERN double remquo(double, double, int*);
KC_D float remquof(float x, float y, int* q) { return remquo(x, y, q); }
KC_PURE float jn(int, float);
KC_PURE double jn(int, double);
KC_PURE float yn(int, float);
KC_PURE double yn(int, double);
KC_D float jnf(int n, float x) { return jn(n, x); }
KC_D float ynf(int n, float x) { return yn(n, x); }
#define KC_TO_WHOLE(name, T)  \
  KC_PURE T name(float);      \
  KC_PURE T name(double);     \
  KC_D T name##f(float x) { return name(x); }
KC_TO_WHOLE(lrint, long) KC_TO_WHOLE(llrint, long long) KC_TO_WHOLE(lround, long) KC_TO_WHOLE(llround, long long)
#undef KC_TO_WHOLE
#define KC_NORM(name, pf, pd, af, ad)  \
  KC_PURE float name##f pf __asm__(af); \
  KC_PURE double name pd __asm__(ad);
KC_NORM(norm3d, (float, float, float), (double, double, double), "_Z6norm3dfff", "_Z6norm3dddd")
KC_NORM(rnorm3d, (float, float, float), (double, double, double), "_Z7rnorm3dfff", "_Z7rnorm3dddd")
KC_NORM(norm4d, (float, float, float, float), (double, double, double, double), "_Z6norm4dffff", "_Z6norm4ddddd")
KC_NORM(rnorm4d, (float, float, float, float), (double, double, double, double), "_Z7rnorm4dffff", "_Z7rnorm4ddddd")
#undef KC_NORM
KC_D float nanf(const char*) { return __builtin_nanf(""); }
KC_D double nan(const char*) { return __builtin_nan(""); }

#define KC_CLASS(T)                                                                        \
  KC_D bool isnan(T x) { return __builtin_isnan(x); }                                      \
  KC_D bool isinf(T x) { return __builtin_isinf(x); }                                      \
  KC_D bool isfinite(T x) { return __builtin_isfinite(x); }                                \
  KC_D bool isnormal(T x) { return __builtin_isnormal(x); }                                \
  KC_D bool signbit(T x) { return __builtin_signbit(x); }
KC_CLASS(float) KC_CLASS(double)
#undef KC_CLASS
KC_D int __isnanf(float x) { return __builtin_isnan(x); }
KC_D int __isinff(float x) { return __builtin_isinf(x); }
KC_D int __finitef(float x) { return __builtin_isfinite(x); }
KC_D int __isnan(double x) { return __builtin_isnan(x); }
KC_D int __isinf(double x) { return __builtin_isinf(x); }
KC_D int __finite(double x) { return __builtin_isfinite(x); }
KC_D int finite(double x) { return __builtin_isfinite(x); }

// Absolute value, minimum and maximum.
constexpr KC_D int abs(int x) { return x < 0 ? -x : x; }
constexpr KC_D long abs(long x) { return x < 0 ? -x : x; }
constexpr KC_D long long abs(long long x) { return x < 0 ? -x : x; }
KC_D float abs(float x) { return fabs(x); }
KC_D double abs(double x) { return fabs(x); }
KC_D long labs(long x) { return x < 0 ? -x : x; }
KC_D long long llabs(long long x) { return x < 0 ? -x : x; }
#define KC_MINMAX(T)                                                              \
  KC_HD constexpr T min(T a, T b) { return b < a ? b : a; }                       \
  KC_HD constexpr T max(T a, T b) { return a < b ? b : a; }
#define KC_MINMAX2(A, B, R)                                                       \
  KC_HD constexpr R min(A a, B b) { return (R)b < (R)a ? (R)b : (R)a; }           \
  KC_HD constexpr R max(A a, B b) { return (R)a < (R)b ? (R)b : (R)a; }           \
  KC_HD constexpr R min(B a, A b) { return (R)b < (R)a ? (R)b : (R)a; }           \
  KC_HD constexpr R max(B a, A b) { return (R)a < (R)b ? (R)b : (R)a; }
KC_MINMAX(int) KC_MINMAX(unsigned int) KC_MINMAX(long) KC_MINMAX(unsigned long) KC_MINMAX(long long) KC_MINMAX(unsigned long long)
KC_MINMAX2(int, unsigned int, unsigned int) KC_MINMAX2(long, unsigned long, unsigned long)
KC_MINMAX2(long long, unsigned long long, unsigned long long)
#undef KC_MINMAX
#undef KC_MINMAX2
KC_D float min(float a, float b) { return fmin(a, b); }
KC_D float max(float a, float b) { return fmax(a, b); }
KC_D double min(double a, double b) { return fmin(a, b); }
KC_D double max(double a, double b) { return fmax(a, b); }
KC_D double min(float a, double b) { return fmin((double)a, b); }
KC_D double max(float a, double b) { return fmax((double)a, b); }
KC_D double min(double a, float b) { return fmin(a, (double)b); }
KC_D double max(double a, float b) { return fmax(a, (double)b); }
KC_D unsigned int umin(unsigned int a, unsigned int b) { return b < a ? b : a; }
KC_D unsigned int umax(unsigned int a, unsigned int b) { return a < b ? b : a; }

#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
#ifndef INFINITY
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define HUGE_VAL (__builtin_huge_val())
#define HUGE_VALF (__builtin_huge_valf())
#endif

// Standing in std before the C++ library is read, these win over its host functions of the same signature.
namespace std {
using ::abs; using ::acos; using ::acosh; using ::asin; using ::asinh; using ::atan; using ::atan2; using ::atanh; using ::cbrt; using ::ceil;
using ::copysign; using ::cos; using ::cosh; using ::erf; using ::erfc; using ::exp; using ::exp2; using ::expm1; using ::fabs; using ::fdim;
using ::floor; using ::fma; using ::fmax; using ::fmin; using ::fmod; using ::frexp; using ::hypot; using ::ilogb; using ::isfinite; using ::isinf;
using ::isnan; using ::isnormal; using ::ldexp; using ::lgamma; using ::llrint; using ::llround; using ::log; using ::log10; using ::log1p;
using ::log2; using ::logb; using ::lrint; using ::lround; using ::modf; using ::nearbyint; using ::nextafter; using ::pow; using ::remainder;
using ::remquo; using ::rint; using ::round; using ::scalbn; using ::signbit; using ::sin; using ::sinh; using ::sqrt; using ::tan; using ::tanh;
using ::tgamma; using ::trunc;
}  // namespace std
