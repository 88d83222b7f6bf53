// Two half-words or four bytes of a word at a time. Sums, comparisons and means go by masks of the lanes' highest bits (H. S. Warren, "Hacker's
// Delight", 2-18), as on devices without an instruction for them; the three-operand ones of sm_90 go lane by lane.
#pragma once

#ifdef __CUDACC__  // HIP has none of them: sources bring their own

#if defined(__NVPTX__) && __CUDA_ARCH__ >= 900
#define KC_PACKED 1  // instructions for two half-words
typedef short __kc_s16x2 __attribute__((ext_vector_type(2)));
typedef unsigned short __kc_u16x2 __attribute__((ext_vector_type(2)));
#define KC_PACKED_OF(V, which, a, b)                                                             \
  if constexpr (Bits == 16)                                                                      \
  return __builtin_bit_cast(                                                                     \
      unsigned int, __builtin_elementwise_##which(__builtin_bit_cast(V, a), __builtin_bit_cast(V, b)))
#else
#define KC_PACKED_OF(V, which, a, b)
#endif
// For lanes of `Bits`: their highest bits.
template <int Bits> struct __kc_lanes {
  static constexpr unsigned int high = Bits == 8 ? 0x80808080u : 0x80008000u, low = ~high;
  static KC_HD unsigned int spread(unsigned int m) { return m | (m - (m >> (Bits - 1))); }  // a highest bit to all bits of its lane
  static KC_HD unsigned int add(unsigned int a, unsigned int b) { return ((a & low) + (b & low)) ^ ((a ^ b) & high); }
  static KC_HD unsigned int sub(unsigned int a, unsigned int b) { return ((a | high) - (b & low)) ^ ((a ^ ~b) & high); }
  static KC_HD unsigned int mean(unsigned int a, unsigned int b) { return (a & b) + (((a ^ b) >> 1) & low); }
  static KC_HD unsigned int mean_up(unsigned int a, unsigned int b) { return (a | b) - (((a ^ b) >> 1) & low); }
  // The highest bit of each lane where the comparison holds.
  static KC_HD unsigned int eq(unsigned int a, unsigned int b) {
    const unsigned int x = a ^ b;
    return ~(((x & low) + low) | x) & high;
  }
  static KC_HD unsigned int ne(unsigned int a, unsigned int b) { return eq(a, b) ^ high; }
  static KC_HD unsigned int geu(unsigned int a, unsigned int b) { return mean_up(a, ~b) & high; }
  static KC_HD unsigned int gtu(unsigned int a, unsigned int b) { return mean(a, ~b) & high; }
  static KC_HD unsigned int leu(unsigned int a, unsigned int b) { return geu(b, a); }
  static KC_HD unsigned int ltu(unsigned int a, unsigned int b) { return gtu(b, a); }
  static KC_HD unsigned int ges(unsigned int a, unsigned int b) { return geu(a ^ high, b ^ high); }
  static KC_HD unsigned int gts(unsigned int a, unsigned int b) { return gtu(a ^ high, b ^ high); }
  static KC_HD unsigned int les(unsigned int a, unsigned int b) { return ges(b, a); }
  static KC_HD unsigned int lts(unsigned int a, unsigned int b) { return gts(b, a); }
  static KC_HD unsigned int chosen(unsigned int bits, unsigned int a, unsigned int b) { return (a & spread(bits)) | (b & ~spread(bits)); }
  static KC_HD unsigned int maxu(unsigned int a, unsigned int b) {
    KC_PACKED_OF(__kc_u16x2, max, a, b);
    return chosen(geu(a, b), a, b);
  }
  static KC_HD unsigned int minu(unsigned int a, unsigned int b) {
    KC_PACKED_OF(__kc_u16x2, min, a, b);
    return chosen(geu(a, b), b, a);
  }
  static KC_HD unsigned int maxs(unsigned int a, unsigned int b) {
    KC_PACKED_OF(__kc_s16x2, max, a, b);
    return chosen(ges(a, b), a, b);
  }
  static KC_HD unsigned int mins(unsigned int a, unsigned int b) {
    KC_PACKED_OF(__kc_s16x2, min, a, b);
    return chosen(ges(a, b), b, a);
  }
  static KC_HD unsigned int neg(unsigned int a) { return sub(0, a); }
  static KC_HD unsigned int negss(unsigned int a) { return neg(a) - ((neg(a) & a & high) >> (Bits - 1)); }
  static KC_HD unsigned int abs(unsigned int a) { return sub(a ^ spread(a & high), spread(a & high)); }
  static KC_HD unsigned int absss(unsigned int a) { return abs(a) - ((abs(a) & high) >> (Bits - 1)); }
  static KC_HD unsigned int absdiffu(unsigned int a, unsigned int b) {
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 700
    if constexpr (Bits == 8) {
      unsigned int r;
      asm("vabsdiff4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(0));
      return r;
    }
#endif
    return sub(maxu(a, b), minu(a, b));
  }
  static KC_HD unsigned int absdiffs(unsigned int a, unsigned int b) { return absdiffu(a ^ high, b ^ high); }
  static KC_HD unsigned int addus(unsigned int a, unsigned int b) { return add(a, b) | spread(gtu(a, add(a, b))); }
  static KC_HD unsigned int subus(unsigned int a, unsigned int b) { return sub(a, b) & spread(geu(a, b)); }
  static KC_HD unsigned int most(unsigned int a) { return low + ((a & high) >> (Bits - 1)); }  // of a's sign
  static KC_HD unsigned int addss(unsigned int a, unsigned int b) { return chosen(~(a ^ b) & (a ^ add(a, b)) & high, most(a), add(a, b)); }
  static KC_HD unsigned int subss(unsigned int a, unsigned int b) { return chosen((a ^ b) & (a ^ sub(a, b)) & high, most(a), sub(a, b)); }
  static KC_HD unsigned int sum(unsigned int a) {
    if (Bits == 16) return (a & 0xffffu) + (a >> 16);
    const unsigned int pairs = (a & 0xff00ffu) + (a >> 8 & 0xff00ffu);
    return (pairs & 0x1ffu) + (pairs >> 16);
  }
};

#define KC_SIMD1(f)                                                           \
  KC_D unsigned int __v##f##2(unsigned int a) { return __kc_lanes<16>::f(a); } \
  KC_D unsigned int __v##f##4(unsigned int a) { return __kc_lanes<8>::f(a); }
#define KC_SIMD2(name, f)                                                                                    \
  KC_D unsigned int __v##name##2(unsigned int a, unsigned int b) { return __kc_lanes<16>::f(a, b); } \
  KC_D unsigned int __v##name##4(unsigned int a, unsigned int b) { return __kc_lanes<8>::f(a, b); }
#define KC_SIMD_COMPARED(f)                                                                                                                       \
  KC_D unsigned int __vcmp##f##2(unsigned int a, unsigned int b) { return __kc_lanes<16>::spread(__kc_lanes<16>::f(a, b)); } \
  KC_D unsigned int __vcmp##f##4(unsigned int a, unsigned int b) { return __kc_lanes<8>::spread(__kc_lanes<8>::f(a, b)); }   \
  KC_D unsigned int __vset##f##2(unsigned int a, unsigned int b) { return __kc_lanes<16>::f(a, b) >> 15; }                   \
  KC_D unsigned int __vset##f##4(unsigned int a, unsigned int b) { return __kc_lanes<8>::f(a, b) >> 7; }
KC_SIMD1(neg)
KC_SIMD1(negss)
KC_SIMD1(abs)
KC_SIMD1(absss)
KC_SIMD2(add, add)
KC_SIMD2(addus, addus)
KC_SIMD2(addss, addss)
KC_SIMD2(sub, sub)
KC_SIMD2(subus, subus)
KC_SIMD2(subss, subss)
KC_SIMD2(maxu, maxu)
KC_SIMD2(maxs, maxs)
KC_SIMD2(minu, minu)
KC_SIMD2(mins, mins)
KC_SIMD2(haddu, mean)
KC_SIMD2(avgu, mean_up)
KC_SIMD2(absdiffu, absdiffu)
KC_SIMD2(absdiffs, absdiffs)
KC_SIMD_COMPARED(eq)
KC_SIMD_COMPARED(ne)
KC_SIMD_COMPARED(geu)
KC_SIMD_COMPARED(gtu)
KC_SIMD_COMPARED(leu)
KC_SIMD_COMPARED(ltu)
KC_SIMD_COMPARED(ges)
KC_SIMD_COMPARED(gts)
KC_SIMD_COMPARED(les)
KC_SIMD_COMPARED(lts)
#undef KC_SIMD1
#undef KC_SIMD2
#undef KC_SIMD_COMPARED
KC_D unsigned int __vsadu2(unsigned int a, unsigned int b) { return __kc_lanes<16>::sum(__kc_lanes<16>::absdiffu(a, b)); }
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 700
KC_D unsigned int __vsadu4(unsigned int a, unsigned int b) {
  unsigned int r;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(0));
  return r;
}
#else
KC_D unsigned int __vsadu4(unsigned int a, unsigned int b) { return __kc_lanes<8>::sum(__kc_lanes<8>::absdiffu(a, b)); }
#endif
KC_D unsigned int __vsads2(unsigned int a, unsigned int b) { return __kc_lanes<16>::sum(__kc_lanes<16>::absdiffs(a, b)); }
KC_D unsigned int __vsads4(unsigned int a, unsigned int b) { return __kc_lanes<8>::sum(__kc_lanes<8>::absdiffs(a, b)); }

// Means rounded to the nearest, halves away from zero where they are not negative: (s + (s >= 0)) / 2, rounded down.
template <class T, int Bits> KC_HD unsigned int __kc_mean_signed(unsigned int a, unsigned int b) {
  unsigned int all = 0;
  for (int i = 0; i < 32; i += Bits) {
    const int s = (T)(a >> i) + (T)(b >> i);
    all |= ((unsigned int)((s + (s >= 0)) >> 1) & ((1u << Bits) - 1)) << i;
  }
  return all;
}
KC_D unsigned int __vavgs2(unsigned int a, unsigned int b) { return __kc_mean_signed<short, 16>(a, b); }
KC_D unsigned int __vavgs4(unsigned int a, unsigned int b) { return __kc_mean_signed<signed char, 8>(a, b); }

// Minima and maxima of sums and of three. T: of one lane; two of 16 bits, or one of 32.
template <class T> KC_HD T __kc_max(T a, T b) { return a > b ? a : b; }
template <class T> KC_HD T __kc_min(T a, T b) { return a < b ? a : b; }
#define KC_DPX(suffix, word, lane, each)                                                                                              \
  KC_D word __vimax_##suffix(word a, word b) { return each(lane, __kc_max(x, y), a, b, b); }                                          \
  KC_D word __vimin_##suffix(word a, word b) { return each(lane, __kc_min(x, y), a, b, b); }                                          \
  KC_D word __vimax3_##suffix(word a, word b, word c) { return each(lane, __kc_max(__kc_max(x, y), z), a, b, c); }                    \
  KC_D word __vimin3_##suffix(word a, word b, word c) { return each(lane, __kc_min(__kc_min(x, y), z), a, b, c); }                    \
  KC_D word __viaddmax_##suffix(word a, word b, word c) { return each(lane, __kc_max((lane)((unsigned int)x + (unsigned int)y), z), a, b, c); } \
  KC_D word __viaddmin_##suffix(word a, word b, word c) { return each(lane, __kc_min((lane)((unsigned int)x + (unsigned int)y), z), a, b, c); }
#define KC_DPX_RELU(suffix, word, lane, each)                                                                                         \
  KC_D word __vimax_##suffix##_relu(word a, word b) { return each(lane, __kc_max(__kc_max(x, y), (lane)0), a, b, b); }                \
  KC_D word __vimin_##suffix##_relu(word a, word b) { return each(lane, __kc_max(__kc_min(x, y), (lane)0), a, b, b); }                \
  KC_D word __vimax3_##suffix##_relu(word a, word b, word c) { return each(lane, __kc_max(__kc_max(__kc_max(x, y), z), (lane)0), a, b, c); } \
  KC_D word __vimin3_##suffix##_relu(word a, word b, word c) { return each(lane, __kc_max(__kc_min(__kc_min(x, y), z), (lane)0), a, b, c); } \
  KC_D word __viaddmax_##suffix##_relu(word a, word b, word c) {                                                                      \
    return each(lane, __kc_max(__kc_max((lane)((unsigned int)x + (unsigned int)y), z), (lane)0), a, b, c);                            \
  }                                                                                                                                   \
  KC_D word __viaddmin_##suffix##_relu(word a, word b, word c) {                                                                      \
    return each(lane, __kc_max(__kc_min((lane)((unsigned int)x + (unsigned int)y), z), (lane)0), a, b, c);                            \
  }
