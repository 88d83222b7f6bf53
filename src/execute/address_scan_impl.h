// Plain loops over rows of addresses that the compiler makes vector code of. Included once for each instruction set, as
// handlers_impl.h is. Lanes that are off take the place of the first active one, and differences to it are 32 bits
// wide, for which every instruction set has minima.
#include <algorithm>
#include <bit>

#include "execute/address_scan.h"
#include "execute/prepared.h"

#ifndef KERNELCAST_HANDLERS
#error "define KERNELCAST_HANDLERS, the namespace of this version"
#endif

namespace kernelcast::interpreter::KERNELCAST_HANDLERS {

AddressScan scan(const std::uint64_t* a, std::uint64_t lanes, int rows, std::uint64_t displacement, std::uint64_t step,
                 std::uint64_t* address) {
  const int first = std::countr_zero(lanes);
  const std::uint64_t base = a[first] + displacement;
  std::uint64_t far = 0, bits = 0, off_row = 0;
  std::int32_t least = 0, most = 0;
  for (int r = 0; r < rows; ++r) {
    std::int32_t near[lanes_at_once];
    const std::uint64_t* from = a + r * lanes_at_once;
    std::uint64_t* to = address + r * lanes_at_once;
    const std::uint64_t on = lanes >> (r * lanes_at_once);
    const std::uint64_t row_start = static_cast<std::uint64_t>(r * lanes_at_once - first) * step;
    for (int l = 0; l < lanes_at_once; ++l) {
      const std::uint64_t at = from[l] + displacement;
      const std::uint64_t mask = 0 - (on >> l & 1U);
      const std::uint64_t distance = at - base;
      to[l] = at;
      bits |= at & mask;
      far |= (distance + (std::uint64_t{1} << 31)) & mask;
      off_row |= (distance ^ (row_start + static_cast<std::uint64_t>(l) * step)) & mask;
      near[l] = static_cast<std::int32_t>(static_cast<std::uint32_t>(distance & mask));
    }
    for (int l = 0; l < lanes_at_once; ++l) least = std::min(least, near[l]);
    for (int l = 0; l < lanes_at_once; ++l) most = std::max(most, near[l]);
  }
  AddressScan s;
  s.least = base + static_cast<std::uint64_t>(static_cast<std::int64_t>(least));
  s.most = base + static_cast<std::uint64_t>(static_cast<std::int64_t>(most));
  s.bits = bits;
  s.near = far >> 32 == 0;
  s.in_row = off_row == 0;
  return s;
}

}  // namespace kernelcast::interpreter::KERNELCAST_HANDLERS
