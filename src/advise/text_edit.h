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

/// The text with the headers of two `for` loops exchanged: the one on line `line`, and the one that is its whole body.
/// Empty: there are no such two, or the bounds of one use the counter of the other.
std::string with_nest_exchanged(const std::string& text, int line);

}  // namespace kernelcast::advice
