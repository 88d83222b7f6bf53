// Changes of loops and accesses in the text of a source. Each takes what is written in one of a few plain forms and
// leaves everything else alone: an empty result.
#pragma once

#include <string>

namespace kernelcast::advice {

/// The text with `name[n * e + k]`, for constants k below `elements` and any e, as components of `vector` (float4):
/// reinterpret_cast<const float4*>(name)[e].x and so on. Empty: some use of `name` with an index has another form, or
/// is assigned to.
std::string with_vector_loads(const std::string& text, const std::string& name, int elements,
                              const std::string& vector);

}  // namespace kernelcast::advice
