// Asynchronous copies of a thread.
#pragma once
#include "cuda_awbarrier_primitives.h"
#include "kernelcast/async_copies.h"

KC_D void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0) {
  if (bytes == 16) {
    __kc_copy_async<16>(to, from, zeros);
  } else if (bytes == 8) {
    __kc_copy_async<8>(to, from, zeros);
  } else {
    __kc_copy_async<4>(to, from, zeros);
  }
}
KC_D void __pipeline_commit() { __kc_commit_copies(); }
KC_D void __pipeline_wait_prior(size_t groups) { __kc_wait_for_copies(groups); }
