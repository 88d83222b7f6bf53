// Intrinsics that few sources name: the prelude reads them where a source holds one of their words
// (compile_headers.cpp).
#pragma once

KC_D long long llmin(long long a, long long b) { return b < a ? b : a; }
KC_D long long llmax(long long a, long long b) { return a < b ? b : a; }
KC_D unsigned long long ullmin(unsigned long long a, unsigned long long b) { return b < a ? b : a; }
KC_D unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
KC_D double scalbln(double x, long n) {
  return ldexp(x, (int)(n > 0x7fffffff ? 0x7fffffff : n < -0x7fffffff ? -0x7fffffff : n));
}
KC_D float scalbln(float x, long n) {
  return ldexp(x, (int)(n > 0x7fffffff ? 0x7fffffff : n < -0x7fffffff ? -0x7fffffff : n));
}
KC_D float scalblnf(float x, long n) { return scalbln(x, n); }
KC_D double fdivide(double a, double b) { return a / b; }
KC_D float fdivide(float a, float b) { return a / b; }
KC_D int __signbit(double x) { return __builtin_signbit(x); }
KC_D int __signbitf(float x) { return __builtin_signbit(x); }
KC_D int __signbitl(double x) { return __builtin_signbit(x); }
KC_D int __finitel(double x) { return __builtin_isfinite(x); }
KC_D int __isinfl(double x) { return __builtin_isinf(x); }
KC_D int __isnanl(double x) { return __builtin_isnan(x); }
KC_D float __fmaf_ieee_rn(float a, float b, float c) { return __fmaf_rn(a, b, c); }
KC_D float __fmaf_ieee_rz(float a, float b, float c) { return __fmaf_rz(a, b, c); }
KC_D float __fmaf_ieee_rd(float a, float b, float c) { return __fmaf_rd(a, b, c); }
KC_D float __fmaf_ieee_ru(float a, float b, float c) { return __fmaf_ru(a, b, c); }
KC_D void* __nv_aligned_device_malloc(size_t n, size_t) { return malloc(n); }

// Length of a vector of n numbers: scaled by a power of two near the largest, so that no square overflows.
template <class T, class Word>
KC_D T __kc_length(int n, const T* p, Word exponent, Word twice, bool inverse) {
  T most = 0, sum = 0;
  for (int i = 0; i < n; ++i) most = fmax(most, fabs(p[i]));
  const Word top = __builtin_bit_cast(Word, most) & exponent;
  const T scale = __builtin_bit_cast(T, (Word)(twice - top));
  for (int i = 0; i < n; ++i) sum = fma(p[i] * scale, p[i] * scale, sum);
  if (most == 0 || top == exponent) return inverse ? (T)1 / most : most;
  return inverse ? rsqrt(sum) * scale : sqrt(sum) / scale;
}
KC_D float normf(int n, const float* p) { return __kc_length(n, p, 0x7f800000u, 0x7f000000u, false); }
KC_D float rnormf(int n, const float* p) { return __kc_length(n, p, 0x7f800000u, 0x7f000000u, true); }
KC_D double norm(int n, const double* p) {
  return __kc_length(n, p, 0x7ff0000000000000ul, 0x7fe0000000000000ul, false);
}
KC_D double rnorm(int n, const double* p) {
  return __kc_length(n, p, 0x7ff0000000000000ul, 0x7fe0000000000000ul, true);
}