#define KC_ONE(lane, value, a, b, c) [](lane x, lane y, lane z) { (void)z; return (lane)(value); }(a, b, c)
#define KC_TWO(lane, value, a, b, c)                                                                    \
  ((unsigned int)(unsigned short)KC_ONE(lane, value, (lane)(a), (lane)(b), (lane)(c)) |                 \
   (unsigned int)(unsigned short)KC_ONE(lane, value, (lane)(a >> 16), (lane)(b >> 16), (lane)(c >> 16)) << 16)
KC_DPX(s32, int, int, KC_ONE)
KC_DPX(u32, unsigned int, unsigned int, KC_ONE)
#ifdef KC_PACKED
#define KC_AS(a) __builtin_bit_cast(V, a)
#define KC_PACKED_RESULT(value) __builtin_bit_cast(unsigned int, value)
#define KC_DPX_PACKED(suffix, T, most)                                                                        \
  KC_D unsigned int __vimax_##suffix(unsigned int a, unsigned int b) {                                        \
    typedef T V;                                                                                              \
    return KC_PACKED_RESULT(most(__builtin_elementwise_max(KC_AS(a), KC_AS(b))));                             \
  }                                                                                                           \
  KC_D unsigned int __vimin_##suffix(unsigned int a, unsigned int b) {                                        \
    typedef T V;                                                                                              \
    return KC_PACKED_RESULT(most(__builtin_elementwise_min(KC_AS(a), KC_AS(b))));                             \
  }                                                                                                           \
  KC_DPX_PACKED3(__vimax3_##suffix, T, most, max, __builtin_elementwise_max(KC_AS(a), KC_AS(b)))              \
  KC_DPX_PACKED3(__vimin3_##suffix, T, most, min, __builtin_elementwise_min(KC_AS(a), KC_AS(b)))              \
  KC_DPX_PACKED3(__viaddmax_##suffix, T, most, max, (V)(KC_AS(a) + KC_AS(b)))                                 \
  KC_DPX_PACKED3(__viaddmin_##suffix, T, most, min, (V)(KC_AS(a) + KC_AS(b)))
#define KC_DPX_PACKED3(name, T, most, which, first)                                                           \
  KC_D unsigned int name(unsigned int a, unsigned int b, unsigned int c) {                                    \
    typedef T V;                                                                                              \
    return KC_PACKED_RESULT(most(__builtin_elementwise_##which(first, KC_AS(c))));                            \
  }
#define KC_AS_IT_IS(x) x
#define KC_NOT_NEGATIVE(x) __builtin_elementwise_max(x, (V)0)
KC_DPX_PACKED(s16x2, __kc_s16x2, KC_AS_IT_IS)
KC_DPX_PACKED(u16x2, __kc_u16x2, KC_AS_IT_IS)
KC_DPX_PACKED(s16x2_relu, __kc_s16x2, KC_NOT_NEGATIVE)
#undef KC_DPX_PACKED
#undef KC_DPX_PACKED3
#undef KC_PACKED_RESULT
#undef KC_AS
#undef KC_AS_IT_IS
#undef KC_NOT_NEGATIVE
#else
KC_DPX(s16x2, unsigned int, short, KC_TWO)
KC_DPX(u16x2, unsigned int, unsigned short, KC_TWO)
KC_DPX_RELU(s16x2, unsigned int, short, KC_TWO)
#endif
KC_DPX_RELU(s32, int, int, KC_ONE)
// Which operand it was: true for the first, and where they are equal.
#define KC_DPX_WHICH(suffix, word)                                                                          \
  KC_D word __vibmax_##suffix(word a, word b, bool* first) { return *first = a >= b, *first ? a : b; } \
  KC_D word __vibmin_##suffix(word a, word b, bool* first) { return *first = a <= b, *first ? a : b; }
#define KC_DPX_WHICH_TWO(suffix, lane)                                                                                                     \
  KC_D unsigned int __vibmax_##suffix(unsigned int a, unsigned int b, bool* high, bool* low) {                                             \
    return *high = (lane)(a >> 16) >= (lane)(b >> 16), *low = (lane)a >= (lane)b, __vimax_##suffix(a, b);                                  \
  }                                                                                                                                        \
  KC_D unsigned int __vibmin_##suffix(unsigned int a, unsigned int b, bool* high, bool* low) {                                             \
    return *high = (lane)(a >> 16) <= (lane)(b >> 16), *low = (lane)a <= (lane)b, __vimin_##suffix(a, b);                                  \
  }
KC_DPX_WHICH(s32, int)
KC_DPX_WHICH(u32, unsigned int)
KC_DPX_WHICH_TWO(s16x2, short)
KC_DPX_WHICH_TWO(u16x2, unsigned short)
#undef KC_DPX_WHICH
#undef KC_DPX_WHICH_TWO
#undef KC_DPX
#undef KC_DPX_RELU
#undef KC_ONE
#undef KC_TWO

#endif
