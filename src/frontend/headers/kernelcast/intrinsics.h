// Integer and conversion intrinsics, rounded arithmetic, and loads and stores with cache hints (plain accesses here: the hints do not change what is moved).
#pragma once

KC_HD int __kc_clz(unsigned int x) { return __builtin_clzg(x, 32); }
KC_D int __popc(unsigned int x) { return __builtin_popcount(x); }
KC_D int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
KC_D int __clz(int x) { return __builtin_clzg((unsigned int)x, 32); }
KC_D int __clzll(long long x) { return __builtin_clzg((unsigned long long)x, 64); }
KC_D int __ffs(int x) { return __builtin_ffs(x); }
KC_D int __ffsll(long long x) { return __builtin_ffsll(x); }
KC_D unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
KC_D unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
KC_D int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
KC_D unsigned int __umulhi(unsigned int a, unsigned int b) { return (unsigned int)(((unsigned long long)a * b) >> 32); }
KC_D long long __mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }
KC_D unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
KC_D int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
KC_D unsigned int __umul24(unsigned int a, unsigned int b) { return (a & 0xffffffu) * (b & 0xffffffu); }
KC_D unsigned int __sad(int a, int b, unsigned int c) { return c + (unsigned int)(a < b ? b - a : a - b); }
KC_D unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) { return c + (a < b ? b - a : a - b); }
KC_D int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
KC_D int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
KC_D unsigned int __uhadd(unsigned int a, unsigned int b) { return (unsigned int)(((unsigned long long)a + b) >> 1); }
KC_D unsigned int __urhadd(unsigned int a, unsigned int b) { return (unsigned int)(((unsigned long long)a + b + 1) >> 1); }
KC_D unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int s) {
  return (unsigned int)(((((unsigned long long)hi << 32) | lo) << (s & 31)) >> 32);
}
KC_D unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int s) {
  return (unsigned int)((((unsigned long long)hi << 32) | lo) >> (s & 31));
}
#ifdef __NVPTX__
KC_D unsigned int __byte_perm(unsigned int a, unsigned int b, unsigned int s) { return (unsigned int)__nvvm_prmt((int)a, (int)b, (int)s); }
#else
KC_D unsigned int __byte_perm(unsigned int a, unsigned int b, unsigned int s) {
  const unsigned long long both = ((unsigned long long)b << 32) | a;
  unsigned int result = 0;
  for (int i = 0; i < 4; ++i) result |= (unsigned int)((both >> (((s >> (4 * i)) & 7) * 8)) & 0xff) << (8 * i);
  return result;
}
#endif
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 610
KC_D int __dp4a(int a, int b, int c) { int r; __asm__("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
KC_D unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
  unsigned int r;
  __asm__("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
#else
KC_D int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) c += (int)(signed char)(a >> i) * (int)(signed char)(b >> i);
  return c;
}
KC_D unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
  for (int i = 0; i < 32; i += 8) c += ((a >> i) & 0xff) * ((b >> i) & 0xff);
  return c;
}
#endif

// Bits as another type.
KC_D int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
KC_D unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
KC_D float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
KC_D float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
KC_D long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
KC_D double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
KC_D int __double2hiint(double x) { return (int)(__builtin_bit_cast(unsigned long long, x) >> 32); }
KC_D int __double2loint(double x) { return (int)__builtin_bit_cast(unsigned long long, x); }
KC_D double __hiloint2double(int h, int l) {
  return __builtin_bit_cast(double, ((unsigned long long)(unsigned int)h << 32) | (unsigned int)l);
}

// Conversions: _rz truncates, _rn rounds to nearest, _ru up, _rd down.
#define KC_TO_INT(from, F, to, T)                                         \
  KC_D T __##from##2##to##_rz(F x) { return (T)x; }                       \
  KC_D T __##from##2##to##_rn(F x) { return (T)__builtin_elementwise_rint(x); } \
  KC_D T __##from##2##to##_ru(F x) { return (T)__builtin_elementwise_ceil(x); } \
  KC_D T __##from##2##to##_rd(F x) { return (T)__builtin_elementwise_floor(x); }
