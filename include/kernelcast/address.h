// Addresses as the interpreted kernel sees them: 64-bit integers, the upper 24 bits of a generic or global address name
// what it points into. Pointers in the shared and private address spaces of a target are plain offsets; making a
// generic pointer of them adds the window.
#pragma once

#include <cstdint>

namespace kernelcast::interpreter {

inline constexpr int window_bits = 40;
inline constexpr std::uint64_t offset_mask = (std::uint64_t{1} << window_bits) - 1;
inline constexpr std::uint64_t shared_window = 0x7ffe;
inline constexpr std::uint64_t private_window = 0x7ffd;
inline constexpr std::uint64_t parameter_window = 0x7ffc;  // by-value parameters, one after the other

/// Of byte `offset` of buffer number `buffer` of the profile. Address 0 is the null pointer.
constexpr std::uint64_t global_address(int buffer, std::int64_t offset) {
  return (static_cast<std::uint64_t>(buffer + 1) << window_bits) + static_cast<std::uint64_t>(offset);
}
constexpr std::uint64_t window_of(std::uint64_t address) { return address >> window_bits; }
constexpr std::int64_t offset_of(std::uint64_t address) { return static_cast<std::int64_t>(address & offset_mask); }

}  // namespace kernelcast::interpreter
