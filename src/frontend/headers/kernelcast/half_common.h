// What cuda_fp16.h and cuda_bf16.h share: macros for a type T of 16 bits and the pair T2 of them.
#pragma once

template <class T>
KC_HD unsigned short __kc_bits16(T a) {
  return __builtin_bit_cast(unsigned short, a);
}
template <class T2>
KC_HD unsigned int __kc_bits32(T2 a) {
  return __builtin_bit_cast(unsigned int, a);
}
// A PTX instruction of one, two or three operands of type W, in registers of constraint k.
#define KC_ASM1(text, R, r, c, x) \
  R value;                        \
  asm(text : r(value) : c(x));    \
  return value
#define KC_ASM2(text, T, W, k, x, y)                \
  W r;                                              \
  asm(text " %0, %1, %2;" : "=" k(r) : k(x), k(y)); \
  return __builtin_bit_cast(T, r)
#define KC_ASM3(text, T, W, k, x, y, z)                       \
  W r;                                                        \
  asm(text " %0, %1, %2, %3;" : "=" k(r) : k(x), k(y), k(z)); \
  return __builtin_bit_cast(T, r)

/// Operators that follow from named functions. x and y: what is compared of two pairs.
#define KC_STEP_OPERATORS(T, add, sub, one)             \
  KC_HD T& operator++(T& a) { return a = add(a, one); } \
  KC_HD T& operator--(T& a) { return a = sub(a, one); } \
  KC_HD T operator++(T& a, int) {                       \
    const T was = a;                                    \
    a = add(a, one);                                    \
    return was;                                         \
  }                                                     \
  KC_HD T operator--(T& a, int) {                       \
    const T was = a;                                    \
    a = sub(a, one);                                    \
    return was;                                         \
  }
#define KC_ARITHMETIC_OPERATOR(T, op, name)            \
  KC_HD T operator op(T a, T b) { return name(a, b); } \
  KC_HD T& operator op##=(T & a, T b) { return a = name(a, b); }
#define KC_COMPARISON_OPERATORS(T, T2, value, M) \
  M(T, T2, value, ==) M(T, T2, value, !=) M(T, T2, value, <) M(T, T2, value, <=) M(T, T2, value, >) M(T, T2, value, >=)
#define KC_COMPARES_ONE(T, T2, value, op) \
  KC_HD bool operator op(T a, T b) { return value(a) op value(b); }
#define KC_COMPARES_PAIR(T, T2, value, op) \
  KC_HD bool operator op(T2 a, T2 b) { return value(a.x) op value(b.x) && value(a.y) op value(b.y); }

// Integers that a class converts to by itself, as CUDA's classes do. Bytes saturate.
KC_HD int __kc_clamped(int x, int least, int most) { return x < least ? least : x > most ? most : x; }
#define KC_INTEGER_OPERATORS(value)                                                                             \
  KC_CONVERTS_TO(signed char, __kc_clamped((int)value, -128, 127))                                              \
  KC_CONVERTS_TO(char, __kc_clamped((int)value, -128, 127))                                                     \
  KC_CONVERTS_TO(unsigned char, __kc_clamped((int)value, 0, 255)) KC_CONVERTS_TO(short, value) \
  KC_CONVERTS_TO(unsigned short, value) KC_CONVERTS_TO(int, value) KC_CONVERTS_TO(unsigned int, value) \
  KC_CONVERTS_TO(long, value) KC_CONVERTS_TO(unsigned long, value) KC_CONVERTS_TO(long long, value) \
  KC_CONVERTS_TO(unsigned long long, value)
#define KC_CONVERTS_TO(V, value) \
  KC_CONVERTS V() const { return (V)value; }
#define KC_CONVERTS __host__ __device__ operator
