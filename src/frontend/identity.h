// Which front end this is: what is kept of an analysis holds for it alone.
#pragma once

#include <string_view>

namespace kernelcast {

/// A digest of the sources of src/frontend and src/core, the headers behind them, and the version of LLVM.
std::string_view frontend_identity();

}  // namespace kernelcast
