// The pipeline of forecast/pipeline.h for the command line: devices by name, progress, messages.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/request.h"
#include "forecast/pipeline.h"
#include "kernelcast/device.h"
#include "report/results.h"

namespace kernelcast::cli {

struct ForecastRun {
  report::ForecastReport forecast;
  std::vector<std::string> messages;  // warnings of the compiler and failures, for standard error
  bool complete = false;              // everything that was asked for by name has an answer
};

/// `progress` is told what happens, in few words. Devices that fail do not stop the others; when none is left, throws
/// the first failure: UserError for source and device, UsageError for the launch and its arguments, LimitError.
ForecastRun run_forecast(const Request& request, const Frontend& frontend, const DeviceCatalog& catalog,
                         const std::function<void(const std::string&)>& progress);

}  // namespace kernelcast::cli
