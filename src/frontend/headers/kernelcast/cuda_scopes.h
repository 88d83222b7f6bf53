// What the headers of namespace cuda share: scopes, sizes with an alignment, and the copy behind memcpy_async.
#pragma once

namespace cuda {
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
template <size_t N> struct aligned_size_t {
  static constexpr size_t align = N;
  size_t value;
  __host__ __device__ constexpr explicit aligned_size_t(size_t v) : value(v) {}
  __host__ __device__ constexpr operator size_t() const { return value; }
};
template <class T> KC_D void __kc_copy(T* to, const T* from, size_t bytes, size_t first, size_t step) {
  for (size_t i = first; i < bytes / sizeof(T); i += step) to[i] = from[i];
}
}  // namespace cuda
