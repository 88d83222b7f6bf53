// Warp matrix operations (nvcuda::wmma). Fragments are registers in the documented layout of mma.sync, which is what
// ptxas makes of them on sm_75 and later: a 16 x 16 x 16 product of halves is two instructions m16n8k16. Loads and stores
// are plain accesses of 4 or 8 bytes; a matrix that lies across is loaded by rows and transposed, as ldmatrix.trans does.
//
// The operand with 16 rows of a tile is "long", that with 8 "short": a and b, but for m8n32k16, which is computed
// transposed. Lane l has row l / 4 and column pair l % 4 of each 8 x 8 tile.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision { struct tf32 {}; struct u4 {}; struct s4 {}; struct b1 {}; }
namespace experimental {
namespace precision { using wmma::precision::u4; using wmma::precision::s4; using wmma::precision::b1; }
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}
using experimental::bmmaBitOp;
using experimental::bmmaAccumulateOp;

// What a register of 4 bytes holds of each type; `copies`: elements of a fragment for each distinct one (halves: sm_70).
template <class T> struct __kc_type { typedef T storage; static constexpr int bits = sizeof(T) * 8, copies = 1; };
template <> struct __kc_type<half> { typedef half storage; static constexpr int bits = 16, copies = 2; };
template <> struct __kc_type<precision::tf32> { typedef float storage; static constexpr int bits = 32, copies = 1; };
template <> struct __kc_type<precision::u4> { typedef unsigned storage; static constexpr int bits = 4, copies = 1; };
template <> struct __kc_type<precision::s4> { typedef int storage; static constexpr int bits = 4, copies = 1; };
template <> struct __kc_type<precision::b1> { typedef unsigned storage; static constexpr int bits = 1, copies = 1; };
template <class L> struct __kc_is_row { static constexpr bool value = false; };
template <> struct __kc_is_row<row_major> { static constexpr bool value = true; };

template <class Use, int M, int N, int K> struct __kc_shape {
  static constexpr bool transposed = M == 8 && N == 32;
  static constexpr bool small = M == 8 && N == 8;  // products of 8 rows: f64, 4 bits, 1 bit
  static constexpr int long_tiles = M == 16 && N == 16 ? 1 : small ? 1 : 2, short_tiles = M == 16 && N == 16 ? 2 : 1;
};

// Operands. `tiles` of `rows` rows; a register for each row half and each half of K.
template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
  typedef __kc_shape<Use, M, N, K> shape;
  typedef typename __kc_type<T>::storage element_type;
  typedef element_type storage_element_type;
  template <class U> struct is_b { static constexpr bool value = false; };
  static constexpr bool b = __is_same(Use, matrix_b), is_long = b == shape::transposed;
  static constexpr bool along_k = b != __kc_is_row<Layout>::value;  // elements of K are neighbours in memory
  static constexpr int bits = __kc_type<T>::bits, each = bits < 32 ? 32 / bits : 1;  // elements of a register
  static constexpr int tiles = is_long ? shape::long_tiles : shape::short_tiles, halves = is_long && !shape::small ? 2 : 1;
  static constexpr int k_parts = bits == 64 ? 1 : K / (4 * each), registers = tiles * halves * k_parts;
  static constexpr int num_elements = (bits < 8 ? 1 : bits == 64 ? 1 : each) * registers * __kc_type<T>::copies;
  static constexpr int num_storage_elements = num_elements;
  element_type x[num_elements];
};
// A pair of columns for each row of 8, tile by tile.
template <int M, int N, int K, class T> struct fragment<accumulator, M, N, K, T, void> {
  typedef __kc_shape<accumulator, M, N, K> shape;
  typedef T element_type;
  typedef T storage_element_type;
  static constexpr int rows = shape::small ? 1 : 2, tiles = shape::long_tiles * shape::short_tiles;
  static constexpr int num_elements = tiles * rows * 2, num_storage_elements = num_elements;
  T x[num_elements];
};

