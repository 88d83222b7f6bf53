// Atomic functions of CUDA and HIP: relaxed, at the scope that the suffix names (none: the device).
#pragma once

#define KC_ATOMIC_OPS(suffix, scope)                                                                                            \
  KC_ATOMIC_ADD(suffix, scope, int) KC_ATOMIC_ADD(suffix, scope, unsigned int) KC_ATOMIC_ADD(suffix, scope, unsigned long long) \
  KC_ATOMIC_ADD(suffix, scope, long long) KC_ATOMIC_ADD(suffix, scope, unsigned long) KC_ATOMIC_ADD(suffix, scope, long)        \
  KC_ATOMIC_ADD(suffix, scope, float) KC_ATOMIC_ADD(suffix, scope, double)                                                      \
  KC_ATOMIC_INT(suffix, scope, int) KC_ATOMIC_INT(suffix, scope, unsigned int) KC_ATOMIC_INT(suffix, scope, long long)          \
  KC_ATOMIC_INT(suffix, scope, unsigned long long) KC_ATOMIC_INT(suffix, scope, unsigned long) KC_ATOMIC_INT(suffix, scope, long) \
  KC_D float atomicExch##suffix(float* p, float v) {                                                                            \
    return __builtin_bit_cast(float, __scoped_atomic_exchange_n((int*)p, __builtin_bit_cast(int, v), __ATOMIC_RELAXED, scope)); \
  }                                                                                                                             \
  KC_D double atomicExch##suffix(double* p, double v) {                                                                         \
    return __builtin_bit_cast(double, __scoped_atomic_exchange_n((long*)p, __builtin_bit_cast(long, v), __ATOMIC_RELAXED, scope)); \
  }                                                                                                                             \
  KC_D unsigned short atomicCAS##suffix(unsigned short* p, unsigned short c, unsigned short v) {                                \
    __scoped_atomic_compare_exchange_n(p, &c, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope);                             \
    return c;                                                                                                                   \
  }                                                                                                                             \
  KC_D unsigned int atomicInc##suffix(unsigned int* p, unsigned int v) { return KC_ATOMIC_INC(p, v); }                          \
  KC_D unsigned int atomicDec##suffix(unsigned int* p, unsigned int v) { return KC_ATOMIC_DEC(p, v); }

#define KC_ATOMIC_ADD(suffix, scope, T)                                                                                      \
  KC_D T atomicAdd##suffix(T* p, T v) { return __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, scope); }                   \
  KC_D T atomicSub##suffix(T* p, T v) { return __scoped_atomic_fetch_sub(p, v, __ATOMIC_RELAXED, scope); }
#define KC_ATOMIC_INT(suffix, scope, T)                                                                                      \
  KC_D T atomicMin##suffix(T* p, T v) { return __scoped_atomic_fetch_min(p, v, __ATOMIC_RELAXED, scope); }                   \
  KC_D T atomicMax##suffix(T* p, T v) { return __scoped_atomic_fetch_max(p, v, __ATOMIC_RELAXED, scope); }                   \
  KC_D T atomicAnd##suffix(T* p, T v) { return __scoped_atomic_fetch_and(p, v, __ATOMIC_RELAXED, scope); }                   \
  KC_D T atomicOr##suffix(T* p, T v) { return __scoped_atomic_fetch_or(p, v, __ATOMIC_RELAXED, scope); }                     \
  KC_D T atomicXor##suffix(T* p, T v) { return __scoped_atomic_fetch_xor(p, v, __ATOMIC_RELAXED, scope); }                   \
  KC_D T atomicExch##suffix(T* p, T v) { return __scoped_atomic_exchange_n(p, v, __ATOMIC_RELAXED, scope); }                 \
  KC_D T atomicCAS##suffix(T* p, T c, T v) {                                                                                 \
    __scoped_atomic_compare_exchange_n(p, &c, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope);                          \
    return c;                                                                                                                \
  }
#ifdef __NVPTX__
#define KC_ATOMIC_INC(p, v) __nvvm_atom_inc_gen_ui(p, v)
#define KC_ATOMIC_DEC(p, v) __nvvm_atom_dec_gen_ui(p, v)
#else
#define KC_ATOMIC_INC(p, v) __builtin_amdgcn_atomic_inc32(p, v, __ATOMIC_RELAXED, "agent")
#define KC_ATOMIC_DEC(p, v) __builtin_amdgcn_atomic_dec32(p, v, __ATOMIC_RELAXED, "agent")
#endif
KC_ATOMIC_OPS(, __MEMORY_SCOPE_DEVICE)
#ifndef __CUDACC__  // HIP has these, CUDA leaves them to the source
KC_D float atomicMin(float* p, float v) { return __scoped_atomic_fetch_min(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }
KC_D float atomicMax(float* p, float v) { return __scoped_atomic_fetch_max(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }
KC_D double atomicMin(double* p, double v) { return __scoped_atomic_fetch_min(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }
KC_D double atomicMax(double* p, double v) { return __scoped_atomic_fetch_max(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }
#endif
KC_D void unsafeAtomicAdd(float* p, float v) { atomicAdd(p, v); }
KC_D void unsafeAtomicAdd(double* p, double v) { atomicAdd(p, v); }
KC_D void atomicAddNoRet(float* p, float v) { atomicAdd(p, v); }
