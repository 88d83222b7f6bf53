// The engine under test, called with the same cases as the OpenCL device.
#pragma once

#include "engines/execute/cases/cases.h"
#include "kernelcast/execute.h"
#include "kernelcast/frontend.h"

namespace kernelcast::agreement {

/// The launch of a case, with parameters by name as the profile has them.
Launch launch_of(const Case& c, const Analysis& analysis, ExecuteOptions& options);

/// Contents of all buffer arguments after executing every block, in order. Throws std::runtime_error when the kernel
/// has no program, a limit strikes or anything is found that these kernels do not do.
std::vector<std::vector<unsigned char>> interpret(const Case& c, const Analysis& analysis, int warp_size,
                                                  bool independent_threads);

}  // namespace kernelcast::agreement
