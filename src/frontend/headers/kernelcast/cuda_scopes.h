// What the headers of namespace cuda share: scopes, sizes with an alignment, and the copy behind memcpy_async.
#pragma once
#include "kernelcast/async_copies.h"

namespace cuda {
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
template <size_t N> struct aligned_size_t {
  static constexpr size_t align = N;
  size_t value;
  __host__ __device__ constexpr explicit aligned_size_t(size_t v) : value(v) {}
  __host__ __device__ constexpr operator size_t() const { return value; }
};
template <class T> KC_D void __kc_copy(T* to, const T* from, size_t bytes, size_t first, size_t step) {
  for (size_t i = first; i < bytes / sizeof(T); i += step) __kc_copy_element(to + i, from + i);
}
template <class Unit> KC_D void __kc_copy_units(void* to, const void* from, size_t bytes) {
  __kc_copy((Unit*)to, (const Unit*)from, bytes, 0, 1);
}
/// In the widest pieces that the alignment and the size allow, as cp.async takes them.
template <class T, size_t N> KC_D void __kc_copy_aligned(T* to, const T* from, aligned_size_t<N> bytes) {
  if (N % 16 == 0 && bytes % 16 == 0) {
    __kc_copy_units<uint4>(to, from, bytes);
  } else if (N % 8 == 0 && bytes % 8 == 0) {
    __kc_copy_units<uint2>(to, from, bytes);
  } else if (N % 4 == 0 && bytes % 4 == 0) {
    __kc_copy_units<unsigned int>(to, from, bytes);
  } else {
    __kc_copy(to, from, bytes, 0, 1);
  }
}
}  // namespace cuda
