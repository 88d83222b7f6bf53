// From machine blocks back to the IR's blocks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frontend/code/target_code.h"
#include "frontend/ir/assembly.h"
#include "frontend/ir/machine_code.h"

namespace kernelcast::frontend {

/// Adds the cost of every instruction to the IR block that its machine block comes from: `costs[i]` belongs to
/// `function.instructions[i]`. Machine blocks without a name of `ir_blocks` (the code generator's own) count for a
/// block by the rules in code_join.cpp, so nothing is lost: the sum over the result is the sum over `costs`.
/// Block b of `path` is machine block b; empty: nothing is known of it.
std::vector<CodeBlock> join_blocks(const AsmFunction& function, const std::vector<OpCounts>& costs, const Walk& path,
                                   const std::vector<std::string>& ir_blocks);

}  // namespace kernelcast::frontend
