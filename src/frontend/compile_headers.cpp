// nvcc reads cuda_runtime.h before every source, so a .cu file may use all of it without an include. Reading all of
// ours takes a good part of a small kernel's compile time; a source without local includes gets only the families whose
// words it holds.
#include "frontend/compile_headers.h"

#include <algorithm>

namespace kernelcast::frontend {
namespace {

struct Family {
  const char* header;
  std::vector<std::string_view> words;  // empty: always
};

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"kernelcast/core.h", {}},
      {"kernelcast/vectors.h", {}},
      {"kernelcast/math.h", {}},
      {"kernelcast/intrinsics.h", {"__", "hadd"}},
      {"kernelcast/atomics.h", {"tomic"}},
      {"kernelcast/warp.h",
       {"__shfl", "__ballot", "__any", "__all", "__match", "__reduce", "__activemask", "__uni", "__lane"}},
      {"kernelcast/host_api.h", {"<<<", "cuda", "hip", "CU"}},
      {"kernelcast/texture.h", {"tex", "surf", "Texture", "Channel", "Resource"}},
  };
  return all;
}

bool includes_local_header(std::string_view text) {
  for (std::size_t at = 0; (at = text.find("include", at)) != std::string_view::npos; at += 7) {
    std::size_t next = at + 7;
    while (next < text.size() && (text[next] == ' ' || text[next] == '\t')) ++next;
    if (next < text.size() && text[next] == '"') return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> preludes_for(std::string_view text) {
  const bool everything = includes_local_header(text);
  std::vector<std::string> headers;
  for (const auto& family : families()) {
    const bool named = family.words.empty() || std::any_of(family.words.begin(), family.words.end(), [&](auto word) {
                         return text.find(word) != std::string_view::npos;
                       });
    if (everything || named) headers.emplace_back(family.header);
  }
  return headers;
}

}  // namespace kernelcast::frontend
