// Half precision: a class around _Float16, so that operations become half instructions.
#pragma once

#define KC_F16 _Float16
typedef KC_F16 __kc_half2 __attribute__((ext_vector_type(2)));
#define KC_NUMBERS(M) M(int) M(unsigned int) M(short) M(unsigned short) M(long) M(unsigned long) M(long long) M(unsigned long long) M(float) M(double)
struct __half_raw { unsigned short x; };
struct __attribute__((aligned(2))) __half {
  KC_F16 v;
  __half() = default;
  __host__ __device__ constexpr __half(KC_F16 x) : v(x) {}
  __host__ __device__ __half(__half_raw r) : v(__builtin_bit_cast(KC_F16, r)) {}
#define KC_FROM(T) __host__ __device__ constexpr __half(T x) : v((KC_F16)x) {}
  KC_NUMBERS(KC_FROM)
#undef KC_FROM
  __host__ __device__ constexpr operator float() const { return (float)v; }
  __host__ __device__ explicit operator double() const { return (double)v; }
  __host__ __device__ explicit operator int() const { return (int)v; }
  __host__ __device__ explicit operator unsigned int() const { return (unsigned int)v; }
  __host__ __device__ explicit operator short() const { return (short)v; }
  __host__ __device__ explicit operator unsigned short() const { return (unsigned short)v; }
  __host__ __device__ explicit operator bool() const { return v != (KC_F16)0; }
  __host__ __device__ operator __half_raw() const { return __builtin_bit_cast(__half_raw, v); }
};
typedef __half half, __nv_half;
struct __attribute__((aligned(4))) __half2 {
  __half x, y;
  __half2() = default;
  __host__ __device__ constexpr __half2(__half a, __half b) : x(a), y(b) {}
};
typedef __half2 half2, __nv_half2;
KC_HD __kc_half2 __kc_pair(__half2 a) { return __kc_half2{a.x.v, a.y.v}; }
KC_HD __half2 __kc_unpair(__kc_half2 a) { return __half2(__half(a.x), __half(a.y)); }

#define KC_HALF_OPERATOR(op)                                                                             \
  KC_HD __half operator op(__half a, __half b) { return __half((KC_F16)(a.v op b.v)); }                  \
  KC_HD __half& operator op##=(__half& a, __half b) { return a = a op b; }                               \
  KC_HD __half2 operator op(__half2 a, __half2 b) { return __kc_unpair(__kc_pair(a) op __kc_pair(b)); }  \
  KC_HD __half2& operator op##=(__half2& a, __half2 b) { return a = a op b; }
KC_HALF_OPERATOR(+) KC_HALF_OPERATOR(-) KC_HALF_OPERATOR(*) KC_HALF_OPERATOR(/)
#undef KC_HALF_OPERATOR
#define KC_HALF_COMPARE(op, name)                                                                        \
  KC_HD bool operator op(__half a, __half b) { return a.v op b.v; }                                      \
  KC_HD bool __h##name(__half a, __half b) { return a.v op b.v; }                                        \
  KC_HD __half2 __h##name##2(__half2 a, __half2 b) { return __half2(__half((int)(a.x.v op b.x.v)), __half((int)(a.y.v op b.y.v))); } \
  KC_HD bool __hb##name##2(__half2 a, __half2 b) { return (a.x.v op b.x.v) && (a.y.v op b.y.v); }
KC_HALF_COMPARE(==, eq) KC_HALF_COMPARE(!=, ne) KC_HALF_COMPARE(<, lt) KC_HALF_COMPARE(<=, le) KC_HALF_COMPARE(>, gt) KC_HALF_COMPARE(>=, ge)
#undef KC_HALF_COMPARE
KC_HD __half operator+(__half a) { return a; }
KC_HD __half2 operator+(__half2 a) { return a; }
KC_HD __half operator-(__half a) { return __half((KC_F16)-a.v); }
KC_HD __half2 operator-(__half2 a) { return __kc_unpair(-__kc_pair(a)); }

#define KC_HALF_NAMED(name, op)                                                     \
  KC_HD __half name(__half a, __half b) { return a op b; }                          \
  KC_HD __half name##_rn(__half a, __half b) { return a op b; }                     \
  KC_HD __half2 name##2(__half2 a, __half2 b) { return a op b; }                    \
  KC_HD __half2 name##2_rn(__half2 a, __half2 b) { return a op b; }
