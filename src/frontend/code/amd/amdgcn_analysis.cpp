// See amdgcn.h. Registers are the code generator's own, the vendor's compiler being LLVM as well.
#include "frontend/code/amd/amdgcn.h"

#include <algorithm>
#include <map>

#include "frontend/code/code_join.h"
#include "frontend/code/stalls.h"

namespace kernelcast::frontend {

TargetCode analyze_amdgcn(std::string_view text, const std::string& kernel_symbol,
                          const std::vector<std::string>& ir_blocks) {
  const AmdgcnKernel kernel = parse_amdgcn(text, kernel_symbol);
  std::vector<OpCounts> costs;
  costs.reserve(kernel.code.instructions.size());
  std::map<std::string, int> unknown;
  for (const AsmInstruction& i : kernel.code.instructions) {
    const Cost cost = amdgcn_cost(i, kernel.scratch_descriptor);
    costs.push_back(cost.ops);
    if (cost.known) continue;
    ++unknown[i.opcode == "kc_math" ? "cost of the function " + std::string(i.operands.empty() ? "?" : i.operands[0])
                                    : "instruction " + std::string(i.opcode)];
  }
  TargetCode code;
  code.blocks = join_blocks(kernel.code, costs, amdgcn_walk(kernel.code, costs), ir_blocks);
  // The code generator counts a register each time it is spilled, and slots are shared: the private segment holds them
  // all.
  const std::int64_t spilled = std::min<std::int64_t>(4 * kernel.vector_spills, kernel.scratch_bytes);
  code.stack_bytes = kernel.scratch_bytes - spilled;
  code.static_shared_bytes = kernel.lds_bytes;
  for (const auto& [what, times] : unknown)
    code.assumptions.push_back(
        {what, times == 1 ? "one operation" : "one operation each (" + std::to_string(times) + " uses)", ""});
  const double registers = kernel.vector_registers;
  code.registers = {registers, registers, registers, "code generator", static_cast<double>(spilled)};
  return code;
}

}  // namespace kernelcast::frontend
