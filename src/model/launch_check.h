// Can this launch run on this device at all?
#pragma once

#include "kernelcast/device.h"
#include "kernelcast/workload.h"

namespace kernelcast {

/// Throws UserError that names the limit with its value, the device and the flag to change when a block is larger than
/// the device allows (threads, each axis), a grid dimension is too big, or a block asks for more shared memory than a
/// block may have. Limits that the device file does not know are not checked. No allocation when all is well.
void check_launch(const Workload&, const Device&);

}  // namespace kernelcast
