// See ptx_analysis.h.
#include "frontend/code/nvidia/ptx_analysis.h"

#include <algorithm>
#include <map>
#include <set>

#include "frontend/code/code_join.h"
#include "frontend/code/nvidia/ptx_fusion.h"
#include "frontend/code/nvidia/ptx_predication.h"
#include "frontend/code/nvidia/ptx_registers.h"
#include "frontend/code/nvidia/ptx_text.h"
#include "frontend/code/nvidia/ptxas.h"
#include "frontend/code/nvidia/sass_counts.h"
#include "frontend/code/stalls.h"
#include "kernelcast/setting.h"
#include "machine/nvidia_targets.h"
#include "machine/sass/cubin.h"

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

// An assembler that is older than the text's version of PTX says which one it knows; the code generator uses little of
// what is new.
PtxasCode assemble_any_version(const Assembler& assembler, const std::string& text, const std::string& arch) {
  PtxasCode code = assemble_ptx(assembler, text, arch);
  constexpr std::string_view says = "current version is '", directive = ".version ";
  const std::size_t at = code.message.find(says), place = text.find(directive);
  if (!code.cubin.empty() || at == std::string::npos || place == std::string::npos) return code;
  const std::size_t from = at + says.size(), end = code.message.find('\'', from);
  if (end == std::string::npos) return code;
  std::string older = text;
  const std::size_t number = place + directive.size();
  older.replace(number, text.find('\n', number) - number, code.message.substr(from, end - from));
  return assemble_ptx(assembler, older, arch);
}

/// In relocatable code the assembler's own functions (64-bit divisions) have sections of their own, in whole programs
/// they follow the kernel.
bool has_functions_apart(const PtxasCode& code) {
  return sass::Cubin(code.cubin, "relocatable cubin").kernels().size() > 1;
}

PtxasCode machine_code(Assembler assembler, const std::string& text, const std::string& arch) {
  PtxasCode code = assemble_any_version(assembler, text, arch);
  if (!assembler.relocatable || code.cubin.empty() || !has_functions_apart(code)) return code;
  assembler.relocatable = false;
  return assemble_any_version(assembler, text, arch);
}

/// What a compiler's stack frame holds beside the kernel's own arrays.
double spilled_bytes(std::int64_t stack_bytes, const PtxKernel& kernel) {
  return std::max(0.0, static_cast<double>(stack_bytes - kernel.stack_bytes));
}

void take_sizes(const NvrtcCode& nvrtc, const PtxKernel& kernel, TargetCode& code) {
  code.registers = {nvrtc.registers, nvrtc.registers, nvrtc.registers, nvrtc.compiler,
                    spilled_bytes(nvrtc.stack_bytes, kernel)};
  code.static_shared_bytes = nvrtc.shared_bytes;
}

bool is_long_division(std::string_view opcode) {
  return (opcode.starts_with("div.") || opcode.starts_with("rem.")) &&
         (opcode.ends_with(".u64") || opcode.ends_with(".s64"));
}

/// Matrix instructions and asynchronous copies: what they multiply, and what waits for them, stands in PTX and not in
/// the table of machine instructions.
bool has_pipelines(const std::vector<OpCounts>& costs) {
  return std::ranges::any_of(costs, [](const OpCounts& n) { return n[OpClass::tensor] + n[OpClass::async_copy] > 0; });
}

Registers registers_of(const PtxasCode& assembled, const PtxKernel& kernel) {
  const double registers = assembled.report.registers;
  return {registers, registers, registers, "ptxas", spilled_bytes(assembled.report.stack_bytes, kernel)};
}

std::string words_of(const PtxasCode& refused) { return "ptxas says: " + refused.message; }

/// What the assembler says of registers and spills; nothing with its message in `obstacle`.
std::optional<Registers> sizes_of_assembler(const Assembler& assembler, std::string_view text, const PtxKernel& kernel,
                                            int sm, std::string& obstacle) {
  const PtxasCode assembled = machine_code(assembler, std::string(text), "sm_" + std::to_string(sm));
  if (assembled.cubin.empty()) {
    obstacle = words_of(assembled);
    return std::nullopt;
  }
  return registers_of(assembled, kernel);
}

