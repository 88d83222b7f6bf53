// Warp matrix operations (wmma): fragments are opaque, loads and stores touch memory, the product is a call of kc_wmma_mma.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

extern "C" __attribute__((device)) void kc_wmma_mma(void* d, const void* a, const void* b, const void* c, int m, int n, int k, int bits);

namespace nvcuda {
namespace wmma {
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision { struct tf32 {}; struct u4 {}; struct s4 {}; struct b1 {}; }
template <class T> struct __kc_storage { typedef T type; };
template <> struct __kc_storage<precision::tf32> { typedef float type; };
template <class Use, int M, int N, int K> struct __kc_elements;
template <int M, int N, int K> struct __kc_elements<matrix_a, M, N, K> { static constexpr int rows = M, columns = K; };
template <int M, int N, int K> struct __kc_elements<matrix_b, M, N, K> { static constexpr int rows = K, columns = N; };
template <int M, int N, int K> struct __kc_elements<accumulator, M, N, K> { static constexpr int rows = M, columns = N; };
template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
  typedef typename __kc_storage<T>::type storage_element_type;
  typedef storage_element_type element_type;
  static constexpr int rows = __kc_elements<Use, M, N, K>::rows, columns = __kc_elements<Use, M, N, K>::columns;
  static constexpr int num_elements = rows * columns / 32, num_storage_elements = num_elements;
  element_type x[num_elements];
};
template <class F, class V> KC_D void fill_fragment(F& f, const V& v) {
#pragma unroll
  for (int i = 0; i < F::num_elements; ++i) f.x[i] = v;
}
// Lane l holds elements l, l + 32, ...: the true assignment is not documented; the rows and the bytes touched are the same.
template <class F, class T> KC_D void load_matrix_sync(F& f, const T* p, unsigned int stride, layout_t = mem_row_major) {
#pragma unroll
  for (int i = 0; i < F::num_elements; ++i) {
    const unsigned int element = i * 32 + __lane_id();
    f.x[i] = p[element / F::columns * stride + element % F::columns];
  }
}
template <class T, class F> KC_D void store_matrix_sync(T* p, const F& f, unsigned int stride, layout_t = mem_row_major) {
#pragma unroll
  for (int i = 0; i < F::num_elements; ++i) {
    const unsigned int element = i * 32 + __lane_id();
    p[element / F::columns * stride + element % F::columns] = f.x[i];
  }
}
template <class D, class A, class B, class C> KC_D void mma_sync(D& d, const A& a, const B& b, const C& c, bool = false) {
  kc_wmma_mma(&d, &a, &b, &c, D::rows, D::columns, A::columns, (int)sizeof(typename A::element_type) * 8);
}
KC_D float __float_to_tf32(float x) { return x; }
}  // namespace wmma
}  // namespace nvcuda
