// From a Device and a Workload to the quantities of the OpenCL paper, with what is taken for granted on the way.
#pragma once

#include <string>
#include <vector>

#include "kernelcast/device.h"
#include "kernelcast/launch.h"
#include "kernelcast/workload.h"
#include "model/opencl_quantitative.h"

namespace kernelcast::opencl_quantitative {

/// The paper's machine; numbers that neither the device file nor a documented derivation gives are NaN. No allocation.
QuantitativeDevice machine_of(const Device&);
/// Which constants were derived (the device file has no section [opencl_quantitative]) and from what.
std::vector<Assumption> machine_assumptions(const Device&);
/// FP32 lanes per FP64 lane: what one FP64 operation costs in FP32 ones; NaN where unknown or without FP64 units.
double fp64_factor(const Device&);

/// Instructions of one work-item of the average batch, from warp instructions.
Instructions instructions_of(const OpCounts& warp_ops, double warps, double fp64_factor);
/// Costs of the average batch. No allocation.
BatchCost batch_cost_of(const QuantitativeDevice&, const Workload&, double fp64_factor);
/// The first thing that is missing for this workload, as a sentence that says what to set; empty when nothing is.
std::string missing(const QuantitativeDevice&, const Workload&, const Device&);

}  // namespace kernelcast::opencl_quantitative
