// The models of this folder, each family the default reading first, then its other readings.
#pragma once

#include <span>

#include "kernelcast/model.h"

namespace kernelcast {

std::span<const Model* const> opencl_quantitative_models();
std::span<const Model* const> ske_models();
std::span<const Model* const> roofline_models();
std::span<const Model* const> mwp_cwp_models();
std::span<const Model* const> kernelcast_models();

/// An estimate with no time yet, and why interval and energy are unknown for the models of the literature.
Estimate empty_estimate(std::string_view model);

}  // namespace kernelcast
