// Half precision (IEEE 754 binary16) as bits; arithmetic happens in float, which is wide enough that rounding twice is
// rounding once for +, -, *, / and the square root (Figueroa, "When is double rounding innocuous?", 1995).
#pragma once

#include <bit>
#include <cstdint>

namespace kernelcast::interpreter {

struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(float value) : bits(from_float(value)) {}
  explicit Half(double value) : bits(from_float(odd_float(value))) {}
  explicit operator float() const { return to_float(bits); }
  explicit operator double() const { return static_cast<double>(to_float(bits)); }

  static float to_float(std::uint16_t h) {
    const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000U) << 16;
    const std::uint32_t exponent = (h >> 10) & 0x1fU, mantissa = h & 0x3ffU;
    if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000U | mantissa << 13);
    if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
    const float tiny = static_cast<float>(mantissa) * 0x1p-24F;
    return sign != 0 ? -tiny : tiny;
  }
  static std::uint16_t from_float(float f) {
    const auto u = std::bit_cast<std::uint32_t>(f);
    const auto sign = static_cast<std::uint16_t>((u >> 16) & 0x8000U);
    const std::uint32_t magnitude = u & 0x7fffffffU;
    if (magnitude > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7e00U | ((magnitude >> 13) & 0x3ffU));
    if (magnitude >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U);  // rounds to infinity
    if (magnitude < 0x38800000U) {  // denormal: the sum with 0.5 leaves the rounded mantissa in the low bits
      const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
      return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000U));
    }
    const std::uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13) & 1U);
    return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13));
  }
  /// Rounded to odd, so that rounding on to half is right.
  static float odd_float(double d) {
    auto f = static_cast<float>(d);
    if (static_cast<double>(f) != d && d == d) {
      auto u = std::bit_cast<std::uint32_t>(f);
      const bool away = (static_cast<double>(f) > d) == (d > 0);
      if (away && u != 0) u -= 1;
      u |= 1;
      f = std::bit_cast<float>(u);
    }
    return f;
  }
};

}  // namespace kernelcast::interpreter
