// __ldg. CUDA's own header makes it a piece of inline assembly, ld.global.nc: an opaque reader of an address. The
// built-in functions are that for analysis and optimisation; code generation turns them into the assembly
// (target_code.cpp).
#pragma once

template <class T> KC_D T __ldg(const T* p) { return *p; }

#if defined(__NVPTX__)
#define KC_LDG(type, code) KC_D type __ldg(const type* p) { return __nvvm_ldg_##code(p); }
KC_LDG(char, c) KC_LDG(signed char, sc) KC_LDG(short, s) KC_LDG(int, i) KC_LDG(long, l) KC_LDG(long long, ll)
KC_LDG(unsigned char, uc) KC_LDG(unsigned short, us) KC_LDG(unsigned, ui) KC_LDG(unsigned long, ul)
KC_LDG(unsigned long long, ull) KC_LDG(float, f) KC_LDG(double, d)
#undef KC_LDG
#define KC_LDG2(type, scalar, code)                                                                                  \
  KC_D type __ldg(const type* p) {                                                                                   \
    typedef scalar words __attribute__((ext_vector_type(2)));                                                        \
    const words w = __nvvm_ldg_##code(reinterpret_cast<const words*>(p));                                            \
    return {w[0], w[1]};                                                                                             \
  }
#define KC_LDG4(type, scalar, code)                                                                                  \
  KC_D type __ldg(const type* p) {                                                                                   \
    typedef scalar words __attribute__((ext_vector_type(4)));                                                        \
    const words w = __nvvm_ldg_##code(reinterpret_cast<const words*>(p));                                            \
    return {w[0], w[1], w[2], w[3]};                                                                                 \
  }
KC_LDG2(short2, short, s2) KC_LDG2(ushort2, unsigned short, us2) KC_LDG2(int2, int, i2) KC_LDG2(uint2, unsigned, ui2)
KC_LDG2(longlong2, long long, ll2) KC_LDG2(ulonglong2, unsigned long long, ull2) KC_LDG2(float2, float, f2)
KC_LDG2(double2, double, d2) KC_LDG2(uchar2, unsigned char, uc2)
KC_LDG4(short4, short, s4) KC_LDG4(ushort4, unsigned short, us4) KC_LDG4(int4, int, i4) KC_LDG4(uint4, unsigned, ui4)
KC_LDG4(float4, float, f4) KC_LDG4(uchar4, unsigned char, uc4)
#undef KC_LDG2
#undef KC_LDG4
#endif
