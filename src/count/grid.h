// The grid of a loop nest whose loops became work-items: enough blocks to cover them.
#pragma once

#include <array>
#include <cstdint>

#include "kernelcast/launch.h"
#include "kernelcast/profile.h"

namespace kernelcast {

using Extents = std::array<std::int64_t, 3>;

/// Trip counts of the mapped loops with the launch's arguments put in; 1 where no loop is mapped. Throws UsageError for
/// an extent that the arguments do not decide or that is below 1, and where the profile knows none.
Extents mapped_extents(const KernelProfile& profile, const Launch& launch);

/// Blocks that cover `extents`, the last ones in part.
Dim3 grid_over(const Extents& extents, const Dim3& block);

}  // namespace kernelcast
