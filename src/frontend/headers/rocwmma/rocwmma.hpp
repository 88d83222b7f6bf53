// rocWMMA's fragments and their products, with the matrix instructions of the target: one product a wave.
// Layouts of the registers: AMD's instruction set references of CDNA 3 ("Matrix Arithmetic Instructions"), RDNA 3 and
// RDNA 4 ("Wave Matrix Multiply Accumulate").
#pragma once
#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

#include <cstdint>
#include <type_traits>

namespace rocwmma {

typedef _Float16 float16_t;
typedef __half hfloat16_t;
typedef hip_bfloat16 bfloat16_t;
typedef float float32_t;
typedef double float64_t;
typedef ::int8_t int8_t;
typedef ::uint8_t uint8_t;
typedef ::int32_t int32_t;
typedef ::uint32_t uint32_t;

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };

namespace kc {
constexpr int wave = __KERNELCAST_WARP_SIZE;

template <class T, int N> struct vector { typedef T type __attribute__((ext_vector_type(N))); };
template <class T> struct vector<T, 1> { typedef T type; };

// Elements of an operand that a lane holds for one instruction on tiles of `Tile` rows, and the instruction's k.
#if defined(__GFX11__)
template <class T, int Tile> constexpr int depth = 16;
template <class T> constexpr int held = 16;
#elif defined(__GFX12__)
template <class T, int Tile> constexpr int depth = 16;
template <class T> constexpr int held = 8;
#else
#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__)
constexpr int bytes_held = 8;
#else
constexpr int bytes_held = 4;
#endif
#if defined(__gfx908__)
constexpr int bfloats_held = 2;
#else
constexpr int bfloats_held = 4;
#endif
template <class T>
constexpr int held = sizeof(T) >= 4 ? 1 : std::is_same_v<T, hip_bfloat16> ? bfloats_held : sizeof(T) == 2 ? 4 : bytes_held;
template <class T, int Tile> constexpr int depth = held<T> * 64 / Tile;
#endif
// 32 rows by CDNA's instructions where they fit.
template <class T, int M, int N>
constexpr int tile = wave == 64 && M % 32 == 0 && N % 32 == 0 && sizeof(T) < 8 ? 32 : 16;
template <int Tile> constexpr int results = Tile * Tile / wave;

template <class V, class T> __device__ inline V as(const T* x) {
  V v;
  __builtin_memcpy(&v, x, sizeof v);
  return v;
}

template <class T> constexpr bool is_half = std::is_same_v<T, _Float16> || std::is_same_v<T, __half>;
template <class T> constexpr bool is_byte = std::is_same_v<T, int8_t> || std::is_same_v<T, uint8_t>;
template <class T> constexpr bool is_bfloat = std::is_same_v<T, hip_bfloat16>;

// d += a * b for one instruction; C: float, double or int.
template <int Tile, class T, class C> __device__ inline void multiply(C* d, const T* a, const T* b) {
  typedef typename vector<C, results<Tile>>::type D;
  D c = as<D>(d);
#if defined(__GFX11__) || defined(__GFX12__)
  constexpr int n = held<T>;
  typedef typename vector<_Float16, n>::type H;
  typedef typename vector<short, n>::type S;
  typedef typename vector<int, n / 4>::type I;
#if defined(__GFX12__)
  if constexpr (is_half<T>) c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(as<H>(a), as<H>(b), c);
  if constexpr (is_bfloat<T>) c = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(as<S>(a), as<S>(b), c);
  if constexpr (is_byte<T>)
    c = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(std::is_signed_v<T>, as<I>(a), std::is_signed_v<T>, as<I>(b), c, false);
#else
  if constexpr (is_half<T>) c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(as<H>(a), as<H>(b), c);
  if constexpr (is_bfloat<T>) c = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(as<S>(a), as<S>(b), c);
  if constexpr (is_byte<T>)
    c = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(std::is_signed_v<T>, as<I>(a), std::is_signed_v<T>, as<I>(b), c, false);
#endif
  static_assert(is_half<T> || is_bfloat<T> || is_byte<T>, "RDNA multiplies matrices of 16 and 8 bits");
#else
  typedef typename vector<_Float16, 4>::type H;
  typedef typename vector<short, bfloats_held>::type S;
#if defined(__gfx908__)
  static_assert(!std::is_same_v<T, double>, "gfx908 has no products of FP64");
  if constexpr (is_bfloat<T> && Tile == 16) c = __builtin_amdgcn_mfma_f32_16x16x8bf16(as<S>(a), as<S>(b), c, 0, 0, 0);
  if constexpr (is_bfloat<T> && Tile == 32) c = __builtin_amdgcn_mfma_f32_32x32x4bf16(as<S>(a), as<S>(b), c, 0, 0, 0);
#endif
  if constexpr (Tile == 16) {
    if constexpr (is_half<T>) c = __builtin_amdgcn_mfma_f32_16x16x16f16(as<H>(a), as<H>(b), c, 0, 0, 0);
    if constexpr (std::is_same_v<T, float>) c = __builtin_amdgcn_mfma_f32_16x16x4f32(*a, *b, c, 0, 0, 0);
#if !defined(__gfx908__)
    if constexpr (is_bfloat<T>) c = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(as<S>(a), as<S>(b), c, 0, 0, 0);
    if constexpr (std::is_same_v<T, double>) c = __builtin_amdgcn_mfma_f64_16x16x4f64(*a, *b, c, 0, 0, 0);
#endif
    if constexpr (is_byte<T> && bytes_held == 4) {
#if defined(__gfx908__) || defined(__gfx90a__)
      c = __builtin_amdgcn_mfma_i32_16x16x16i8(as<int>(a), as<int>(b), c, 0, 0, 0);
#endif
    } else if constexpr (is_byte<T>) {
#if !defined(__gfx908__) && !defined(__gfx90a__)
      c = __builtin_amdgcn_mfma_i32_16x16x32_i8(as<long>(a), as<long>(b), c, 0, 0, 0);
#endif
    }
  } else {
    if constexpr (is_half<T>) c = __builtin_amdgcn_mfma_f32_32x32x8f16(as<H>(a), as<H>(b), c, 0, 0, 0);
    if constexpr (std::is_same_v<T, float>) c = __builtin_amdgcn_mfma_f32_32x32x2f32(*a, *b, c, 0, 0, 0);
#if !defined(__gfx908__)
    if constexpr (is_bfloat<T>) c = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(as<S>(a), as<S>(b), c, 0, 0, 0);
#endif
    if constexpr (is_byte<T> && bytes_held == 4) {
#if defined(__gfx908__) || defined(__gfx90a__)
      c = __builtin_amdgcn_mfma_i32_32x32x8i8(as<int>(a), as<int>(b), c, 0, 0, 0);
#endif
    } else if constexpr (is_byte<T>) {
#if !defined(__gfx908__) && !defined(__gfx90a__)
      c = __builtin_amdgcn_mfma_i32_32x32x16_i8(as<long>(a), as<long>(b), c, 0, 0, 0);
#endif
    }
  }
#endif
  __builtin_memcpy(d, &c, sizeof c);
}

__device__ inline int lane() { return threadIdx.x % wave; }

// First element along k that a lane holds, and the row of a result.
template <class T, int Tile> __device__ inline int first_k() {
#if defined(__GFX11__)
  return 0;
#else
  return lane() / Tile * held<T>;
#endif
}
template <int Tile> __device__ inline int row_of(int result) {
#if defined(__GFX11__)
  return 2 * result + lane() / 16;
#elif defined(__GFX12__)
  return lane() / 16 * 8 + result;
#else
  return Tile == 16 ? lane() / 16 * 4 + result : result / 4 * 8 + lane() / 32 * 4 + result % 4;
#endif
}
}  // namespace kc

