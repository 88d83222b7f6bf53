// PTX and AMDGCN text as timed instructions.
//
// AMDGCN: the result stands first, except in stores and comparisons of scalars; v[2:5] are four registers; what an
// instruction does not name (scc, exec) is left out. The vendor's compiler is LLVM, so the order of the text is final.
#include <charconv>
#include <unordered_map>

#include "frontend/code/nvidia/ptx_flow.h"
#include "frontend/code/stalls.h"
#include "kernelcast/tensor.h"
#include "machine/nvidia_targets.h"

namespace kernelcast::frontend {
namespace {

/// 0, 1, 2 ... for names as they come.
class Numbering {
 public:
  int of(std::string_view name) {
    return numbers_.try_emplace(std::string(name), static_cast<int>(numbers_.size())).first->second;
  }
  [[nodiscard]] int count() const { return static_cast<int>(numbers_.size()); }

 private:
  std::unordered_map<std::string, int> numbers_;
};

int number_at(std::string_view s) {
  int n = 0;
  std::from_chars(s.data(), s.data() + s.size(), n);
  return n;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "v3", "-v[2:5]", "|s4|", "vcc", "v1 offset:4": the registers of an operand, at most 32.
void amd_registers(std::string_view operand, Numbering& numbers, std::vector<int>& out) {
  while (!operand.empty() && (operand.front() == '-' || operand.front() == '|')) operand.remove_prefix(1);
  if (operand.starts_with("vcc")) {
    out.push_back(numbers.of("vcc"));
    return;
  }
  if (operand.size() < 2 || (operand[0] != 'v' && operand[0] != 's' && operand[0] != 'a')) return;
  const std::string kind(1, operand[0]);
  if (is_digit(operand[1])) {
    out.push_back(numbers.of(kind + std::to_string(number_at(operand.substr(1)))));
  } else if (operand[1] == '[') {
    const auto colon = operand.find(':');
    if (colon == std::string_view::npos) return;
    const int first = number_at(operand.substr(2)), last = number_at(operand.substr(colon + 1));
    for (int r = first; r <= last && r < first + 32; ++r) out.push_back(numbers.of(kind + std::to_string(r)));
  }
}

bool amd_has_result(std::string_view op) {
  for (std::string_view none : {"global_store", "flat_store", "buffer_store", "scratch_store", "ds_write", "ds_store",
                                "s_waitcnt", "s_barrier", "s_branch", "s_cbranch", "s_endpgm", "s_nop", "s_cmp",
                                "s_bitcmp", "s_setprio", "s_clause", "s_delay", "s_inst", "exp"})
    if (op.starts_with(none)) return false;
  return true;
}

bool amd_accumulates(std::string_view op) {
  return op.starts_with("v_fmac") || op.starts_with("v_mac") || op.starts_with("v_pk_fmac") ||
         op.starts_with("v_dot2c") || op.starts_with("v_dual_fmac");
}

std::vector<int> amd_successors(const std::vector<const AsmInstruction*>& code, std::size_t b, std::size_t blocks,
                                const std::unordered_map<std::string_view, int>& labels) {
  std::vector<int> out;
  bool falls = true;
  for (const AsmInstruction* i : code) {
    const bool jump = i->opcode.starts_with("s_branch");
    if ((jump || i->opcode.starts_with("s_cbranch")) && !i->operands.empty())
      if (const auto to = labels.find(i->operands[0]); to != labels.end()) out.push_back(to->second);
    if (jump || i->opcode.starts_with("s_endpgm")) falls = false;
  }
  if (falls && b + 1 < blocks) out.push_back(static_cast<int>(b) + 1);
  return out;
}

using Event = AsyncEvent::Kind;

Event event_of(std::string_view opcode) {
  const auto has = [opcode](std::string_view part) { return opcode.find(part) != std::string_view::npos; };
  const auto is = [opcode](std::string_view start) { return opcode.starts_with(start); };
  if (is("mbarrier.")) {
    if (has("expect_tx")) return Event::expect;
    if (is("mbarrier.arrive")) return Event::arrive;
    return is("mbarrier.try_wait") || is("mbarrier.test_wait") ? Event::mbarrier_wait : Event::none;
  }
  if (is("wgmma.mma_async") || is("tcgen05.mma")) return Event::product;
  if (is("wgmma.commit_group") || is("tcgen05.commit")) return Event::product_commit;
  if (is("wgmma.wait_group")) return Event::product_wait;
  if (!is("cp.async.")) return Event::none;
  if (is("cp.async.bulk")) return has(".shared::c") && has(".global") && has("mbarrier") ? Event::bulk : Event::none;
  if (is("cp.async.commit_group")) return Event::copy_commit;
  if (is("cp.async.wait_")) return Event::copy_wait;
  return is("cp.async.mbarrier") ? Event::arrive : Event::copy;
}

/// cp.async and its groups. Copies in bulk and products that complete on mbarriers have no wait here: the model takes
/// their stages and products as a pipeline. Tensor memory is taken to answer like shared memory.
void mark_asynchronous(const AsmInstruction& i, TimedInstruction& t) {
  t.event = event_of(i.opcode);
  if (t.event == Event::none && t.ops[OpClass::tensor] > 0) t.event = Event::matrix;
  if (t.event == Event::none && t.ops[OpClass::barrier] > 0) t.event = Event::barrier;
  if (t.event == Event::product_wait && !i.operands.empty()) t.open_groups = number_at(i.operands[0]);
  if (i.opcode.starts_with("mbarrier.") && i.opcode.find(".expect_tx") != std::string_view::npos) t.fills = 1;
  if (i.opcode.starts_with("barrier.cluster.arrive") && i.opcode.find(".relaxed") == std::string_view::npos)
    t.cluster_barriers = 1;
  if (t.ops[OpClass::tensor] > 0)
    if (const auto product = matrix_instruction(i.opcode); product && product->asynchronous)
      t.products = product->multiply_adds() * product->warps;
  const auto stop_for = [&t](Latency l) {
    t.async = Async::stop;
    t.stops_for = l;
  };
  if (i.opcode.starts_with("wgmma.wait_group")) stop_for(Latency::tensor);
  if (i.opcode.starts_with("tcgen05.wait::ld")) stop_for(Latency::shared);
  if (!i.opcode.starts_with("cp.async.") || i.opcode.starts_with("cp.async.bulk") ||
      i.opcode.starts_with("cp.async.mbarrier"))
    return;
  t.async = Async::copy;
  if (i.opcode.starts_with("cp.async.commit_group")) t.async = Async::commit;
  if (i.opcode.starts_with("cp.async.wait_all")) t.async = Async::wait, t.open_groups = -1;
  if (i.opcode.starts_with("cp.async.wait_group")) {
    t.async = Async::wait;
    t.open_groups = i.operands.empty() ? 0 : number_at(i.operands[0]);
  }
}

}  // namespace

Timing nvidia_timing(int sm) {
  Timing t;
  t.latency[0] = machine::nvidia_target(sm).alu_cycles;
  return t;
}

Timing amd_timing() {
  Timing t;
  t.issue_cycles = 4;
  t.reschedule = false;
  t.latency = {4, 8, 16, 64, 50, 500, 500, 32};
  return t;
}

Walk ptx_walk(const AsmFunction& kernel, const std::vector<OpCounts>& costs, int sm) {
  const PtxFlow flow = ptx_flow(kernel);
  std::vector<TimedBlock> blocks(kernel.blocks.size());
  std::vector<std::size_t> next(blocks.size(), 0);
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const auto b = static_cast<std::size_t>(kernel.instructions[i].block);
    blocks[b].code.push_back({flow.graph.blocks[b].code[next[b]++], costs[i]});
    mark_asynchronous(kernel.instructions[i], blocks[b].code.back());
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) blocks[b].successors = flow.graph.blocks[b].successors;
  return walk(blocks, static_cast<int>(flow.names.size()), nvidia_timing(sm));
}

Walk amdgcn_walk(const AsmFunction& kernel, const std::vector<OpCounts>& costs) {
  Numbering numbers;
  std::vector<TimedBlock> blocks(kernel.blocks.size());
  std::vector<std::vector<const AsmInstruction*>> text(kernel.blocks.size());
  std::unordered_map<std::string_view, int> labels;
  for (std::size_t b = 0; b < kernel.blocks.size(); ++b)
    if (!kernel.blocks[b].label.empty()) labels[kernel.blocks[b].label] = static_cast<int>(b);
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const AsmInstruction& a = kernel.instructions[i];
    const auto b = static_cast<std::size_t>(a.block);
    TimedInstruction t;
    t.ops = costs[i];
    const bool result = amd_has_result(a.opcode);
    for (std::size_t k = 0; k < a.operands.size(); ++k) {
      const bool written = result && k == (a.opcode == "kc_math" ? 1U : 0U);
      amd_registers(a.operands[k], numbers, written ? t.defs : t.uses);
    }
    if (amd_accumulates(a.opcode)) t.uses.insert(t.uses.end(), t.defs.begin(), t.defs.end());
    blocks[b].code.push_back(std::move(t));
    text[b].push_back(&a);
  }
  for (std::size_t b = 0; b < blocks.size(); ++b)
    blocks[b].successors = amd_successors(text[b], b, blocks.size(), labels);
  return walk(blocks, numbers.count(), amd_timing());
}

}  // namespace kernelcast::frontend
