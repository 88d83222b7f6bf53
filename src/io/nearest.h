// Spelling help: the names nearest to one that was not found.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast {

/// Lower-case letters and digits of a name, everything else removed: "NVIDIA GeForce GTX-280" -> "nvidiageforcegtx280".
std::string name_key(std::string_view name);

/// The fewest insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Up to `limit` candidates that could be meant by `name`, best first; case and punctuation are ignored. Names that
/// share nothing with it are left out, so the result may be empty.
std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string> candidates,
                                       std::size_t limit = 3);

}  // namespace kernelcast
