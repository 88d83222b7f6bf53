// Which program makes the forecasts: what is kept of them holds for it alone.
#pragma once

#include <string_view>

namespace kernelcast {

/// A digest of the sources from analysis to time: src/core, profile, device, execute, model and tune, and the headers
/// behind them.
std::string_view forecast_identity();

}  // namespace kernelcast
