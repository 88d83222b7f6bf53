// Asynchronous copies of a thread in groups: nvcuda::experimental::pipeline around cuda_pipeline_primitives.h.
#pragma once
#include "cuda_awbarrier.h"
#include "cuda_pipeline_primitives.h"

namespace nvcuda {
namespace experimental {
class pipeline {
 public:
  __device__ __inline__ pipeline() {}
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;
  __device__ __inline__ size_t commit() { return __kc_commit_copies(), batch++; }
  __device__ __inline__ void commit_and_wait() { commit(), wait_prior<0>(); }
  __device__ __inline__ void wait(size_t which) { __kc_wait_for_copies(batch > which ? batch - which : 0); }
  template <unsigned N>
  __device__ __inline__ void wait_prior() {
    __kc_wait_for_copies(N);
  }
  __device__ __inline__ void arrive_on(awbarrier& b) { __pipeline_arrive_on(&b.barrier); }

 private:
  size_t batch = 0;
};
template <class T>
KC_D void memcpy_async(T& to, const T& from, pipeline&) {
  __kc_copy_element(&to, &from);
}
/// A source that is shorter is filled up with zeros.
template <class T, size_t To, size_t From>
KC_D void memcpy_async(T (*to)[To], const T (*from)[From], pipeline&) {
  __kc_copy_async<sizeof(*to)>(*to, *from, sizeof(*to) - sizeof(*from));
}
template <size_t N, class T>
KC_D auto segment(T* p) -> T (*)[N] {
  return (T(*)[N])p;
}
}  // namespace experimental
}  // namespace nvcuda
