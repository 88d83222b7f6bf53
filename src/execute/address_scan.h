// One look at the addresses of a warp's request: what is known when they are close together.
#pragma once

#include <cstdint>

namespace kernelcast::interpreter {

struct AddressScan {
  std::uint64_t least = 0, most = 0;  // of the active lanes
  std::uint64_t bits = 0;             // all addresses, or-ed
  bool near = false;                  // within 2 GiB of the first; otherwise only `bits` is meant
  bool in_row = false;                // lane l lies `step` times its distance behind the first active lane
};

/// Writes a[l] + displacement of all lanes to `address`, active or not; `rows` of lanes_at_once. At least one lane of
/// `lanes` is active.
using ScanAddresses = AddressScan (*)(const std::uint64_t* a, std::uint64_t lanes, int rows, std::uint64_t displacement,
                                      std::uint64_t step, std::uint64_t* address);
/// The function for this processor.
ScanAddresses address_scan();

}  // namespace kernelcast::interpreter
