// From rows to scores by (kernel, GPU), group, flag, family and model.
#pragma once

#include <string>

#include "validate/results.h"

namespace kernelcast::validate {

/// Fewest configurations of a group whose ranking is judged.
inline constexpr std::size_t smallest_group = 8;

/// Fills every score of a report whose rows are forecast.
void score(Report& report);

/// The kernel id up to the first "_".
std::string family_of(const std::string& kernel_id);

}  // namespace kernelcast::validate