KC_D unsigned __kc_transposed(unsigned r) {
#ifdef __NVPTX__
  unsigned d;
  asm("/* of WMMA */ movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(r));
  return d;
#else
  return r;
#endif
}
template <class F> KC_D void __kc_set(F& f, int i, unsigned r) {
  __builtin_memcpy((char*)f.x + 4 * i, &r, 4);
  if (F::num_elements * sizeof(f.x[0]) > 4 * F::registers) __builtin_memcpy((char*)f.x + 4 * (i + F::registers), &r, 4);
}
template <class F> KC_D unsigned __kc_get(const F& f, int i) {
  unsigned r;
  __builtin_memcpy(&r, (const char*)f.x + 4 * i, 4);
  return r;
}
// Elements of 16 bits move in pairs, as the registers that hold them: nothing takes a register apart.
template <class F, class V> KC_D void fill_fragment(F& f, const V& v) {
  if constexpr (sizeof(f.x[0]) == 2) {
    const typename F::element_type element = (typename F::element_type)v;
    unsigned short bits;
    __builtin_memcpy(&bits, &element, 2);
    const unsigned r = bits | (unsigned)bits << 16;
#pragma unroll
    for (int i = 0; i < F::num_elements / 2; ++i) __builtin_memcpy((char*)f.x + 4 * i, &r, 4);
  } else {
#pragma unroll
    for (int i = 0; i < F::num_elements; ++i) f.x[i] = v;
  }
}
// `stride` in elements; of 4 bits and 1 bit the memory is addressed in words.
template <class Use, int M, int N, int K, class T, class L, class P>
KC_D void load_matrix_sync(fragment<Use, M, N, K, T, L>& f, const P* p, unsigned int stride) {
  typedef fragment<Use, M, N, K, T, L> F;
  const int lane = __lane_id() % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int tile = 0; tile < F::tiles; ++tile)
#pragma unroll
    for (int part = 0; part < F::k_parts; ++part)
#pragma unroll
      for (int half = 0; half < F::halves; ++half) {
        const int row0 = tile * 8 * F::halves + half * 8, i = (tile * F::k_parts + part) * F::halves + half;
        if constexpr (F::bits == 64) {
          f.x[0] = F::along_k ? p[(row0 + g) * stride + t] : p[t * stride + row0 + g];
        } else if constexpr (F::bits < 8) {
          __kc_set(f, i, ((const unsigned*)p)[(row0 + g) * (stride / F::each) + part * 4 + t]);
        } else if constexpr (F::along_k) {
          __kc_set(f, i, *(const unsigned*)(p + (row0 + g) * stride + part * 4 * F::each + t * F::each));
        } else if constexpr (F::bits == 16) {
          __kc_set(f, i, __kc_transposed(*(const unsigned*)(p + (part * 8 + g) * stride + row0 + t * 2)));
        } else if constexpr (F::bits == 32) {
          __kc_set(f, i, *(const unsigned*)(p + (part * 4 + t) * stride + row0 + g));
        } else {
          unsigned r = 0;
#pragma unroll
          for (int j = 0; j < 4; ++j) r |= (unsigned)(unsigned char)p[(part * 16 + t * 4 + j) * stride + row0 + g] << 8 * j;
          __kc_set(f, i, r);
        }
      }
}
template <class T> struct __attribute__((aligned(2 * sizeof(T)))) __kc_two { T x, y; };
template <int M, int N, int K, class T, class P, class Move>
KC_D void __kc_accumulator(fragment<accumulator, M, N, K, T>& f, P* p, unsigned int stride, layout_t layout, Move move) {
  typedef fragment<accumulator, M, N, K, T> F;
  typedef typename F::shape S;
  const int lane = __lane_id() % 32, g = lane / 4, t = lane % 4;
  const bool pairs = (layout == mem_row_major) != S::transposed;  // columns of a pair are neighbours in memory
#pragma unroll
  for (int l = 0; l < S::long_tiles; ++l)
#pragma unroll
    for (int s = 0; s < S::short_tiles; ++s)
#pragma unroll
      for (int h = 0; h < F::rows; ++h) {
        const int row = l * 8 * F::rows + h * 8 + g, column = s * 8 + t * 2, i = ((l * S::short_tiles + s) * F::rows + h) * 2;
        move(f.x[i], f.x[i + 1], p + (pairs ? row * stride + column : column * stride + row), pairs, stride);
      }
}
template <int M, int N, int K, class T>
KC_D void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const T* p, unsigned int stride, layout_t layout) {
  __kc_accumulator(f, p, stride, layout, [](T& a, T& b, const T* q, bool pairs, unsigned int next) __attribute__((always_inline)) {
    if (pairs) {
      const __kc_two<T> both = *(const __kc_two<T>*)q;
      a = both.x, b = both.y;
    } else {
      a = q[0], b = q[next];
    }
  });
}
template <int M, int N, int K, class T>
KC_D void store_matrix_sync(T* p, const fragment<accumulator, M, N, K, T>& f, unsigned int stride, layout_t layout) {
  fragment<accumulator, M, N, K, T> copy = f;
  __kc_accumulator(copy, p, stride, layout, [](T& a, T& b, T* q, bool pairs, unsigned int next) __attribute__((always_inline)) {
    if constexpr (sizeof(T) == 2) {
      unsigned both;
      __builtin_memcpy(&both, &a, 4);  // b stands behind a
      if (pairs) {
        *(unsigned*)q = both;
      } else {
        const unsigned short low = (unsigned short)both, high = (unsigned short)(both >> 16);
        __builtin_memcpy(q, &low, 2);
        __builtin_memcpy(q + next, &high, 2);
      }
    } else if (pairs) {
      *(__kc_two<T>*)q = __kc_two<T>{a, b};
    } else {
      q[0] = a, q[next] = b;
    }
  });
}

