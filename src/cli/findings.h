// Findings of `advise` on a forecast: of the commands that show them.
#pragma once

#include "advise/find_advice.h"
#include "cli/request.h"
#include "report/advice_views.h"

namespace kernelcast::cli {

/// Analyses of equal texts are shared: a what-if of the launch compiles nothing again. `listing`: with the target's
/// code.
Frontend cached_frontend(bool listing = false);

report::DeviceAdvice advice_on(const Request& request, const Frontend& frontend, const DeviceResult& result,
                               const advice::SourceLines& sources, const advice::AdviceOptions& options);

}  // namespace kernelcast::cli
