// Which default of a wide interval moves the forecast most, and how far.
#pragma once

#include "forecast/results.h"
#include "kernelcast/model.h"

namespace kernelcast {

/// Where `estimate` says that defaults make its interval wide (Assumption::Kind::narrows): names the settings in the
/// order of their effect, each with the forecasts at both ends of what it may be: 1 and 256 trips, a branch taken with
/// 0.05 and 0.95, neighbouring lanes 4 and 128 bytes apart. The effects are those of the closed forms, all else as it
/// is; contents of buffers come last, without figures.
void rank_what_narrows(const Model& model, const DeviceResult& result, Estimate& estimate);

}  // namespace kernelcast
