// Launches found in the host code: of `predict` and `explain` where neither grid nor block is given.
#pragma once

#include "cli/catalog.h"
#include "cli/commands.h"
#include "cli/request.h"
#include "kernelcast/host.h"
#include "report/launch_views.h"

namespace kernelcast::cli {

/// Whether the flags leave the launch to the host code of a CUDA or HIP source.
bool wants_launches(const ForecastFlags& flags);
/// Launches of the source that are wanted (--kernel, --launch N), numbered. Throws UserError where there is none.
report::ProgramForecast find_launches(const ForecastFlags& flags, Source source, const DeviceCatalog& catalog);
/// The flags for one launch: what was typed goes before what was found. Throws UserError naming what is not known.
ForecastFlags flags_for(const ForecastFlags& flags, const HostLaunch& launch);
/// `predict` of all of them.
int predict_program(const ForecastFlags& flags, const Environment& environment);
/// The flags with the one launch that is wanted, for `explain`. Throws UsageError where there are several.
ForecastFlags only_launch(const ForecastFlags& flags, const Environment& environment);

}  // namespace kernelcast::cli