// One instruction: d = a * b + d. `a` is the long operand's registers, `b` the short one's.
#ifdef __NVPTX__
#if __CUDA_ARCH__ >= 800
KC_D void __kc_mma(half, float* d, const unsigned* a, const unsigned* b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
KC_D void __kc_mma(half, half* x, const unsigned* a, const unsigned* b) {
  unsigned d[2];
  __builtin_memcpy(d, x, 8);
  asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
      : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  __builtin_memcpy(x, d, 8);
}
KC_D void __kc_mma(__nv_bfloat16, float* d, const unsigned* a, const unsigned* b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
KC_D void __kc_mma(precision::tf32, float* d, const unsigned* a, const unsigned* b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#define KC_MMA_INTEGER(T, type)                                                                                               \
  KC_D void __kc_mma(T, int* d, const unsigned* a, const unsigned* b) {                                                       \
    asm("mma.sync.aligned.m16n8k16.row.col.s32." type "." type ".s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"      \
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));                                   \
  }
#else
// sm_75 has halves of these shapes; sm_70 is given the same, four times as many instructions in its machine code.
KC_D void __kc_mma(half, float* d, const unsigned* a, const unsigned* b) {
#pragma unroll
  for (int k = 0; k < 2; ++k)
    asm("/* of WMMA */ mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[2 * k]), "r"(a[2 * k + 1]), "r"(b[k]));
}
KC_D void __kc_mma(half, half* x, const unsigned* a, const unsigned* b) {
  unsigned d[2];
  __builtin_memcpy(d, x, 8);
#pragma unroll
  for (int k = 0; k < 2; ++k)
    asm("/* of WMMA */ mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
        : "+r"(d[0]), "+r"(d[1]) : "r"(a[2 * k]), "r"(a[2 * k + 1]), "r"(b[k]));
  __builtin_memcpy(x, d, 8);
}
#define KC_MMA_INTEGER(T, type)                                                                                               \
  KC_D void __kc_mma(T, int* d, const unsigned* a, const unsigned* b) {                                                       \
    asm("mma.sync.aligned.m8n8k16.row.col.s32." type "." type ".s32 {%0, %1}, {%2}, {%3}, {%0, %1};"                           \
        : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(b[0]));                                                                      \
    asm("mma.sync.aligned.m8n8k16.row.col.s32." type "." type ".s32 {%0, %1}, {%2}, {%3}, {%0, %1};"                           \
        : "+r"(d[2]), "+r"(d[3]) : "r"(a[1]), "r"(b[0]));                                                                      \
  }
#endif
KC_MMA_INTEGER(signed char, "s8")
KC_MMA_INTEGER(unsigned char, "u8")
#undef KC_MMA_INTEGER
KC_D void __kc_mma(char, int* d, const unsigned* a, const unsigned* b) { __kc_mma((signed char)0, d, a, b); }
KC_D void __kc_mma(precision::s4, int* d, const unsigned* a, const unsigned* b) {
  asm("mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(b[0]));
}
KC_D void __kc_mma(precision::u4, int* d, const unsigned* a, const unsigned* b) {
  asm("mma.sync.aligned.m8n8k32.row.col.s32.u4.u4.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(b[0]));
}
KC_D void __kc_mma(precision::b1, int* d, const unsigned* a, const unsigned* b) {
  asm("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(b[0]));
}
KC_D void __kc_mma_f64(double* d, double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(d[0]), "+d"(d[1]) : "d"(a), "d"(b));
}
#else
// AMD's matrix cores, as rocWMMA would use them: what is multiplied is counted by the same names, registers are laid out as above.
// A wave of 64 lanes holds two warps of the source, and each has its product.
#if __KERNELCAST_WARP_SIZE == 64
#define KC_OTHER_HALF(call) (void)(call)
#else
#define KC_OTHER_HALF(call)
#endif
#define KC_MMA_NAMED(T, D, C, A, B, name)                                                                                     \
  extern __attribute__((device)) C __kc_mma_of(C d, A a, B b, T*) __asm__("kc.tensor." name);                                  \
  KC_D void __kc_mma(T, D* d, const unsigned* a, const unsigned* b) {                                                         \
    C c; A x; B y;                                                                                                            \
    __builtin_memcpy(&c, d, sizeof c), __builtin_memcpy(&x, a, sizeof x), __builtin_memcpy(&y, b, sizeof y);                   \
    KC_OTHER_HALF(__kc_mma_of(c, x, y, (T*)0));                                                                               \
    c = __kc_mma_of(c, x, y, (T*)0);                                                                                          \
    __builtin_memcpy(d, &c, sizeof c);                                                                                        \
  }
typedef float __kc_f4 __attribute__((ext_vector_type(4)));
typedef int __kc_i4 __attribute__((ext_vector_type(4)));
typedef int __kc_i2 __attribute__((ext_vector_type(2)));
KC_MMA_NAMED(half, float, __kc_f4, __kc_i4, __kc_i2, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
KC_MMA_NAMED(half, half, __kc_i2, __kc_i4, __kc_i2, "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16")
KC_MMA_NAMED(__nv_bfloat16, float, __kc_f4, __kc_i4, __kc_i2, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
KC_MMA_NAMED(precision::tf32, float, __kc_f4, __kc_i4, __kc_i2, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")
KC_MMA_NAMED(signed char, int, __kc_i4, __kc_i2, int, "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32")
KC_MMA_NAMED(unsigned char, int, __kc_i4, __kc_i2, int, "mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32")
KC_MMA_NAMED(precision::s4, int, __kc_i2, int, int, "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32")
KC_MMA_NAMED(precision::u4, int, __kc_i2, int, int, "mma.sync.aligned.m8n8k32.row.col.s32.u4.u4.s32")
KC_MMA_NAMED(precision::b1, int, __kc_i2, int, int, "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc")
#undef KC_MMA_NAMED
KC_D void __kc_mma(char, int* d, const unsigned* a, const unsigned* b) { __kc_mma((signed char)0, d, a, b); }
typedef double __kc_d2 __attribute__((ext_vector_type(2)));
extern __attribute__((device)) __kc_d2 __kc_mma_of(__kc_d2 d, double a, double b) __asm__("kc.tensor.mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64");
KC_D void __kc_mma_f64(double* d, double a, double b) {
  KC_OTHER_HALF(__kc_mma_of(__kc_d2{d[0], d[1]}, a, b));
  const __kc_d2 r = __kc_mma_of(__kc_d2{d[0], d[1]}, a, b);
  d[0] = r.x, d[1] = r.y;
}
#endif

template <int M, int N, int K, class D, class T, class LA, class LB, class C>
KC_D void mma_sync(fragment<accumulator, M, N, K, D>& d, const fragment<matrix_a, M, N, K, T, LA>& a,
                   const fragment<matrix_b, M, N, K, T, LB>& b, const fragment<accumulator, M, N, K, C>& c, bool = false) {
  typedef fragment<matrix_a, M, N, K, T, LA> A;
  typedef fragment<matrix_b, M, N, K, T, LB> B;
  typedef __kc_shape<accumulator, M, N, K> S;
  constexpr int each = fragment<accumulator, M, N, K, D>::rows * 2;
#pragma unroll
  for (int l = 0; l < S::long_tiles; ++l)
#pragma unroll
    for (int s = 0; s < S::short_tiles; ++s) {
      D* at = d.x + (l * S::short_tiles + s) * each;
      if constexpr (sizeof(D) == 2 && sizeof(C) == 2) {
#pragma unroll
        for (int i = 0; i < each / 2; ++i) {
          unsigned r;
          __builtin_memcpy(&r, c.x + (l * S::short_tiles + s) * each + 2 * i, 4);
          __builtin_memcpy(at + 2 * i, &r, 4);
        }
      } else {
#pragma unroll
        for (int i = 0; i < each; ++i) at[i] = (D)c.x[(l * S::short_tiles + s) * each + i];
      }
      if constexpr (A::bits == 64) {
        __kc_mma_f64(at, a.x[0], b.x[0]);
      } else {
        constexpr int of_long = S::transposed ? B::registers / B::tiles : A::registers / A::tiles;
        constexpr int of_short = S::transposed ? A::registers / A::tiles : B::registers / B::tiles;
        unsigned p[of_long], q[of_short];
#pragma unroll
        for (int i = 0; i < of_long; ++i) p[i] = S::transposed ? __kc_get(b, l * of_long + i) : __kc_get(a, l * of_long + i);
#pragma unroll
        for (int i = 0; i < of_short; ++i) q[i] = S::transposed ? __kc_get(a, s * of_short + i) : __kc_get(b, s * of_short + i);
        __kc_mma(T(), at, p, q);
      }
    }
}
template <int M, int N, int K, class T, class LA, class LB>
KC_D void bmma_sync(fragment<accumulator, M, N, K, int>& d, const fragment<matrix_a, M, N, K, T, LA>& a,
                    const fragment<matrix_b, M, N, K, T, LB>& b, const fragment<accumulator, M, N, K, int>& c,
                    bmmaBitOp = experimental::bmmaBitOpXOR, bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
  mma_sync(d, a, b, c);
}
namespace experimental { using wmma::bmma_sync; }
KC_D float __float_to_tf32(float x) {
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 800
  unsigned r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return __builtin_bit_cast(float, r);
#else
  return x;
#endif
}
}  // namespace wmma
}  // namespace nvcuda
