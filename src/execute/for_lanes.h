// Sets of lanes as bits of a word.
#pragma once

#include <bit>
#include <cstdint>

namespace kernelcast::interpreter {

/// f(lane) for every bit that is set, ascending.
template <class F>
void for_lanes(std::uint64_t lanes, F f) {
  for (; lanes != 0; lanes &= lanes - 1) f(std::countr_zero(lanes));
}

}  // namespace kernelcast::interpreter
