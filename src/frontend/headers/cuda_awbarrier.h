// nvcuda::experimental::awbarrier: the class around cuda_awbarrier_primitives.h.
#pragma once
#include "cuda_awbarrier_primitives.h"

namespace nvcuda {
namespace experimental {
class awbarrier {
 public:
  class arrival_token {
   public:
    arrival_token() = default;
    __device__ __inline__ explicit arrival_token(uint64_t t) : token(t) {}
    __device__ __inline__ uint32_t pending_count() const { return __mbarrier_token_pending_count(token); }

   private:
    uint64_t token;
    friend class awbarrier;
  };
  awbarrier() = default;
  awbarrier(const awbarrier&) = delete;
  awbarrier& operator=(const awbarrier&) = delete;
  __device__ __inline__ arrival_token arrive() { return arrival_token(__mbarrier_arrive(&barrier)); }
  __device__ __inline__ arrival_token arrive_and_drop() { return arrival_token(__mbarrier_arrive_and_drop(&barrier)); }
  __device__ __inline__ bool timed_wait(arrival_token t, uint32_t) { return __mbarrier_test_wait(&barrier, t.token); }
  __device__ __inline__ bool timed_wait_parity(bool phase, uint32_t) {
    return __mbarrier_test_wait_parity(&barrier, phase);
  }
  __device__ __inline__ bool try_wait(arrival_token t, uint32_t) { return __mbarrier_test_wait(&barrier, t.token); }
  __device__ __inline__ bool try_wait_parity(bool phase, uint32_t) {
    return __mbarrier_test_wait_parity(&barrier, phase);
  }
  __device__ __inline__ void wait(arrival_token t) {
    while (!__mbarrier_test_wait(&barrier, t.token)) {
    }
  }
  __device__ __inline__ void arrive_and_wait() { wait(arrive()); }
  static __host__ __device__ __inline__ constexpr uint32_t max() { return (1u << 20) - 1; }

 private:
  uint64_t barrier;
  friend __device__ __inline__ void init(awbarrier* b, uint32_t count) { __mbarrier_init(&b->barrier, count); }
  friend __device__ __inline__ void inval(awbarrier* b) { __mbarrier_inval(&b->barrier); }
  friend class pipeline;
};
}  // namespace experimental
}  // namespace nvcuda
