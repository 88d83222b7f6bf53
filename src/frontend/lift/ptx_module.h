// A file of PTX as a module of LLVM IR, as if it had been compiled from source.
#pragma once

#include "frontend/source/compile.h"

namespace kernelcast::frontend {

/// `kernel`, if given, is the one that is wanted: what others hold may be beyond us. Throws UserError for text that is
/// no PTX, and for code that the target does not have; LimitError, naming the line, for what cannot be lifted.
CompiledUnit lift_ptx(const Source& source, const std::string& target, const std::string& capability,
                      const std::string& kernel);

}  // namespace kernelcast::frontend
