// The arithmetic of single instructions: wrapping, with a flag for what is not exact.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/int_math.h"

namespace kernelcast::compiled {

using std::int64_t;

// Wraps on purpose; the flag says so.
struct Checked {
  int64_t value;
  bool bad;
};

inline Checked add(int64_t a, int64_t b) {
  int64_t r = 0;
  const bool bad = __builtin_add_overflow(a, b, &r);
  return {r, bad};
}
inline Checked sub(int64_t a, int64_t b) {
  int64_t r = 0;
  const bool bad = __builtin_sub_overflow(a, b, &r);
  return {r, bad};
}
inline Checked mul(int64_t a, int64_t b) {
  int64_t r = 0;
  const bool bad = __builtin_mul_overflow(a, b, &r);
  return {r, bad};
}
inline Checked mul_add(int64_t a, int64_t b, int64_t c) {
  const Checked p = mul(a, b), s = add(p.value, c);
  return {s.value, p.bad || s.bad};
}

struct Division {
  int64_t quotient, remainder;  // rounded towards 0
  bool bad;
};
inline Division divide(int64_t a, int64_t b) {
  // The processor's 32-bit division is faster, and most sizes fit.
  if ((static_cast<std::uint64_t>(a | b) >> 32U) == 0 && b != 0) {
    const auto x = static_cast<std::uint32_t>(a), y = static_cast<std::uint32_t>(b);
    return {x / y, x % y, false};
  }
  if (b == 0 || (b == -1 && a == int64_min)) return {0, 0, true};
  return {a / b, a % b, false};
}
inline Checked floor_div(int64_t a, int64_t b) {
  const Division d = divide(a, b);
  return {d.quotient - static_cast<int64_t>(d.remainder != 0 && (a ^ b) < 0), d.bad};
}
inline Checked ceil_div(int64_t a, int64_t b) {
  const Division d = divide(a, b);
  return {d.quotient + static_cast<int64_t>(d.remainder != 0 && (a ^ b) >= 0), d.bad};
}
inline Checked mod(int64_t a, int64_t b) {
  if (b == -1) return {0, false};
  const Division d = divide(a, b);
  return {d.remainder != 0 && (d.remainder ^ b) < 0 ? d.remainder + b : d.remainder, d.bad};
}
inline Checked shift_left(int64_t a, int64_t b) {
  if (b < 0 || b > 62) return {0, true};
  return mul(a, int64_t{1} << b);
}
inline Checked shift_right(int64_t a, int64_t b) { return {a >> (b & 63) >> (b > 63 ? 63 : 0), b < 0}; }
inline int64_t bit_width(int64_t a) { return a <= 0 ? 0 : std::bit_width(static_cast<std::uint64_t>(a)); }

}  // namespace kernelcast::compiled
