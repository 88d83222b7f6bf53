// What changed between two texts, as patch(1) reads it.
#pragma once

#include <string>

namespace kernelcast {

/// One hunk from the first to the last line that differ, with three lines around it; empty when the texts are the same.
std::string unified_diff(const std::string& before, const std::string& after, const std::string& path);

}  // namespace kernelcast
