// Kernels around one loop made of random statements: most may not be reordered, some may.
#pragma once

#include <cstdint>
#include <string>

namespace kernelcast::labelled {

/// OpenCL C; the same for the same seed. Parameters as those of the labelled loops: in, out, n.
std::string random_loop(std::uint64_t seed);

}  // namespace kernelcast::labelled
