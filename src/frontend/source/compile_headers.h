// The virtual headers: files of src/frontend/headers, embedded at build time. They stand in for the toolkits' headers;
// a toolkit that happens to be installed is never read.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast::frontend {

struct VirtualHeader {
  std::string_view name, text;
};

/// All headers by their name below the virtual folder ("cuda_runtime.h", "cub/cub.cuh").
std::span<const VirtualHeader> virtual_headers();

/// Headers to be read before a CUDA or HIP source, as the vendors' compilers read cuda_runtime.h. Families that the
/// text never names (atomics, shuffles, ...) are left out when it includes no local header, for speed.
std::vector<std::string> preludes_for(std::string_view text);

/// The same for OpenCL C: bodies of functions of sub-groups and packed dot products, where the text names them or
/// includes another file.
std::vector<std::string> opencl_preludes_for(std::string_view text);

}  // namespace kernelcast::frontend
