// Exact integer helpers: 128-bit intermediates, floor division, checked narrowing. No operation here wraps silently.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace kernelcast {

__extension__ using Int128 = __int128;

inline constexpr std::int64_t int64_min = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();

inline constexpr bool fits_int64(Int128 v) { return v >= int64_min && v <= int64_max; }

inline constexpr std::optional<std::int64_t> narrow(Int128 v) {
  if (!fits_int64(v)) return std::nullopt;
  return static_cast<std::int64_t>(v);
}

/// floor(a / b), b != 0.
inline constexpr Int128 floor_quotient(Int128 a, Int128 b) {
  const Int128 q = a / b;
  return q - static_cast<Int128>((a % b != 0) && ((a < 0) != (b < 0)));
}

/// ceil(a / b), b != 0.
inline constexpr Int128 ceil_quotient(Int128 a, Int128 b) {
  const Int128 q = a / b;
  return q + static_cast<Int128>((a % b != 0) && ((a < 0) == (b < 0)));
}

/// a - b * floor(a / b), b != 0.
inline constexpr Int128 floor_remainder(Int128 a, Int128 b) {
  const Int128 r = a % b;
  return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
}

/// |v| without overflow.
inline constexpr std::uint64_t magnitude(std::int64_t v) {
  return v < 0 ? ~static_cast<std::uint64_t>(v) + 1U : static_cast<std::uint64_t>(v);
}

inline constexpr std::uint64_t greatest_common_divisor(std::uint64_t a, std::uint64_t b) {
  while (b != 0) {
    const std::uint64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

inline constexpr bool is_power_of_two(std::int64_t v) { return v > 0 && (v & (v - 1)) == 0; }

/// The exponent of a power of two.
inline constexpr int log2_exact(std::int64_t v) { return __builtin_ctzll(static_cast<unsigned long long>(v)); }

}  // namespace kernelcast
