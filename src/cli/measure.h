// The best configurations of `tune`, run for real.
#pragma once

#include <functional>
#include <string>

#include "kernelcast/frontend.h"
#include "report/tune_views.h"

namespace kernelcast::cli {

/// A program that lies beside this one: kernelcast-opencl, kernelcast-cuda.
std::string runner_program(const std::string& name);

/// Runs the first device's best on the machine's OpenCL device and fills `measured_on` and `measured`; a configuration
/// that fails has its reason. Buffers hold random numbers. Throws UsageError for a source that is not OpenCL C,
/// LimitError when there is no device.
void measure_opencl(const Source& source, report::TuneReport& report,
                    const std::function<void(const std::string&)>& progress);

}  // namespace kernelcast::cli