// From the code that NVIDIA's assembler makes; what is in its way as the answer, empty: nothing.
std::string count_machine_code(const Assembler& assembler, std::string_view text, const PtxKernel& kernel, int sm,
                               const std::vector<std::string>& ir_blocks, TargetCode& code) {
  if (!machine::nvidia_target(sm).readable_code)
    return "code of sm_" + std::to_string(sm) + " cannot be read, that of sm_70 and later can";
  for (const AsmInstruction& i : kernel.code.instructions) {
    if (i.opcode == "kc.math")
      return "the function " + std::string(i.operands.empty() ? "?" : i.operands[0]) + " comes with NVIDIA's toolkit";
    if (is_long_division(i.opcode)) return "64-bit divisions are functions of the assembler, which are not counted";
  }
  const MarkedPtx marked = marked_ptx(text, kernel.code);
  const PtxasCode assembled = machine_code(assembler, marked.text, "sm_" + std::to_string(sm));
  if (assembled.cubin.empty()) return words_of(assembled);
  const sass::Cubin cubin(assembled.cubin, "cubin of " + assembler.path);
  if (cubin.kernels().empty()) return "its cubin has no code";
  const sass::Cubin::Kernel& found = cubin.kernels().front();
  const std::vector<int> lines = lines_of_cubin(assembled.cubin, found.instructions, marked.file);
  if (std::ranges::none_of(lines, [](int line) { return line > 0; })) return "its cubin has no table of lines";
  std::vector<sass::Instruction> machine;
  for (std::size_t i = 0; i < found.instructions; ++i) machine.push_back(cubin.at(found, i));
  const SassCounts counts = count_sass(kernel.code, machine, cubin.architecture(), lines);
  code.blocks = join_blocks(kernel.code, counts.costs, counts.walk, ir_blocks);
  for (std::size_t i = 0; i < counts.removed.size(); ++i)
    if (counts.removed[i]) mark_predicated(kernel.code, kernel.code.instructions[i].block, code.blocks);
  code.registers = registers_of(assembled, kernel);
  for (const std::string& name : std::set<std::string>(counts.unknown.begin(), counts.unknown.end()))
    code.assumptions.push_back({"machine instruction " + name, "one operation", ""});
  return "";
}

}  // namespace

TargetCode analyze_ptx(std::string_view text, const std::string& kernel_symbol, int sm,
                       std::int64_t max_threads_per_block, const std::vector<std::string>& ir_blocks,
                       const Assembler& assembler, const std::optional<NvrtcCode>& nvrtc) {
  const PtxKernel kernel = parse_ptx(text, kernel_symbol);
  TargetCode code;
  code.stack_bytes = kernel.stack_bytes;
  code.static_shared_bytes = kernel.shared_bytes;
  std::vector<const AsmInstruction*> not_in_the_table;
  std::vector<OpCounts> costs = ptx_costs(kernel.code, sm, &not_in_the_table);
  std::optional<Registers> sizes;
  if (!assembler.path.empty()) {
    std::string obstacle;
    if (has_pipelines(costs)) {
      sizes = sizes_of_assembler(assembler, text, kernel, sm, obstacle);
    } else {
      obstacle = count_machine_code(assembler, text, kernel, sm, ir_blocks, code);
      if (obstacle.empty()) {
        if (nvrtc) take_sizes(*nvrtc, kernel, code);
        return code;
      }
    }
    if (!obstacle.empty())
      code.assumptions.push_back({"NVIDIA's code of " + kernel_symbol + ": " + obstacle, "counts of PTX",
                                  KC_SETTING(ptxas), Assumption::Kind::machine_code, obstacle});
  }
  std::map<std::string, int> unknown;
  for (const AsmInstruction* i : not_in_the_table) ++unknown[description(*i)];
  PtxPredication predicated = predicate_short_paths(kernel.code, costs, sm);
  Walk path = ptx_walk(predicated.scheduled.code, predicated.scheduled.costs, sm);
  PtxRegisters registers = estimate_ptx_registers(kernel.code, sm, max_threads_per_block);
  if (nvrtc || sizes) {  // what is spilled is known then
    if ((nvrtc ? spilled_bytes(nvrtc->stack_bytes, kernel) : sizes->spill_bytes) == 0) registers.spills.clear();
    registers.text_order_spills.clear();
  }
  for (std::size_t i = 0; i < registers.spills.size(); ++i) {
    predicated.counted.costs[i][OpClass::local_load] += registers.spills[i].loads;
    predicated.counted.costs[i][OpClass::local_store] += registers.spills[i].stores;
  }
  for (std::size_t i = 0; i < registers.text_order_spills.size(); ++i) {
    const SpillAccess& s = registers.text_order_spills[i];
    path.stalls[static_cast<std::size_t>(kernel.code.instructions[i].block)].text_order_spills += s.loads + s.stores;
  }
  code.registers = sizes.value_or(registers.registers);
  if (nvrtc) take_sizes(*nvrtc, kernel, code);
  code.blocks = join_blocks(predicated.counted.code, predicated.counted.costs, path, ir_blocks);
  for (std::size_t i = 0; i < predicated.removed.size(); ++i)
    if (predicated.removed[i]) mark_predicated(kernel.code, kernel.code.instructions[i].block, code.blocks);
  for (const auto& [what, times] : unknown)
    code.assumptions.push_back(
        {what, times == 1 ? "one operation" : "one operation each (" + std::to_string(times) + " uses)", ""});
  return code;
}

}  // namespace kernelcast::frontend
