// The pipeline: source -> profile (once for each code generation target) -> workload -> estimates.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/request.h"
#include "kernelcast/device.h"
#include "report/results.h"

namespace kernelcast::cli {

/// The front end as the pipeline sees it; tests put a fake in its place.
struct Frontend {
  std::function<Analysis(const Source&, const FrontendOptions&)> analyze;
  std::function<std::vector<std::string>(const Source&, const FrontendOptions&)> kernels_in;
};
Frontend real_frontend();

struct ForecastRun {
  report::Forecast forecast;
  std::vector<std::string> messages;  // warnings of the compiler and failures, for standard error
  bool complete = false;              // everything that was asked for by name has an answer
};

/// `progress` is told what happens, in few words. Devices that fail do not stop the others; when none is left, throws
/// the first failure: UserError for source and device, UsageError for the launch and its arguments, LimitError.
ForecastRun run_forecast(const Request& request, const Frontend& frontend, const DeviceCatalog& catalog,
                         const std::function<void(const std::string&)>& progress);

}  // namespace kernelcast::cli
