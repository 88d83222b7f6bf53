// Which front end this is: what is kept of an analysis holds for it alone.
#pragma once

#include <string>
#include <string_view>

namespace kernelcast {

/// A digest of the sources of src/frontend and src/core, the headers behind them, and the version of LLVM.
std::string_view frontend_identity();

/// Version of the LLVM that is loaded: "19.1.7".
std::string llvm_version();

}  // namespace kernelcast
