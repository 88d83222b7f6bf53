// Sets of lanes as bits of a word.
#pragma once

#include <bit>
#include <cstdint>

namespace kernelcast::interpreter {

/// How many bits are set. Plain x86-64 has no instruction for it and std::popcount is a call there.
inline int lane_count(std::uint64_t lanes) {
  lanes -= lanes >> 1 & 0x5555555555555555U;
  lanes = (lanes & 0x3333333333333333U) + (lanes >> 2 & 0x3333333333333333U);
  lanes = (lanes + (lanes >> 4)) & 0x0f0f0f0f0f0f0f0fU;
  return static_cast<int>(lanes * 0x0101010101010101U >> 56);
}

/// Lanes 0 to n - 1.
inline std::uint64_t first_lanes(int n) { return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1; }

/// f(lane) for every bit that is set, ascending.
template <class F>
void for_lanes(std::uint64_t lanes, F f) {
  if ((lanes & (lanes + 1)) == 0) {  // from lane 0 on, none left out
    const int past = 64 - std::countl_zero(lanes);
    for (int l = 0; l < past; ++l) f(l);
    return;
  }
  for (; lanes != 0; lanes &= lanes - 1) f(std::countr_zero(lanes));
}

}  // namespace kernelcast::interpreter
