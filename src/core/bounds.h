// Closed integer ranges with open ends, for interval arithmetic. Ends are 128-bit; beyond +-2^126 they mean infinity
// and every operation saturates outwards, so a range is never too small.
#pragma once

#include "core/int_math.h"

namespace kernelcast {

inline constexpr Int128 infinity = static_cast<Int128>(1) << 126;

struct Bounds {
  Int128 lo = -infinity;
  Int128 hi = infinity;
  [[nodiscard]] static Bounds point(Int128 v) { return {v, v}; }
  [[nodiscard]] bool within(Int128 a, Int128 b) const { return a <= lo && hi <= b; }
  [[nodiscard]] bool finite() const { return lo > -infinity && hi < infinity; }
  [[nodiscard]] bool is_point() const { return lo == hi; }
  [[nodiscard]] bool contains(Int128 v) const { return lo <= v && v <= hi; }
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

Bounds operator+(const Bounds& a, const Bounds& b);
Bounds operator*(const Bounds& a, const Bounds& b);
Bounds power(const Bounds& a, unsigned exponent);
/// The smallest range that holds both.
Bounds join(const Bounds& a, const Bounds& b);

}  // namespace kernelcast
