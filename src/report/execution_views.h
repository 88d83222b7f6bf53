// What execution adds to the views: how counts came about, how sure they are, what trouble was found.
#pragma once

#include <string>

#include "report/json_parts.h"
#include "report/results.h"
#include "report/style.h"

namespace kernelcast::report {

/// "mixed: 256 of 4096 blocks executed, ..."; just the method where nothing was executed.
std::string method_text(const Workload& workload);
/// A few lines of `explain` on what only an execution knows; empty when nothing was executed.
std::string execution_text(const DeviceResult& device, const Style& style);

/// "execution" within "counts"; only where something was executed.
Json execution_json(const Workload& workload);
Json findings_json(const std::vector<FindingReport>& findings);

}  // namespace kernelcast::report
