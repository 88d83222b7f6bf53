// Random programs of straight-line PTX, lifted, optimized and interpreted, against a slow and obvious evaluator of
// single instructions. Every instruction writes a register of its own and every register is stored, so that the first
// one that differs names the instruction at fault.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <sstream>

#include "kernelcast/execute.h"
#include "kernelcast/frontend.h"

namespace kernelcast {
namespace {

using Word = std::uint64_t;
using Half = std::uint16_t;
using std::int32_t;
using std::int64_t;
using std::uint32_t;

// ---- values ----

uint32_t u(Word w) { return static_cast<uint32_t>(w); }
int32_t s(Word w) { return static_cast<int32_t>(u(w)); }
int64_t sl(Word w) { return static_cast<int64_t>(w); }
float f(Word w) { return std::bit_cast<float>(u(w)); }
double d(Word w) { return std::bit_cast<double>(w); }
Word of(float v) { return std::bit_cast<uint32_t>(v); }
Word of(double v) { return std::bit_cast<Word>(v); }
Word word(int32_t v) { return u(static_cast<Word>(static_cast<int64_t>(v))); }
Word high(Word a, Word b) { return static_cast<Word>((static_cast<unsigned __int128>(a) * b) >> 64U); }
Word high_signed(Word a, Word b) { return static_cast<Word>((static_cast<__int128>(sl(a)) * sl(b)) >> 64U); }

template <class T>
Word saturated(double v) {
  if (std::isnan(v)) return 0;
  const double least = static_cast<double>(std::numeric_limits<T>::min()),
               beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (v <= least) return static_cast<Word>(static_cast<int64_t>(std::numeric_limits<T>::min()));
  return v >= beyond ? static_cast<Word>(std::numeric_limits<T>::max()) : static_cast<Word>(static_cast<T>(v));
}

int leading_zeros(Word w, int bits) {
  int n = 0;
  while (n < bits && (w >> static_cast<unsigned>(bits - 1 - n) & 1U) == 0) ++n;
  return n;
}

Word reversed(Word w, int bits) {
  Word out = 0;
  for (int k = 0; k < bits; ++k) out |= (w >> static_cast<unsigned>(k) & 1U) << static_cast<unsigned>(bits - 1 - k);
  return out;
}

/// As the manual's program has it.
Word field(Word a, Word position, Word length, int bits, bool is_signed) {
  const int pos = static_cast<int>(position & 255U), len = static_cast<int>(length & 255U), top = bits - 1;
  const auto bit = [&](int n) { return a >> static_cast<unsigned>(n) & 1U; };
  const Word sign = !is_signed || len == 0 ? 0 : bit(std::min(pos + len - 1, top));
  Word out = 0;
  for (int k = 0; k < bits; ++k) {
    const Word b = k < len && pos + k <= top ? bit(pos + k) : sign;
    out |= b << static_cast<unsigned>(k);
  }
  return out;
}

Word inserted(Word a, Word b, Word position, Word length, int bits) {
  const int pos = static_cast<int>(position & 255U), len = static_cast<int>(length & 255U);
  Word out = b;
  for (int k = 0; k < len && pos + k < bits; ++k) {
    const Word mask = Word{1} << static_cast<unsigned>(pos + k);
    out = (a >> static_cast<unsigned>(k) & 1U) != 0 ? out | mask : out & ~mask;
  }
  return out;
}

Word permuted(Word a, Word b, Word selector) {
  const Word both = u(a) | b << 32U;
  Word out = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const Word pick = selector >> 4 * k & 15U, byte = both >> 8 * (pick & 7U) & 255U;
    out |= ((pick & 8U) == 0 ? byte : (byte & 128U) != 0 ? 255U : 0U) << 8 * k;
  }
  return out;
}

Word logic(Word a, Word b, Word c, unsigned table) {
  Word out = 0;
  for (unsigned k = 0; k < 32; ++k) {
    const unsigned at = static_cast<unsigned>((a >> k & 1U) << 2U | (b >> k & 1U) << 1U | (c >> k & 1U));
    out |= Word{table >> at & 1U} << k;
  }
  return out;
}

Word dot4(Word a, Word b, Word c, bool a_signed, bool b_signed) {
  int64_t sum = static_cast<int64_t>(c);
  for (unsigned k = 0; k < 4; ++k) {
    const auto x = static_cast<unsigned char>(a >> 8 * k), y = static_cast<unsigned char>(b >> 8 * k);
    sum += (a_signed ? static_cast<signed char>(x) : int{x}) * (b_signed ? static_cast<signed char>(y) : int{y});
  }
  return u(static_cast<Word>(sum));
}

/// Round to nearest even; the sign and payload of a NaN do not matter.
Half half_of(float v) {
  const Half sign = std::signbit(v) ? 0x8000 : 0;
  if (std::isnan(v)) return 0x7fff;
  const double size = std::abs(static_cast<double>(v));
  if (size >= 65520) return sign | 0x7c00;
  int exponent = 0;
  std::frexp(size, &exponent);
  const int unit = std::max(exponent - 11, -24);
  const double scaled = std::nearbyint(std::ldexp(size, -unit));
  const double rounded = std::ldexp(scaled, unit);
  if (rounded == 0) return sign;
  std::frexp(rounded, &exponent);
  if (exponent < -13) return static_cast<Half>(sign | static_cast<Half>(std::ldexp(rounded, 24)));
  const auto mantissa = static_cast<Half>(std::ldexp(rounded, 11 - exponent) - 1024);
  return static_cast<Half>(sign | static_cast<Half>((exponent + 14) << 10) | mantissa);
}
float float_of(Half h) {
  const int exponent = h >> 10 & 31, mantissa = h & 1023;
  double v = exponent == 0    ? std::ldexp(mantissa, -24)
             : exponent == 31 ? (mantissa != 0 ? std::nan("") : HUGE_VAL)
                              : std::ldexp(1024 + mantissa, exponent - 25);
  return static_cast<float>((h & 0x8000) != 0 ? -v : v);
}

// ---- instructions ----

/// Register files: p predicate, h 16, r 32, l 64 bits, e half, f float, d double; the first one is the result's. A
/// capital letter is an input: of a number that was converted from an integer just before, LLVM takes the integer's low
/// bits where PTX takes the largest number.
struct Form {
  const char* text;
  const char* files;
  std::function<Word(const Word*)> value;
  const char* last = "";  // immediate operands
};

template <class T>
T lesser(T a, T b) {
  return std::isnan(a)                        ? b
         : std::isnan(b)                      ? a
         : std::signbit(a) != std::signbit(b) ? (std::signbit(a) ? a : b)
                                              : std::min(a, b);
}
template <class T>
T larger(T a, T b) {
  return std::isnan(a)                        ? b
         : std::isnan(b)                      ? a
         : std::signbit(a) != std::signbit(b) ? (std::signbit(a) ? b : a)
                                              : std::max(a, b);
}

const std::vector<Form>& forms() {
  using W = const Word*;
  static const std::vector<Form> all{
      // 32 bits
      {"add.s32", "rrr", [](W a) { return u(a[0] + a[1]); }},
      {"sub.u32", "rrr", [](W a) { return u(a[0] - a[1]); }},
      {"add.sat.s32", "rrr",
       [](W a) {
         return word(static_cast<int32_t>(std::clamp<int64_t>(int64_t{s(a[0])} + s(a[1]), INT32_MIN, INT32_MAX)));
       }},
      {"sub.sat.s32", "rrr",
       [](W a) {
         return word(static_cast<int32_t>(std::clamp<int64_t>(int64_t{s(a[0])} - s(a[1]), INT32_MIN, INT32_MAX)));
       }},
      {"mul.lo.s32", "rrr", [](W a) { return u(a[0] * a[1]); }},
      {"mul.hi.s32", "rrr", [](W a) { return u(static_cast<Word>(int64_t{s(a[0])} * s(a[1])) >> 32U); }},
      {"mul.hi.u32", "rrr", [](W a) { return u(a[0] * a[1] >> 32U); }},
      {"mul.wide.s32", "lrr", [](W a) { return static_cast<Word>(int64_t{s(a[0])} * s(a[1])); }},
      {"mul.wide.u32", "lrr", [](W a) { return a[0] * a[1]; }},
      {"mad.lo.s32", "rrrr", [](W a) { return u(a[0] * a[1] + a[2]); }},
      {"mad.hi.u32", "rrrr", [](W a) { return u((a[0] * a[1] >> 32U) + a[2]); }},
      {"mad.hi.s32", "rrrr", [](W a) { return u((static_cast<Word>(int64_t{s(a[0])} * s(a[1])) >> 32U) + a[2]); }},
      {"mad.wide.s32", "lrrl", [](W a) { return static_cast<Word>(int64_t{s(a[0])} * s(a[1])) + a[2]; }},
      {"mad.wide.u32", "lrrl", [](W a) { return a[0] * a[1] + a[2]; }},
      {"mul24.lo.u32", "rrr", [](W a) { return u((a[0] & 0xffffffU) * (a[1] & 0xffffffU)); }},
      {"mul24.lo.s32", "rrr",
       [](W a) { return u(static_cast<Word>(int64_t{s(a[0] << 8U) >> 8} * (s(a[1] << 8U) >> 8))); }},
      {"mul24.hi.u32", "rrr", [](W a) { return u((a[0] & 0xffffffU) * (a[1] & 0xffffffU) >> 16U); }},
      {"mad24.lo.u32", "rrrr", [](W a) { return u((a[0] & 0xffffffU) * (a[1] & 0xffffffU) + a[2]); }},
      {"sad.s32", "rrrr", [](W a) { return u(a[2] + static_cast<Word>(std::abs(int64_t{s(a[0])} - s(a[1])))); }},
      {"sad.u32", "rrrr", [](W a) { return u(a[2] + (a[0] < a[1] ? a[1] - a[0] : a[0] - a[1])); }},
      {"abs.s32", "rr", [](W a) { return s(a[0]) < 0 ? u(-a[0]) : a[0]; }},
      {"neg.s32", "rr", [](W a) { return u(-a[0]); }},
      {"min.s32", "rrr", [](W a) { return word(std::min(s(a[0]), s(a[1]))); }},
      {"max.s32", "rrr", [](W a) { return word(std::max(s(a[0]), s(a[1]))); }},
      {"min.u32", "rrr", [](W a) { return std::min(a[0], a[1]); }},
      {"max.u32", "rrr", [](W a) { return std::max(a[0], a[1]); }},
      {"popc.b32", "rr", [](W a) { return static_cast<Word>(std::popcount(a[0])); }},
      {"popc.b64", "rl", [](W a) { return static_cast<Word>(std::popcount(a[0])); }},
      {"clz.b32", "rr", [](W a) { return static_cast<Word>(leading_zeros(a[0], 32)); }},
      {"clz.b64", "rl", [](W a) { return static_cast<Word>(leading_zeros(a[0], 64)); }},
      {"bfind.u32", "rr", [](W a) { return u(static_cast<Word>(31 - leading_zeros(a[0], 32))); }},
      {"bfind.s32", "rr",
       [](W a) { return u(static_cast<Word>(31 - leading_zeros(s(a[0]) < 0 ? u(~a[0]) : a[0], 32))); }},
      {"bfind.shiftamt.u32", "rr",
       [](W a) { return a[0] == 0 ? u(~Word{0}) : static_cast<Word>(leading_zeros(a[0], 32)); }},
      {"bfind.u64", "rl", [](W a) { return u(static_cast<Word>(63 - leading_zeros(a[0], 64))); }},
      {"brev.b32", "rr", [](W a) { return reversed(a[0], 32); }},
      {"brev.b64", "ll", [](W a) { return reversed(a[0], 64); }},
      {"bfe.u32", "rrrr", [](W a) { return field(a[0], a[1], a[2], 32, false); }},
      {"bfe.s32", "rrrr", [](W a) { return field(a[0], a[1], a[2], 32, true); }},
      {"bfe.u64", "llrr", [](W a) { return field(a[0], a[1], a[2], 64, false); }},
      {"bfe.s64", "llrr", [](W a) { return field(a[0], a[1], a[2], 64, true); }},
      {"bfe.u32", "rr", [](W a) { return a[0] >> 5U & 127U; }, ", 5, 7"},
      {"bfe.s32", "rr", [](W a) { return field(a[0], 28, 9, 32, true); }, ", 28, 9"},
      {"bfi.b32", "rrrrr", [](W a) { return inserted(a[0], a[1], a[2], a[3], 32); }},
      {"bfi.b64", "lllrr", [](W a) { return inserted(a[0], a[1], a[2], a[3], 64); }},
      {"bfi.b32", "rrr", [](W a) { return inserted(a[0], a[1], 7, 11, 32); }, ", 7, 11"},
      {"prmt.b32", "rrrr", [](W a) { return permuted(a[0], a[1], a[2]); }},
      {"prmt.b32", "rrr", [](W a) { return permuted(a[0], a[1], 0x7b16); }, ", 0x7b16"},
      {"shl.b32", "rrr", [](W a) { return a[1] > 31 ? 0 : u(a[0] << a[1]); }},
      {"shr.u32", "rrr", [](W a) { return a[1] > 31 ? 0 : a[0] >> a[1]; }},
      {"shr.s32", "rrr", [](W a) { return word(s(a[0]) >> std::min<Word>(a[1], 31)); }},
      {"shl.b64", "llr", [](W a) { return a[1] > 63 ? 0 : a[0] << a[1]; }},
      {"shr.u64", "llr", [](W a) { return a[1] > 63 ? 0 : a[0] >> a[1]; }},
      {"shr.s64", "llr", [](W a) { return static_cast<Word>(sl(a[0]) >> std::min<Word>(a[1], 63)); }},
      {"shf.l.wrap.b32", "rrrr", [](W a) { return u((a[1] << 32U | a[0]) << (a[2] & 31U) >> 32U); }},
      {"shf.r.wrap.b32", "rrrr", [](W a) { return u((a[1] << 32U | a[0]) >> (a[2] & 31U)); }},
      {"shf.l.clamp.b32", "rrrr", [](W a) { return u((a[1] << 32U | a[0]) << std::min<Word>(a[2], 32) >> 32U); }},
      {"shf.r.clamp.b32", "rrrr", [](W a) { return u((a[1] << 32U | a[0]) >> std::min<Word>(a[2], 32)); }},
      {"and.b32", "rrr", [](W a) { return a[0] & a[1]; }},
      {"or.b32", "rrr", [](W a) { return a[0] | a[1]; }},
      {"xor.b32", "rrr", [](W a) { return a[0] ^ a[1]; }},
      {"not.b32", "rr", [](W a) { return u(~a[0]); }},
      {"cnot.b32", "rr", [](W a) { return Word{a[0] == 0}; }},
      {"lop3.b32", "rrrr", [](W a) { return logic(a[0], a[1], a[2], 0x96); }, ", 0x96"},
      {"lop3.b32", "rrrr", [](W a) { return logic(a[0], a[1], a[2], 0xca); }, ", 0xca"},
      {"lop3.b32", "rrrr", [](W a) { return logic(a[0], a[1], a[2], 0x1b); }, ", 0x1b"},
      {"dp4a.s32.s32", "rrrr", [](W a) { return dot4(a[0], a[1], a[2], true, true); }},
      {"dp4a.u32.u32", "rrrr", [](W a) { return dot4(a[0], a[1], a[2], false, false); }},
      {"dp4a.s32.u32", "rrrr", [](W a) { return dot4(a[0], a[1], a[2], true, false); }},
      // 64 bits
      {"add.s64", "lll", [](W a) { return a[0] + a[1]; }},
      {"sub.s64", "lll", [](W a) { return a[0] - a[1]; }},
      {"mul.lo.s64", "lll", [](W a) { return a[0] * a[1]; }},
      {"mul.hi.u64", "lll", [](W a) { return high(a[0], a[1]); }},
      {"mul.hi.s64", "lll", [](W a) { return high_signed(a[0], a[1]); }},
      {"mad.lo.s64", "llll", [](W a) { return a[0] * a[1] + a[2]; }},
      {"min.s64", "lll", [](W a) { return static_cast<Word>(std::min(sl(a[0]), sl(a[1]))); }},
      {"max.u64", "lll", [](W a) { return std::max(a[0], a[1]); }},
      {"abs.s64", "ll", [](W a) { return sl(a[0]) < 0 ? -a[0] : a[0]; }},
      {"neg.s64", "ll", [](W a) { return -a[0]; }},
      {"and.b64", "lll", [](W a) { return a[0] & a[1]; }},
      {"xor.b64", "lll", [](W a) { return a[0] ^ a[1]; }},
      {"not.b64", "ll", [](W a) { return ~a[0]; }},
      // 16 bits
      {"add.s16", "hhh", [](W a) { return a[0] + a[1] & 0xffffU; }},
      {"mul.lo.s16", "hhh", [](W a) { return a[0] * a[1] & 0xffffU; }},
      {"mul.wide.u16", "rhh", [](W a) { return u(a[0] * a[1]); }},
      {"mul.wide.s16", "rhh",
       [](W a) { return word(static_cast<std::int16_t>(a[0]) * static_cast<std::int16_t>(a[1])); }},
      {"min.s16", "hhh",
       [](W a) {
         return static_cast<Half>(std::min(static_cast<std::int16_t>(a[0]), static_cast<std::int16_t>(a[1])));
       }},
      {"max.u16", "hhh", [](W a) { return std::max(a[0], a[1]); }},
      {"shr.u16", "hhr", [](W a) { return a[1] > 15 ? 0 : a[0] >> a[1]; }},
      {"shl.b16", "hhr", [](W a) { return a[1] > 15 ? 0 : a[0] << a[1] & 0xffffU; }},
      // conversions of integers
      {"cvt.u16.u32", "hr", [](W a) { return a[0] & 0xffffU; }},
      {"cvt.s32.s16", "rh", [](W a) { return word(static_cast<std::int16_t>(a[0])); }},
      {"cvt.u32.u16", "rh", [](W a) { return a[0]; }},
      {"cvt.s32.s8", "rr", [](W a) { return word(static_cast<signed char>(a[0])); }},
      {"cvt.u32.u8", "rr", [](W a) { return a[0] & 255U; }},
      {"cvt.s64.s32", "lr", [](W a) { return static_cast<Word>(int64_t{s(a[0])}); }},
      {"cvt.u64.u32", "lr", [](W a) { return a[0]; }},
      {"cvt.u32.u64", "rl", [](W a) { return u(a[0]); }},
      {"cvt.sat.s32.s64", "rl",
       [](W a) { return word(static_cast<int32_t>(std::clamp<int64_t>(sl(a[0]), INT32_MIN, INT32_MAX))); }},
      {"cvt.sat.u32.s32", "rr", [](W a) { return s(a[0]) < 0 ? 0 : a[0]; }},
      {"cvt.sat.u8.s32", "rr", [](W a) { return static_cast<Word>(std::clamp(s(a[0]), 0, 255)); }},
      // comparisons
      {"setp.lt.s32", "prr", [](W a) { return Word{s(a[0]) < s(a[1])}; }},
      {"setp.lo.u32", "prr", [](W a) { return Word{a[0] < a[1]}; }},
      {"setp.hs.u32", "prr", [](W a) { return Word{a[0] >= a[1]}; }},
      {"setp.ne.b32", "prr", [](W a) { return Word{a[0] != a[1]}; }},
      {"setp.ge.s64", "pll", [](W a) { return Word{sl(a[0]) >= sl(a[1])}; }},
      {"setp.gt.s16", "phh",
       [](W a) { return Word{static_cast<std::int16_t>(a[0]) > static_cast<std::int16_t>(a[1])}; }},
      {"setp.eq.and.s32", "prrp", [](W a) { return Word{a[0] == a[1] && a[2] != 0}; }},
      {"setp.le.or.s32", "prrp", [](W a) { return Word{s(a[0]) <= s(a[1]) || a[2] != 0}; }},
      {"setp.gt.xor.u32", "prrp", [](W a) { return Word{(a[0] > a[1]) != (a[2] != 0)}; }},
      {"setp.lt.f32", "pff", [](W a) { return Word{f(a[0]) < f(a[1])}; }},
      {"setp.ltu.f32", "pff", [](W a) { return Word{!(f(a[0]) >= f(a[1]))}; }},
      {"setp.ne.f32", "pff", [](W a) { return Word{f(a[0]) < f(a[1]) || f(a[0]) > f(a[1])}; }},
      {"setp.neu.f32", "pff", [](W a) { return Word{f(a[0]) != f(a[1])}; }},
      {"setp.equ.f32", "pff", [](W a) { return Word{!(f(a[0]) < f(a[1]) || f(a[0]) > f(a[1]))}; }},
      {"setp.num.f32", "pff", [](W a) { return Word{!std::isnan(f(a[0])) && !std::isnan(f(a[1]))}; }},
      {"setp.nan.f64", "pdd", [](W a) { return Word{std::isnan(d(a[0])) || std::isnan(d(a[1]))}; }},
      {"setp.geu.f64", "pdd", [](W a) { return Word{!(d(a[0]) < d(a[1]))}; }},
      {"and.pred", "ppp", [](W a) { return a[0] & a[1]; }},
      {"xor.pred", "ppp", [](W a) { return a[0] ^ a[1]; }},
      {"not.pred", "pp", [](W a) { return a[0] ^ 1U; }},
      {"set.lt.u32.s32", "rrr", [](W a) { return s(a[0]) < s(a[1]) ? u(~Word{0}) : 0; }},
      {"set.gt.f32.f32", "fff", [](W a) { return of(f(a[0]) > f(a[1]) ? 1.0F : 0.0F); }},
      {"selp.b32", "rrrp", [](W a) { return a[2] != 0 ? a[0] : a[1]; }},
      {"selp.b64", "lllp", [](W a) { return a[2] != 0 ? a[0] : a[1]; }},
      {"selp.f32", "fffp", [](W a) { return a[2] != 0 ? a[0] : a[1]; }},
      {"slct.s32.s32", "rrrr", [](W a) { return s(a[2]) >= 0 ? a[0] : a[1]; }},
      {"slct.f32.s32", "fffr", [](W a) { return s(a[2]) >= 0 ? a[0] : a[1]; }},
      {"slct.u32.f32", "rrrf", [](W a) { return f(a[2]) >= 0 ? a[0] : a[1]; }},
      // floating point
      {"add.rn.f32", "fff", [](W a) { return of(f(a[0]) + f(a[1])); }},
      {"sub.rn.f32", "fff", [](W a) { return of(f(a[0]) - f(a[1])); }},
      {"mul.rn.f32", "fff", [](W a) { return of(f(a[0]) * f(a[1])); }},
      {"fma.rn.f32", "ffff", [](W a) { return of(std::fma(f(a[0]), f(a[1]), f(a[2]))); }},
      {"div.rn.f32", "fff", [](W a) { return of(f(a[0]) / f(a[1])); }},
      {"sqrt.rn.f32", "ff", [](W a) { return of(std::sqrt(f(a[0]))); }},
      {"rcp.rn.f32", "ff", [](W a) { return of(1.0F / f(a[0])); }},
      {"min.f32", "fff", [](W a) { return of(lesser(f(a[0]), f(a[1]))); }},
      {"max.f32", "fff", [](W a) { return of(larger(f(a[0]), f(a[1]))); }},
      {"max.NaN.f32", "fff",
       [](W a) {
         return std::isnan(f(a[0])) || std::isnan(f(a[1])) ? of(std::nanf("")) : of(larger(f(a[0]), f(a[1])));
       }},
      {"abs.f32", "ff", [](W a) { return of(std::abs(f(a[0]))); }},
      {"neg.f32", "ff", [](W a) { return of(-f(a[0])); }},
      {"copysign.f32", "fFf", [](W a) { return of(std::copysign(f(a[1]), f(a[0]))); }},
      {"testp.finite.f32", "pf", [](W a) { return Word{std::isfinite(f(a[0]))}; }},
      {"testp.notanumber.f32", "pf", [](W a) { return Word{std::isnan(f(a[0]))}; }},
      {"testp.subnormal.f32", "pf", [](W a) { return Word{std::fpclassify(f(a[0])) == FP_SUBNORMAL}; }},
      {"add.sat.f32", "fff",
       [](W a) {
         const float v = f(a[0]) + f(a[1]);
         return of(std::isnan(v) || v <= 0 ? 0.0F : std::min(v, 1.0F));
       }},
      {"add.rn.f64", "ddd", [](W a) { return of(d(a[0]) + d(a[1])); }},
      {"mul.rn.f64", "ddd", [](W a) { return of(d(a[0]) * d(a[1])); }},
      {"fma.rn.f64", "dddd", [](W a) { return of(std::fma(d(a[0]), d(a[1]), d(a[2]))); }},
      {"div.rn.f64", "ddd", [](W a) { return of(d(a[0]) / d(a[1])); }},
      {"min.f64", "ddd", [](W a) { return of(lesser(d(a[0]), d(a[1]))); }},
      {"abs.f64", "dd", [](W a) { return of(std::abs(d(a[0]))); }},
      // conversions of floating point
      {"cvt.rn.f32.s32", "fr", [](W a) { return of(static_cast<float>(s(a[0]))); }},
      {"cvt.rn.f32.u32", "fr", [](W a) { return of(static_cast<float>(u(a[0]))); }},
      {"cvt.rn.f32.u64", "fl", [](W a) { return of(static_cast<float>(a[0])); }},
      {"cvt.rn.f64.s32", "dr", [](W a) { return of(static_cast<double>(s(a[0]))); }},
      {"cvt.rn.f64.s64", "dl", [](W a) { return of(static_cast<double>(sl(a[0]))); }},
      {"cvt.f64.f32", "df", [](W a) { return of(static_cast<double>(f(a[0]))); }},
      {"cvt.rn.f32.f64", "fd", [](W a) { return of(static_cast<float>(d(a[0]))); }},
      {"cvt.rzi.s32.f32", "rF", [](W a) { return u(saturated<int32_t>(std::trunc(f(a[0])))); }},
      {"cvt.rni.s32.f32", "rF", [](W a) { return u(saturated<int32_t>(std::nearbyint(f(a[0])))); }},
      {"cvt.rmi.s32.f32", "rF", [](W a) { return u(saturated<int32_t>(std::floor(f(a[0])))); }},
      {"cvt.rpi.s32.f32", "rF", [](W a) { return u(saturated<int32_t>(std::ceil(f(a[0])))); }},
      {"cvt.rzi.u32.f32", "rF", [](W a) { return u(saturated<uint32_t>(std::trunc(f(a[0])))); }},
      {"cvt.rzi.s64.f64", "lD", [](W a) { return saturated<int64_t>(std::trunc(d(a[0]))); }},
      {"cvt.rzi.s32.f64", "rD", [](W a) { return u(saturated<int32_t>(std::trunc(d(a[0])))); }},
      {"cvt.rmi.f32.f32", "ff", [](W a) { return of(std::floor(f(a[0]))); }},
      {"cvt.rni.f32.f32", "ff", [](W a) { return of(std::nearbyint(f(a[0]))); }},
      {"cvt.sat.f32.f32", "ff",
       [](W a) {
         const float v = f(a[0]);
         return of(std::isnan(v) || v <= 0 ? 0.0F : std::min(v, 1.0F));
       }},
      {"cvt.rn.f16.f32", "ef", [](W a) { return Word{half_of(f(a[0]))}; }},
      {"cvt.f32.f16", "fe", [](W a) { return of(float_of(static_cast<Half>(a[0]))); }},
      {"add.f16", "eee",
       [](W a) { return Word{half_of(float_of(static_cast<Half>(a[0])) + float_of(static_cast<Half>(a[1])))}; }},
      {"mul.f16", "eee",
       [](W a) { return Word{half_of(float_of(static_cast<Half>(a[0])) * float_of(static_cast<Half>(a[1])))}; }},
      {"neg.f16", "ee", [](W a) { return a[0] ^ 0x8000U; }},
      {"max.f16", "eee",
       [](W a) { return Word{half_of(larger(float_of(static_cast<Half>(a[0])), float_of(static_cast<Half>(a[1]))))}; }},
  };
  return all;
}

// ---- programs ----

constexpr int threads = 64, inputs = 4;
const std::string kinds = "phrlefd";

int bytes_of(char kind) {
  switch (kind) {
    case 'l':
    case 'd':
      return 8;
    case 'h':
    case 'e':
      return 2;
    default:
      return 4;
  }
}

const char* type_of(char kind) {
  static const std::map<char, const char*> types{{'p', "pred"}, {'h', "b16"}, {'r', "b32"}, {'l', "b64"},
                                                 {'e', "b16"},  {'f', "f32"}, {'d', "f64"}};
  return types.at(kind);
}

/// Numbers at which instructions change their minds.
Word interesting(char kind, std::mt19937_64& random) {
  static const std::vector<Word> integers{0,
                                          1,
                                          2,
                                          5,
                                          7,
                                          15,
                                          16,
                                          31,
                                          32,
                                          33,
                                          63,
                                          64,
                                          65,
                                          127,
                                          128,
                                          255,
                                          256,
                                          32767,
                                          32768,
                                          65535,
                                          0x7fffffff,
                                          0x80000000,
                                          0xffffffff,
                                          0xfffffffe,
                                          0x7fffffffffffffff,
                                          0x8000000000000000,
                                          ~Word{0}};
  static const std::vector<double> reals{
      0.0,   -0.0,  1,     -1,   0.5, 1.5,   2.5,      -2.5,      3e9,          -3e9,         1e-40,        1e30,
      65504, 65519, 65520, 1e-7, 0.1, -7.75, HUGE_VAL, -HUGE_VAL, std::nan(""), 2147483648.0, 4294967296.0, 9.3e18};
  const bool is_special = random() % 3 != 0;
  const double real = is_special ? reals[random() % reals.size()]
                                 : std::ldexp(static_cast<double>(static_cast<int64_t>(random())), -60);
  const Word integer = is_special ? integers[random() % integers.size()] : random();
  switch (kind) {
    case 'p':
      return integer & 1U;
    case 'h':
      return integer & 0xffffU;
    case 'r':
      return u(integer);
    case 'e':
      return half_of(static_cast<float>(real));
    case 'f':
      return of(static_cast<float>(real));
    case 'd':
      return of(real);
    default:
      return integer;
  }
}

struct Step {
  const Form* form;
  char kind;
  int at;                    // in its file
  std::vector<int> sources;  // in theirs
};

struct Program {
  std::vector<Step> steps;
  std::string text;
};

std::string named(char kind, int n) { return std::string("%") + kind + std::to_string(n); }

Program program_of(std::uint64_t seed, int length) {
  std::mt19937_64 random(seed);
  Program out;
  std::map<char, int> files;
  std::ostringstream body;
  const int slots = (inputs * static_cast<int>(kinds.size()) + length) * 8;
  for (const char kind : kinds)
    for (int n = 0; n < inputs; ++n) {
      const std::size_t at = (kinds.find(kind) * inputs + static_cast<std::size_t>(n)) * 8;
      if (kind == 'p')
        body << "ld.global.b32 %x0, [%in+" << at << "];\nsetp.ne.s32 " << named(kind, n) << ", %x0, 0;\n";
      else
        body << "ld.global." << type_of(kind) << " " << named(kind, n) << ", [%in+" << at << "];\n";
      files[kind] = inputs;
    }
  for (int k = 0; k < length; ++k) {
    const Form& form = forms()[random() % forms().size()];
    Step step{&form, form.files[0], files[form.files[0]], {}};
    body << form.text << " " << named(step.kind, step.at);
    for (const char* letter = form.files + 1; *letter != '\0'; ++letter) {
      const char file = static_cast<char>(std::tolower(*letter));
      const int have = std::isupper(*letter) != 0 ? inputs : files[file];
      // The latest results and the inputs are read most.
      const int source = random() % 2 == 0 ? static_cast<int>(random() % inputs)
                                           : static_cast<int>(random() % static_cast<unsigned>(have));
      body << ", " << named(file, source);
      step.sources.push_back(source);
    }
    body << form.last << ";\n";
    ++files[step.kind];
    const int at = (inputs * static_cast<int>(kinds.size()) + k) * 8;
    if (step.kind == 'p')
      body << "selp.b32 %x0, 1, 0, " << named('p', step.at) << ";\nst.global.b32 [%out+" << at << "], %x0;\n";
    else
      body << "st.global." << type_of(step.kind) << " [%out+" << at << "], " << named(step.kind, step.at) << ";\n";
    out.steps.push_back(step);
  }
  std::ostringstream text;
  text << ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {\n";
  for (const auto& [kind, count] : files) text << ".reg ." << type_of(kind) << " %" << kind << "<" << count << ">;\n";
  text << ".reg .b32 %x0, %me;\n.reg .b64 %in, %out, %step;\nmov.u32 %me, %tid.x;\nmul.wide.u32 %step, %me, " << slots
       << ";\nld.param.u64 %in, [in];\nld.param.u64 %out, [out];\ncvta.to.global.u64 %in, %in;\ncvta.to.global.u64 "
          "%out, %out;\n"
       << "add.s64 %in, %in, %step;\nadd.s64 %out, %out, %step;\n"
       << body.str() << "ret;\n}\n";
  out.text = text.str();
  return out;
}

bool same(char kind, Word a, Word b) {
  if (kind == 'f' && std::isnan(f(a)) && std::isnan(f(b))) return true;
  if (kind == 'd' && std::isnan(d(a)) && std::isnan(d(b))) return true;
  if (kind == 'e' && std::isnan(float_of(static_cast<Half>(a))) && std::isnan(float_of(static_cast<Half>(b))))
    return true;
  return a == b;
}

/// The first register of the first thread that differs; empty: none.
std::string difference(std::uint64_t seed, int length) {
  const Program program = program_of(seed, length);
  const std::size_t slots = inputs * kinds.size() + static_cast<std::size_t>(length);
  std::mt19937_64 random(seed + 1000003);
  std::vector<Word> in(threads * slots);
  for (std::size_t t = 0; t < threads; ++t)
    for (std::size_t k = 0; k < inputs * kinds.size(); ++k) in[t * slots + k] = interesting(kinds[k / inputs], random);
  Source source;
  source.path = "random.ptx";
  source.text = program.text;
  FrontendOptions frontend;
  frontend.target = "sm_80";
  frontend.program = true;
  const Analysis a = analyze(source, frontend);
  if (!a.program) return a.no_program + "\n" + program.text;
  if (!a.profile.unmodeled.empty()) return "unmodeled: " + a.profile.unmodeled.front().what + "\n";
  Launch launch;
  launch.grid = {1, 1, 1};
  launch.block = {threads, 1, 1};
  ExecuteOptions o;
  o.sample = -1;
  o.jobs = 1;
  o.keep_buffers = true;
  o.check_shared = false;
  std::vector<unsigned char> bytes(in.size() * 8);
  std::memcpy(bytes.data(), in.data(), bytes.size());
  o.contents["in"] = bytes;
  o.contents["out"] = std::vector<unsigned char>(bytes.size(), 0);
  const auto buffers = execute(a.profile, *a.program, launch, MemoryGeometry{}, o).buffers;
  const std::vector<unsigned char>& got = buffers.at("out");
  for (std::size_t t = 0; t < threads; ++t) {
    std::map<char, std::vector<Word>> files;
    for (std::size_t k = 0; k < inputs * kinds.size(); ++k) files[kinds[k / inputs]].push_back(in[t * slots + k]);
    for (std::size_t k = 0; k < program.steps.size(); ++k) {
      const Step& step = program.steps[k];
      std::vector<Word> operands;
      for (std::size_t n = 0; n < step.sources.size(); ++n)
        operands.push_back(
            files[static_cast<char>(std::tolower(step.form->files[n + 1]))][static_cast<std::size_t>(step.sources[n])]);
      const Word want = step.form->value(operands.data());
      Word value = 0;
      std::memcpy(&value, got.data() + (t * slots + inputs * kinds.size() + k) * 8,
                  static_cast<std::size_t>(bytes_of(step.kind)));
      if (!same(step.kind, value, want)) {
        std::ostringstream text;
        text << "seed " << seed << ", thread " << t << ": " << step.form->text << step.form->last << std::hex;
        for (const Word w : operands) text << " 0x" << w;
        text << " gives 0x" << value << ", not 0x" << want << "\n" << program.text;
        return text.str();
      }
      files[step.kind].push_back(want);
    }
  }
  return "";
}

TEST(StraightLinePtx, RandomProgramsComputeWhatTheInstructionsSay) {
  const char* more = std::getenv("KERNELCAST_RANDOM_PROGRAMS");
  const std::uint64_t programs = more != nullptr ? std::strtoull(more, nullptr, 10) : 40;
  for (std::uint64_t seed = 1; seed <= programs; ++seed) EXPECT_EQ(difference(seed, 60), "");
}

}  // namespace
}  // namespace kernelcast
