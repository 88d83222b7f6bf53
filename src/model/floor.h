// The physical floor of a launch, and what an estimate reaches of it. No model's estimate lies below the floor: the
// registry hands out every model inside floored().
#pragma once

#include <memory>

#include "kernelcast/model.h"
#include "model/roofline.h"

namespace kernelcast {

/// The least time: the largest of each type's operations at its peak and of the compulsory bytes at the peak DRAM
/// bandwidth, of those whose rate the device file knows. 0: nothing is known to bound the launch.
double floor_seconds(const Workload&, const roofline::Peaks&);

/// Fills floor_s, floor_why and achieved. An estimate below the floor is raised to it, with the bound "floor" first.
void apply_floor(const Workload&, const Device&, Estimate&);

/// A model that answers as `inner`, raised to the floor. `inner` must outlive it.
std::unique_ptr<Model> floored(const Model& inner);

}  // namespace kernelcast
