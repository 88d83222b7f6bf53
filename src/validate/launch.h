// A measured row as the launch that is bound to a profile.
#pragma once

#include <string>

#include "kernelcast/profile.h"
#include "validate/measurement.h"

namespace kernelcast::validate {

/// Buffers in elements of what the kernel's pointers point to, with their fills ("file:" relative to `folder`),
/// arguments by position under the kernel's own names, and the block that the kernel demands where the row gives none.
/// Throws UserError when positions and parameters do not agree.
Launch launch_for(const Measurement& row, const KernelEntry& kernel, const KernelProfile& profile,
                  const std::string& folder);

}  // namespace kernelcast::validate
