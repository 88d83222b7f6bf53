// Asynchronous copies of a thread. Each is a load and a store here: its bytes and requests are counted, and that it passes by the
// registers is not modelled.
#pragma once

KC_D void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0) {
  const bool none = zeros >= bytes;
  if (bytes == 16) {
    *(uint4*)to = none ? make_uint4(0, 0, 0, 0) : *(const uint4*)from;
  } else if (bytes == 8) {
    *(uint2*)to = none ? make_uint2(0, 0) : *(const uint2*)from;
  } else {
    *(unsigned int*)to = none ? 0u : *(const unsigned int*)from;
  }
}
KC_D void __pipeline_commit() {}
KC_D void __pipeline_wait_prior(size_t) {}
