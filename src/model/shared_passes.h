// Passes through the banks of shared memory, as workloads count them.
#pragma once

#include <algorithm>

#include "kernelcast/workload.h"

namespace kernelcast {

/// Passes of a conflict-free access of a whole warp to values of one bank's width: 2 for a warp of 32 on 16 banks.
inline double parts_of_warp(const MemoryGeometry& g) {
  return std::max(1.0, static_cast<double>(g.warp_size) / static_cast<double>(g.shared_banks));
}

}  // namespace kernelcast
