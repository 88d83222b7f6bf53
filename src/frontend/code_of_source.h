// Source text straight to target code: what tests, benchmarks and development tools use of the front end's middle.
#pragma once

#include <string>
#include <vector>

#include "frontend/target_code.h"
#include "kernelcast/frontend.h"

namespace kernelcast::frontend {

/// The symbols of the kernels in `source`.
std::vector<std::string> kernel_symbols(const Source& source, const std::string& target);

/// Compiles, optimises and generates code for one kernel, as analyze() does.
TargetCode code_of_source(const Source& source, const std::string& kernel_symbol, const std::string& target);

}  // namespace kernelcast::frontend
