// Which code a device runs.
#pragma once

#include "kernelcast/device.h"
#include "kernelcast/frontend.h"

namespace kernelcast {

/// Sets the target of code generation of a device, and what it stands in for.
inline void generate_for(const Device& device, FrontendOptions& options) {
  options.target = device.codegen_target;
  options.capability = capability_of(device);
}

}  // namespace kernelcast
