// Random kernels in OpenCL C whose control flow and addresses are closed forms of ids, sizes, arguments and counters.
#pragma once

#include <cstdint>
#include <string>

#include "kernelcast/launch.h"

namespace kernelcast::agreement {

/// Reads and writes `global float* a, *b, *c` within the first `random_buffer_elements` elements; takes `int n`.
std::string random_source(std::uint64_t seed);
inline constexpr std::int64_t random_buffer_elements = 1 << 22;

/// A small launch for it, with tails and partly filled warps.
Launch random_launch(std::uint64_t seed);

}  // namespace kernelcast::agreement