template <class Use, uint32_t M, uint32_t N, uint32_t K, class T, class Layout = void> struct fragment {
  static constexpr bool accumulates = std::is_same_v<Use, accumulator>;
  static constexpr int rows = std::is_same_v<Use, matrix_b> ? N : M;  // along which tiles lie
  static constexpr int tile = kc::tile<T, M, N>;
  static constexpr int depth = kc::depth<T, tile>, held = kc::held<T>;
  static constexpr int steps = K / depth;
  static constexpr int num_elements = accumulates ? M * N / kc::wave : rows / tile * steps * held;
  static_assert(accumulates || (K >= depth && K % depth == 0), "K is a multiple of the instruction's");
  typedef T element_type;
  T x[num_elements];
  __device__ T& operator[](uint32_t i) { return x[i]; }
  __device__ const T& operator[](uint32_t i) const { return x[i]; }
  static __device__ constexpr uint32_t size() { return num_elements; }
};

template <class Use, uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
__device__ inline void fill_fragment(fragment<Use, M, N, K, T, Layout>& f, T value) {
#pragma unroll
  for (int i = 0; i < f.num_elements; ++i) f.x[i] = value;
}

namespace kc {
template <bool AlongK, class F, class T> __device__ inline void load(F& f, const T* data, uint32_t stride) {
#pragma unroll
  for (int t = 0; t < F::rows / F::tile; ++t)
#pragma unroll
    for (int s = 0; s < F::steps; ++s) {
      const int row = t * F::tile + lane() % F::tile, k = s * F::depth + first_k<T, F::tile>();
      T* to = f.x + (t * F::steps + s) * F::held;
      if constexpr (AlongK) {
        __builtin_memcpy(to, data + row * stride + k, sizeof(T) * F::held);
      } else {
#pragma unroll
        for (int e = 0; e < F::held; ++e) to[e] = data[(k + e) * stride + row];
      }
    }
}

// Calls what(index of the element, row, column) for each result that the lane holds.
template <class F, uint32_t M, uint32_t N, class What> __device__ inline void each_result(const What& what) {
  constexpr int tile = F::tile, per = results<tile>;
#pragma unroll
  for (int m = 0; m < M / tile; ++m)
#pragma unroll
    for (int n = 0; n < N / tile; ++n)
#pragma unroll
      for (int i = 0; i < per; ++i)
        what((m * (N / tile) + n) * per + i, m * tile + row_of<tile>(i), n * tile + lane() % tile);
}
}  // namespace kc

