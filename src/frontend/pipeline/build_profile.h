// From an optimised kernel and its target code to the symbolic profile.
#pragma once

#include <string>

#include "frontend/pipeline/generate_code.h"
#include "kernelcast/frontend.h"

namespace llvm {
class Function;
}

namespace kernelcast::frontend {

/// Joins structure (read from the IR) and operation counts (read from the target's code, by block name). Every
/// operation of `code` lands in exactly one block of the profile. With `program` also decodes the kernel for execution,
/// or says in `out.no_program` why that cannot be. `tensor_maps`: Source::tensor_maps.
void build_profile(llvm::Function& kernel, const TargetCode& code,
                   const std::vector<std::pair<std::string, int>>& tensor_maps, bool program, Analysis& out);

}  // namespace kernelcast::frontend
