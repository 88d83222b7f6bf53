// Fields of structures that a kernel takes by value, of which a launch gives the bytes.
#pragma once

#include "kernelcast/profile.h"

namespace kernelcast {

/// Puts what `structures` has of the fields that the profile names ("p+8") into `args` and `buffers`, where the launch
/// gives nothing by that name; likewise what `globals` has of its variables.
void name_fields(const KernelProfile& profile, Launch& launch);

}  // namespace kernelcast
