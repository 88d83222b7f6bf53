// What the models of this folder share: their lists, energy, the physical floor, small helpers. No model's estimate
// lies below the floor: the registry hands out every model inside floored().
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "kernelcast/busy_power.h"
#include "kernelcast/device.h"
#include "kernelcast/estimate.h"
#include "kernelcast/model.h"
#include "kernelcast/workload.h"
#include "model/roofline.h"

namespace kernelcast {

std::span<const Model* const> opencl_quantitative_models();
std::span<const Model* const> ske_models();
std::span<const Model* const> roofline_models();
std::span<const Model* const> mwp_cwp_models();
std::span<const Model* const> kernelcast_models();

/// An estimate with no time yet, and why interval and energy are unknown for the models of the literature.
Estimate empty_estimate(std::string_view model);

/// Fills energy_j and its interval, or says what is missing. Needs the time and its interval.
void put_energy(const Device& device, const Activity& activity, Estimate& e);

/// The least time: the largest of each type's operations at its peak and of the compulsory bytes at the peak DRAM
/// bandwidth, of those whose rate the device file knows. 0: nothing is known to bound the launch.
double floor_seconds(const Workload&, const roofline::Peaks&);

/// Fills floor_s, floor_why and achieved. An estimate below the floor is raised to it, with the bound "floor" first.
void apply_floor(const Workload&, const Device&, Estimate&);

/// A model that answers as `inner`, raised to the floor. `inner` must outlive it.
std::unique_ptr<Model> floored(const Model& inner);

/// Insertion sort: equal values keep their order, no memory is taken.
template <class T, class Less>
void sort_stably(std::vector<T>& values, Less less) {
  for (auto i = values.begin(); i != values.end(); ++i) {
    std::rotate(std::upper_bound(values.begin(), i, *i, less), i, i + 1);
  }
}

/// Passes of a conflict-free access of a whole warp to values of one bank's width: 2 for a warp of 32 on 16 banks.
inline double parts_of_warp(const MemoryGeometry& g) {
  return std::max(1.0, static_cast<double>(g.warp_size) / static_cast<double>(g.shared_banks));
}

}  // namespace kernelcast
