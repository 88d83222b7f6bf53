// The instruction set of CompiledExprs. Slots are one array of int64: [constants | inputs | results of instructions in
// order], so an instruction's destination is implied by its position.
#pragma once

#include <cstdint>

namespace kernelcast {

enum class Code : std::uint8_t {
  add,          // a + b
  sub,          // a - b
  mul,          // a * b
  mul_add,      // a * b + c
  shift_floor,  // floor(a / 2^b): b is the count itself, not a slot
  mask,         // mod(a, 2^b) likewise
  floor_magic,  // floor(a / d), d >= 2 constant: slots b, b+1, b+2 hold d, multiplier, shift (see magic_for)
  mod_magic,    // mod(a, d) likewise
  floor_div,
  ceil_div,
  mod,
  min,
  max,
  less,
  less_equal,
  equal,
  select,  // a != 0 ? b : c, both evaluated
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  bit_width
};

/// Division of 0 <= n < 2^63 by a constant d >= 2 as a multiplication: n / d = (n * multiplier) >> 64 >> shift.
struct Magic {
  std::uint64_t multiplier;
  std::int64_t shift;
};
Magic magic_for(std::int64_t d);

inline std::int64_t floor_by_magic(std::int64_t a, std::int64_t multiplier, std::int64_t shift) {
  __extension__ using Wide = unsigned __int128;
  const std::int64_t sign = a >> 63;  // floor(a / d) = ~floor(~a / d) for negative a
  const auto n = static_cast<std::uint64_t>(a ^ sign);
  const auto q =
      static_cast<std::uint64_t>((static_cast<Wide>(n) * static_cast<std::uint64_t>(multiplier)) >> 64U) >> shift;
  return static_cast<std::int64_t>(q) ^ sign;
}

/// mod(a, d) from q = floor(a / d). The product may leave 64 bits near the lower end; the difference is back in range.
inline std::int64_t remainder_of(std::int64_t a, std::int64_t q, std::int64_t d) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) -
                                   static_cast<std::uint64_t>(q) * static_cast<std::uint64_t>(d));
}

}  // namespace kernelcast
