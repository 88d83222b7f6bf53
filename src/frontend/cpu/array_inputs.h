// Which arrays of a nest hold values from before it that it reads.
#pragma once

#include <vector>

#include "kernelcast/cpu_code.h"

namespace llvm {
class Function;
}

namespace kernelcast::frontend {

/// Arrays behind pointer parameters, in order of the parameters. The function's variables must be values (SROA), its
/// loops in simplified form.
std::vector<ArrayUse> array_uses(llvm::Function& function);

}  // namespace kernelcast::frontend
