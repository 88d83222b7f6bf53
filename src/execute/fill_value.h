// One scalar of a fill: how random bits become numbers, and how numbers lie in memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/mix_bits.h"
#include "execute/half.h"
#include "kernelcast/program.h"

namespace kernelcast::interpreter {

/// The stream of a buffer: 64-bit FNV-1a of the name, mixed with the seed.
constexpr std::uint64_t stream_key(std::uint64_t seed, std::string_view name) {
  std::uint64_t h = 0xcbf29ce484222325U;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return mix_bits(h + mix_bits(seed));
}

/// In [0, 1), with 53 bits.
constexpr double unit_interval(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }
/// In [0, n), n >= 1: the upper half of the product (bias below n / 2^64).
constexpr std::int64_t below(std::uint64_t bits, std::uint64_t n) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>((static_cast<Wide>(bits) * n) >> 64U));
}

/// The value that `type` holds after rounding `v` to it, strictly below `limit` (> the lowest value of the range).
inline double rounded_below(ValueType type, double v, double limit) {
  if (type == ValueType::f64) return v < limit ? v : std::nextafter(limit, -INFINITY);
  if (type == ValueType::f32) {
    const auto f = static_cast<float>(v);
    if (f < limit) return f;
    const auto top = static_cast<float>(limit);
    return top < limit ? top : std::nextafterf(top, -INFINITY);
  }
  // f16: one unit in the last place of 11 bits down, where rounding would go up.
  const double unit = std::ldexp(1.0, std::max(std::ilogb(std::fabs(v) + 0x1p-30), -14) - 10);
  const double f = std::nearbyint(v / unit) * unit;
  return f < limit ? f : f - unit;
}

inline void store_scalar(ValueType type, double v, unsigned char* at) {
  if (type == ValueType::f64) {
    std::memcpy(at, &v, 8);
  } else if (type == ValueType::f32) {
    const auto f = static_cast<float>(v);
    std::memcpy(at, &f, 4);
  } else {
    const std::uint16_t h = Half(v).bits;
    std::memcpy(at, &h, 2);
  }
}

inline void store_scalar(ValueType type, std::int64_t v, unsigned char* at) {
  const std::int64_t sign = v < 0 ? -1 : 0;
  switch (type) {
    case ValueType::i1:
      *at = static_cast<unsigned char>(v & 1);
      break;
    case ValueType::i8:
      *at = static_cast<unsigned char>(v);
      break;
    case ValueType::i16:
      std::memcpy(at, &v, 2);
      break;
    case ValueType::i32:
      std::memcpy(at, &v, 4);
      break;
    case ValueType::i128:
      std::memcpy(at + 8, &sign, 8);
      [[fallthrough]];
    default:
      std::memcpy(at, &v, 8);
  }
}

}  // namespace kernelcast::interpreter
