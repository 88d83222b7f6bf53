// Copies of a thread from global to shared memory that pass by its registers: cp.async from sm_80 on, before it a load and a store,
// as in NVIDIA's headers. Behind cuda_pipeline.h, cuda::pipeline, cuda::barrier and cooperative groups.
#pragma once

#if defined(__NVPTX__) && __CUDA_ARCH__ >= 800
#define KC_CP_ASYNC(mode, bytes)                                                                                                       \
  asm volatile("cp.async." mode ".shared.global [%0], [%1], " #bytes ", %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)),            \
               "l"(__cvta_generic_to_global(from)), "r"(bytes - (unsigned)zeros)                                                       \
               : "memory")
/// 4, 8 or 16 bytes, the last `zeros` of which are zeros.
template <int Bytes> KC_D void __kc_copy_async(void* to, const void* from, size_t zeros = 0) {
  if (Bytes == 16) {
    KC_CP_ASYNC("cg", 16);
  } else if (Bytes == 8) {
    KC_CP_ASYNC("ca", 8);
  } else {
    KC_CP_ASYNC("ca", 4);
  }
}
#undef KC_CP_ASYNC
KC_D void __kc_commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
KC_D void __kc_wait_for_all_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
/// All but the last n groups; n becomes a constant where the loop around counts groups and waits alike.
KC_D void __kc_wait_for_copies(size_t n) {
#define KC_WAIT(n) case n: asm volatile("cp.async.wait_group " #n ";" ::: "memory"); break;
  switch (n) {
    KC_WAIT(0) KC_WAIT(1) KC_WAIT(2) KC_WAIT(3) KC_WAIT(4) KC_WAIT(5) KC_WAIT(6) KC_WAIT(7)
    default: asm volatile("cp.async.wait_group 8;" ::: "memory");
  }
#undef KC_WAIT
}
#else
template <int Bytes> KC_D void __kc_copy_async(void* to, const void* from, size_t zeros = 0) {
  const bool none = zeros >= Bytes;
  if (Bytes == 16) {
    *(uint4*)to = none ? make_uint4(0, 0, 0, 0) : *(const uint4*)from;
  } else if (Bytes == 8) {
    *(uint2*)to = none ? make_uint2(0, 0) : *(const uint2*)from;
  } else {
    *(unsigned int*)to = none ? 0u : *(const unsigned int*)from;
  }
}
KC_D void __kc_commit_copies() {}
KC_D void __kc_wait_for_all_copies() {}
KC_D void __kc_wait_for_copies(size_t) {}
#endif

/// What cp.async cannot take is loaded and stored.
template <class T> KC_D void __kc_copy_element(T* to, const T* from) {
  constexpr int bytes = sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16 ? sizeof(T) : 0;
  if (bytes != 0 && alignof(T) >= sizeof(T))
    __kc_copy_async<bytes == 0 ? 4 : bytes>(to, from);
  else
    *to = *from;
}
