// Where NVIDIA's assembler is, on machines that have it.
#pragma once

#include <optional>
#include <string>

namespace kernelcast::sass {

/// Path of ptxas: `given` if it is not empty, otherwise CUDA's usual places; nothing when there is none.
std::optional<std::string> find_ptxas(const std::string& given = {});

}  // namespace kernelcast::sass
