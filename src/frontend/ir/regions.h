// Instructions told apart by the part of the source that they stand in, or were inlined into.
#pragma once

#include <vector>

#include "kernelcast/frontend.h"

namespace llvm {
class Function;
}

namespace kernelcast::frontend {

/// Gives every instruction of the optimised kernel that stands in one of the regions, by itself or through the calls by
/// which it was inlined, and every loop that begins there, the line region_line() has for it. Whoever counts by line
/// afterwards counts by region.
void mark_regions(llvm::Function& kernel, const std::vector<CodeRegion>& regions);

}  // namespace kernelcast::frontend