KC_TO_INT(float, float, int, int) KC_TO_INT(float, float, uint, unsigned int) KC_TO_INT(float, float, ll, long long)
KC_TO_INT(float, float, ull, unsigned long long) KC_TO_INT(double, double, int, int) KC_TO_INT(double, double, uint, unsigned int)
KC_TO_INT(double, double, ll, long long) KC_TO_INT(double, double, ull, unsigned long long)
#define KC_ROUNDED(F, name, T)                                                                                       \
  KC_D T name##_rn(F x) { return (T)x; } KC_D T name##_rz(F x) { return (T)x; }                                      \
  KC_D T name##_ru(F x) { return (T)x; } KC_D T name##_rd(F x) { return (T)x; }
KC_ROUNDED(int, __int2float, float) KC_ROUNDED(unsigned int, __uint2float, float) KC_ROUNDED(long long, __ll2float, float)
KC_ROUNDED(unsigned long long, __ull2float, float) KC_ROUNDED(int, __int2double, double) KC_ROUNDED(unsigned int, __uint2double, double)
KC_ROUNDED(long long, __ll2double, double) KC_ROUNDED(unsigned long long, __ull2double, double) KC_ROUNDED(double, __double2float, float)
#undef KC_TO_INT
#undef KC_ROUNDED

// Arithmetic with a stated rounding: the cost is that of the plain operation.
#define KC_ROUND_MODES(r)                                                                                            \
  KC_D float __fadd_##r(float a, float b) { return a + b; }                                                          \
  KC_D float __fsub_##r(float a, float b) { return a - b; }                                                          \
  KC_D float __fmul_##r(float a, float b) { return a * b; }                                                          \
  KC_D float __fdiv_##r(float a, float b) { return a / b; }                                                          \
  KC_D float __fmaf_##r(float a, float b, float c) { return fma(a, b, c); }                                          \
  KC_D float __frcp_##r(float a) { return __kc_native_recip(a); }                                                    \
  KC_D float __fsqrt_##r(float a) { return sqrt(a); }                                                                \
  KC_D double __dadd_##r(double a, double b) { return a + b; }                                                       \
  KC_D double __dsub_##r(double a, double b) { return a - b; }                                                       \
  KC_D double __dmul_##r(double a, double b) { return a * b; }                                                       \
  KC_D double __ddiv_##r(double a, double b) { return a / b; }                                                       \
  KC_D double __drcp_##r(double a) { return 1.0 / a; }                                                               \
  KC_D double __dsqrt_##r(double a) { return sqrt(a); }                                                              \
  KC_D double __fma_##r(double a, double b, double c) { return fma(a, b, c); }
KC_ROUND_MODES(rn) KC_ROUND_MODES(rz) KC_ROUND_MODES(ru) KC_ROUND_MODES(rd)
#undef KC_ROUND_MODES
KC_D float __frsqrt_rn(float a) { return __kc_native_rsqrt(a); }

template <class T> KC_D T __ldca(const T* p) { return *p; }
template <class T> KC_D T __ldcg(const T* p) { return *p; }
template <class T> KC_D T __ldcs(const T* p) { return *p; }
template <class T> KC_D T __ldlu(const T* p) { return *p; }
template <class T> KC_D T __ldcv(const T* p) { return *p; }
// The value is converted: nvcc has one function for each type.
template <class T> struct __kc_stored { typedef T type; };
#define KC_STORE(name) template <class T> KC_D void name(T* p, typename __kc_stored<T>::type v) { *p = v; }
KC_STORE(__stwb) KC_STORE(__stcg) KC_STORE(__stcs) KC_STORE(__stwt)
#undef KC_STORE