template <uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
__device__ inline void load_matrix_sync(fragment<matrix_a, M, N, K, T, Layout>& f, const T* data, uint32_t ldm) {
  kc::load<std::is_same_v<Layout, row_major>>(f, data, ldm);
}
template <uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
__device__ inline void load_matrix_sync(fragment<matrix_b, M, N, K, T, Layout>& f, const T* data, uint32_t ldm) {
  kc::load<std::is_same_v<Layout, col_major>>(f, data, ldm);
}
template <uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
__device__ inline void load_matrix_sync(fragment<accumulator, M, N, K, T, Layout>& f, const T* data, uint32_t ldm,
                                        layout_t layout = std::is_same_v<Layout, col_major> ? mem_col_major : mem_row_major) {
  kc::each_result<fragment<accumulator, M, N, K, T, Layout>, M, N>([&](int i, int row, int column) {
    f.x[i] = data[layout == mem_row_major ? row * ldm + column : column * ldm + row];
  });
}
template <uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
__device__ inline void store_matrix_sync(T* data, const fragment<accumulator, M, N, K, T, Layout>& f, uint32_t ldm,
                                         layout_t layout = std::is_same_v<Layout, col_major> ? mem_col_major : mem_row_major) {
  kc::each_result<fragment<accumulator, M, N, K, T, Layout>, M, N>([&](int i, int row, int column) {
    data[layout == mem_row_major ? row * ldm + column : column * ldm + row] = f.x[i];
  });
}

template <uint32_t M, uint32_t N, uint32_t K, class T, class C, class LA, class LB, class LC, class LD>
__device__ inline void mma_sync(fragment<accumulator, M, N, K, C, LD>& d, const fragment<matrix_a, M, N, K, T, LA>& a,
                                const fragment<matrix_b, M, N, K, T, LB>& b,
                                const fragment<accumulator, M, N, K, C, LC>& c) {
  typedef fragment<matrix_a, M, N, K, T, LA> A;
  typedef std::conditional_t<sizeof(C) == 2, float, C> Sum;  // sums of 16 bits are rounded from 32
  static_assert(A::tile == fragment<accumulator, M, N, K, C, LD>::tile, "one tile for operands and results");
  constexpr int per = kc::results<A::tile>;
#pragma unroll
  for (int m = 0; m < M / A::tile; ++m)
#pragma unroll
    for (int n = 0; n < N / A::tile; ++n) {
      const int first = (m * (N / A::tile) + n) * per;
      Sum sum[per];
#pragma unroll
      for (int i = 0; i < per; ++i) sum[i] = (Sum)c.x[first + i];
#pragma unroll
      for (int s = 0; s < A::steps; ++s)
        kc::multiply<A::tile>(sum, a.x + (m * A::steps + s) * A::held, b.x + (n * A::steps + s) * A::held);
#pragma unroll
      for (int i = 0; i < per; ++i) d.x[first + i] = (C)sum[i];
    }
}

__device__ inline void synchronize_workgroup() { __syncthreads(); }

}  // namespace rocwmma
