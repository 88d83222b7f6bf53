// See ptx_analysis.h.
#include "frontend/ptx_analysis.h"

#include <map>

#include "frontend/code_join.h"
#include "frontend/ptx_fusion.h"
#include "frontend/ptx_predication.h"
#include "frontend/ptx_registers.h"
#include "frontend/ptx_text.h"
#include "frontend/waits.h"

namespace kernelcast::frontend {
namespace {

// "atom.global.foo" as a person should read it; a function by its name.
std::string description(const AsmInstruction& i) {
  if (i.opcode == "kc.math") return "cost of the function " + std::string(i.operands.empty() ? "?" : i.operands[0]);
  return std::string(i.inlined ? "inline PTX instruction " : "PTX instruction ") + std::string(i.opcode);
}

void mark_predicated(const AsmFunction& kernel, int machine_block, std::vector<CodeBlock>& blocks) {
  const std::string_view name = kernel.blocks[static_cast<std::size_t>(machine_block)].ir_name;
  for (CodeBlock& b : blocks) b.predicated |= b.name == name;
}

}  // namespace

TargetCode analyze_ptx(std::string_view text, const std::string& kernel_symbol, int sm,
                       std::int64_t max_threads_per_block, const std::vector<std::string>& ir_blocks) {
  const PtxKernel kernel = parse_ptx(text, kernel_symbol);
  std::vector<const AsmInstruction*> not_in_the_table;
  std::vector<OpCounts> costs = ptx_costs(kernel.code, sm, &not_in_the_table);
  std::map<std::string, int> unknown;
  for (const AsmInstruction* i : not_in_the_table) ++unknown[description(*i)];
  TargetCode code;
  PtxPredication predicated = predicate_short_paths(kernel.code, costs, sm);
  const std::vector<Stalls> stalls = ptx_stalls(predicated.scheduled.code, predicated.scheduled.costs, sm);
  const PtxRegisters registers = estimate_ptx_registers(kernel.code, sm, max_threads_per_block);
  for (std::size_t i = 0; i < registers.spills.size(); ++i) {
    predicated.counted.costs[i][OpClass::local_load] += registers.spills[i].loads;
    predicated.counted.costs[i][OpClass::local_store] += registers.spills[i].stores;
  }
  code.registers = registers.registers;
  code.blocks = join_blocks(predicated.counted.code, predicated.counted.costs, stalls, ir_blocks);
  for (std::size_t i = 0; i < predicated.removed.size(); ++i)
    if (predicated.removed[i]) mark_predicated(kernel.code, kernel.code.instructions[i].block, code.blocks);
  code.stack_bytes = kernel.stack_bytes;
  code.static_shared_bytes = kernel.shared_bytes;
  for (const auto& [what, times] : unknown)
    code.assumptions.push_back(
        {what, times == 1 ? "one operation" : "one operation each (" + std::to_string(times) + " uses)", ""});
  return code;
}

}  // namespace kernelcast::frontend
