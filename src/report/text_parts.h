// Pieces of text that `predict` and `explain` share.
#pragma once

#include <string>
#include <vector>

#include "report/results.h"
#include "report/style.h"

namespace kernelcast::report {

/// "64 x 16", trailing ones left out.
std::string dim_text(const Dim3& d);
/// Kernel, device, launch, resources, occupancy where the models agree on it; or why there is no forecast.
std::string device_heading(const ForecastReport& forecast, const DeviceResult& device, const Style& style);
/// Time, limiter, bounds and the model's own assumptions for each model. Bounds of no time are left out unless `all`.
std::string model_blocks(const DeviceResult& device, const Style& style, bool all);
/// "what = value  (flag)" a line; empty for an empty list.
/// What costs nothing in the estimate, a line each; empty where there is nothing.
std::string unmodeled_block(const KernelProfile* profile, const Style& style);
std::string assumption_block(const std::vector<Assumption>& assumptions, std::string_view title, const Style& style,
                             int indent = 2);

}  // namespace kernelcast::report
