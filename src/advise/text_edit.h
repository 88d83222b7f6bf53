// The text of a source: brackets, lists, and changes of accesses, which take what is written in one of a few plain
// forms and leave everything else alone: an empty result.
#pragma once

#include <string>
#include <vector>

namespace kernelcast::advice {

/// Position of the bracket that closes the one at `open`; npos: none.
std::size_t closing(const std::string& text, std::size_t open);
/// Parts of an expression between operators or commas `sign` outside of brackets, without blanks around them.
std::vector<std::string> parts_of(const std::string& text, char sign);

/// The text with `name[n * e + k]`, for constants k below `elements` and any e, as components of `vector` (float4):
/// reinterpret_cast<const float4*>(name)[e].x and so on. Empty: some use of `name` with an index has another form, or
/// is assigned to.
std::string with_vector_loads(const std::string& text, const std::string& name, int elements,
                              const std::string& vector);

}  // namespace kernelcast::advice