KC_HALF_NAMED(__hadd, +) KC_HALF_NAMED(__hsub, -) KC_HALF_NAMED(__hmul, *)
#undef KC_HALF_NAMED
KC_HD __half __hdiv(__half a, __half b) { return a / b; }
KC_HD __half2 __h2div(__half2 a, __half2 b) { return a / b; }
KC_HD __half __hneg(__half a) { return -a; }
KC_HD __half2 __hneg2(__half2 a) { return -a; }
KC_HD __half __habs(__half a) { return __half((KC_F16)__builtin_elementwise_abs(a.v)); }
KC_HD __half2 __habs2(__half2 a) { return __kc_unpair(__builtin_elementwise_abs(__kc_pair(a))); }
KC_HD __half __hfma(__half a, __half b, __half c) { return __half((KC_F16)__builtin_elementwise_fma(a.v, b.v, c.v)); }
KC_HD __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return __kc_unpair(__builtin_elementwise_fma(__kc_pair(a), __kc_pair(b), __kc_pair(c)));
}
KC_HD __half __hmax(__half a, __half b) { return __half((KC_F16)__builtin_elementwise_max(a.v, b.v)); }
KC_HD __half __hmin(__half a, __half b) { return __half((KC_F16)__builtin_elementwise_min(a.v, b.v)); }
KC_HD __half2 __hmax2(__half2 a, __half2 b) { return __kc_unpair(__builtin_elementwise_max(__kc_pair(a), __kc_pair(b))); }
KC_HD __half2 __hmin2(__half2 a, __half2 b) { return __kc_unpair(__builtin_elementwise_min(__kc_pair(a), __kc_pair(b))); }
KC_HD __half __hmax_nan(__half a, __half b) { return __hmax(a, b); }
KC_HD __half __hmin_nan(__half a, __half b) { return __hmin(a, b); }
KC_HD __half2 __hmax2_nan(__half2 a, __half2 b) { return __hmax2(a, b); }
KC_HD __half2 __hmin2_nan(__half2 a, __half2 b) { return __hmin2(a, b); }
KC_HD __half __hfma_relu(__half a, __half b, __half c) { return __hmax(__hfma(a, b, c), __half(0.0f)); }
KC_HD __half2 __hfma2_relu(__half2 a, __half2 b, __half2 c) { return __hmax2(__hfma2(a, b, c), __half2(__half(0.0f), __half(0.0f))); }
KC_HD bool __hisnan(__half a) { return a.v != a.v; }
KC_HD int __hisinf(__half a) { return __builtin_isinf((float)a.v); }

// Mathematics: OpenCL's functions of half (_Z3expDh, ...).
#define KC_HALF_MATH(name, symbol)                                     \
  KC_PURE KC_F16 __kc_half_##name(KC_F16) __asm__(symbol);             \
  KC_D __half h##name(__half a) { return __half(__kc_half_##name(a.v)); } \
  KC_D __half2 h2##name(__half2 a) { return __half2(h##name(a.x), h##name(a.y)); }
KC_HALF_MATH(exp, "_Z3expDh") KC_HALF_MATH(exp2, "_Z4exp2Dh") KC_HALF_MATH(exp10, "_Z5exp10Dh") KC_HALF_MATH(log, "_Z3logDh")
KC_HALF_MATH(log2, "_Z4log2Dh") KC_HALF_MATH(log10, "_Z5log10Dh") KC_HALF_MATH(sqrt, "_Z4sqrtDh") KC_HALF_MATH(rsqrt, "_Z5rsqrtDh")
KC_HALF_MATH(sin, "_Z3sinDh") KC_HALF_MATH(cos, "_Z3cosDh") KC_HALF_MATH(rcp, "_Z12native_recipDh") KC_HALF_MATH(tanh, "_Z4tanhDh")
KC_HALF_MATH(floor, "_Z5floorDh") KC_HALF_MATH(ceil, "_Z4ceilDh") KC_HALF_MATH(trunc, "_Z5truncDh") KC_HALF_MATH(rint, "_Z4rintDh")
#undef KC_HALF_MATH

// Conversions and packing.
KC_HD __half __float2half(float x) { return __half(x); }
KC_HD __half __float2half_rn(float x) { return __half(x); }
KC_HD __half __float2half_rz(float x) { return __half(x); }
KC_HD __half __double2half(double x) { return __half(x); }
KC_HD float __half2float(__half x) { return (float)x.v; }
KC_HD __half2 __float2half2_rn(float x) { return __half2(__half(x), __half(x)); }
KC_HD __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
KC_HD __half2 __float22half2_rn(float2 a) { return __half2(__half(a.x), __half(a.y)); }
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
KC_HD __half __ushort_as_half(unsigned short a) { return __half(__builtin_bit_cast(KC_F16, a)); }
KC_HD __half __short_as_half(short a) { return __half(__builtin_bit_cast(KC_F16, a)); }
#define KC_HALF_INT(name, T)                                       \
  KC_HD T __half2##name##_rn(__half a) { return (T)(float)a.v; }   \
  KC_HD T __half2##name##_rz(__half a) { return (T)a.v; }          \
  KC_HD __half __##name##2half_rn(T a) { return __half(a); }
KC_HALF_INT(int, int) KC_HALF_INT(uint, unsigned int) KC_HALF_INT(short, short) KC_HALF_INT(ushort, unsigned short) KC_HALF_INT(ll, long long)
#undef KC_HALF_INT
KC_D __half atomicAdd(__half* p, __half v) { return __half(__scoped_atomic_fetch_add(&p->v, v.v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)); }
KC_D __half2 atomicAdd(__half2* p, __half2 v) { return __half2(atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)); }
#ifdef KC_FULL_MASK
#define KC_HALF_SHUFFLE(name, D)                                                                                        \
  KC_D __half name(__kc_mask m, __half v, D d, int w = __KERNELCAST_WARP_SIZE) {                                        \
    return __ushort_as_half((unsigned short)name(m, (int)__half_as_ushort(v), d, w));                                   \
  }                                                                                                                     \
  KC_D __half2 name(__kc_mask m, __half2 v, D d, int w = __KERNELCAST_WARP_SIZE) {                                      \
    return __builtin_bit_cast(__half2, name(m, __builtin_bit_cast(int, v), d, w));                                      \
  }
KC_HALF_SHUFFLE(__shfl_sync, int) KC_HALF_SHUFFLE(__shfl_up_sync, unsigned int) KC_HALF_SHUFFLE(__shfl_down_sync, unsigned int)
KC_HALF_SHUFFLE(__shfl_xor_sync, int)
#undef KC_HALF_SHUFFLE
#endif
#undef KC_NUMBERS
#undef KC_F16
