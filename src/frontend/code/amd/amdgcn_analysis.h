// From AMDGCN assembly text to counts, registers and memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/code/target_code.h"

namespace kernelcast::frontend {

/// Counts and resources of one kernel of `text`. `ir_blocks` as in join_blocks().
TargetCode analyze_amdgcn(std::string_view text, const std::string& kernel_symbol,
                          const std::vector<std::string>& ir_blocks);

}  // namespace kernelcast::frontend
