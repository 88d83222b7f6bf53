#include "machine/sass/cubin.h"

#include <filesystem>

namespace kernelcast::sass {

std::optional<std::string> find_ptxas(const std::string& given) {
  if (!given.empty()) return std::filesystem::exists(given) ? std::optional(given) : std::nullopt;
  for (const char* path :
       {"/usr/local/cuda/bin/ptxas", "/opt/cuda/bin/ptxas", "/usr/lib/cuda/bin/ptxas", "/usr/bin/ptxas"})
    if (std::filesystem::exists(path)) return path;
  return std::nullopt;
}

}  // namespace kernelcast::sass
