// The built-in vector types with CUDA's alignments, and their make functions.
#pragma once

#define KC_VECTOR(type, name, align2, align4)                                                                              \
  struct name##1 { type x; };                                                                                              \
  struct __attribute__((aligned(align2))) name##2 { type x, y; };                                                          \
  struct __attribute__((aligned(align4))) name##4 { type x, y, z, w; };                                                    \
  KC_HD name##1 make_##name##1(type x) { return name##1{x}; }                                                              \
  KC_HD name##2 make_##name##2(type x, type y) { return name##2{x, y}; }                                                   \
  KC_HD name##3 make_##name##3(type x, type y, type z) { return name##3{x, y, z}; }                                        \
  KC_HD name##4 make_##name##4(type x, type y, type z, type w) { return name##4{x, y, z, w}; }
#define KC_VECTOR3(type, name) struct name##3 { type x, y, z; };

KC_VECTOR3(signed char, char)
KC_VECTOR3(unsigned char, uchar)
KC_VECTOR3(short, short)
KC_VECTOR3(unsigned short, ushort)
KC_VECTOR3(int, int)
KC_VECTOR3(long, long)
KC_VECTOR3(unsigned long, ulong)
KC_VECTOR3(long long, longlong)
KC_VECTOR3(unsigned long long, ulonglong)
KC_VECTOR3(float, float)
KC_VECTOR3(double, double)
KC_VECTOR(signed char, char, 2, 4)
KC_VECTOR(unsigned char, uchar, 2, 4)
KC_VECTOR(short, short, 4, 8)
KC_VECTOR(unsigned short, ushort, 4, 8)
KC_VECTOR(int, int, 8, 16)
KC_VECTOR(unsigned int, uint, 8, 16)
KC_VECTOR(long, long, 16, 16)
KC_VECTOR(unsigned long, ulong, 16, 16)
KC_VECTOR(long long, longlong, 16, 16)
KC_VECTOR(unsigned long long, ulonglong, 16, 16)
KC_VECTOR(float, float, 8, 16)
KC_VECTOR(double, double, 16, 16)
// Four of 64 bits, with the alignment in their name.
#define KC_WIDE_VECTOR(type, name, bytes)                                                           \
  struct __attribute__((aligned(bytes))) name##4_##bytes##a { type x, y, z, w; };                   \
  KC_HD name##4_##bytes##a make_##name##4_##bytes##a(type x, type y, type z, type w) {              \
    return name##4_##bytes##a{x, y, z, w};                                                          \
  }
#define KC_WIDE_VECTORS(type, name) KC_WIDE_VECTOR(type, name, 16) KC_WIDE_VECTOR(type, name, 32)
KC_WIDE_VECTORS(long, long) KC_WIDE_VECTORS(unsigned long, ulong) KC_WIDE_VECTORS(long long, longlong)
KC_WIDE_VECTORS(unsigned long long, ulonglong) KC_WIDE_VECTORS(double, double)
#undef KC_WIDE_VECTOR
#undef KC_WIDE_VECTORS
#undef KC_VECTOR
#undef KC_VECTOR3
