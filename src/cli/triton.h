// What Triton writes beside the PTX of a kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kernelcast::cli {

struct TritonMetadata {
  std::optional<std::int64_t> threads;       // num_warps * warp_size (32 where it is not given)
  std::optional<std::int64_t> shared_bytes;  // of the launch
};

/// Of NAME.json beside NAME.ptx; empty for other files and where there is none. Throws UserError for a file that is
/// there and has no num_warps, or more than one block a cluster.
TritonMetadata triton_metadata(const std::string& path);

/// The same of a file's text; `name` is the file's. Throws UserError, LimitError.
TritonMetadata triton_metadata_of(const std::string& json, const std::string& name);

}  // namespace kernelcast::cli
