// Atomic functions of sm_90 on several numbers at once and on 128 bits.
#pragma once
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 900
// Of float2 and float4.
#define KC_ATOMIC_FLOATS(suffix, scope)                                                      \
  KC_D float2 atomicAdd##suffix(float2* p, float2 v) {                                       \
    float2 r;                                                                                \
    asm volatile("atom." scope "global.add.v2.f32 {%0, %1}, [%2], {%3, %4};"                 \
                 : "=f"(r.x), "=f"(r.y)                                                      \
                 : "l"(__cvta_generic_to_global(p)), "f"(v.x), "f"(v.y)                      \
                 : "memory");                                                                \
    return r;                                                                                \
  }                                                                                          \
  KC_D float4 atomicAdd##suffix(float4* p, float4 v) {                                       \
    float4 r;                                                                                \
    asm volatile("atom." scope "global.add.v4.f32 {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};" \
                 : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w)                                \
                 : "l"(__cvta_generic_to_global(p)), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)  \
                 : "memory");                                                                \
    return r;                                                                                \
  }
KC_ATOMIC_FLOATS(, "")
KC_ATOMIC_FLOATS(_block, "cta.") KC_ATOMIC_FLOATS(_system, "sys.")
#undef KC_ATOMIC_FLOATS
    // Of 16 bytes with their alignment that have no atomic function of their own.
    template <class T>
    struct __kc_wide_atomic : __kc_enable<sizeof(T) == 16 && alignof(T) >= 16 && !__kc_same<T, float4>::value, T> {
};
#define KC_ATOMIC_128(suffix, scope)                                                \
  template <class T>                                                                \
  KC_D typename __kc_wide_atomic<T>::type atomicCAS##suffix(T* p, T compare, T v) { \
    unsigned __int128 r;                                                            \
    asm volatile("atom." scope "cas.b128 %0, [%1], %2, %3;"                         \
                 : "=q"(r)                                                          \
                 : "l"(p), "q"(__builtin_bit_cast(unsigned __int128, compare)),     \
                   "q"(__builtin_bit_cast(unsigned __int128, v))                    \
                 : "memory");                                                       \
    return __builtin_bit_cast(T, r);                                                \
  }                                                                                 \
  template <class T>                                                                \
  KC_D typename __kc_wide_atomic<T>::type atomicExch##suffix(T* p, T v) {           \
    unsigned __int128 r;                                                            \
    asm volatile("atom." scope "exch.b128 %0, [%1], %2;"                            \
                 : "=q"(r)                                                          \
                 : "l"(p), "q"(__builtin_bit_cast(unsigned __int128, v))            \
                 : "memory");                                                       \
    return __builtin_bit_cast(T, r);                                                \
  }
KC_ATOMIC_128(, "") KC_ATOMIC_128(_block, "cta.") KC_ATOMIC_128(_system, "sys.")
#undef KC_ATOMIC_128
#endif
