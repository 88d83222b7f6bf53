// Runs a plan on the machine's first CUDA device.
#pragma once

#include <functional>

#include "probe/cuda/plan.h"

namespace kernelcast::probe::cuda {

/// Never throws for a machine without a device or for what fails on it: see the record's failures. `keep` is given the
/// record after each phase, so that a device that hangs takes only the rest with it. `library`: path of the driver
/// library, libcuda.so.1 if empty.
Record run_plan(const Plan& plan, const std::string& library, const std::function<void(const Record&)>& keep);

}  // namespace kernelcast::probe::cuda
