// Random bits from a key: the same on every machine.
#pragma once

#include <cstdint>

namespace kernelcast {

/// The finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014): applied to
/// key + (k + 1) * 0x9e3779b97f4a7c15 it is the k-th number of the stream that starts at `key`.
constexpr std::uint64_t mix_bits(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}
constexpr std::uint64_t random_bits(std::uint64_t key, std::uint64_t k) {
  return mix_bits(key + (k + 1) * 0x9e3779b97f4a7c15U);
}

}  // namespace kernelcast