KC_D unsigned int __nv_bswap32(unsigned int x) { return __byte_perm(x, 0, 0x0123); }
KC_D unsigned short __nv_bswap16(unsigned short x) { return (unsigned short)__byte_perm(x, 0, 0x0001); }
KC_D unsigned long long __nv_bswap64(unsigned long long x) {
  return (unsigned long long)__nv_bswap32((unsigned int)x) << 32 | __nv_bswap32((unsigned int)(x >> 32));
}
KC_D unsigned int __funnelshift_lc(unsigned int lo, unsigned int hi, unsigned int s) {
  return (unsigned int)((((unsigned long long)hi << 32) | lo) << (s < 32 ? s : 32) >> 32);
}
KC_D unsigned int __funnelshift_rc(unsigned int lo, unsigned int hi, unsigned int s) {
  return (unsigned int)((((unsigned long long)hi << 32) | lo) >> (s < 32 ? s : 32));
}
KC_D int __dp4a(char4 a, char4 b, int c) { return __dp4a(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c); }
KC_D unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
  return __dp4a(__builtin_bit_cast(unsigned int, a), __builtin_bit_cast(unsigned int, b), c);
}
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 610
#define KC_DP2A(part, text, T, t, A, B)                              \
  KC_D T __dp2a_##part(T a, T b, T c) {                              \
    T r;                                                             \
    asm(text " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); \
    return r;                                                        \
  }                                                                  \
  KC_D T __dp2a_##part(A a, B b, T c) { return __dp2a_##part(__builtin_bit_cast(T, a), __builtin_bit_cast(T, b), c); }
#else
#define KC_DP2A(part, text, T, t, A, B)                                                                             \
  KC_D T __dp2a_##part(A a, B b, T c) { return c + (T)a.x * (T)b.KC_##part(x, z) + (T)a.y * (T)b.KC_##part(y, w); } \
  KC_D T __dp2a_##part(T a, T b, T c) { return __dp2a_##part(__builtin_bit_cast(A, a), __builtin_bit_cast(B, b), c); }
#define KC_lo(low, high) low
#define KC_hi(low, high) high
#endif
KC_DP2A(lo, "dp2a.lo.s32.s32", int, s32, short2, char4)
KC_DP2A(hi, "dp2a.hi.s32.s32", int, s32, short2, char4)
KC_DP2A(lo, "dp2a.lo.u32.u32", unsigned int, u32, ushort2, uchar4)
KC_DP2A(hi, "dp2a.hi.u32.u32", unsigned int, u32, ushort2, uchar4)
#undef KC_DP2A

// Two floats at a time.
#define KC_FLOATS2(way)                                                           \
  KC_D float2 __fadd2_##way(float2 a, float2 b) {                                 \
    return make_float2(__fadd_##way(a.x, b.x), __fadd_##way(a.y, b.y));           \
  }                                                                               \
  KC_D float2 __fmul2_##way(float2 a, float2 b) {                                 \
    return make_float2(__fmul_##way(a.x, b.x), __fmul_##way(a.y, b.y));           \
  }                                                                               \
  KC_D float2 __ffma2_##way(float2 a, float2 b, float2 c) {                       \
    return make_float2(__fmaf_##way(a.x, b.x, c.x), __fmaf_##way(a.y, b.y, c.y)); \
  }
            KC_FLOATS2(rn) KC_FLOATS2(rz) KC_FLOATS2(rd) KC_FLOATS2(ru)
#undef KC_FLOATS2

#ifdef __NVPTX__
                KC_D unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
  unsigned int r;
  asm("fns.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(mask), "r"(base), "r"(offset));
  return r;
}
KC_D void __barrier_sync(unsigned int id) { asm volatile("barrier.sync %0;" ::"r"(id) : "memory"); }
KC_D void __barrier_sync_count(unsigned int id, unsigned int threads) {
  asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
#define KC_COUNTER(n)                                  \
  KC_D unsigned int __pm##n() {                        \
    unsigned int r;                                    \
    asm volatile("mov.u32 %0, %%pm" #n ";" : "=r"(r)); \
    return r;                                          \
  }
KC_COUNTER(0)
KC_COUNTER(1) KC_COUNTER(2) KC_COUNTER(3)
#undef KC_COUNTER
// Address spaces. A parameter's address is generic already.
#define KC_SPACE(name, Name, number)                                      \
  KC_D size_t __cvta_generic_to_##name(const void* p) {                   \
    return (size_t)(__attribute__((address_space(number))) const void*)p; \
  }                                                                       \
  KC_SPACE_BACK(name, number)
#define KC_SPACE_BACK(name, number) \
  KC_D void* __cvta_##name##_to_generic(size_t p) { return (void*)(__attribute__((address_space(number))) void*)p; }
    KC_SPACE(constant, Constant, 4) KC_SPACE(local, Local, 5) KC_SPACE_BACK(global, 1) KC_SPACE_BACK(shared, 3)
#undef KC_SPACE
#undef KC_SPACE_BACK
        KC_D size_t __cvta_generic_to_grid_constant(const void* p) {
  return (size_t)p;
}
KC_D void* __cvta_grid_constant_to_generic(size_t p) { return (void*)p; }
KC_D unsigned int __isConstant(const void* p) { return __nvvm_isspacep_const(p); }
KC_D unsigned int __isLocal(const void* p) { return __nvvm_isspacep_local(p); }
KC_D unsigned int __isGridConstant(const void* p) {
  unsigned int r;
  asm("{.reg .pred P;\nisspacep.param P, %1;\nselp.u32 %0, 1, 0, P;}" : "=r"(r) : "l"(p));
  return r;
}
#endif
