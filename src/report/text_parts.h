// Pieces of text that `predict` and `explain` share.
#pragma once

#include <string>
#include <vector>

#include "report/results.h"
#include "report/style.h"

namespace kernelcast::report {

/// "64 x 16", trailing ones left out.
std::string dim_text(const Dim3& d);
/// Kernel, device, launch, resources; or why there is no forecast.
std::string device_heading(const Forecast& forecast, const DeviceResult& device, const Style& style);
/// Time, limiter, occupancy, bounds and the model's own assumptions.
std::string model_block(const ModelResult& result, const Style& style);
/// "what = value   flag", aligned; empty for an empty list.
std::string assumption_block(const std::vector<Assumption>& assumptions, std::string_view title, const Style& style,
                             int indent = 2);

}  // namespace kernelcast::report
