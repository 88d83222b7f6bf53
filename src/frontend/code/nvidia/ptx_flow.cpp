// PTX has its result first: `opcode result, operands`. Exceptions: stores, branches, barriers and the like have none;
// setp and shfl may have two ("%p1|%p2"); vectors stand in braces; the first operand of kc.math is a key. Blocks end
// where the next label begins; branches in the middle of a block (a conditional one followed by `bra.uni`) add
// successors.
#include "frontend/code/nvidia/ptx_flow.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <unordered_map>

#include "frontend/code/nvidia/ptx_ranges.h"

namespace kernelcast::frontend {
namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%'; }

bool is_register(std::string_view s) {
  static const std::array<std::string_view, 16> prefixes = {"%rs", "%rd", "%rq",  "%r",  "%fd", "%f", "%p", "%hh",
                                                            "%h",  "%SP", "%SPL", "%rc", "%b",  "%x", "%v", "%t"};
  if (s.size() < 2 || s[0] != '%') return false;
  for (const char* special :
       {"%tid",    "%ntid",         "%ctaid",      "%nctaid",   "%laneid",      "%warpid",      "%nwarpid",
        "%smid",   "%nsmid",        "%gridid",     "%lanemask", "%clock",       "%globaltimer", "%pm",
        "%envreg", "%dynamic_smem", "%total_smem", "%cluster",  "%is_explicit", "%reserved"})
    if (s.starts_with(special)) return false;
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return s.starts_with(p); });
}

// All registers in an operand such as "[%rd1+4]", "{%f1, %f2}", "%p1|%p2", "!%p3".
void collect(std::string_view operand, std::vector<std::string_view>& out) {
  for (std::size_t i = 0; i < operand.size(); ++i) {
    if (operand[i] != '%') continue;
    std::size_t end = i + 1;
    while (end < operand.size() && is_name(operand[end])) ++end;
    const std::string_view name = operand.substr(i, end - i);
    if (is_register(name)) out.push_back(name);
    i = end - 1;
  }
}

bool has_result(std::string_view opcode) {
  for (std::string_view none : {"st",
                                "red",
                                "bra",
                                "brx",
                                "bar",
                                "barrier",
                                "membar",
                                "fence",
                                "ret",
                                "exit",
                                "call",
                                "prefetch",
                                "prefetchu",
                                "cp",
                                "sust",
                                "sured",
                                "trap",
                                "brkpt",
                                "nanosleep",
                                "pmevent",
                                "stmatrix",
                                "discard",
                                "applypriority",
                                "wgmma",
                                "setmaxnreg",
                                "griddepcontrol",
                                "stackrestore"})
    if (opcode.starts_with(none) && (opcode.size() == none.size() || opcode[none.size()] == '.'))
      return opcode.starts_with("barrier.red") || opcode.starts_with("bar.red");
  return !opcode.starts_with("wmma.store") && !opcode.starts_with("tcgen05.dealloc") &&
         !opcode.starts_with("mbarrier.init") && !opcode.starts_with("mbarrier.inval");
}

std::size_t results_of_math(std::string_view key) {
  const auto x = key.rfind('x');
  if (x == std::string_view::npos || x + 1 >= key.size() ||
      key.find_first_not_of("0123456789", x + 1) != std::string_view::npos)
    return 1;
  return static_cast<std::size_t>(std::atoi(std::string(key.substr(x + 1)).c_str()));
}

int weight_of(std::string_view name) {
  if (name.starts_with("%p")) return 0;
  if (name.starts_with("%rq")) return 4;
  return name.starts_with("%rd") || name.starts_with("%fd") ? 2 : 1;
}

// A value that ptxas reads from constant memory or encodes in the instruction, given the same of its operands.
bool needs_no_register(const AsmInstruction& i, const PtxAccesses& a, const std::vector<bool>& free,
                       const auto& number) {
  if (i.opcode.starts_with("ld.param")) return true;
  if (i.opcode.starts_with("ld.const"))  // c[bank][offset], an operand of whatever uses it
    return i.operands.size() > 1 && i.operands[1].find('%') == std::string_view::npos;
  if (!i.opcode.starts_with("mov") && !i.opcode.starts_with("cvta")) return false;
  if (i.operands.size() > 1 && i.operands[1].starts_with('%') && a.reads.empty())  // special register
    return i.operands[1].starts_with("%ntid") || i.operands[1].starts_with("%nctaid");
  return std::all_of(a.reads.begin(), a.reads.end(),
                     [&](std::string_view r) { return free[static_cast<std::size_t>(number(r))]; });
}

/// From global memory, the second operand, to shared memory, the first.
bool is_async_copy(std::string_view opcode) {
  return (opcode.starts_with("cp.async.ca.") || opcode.starts_with("cp.async.cg.")) &&
         opcode.find(".global") != std::string_view::npos;  // .global.L2::128B, too
}

bool accesses_memory(std::string_view opcode) {
  return opcode.starts_with("ld.") || opcode.starts_with("st.") || opcode.starts_with("atom.") ||
         opcode.starts_with("red.") || opcode.starts_with("ldmatrix.") || opcode.starts_with("stmatrix.") ||
         is_async_copy(opcode);
}

// "%rd4" of "[%rd4+16]"; empty for other operands.
std::string_view address_register(std::string_view operand) {
  if (!operand.starts_with("[%")) return {};
  return operand.substr(1, operand.find_first_of("+-]", 1) - 1);
}

/// The 16-bit registers of "{%rs1, %rs2}" in their order; empty for other operands.
std::vector<std::string_view> halves_of(std::string_view operand) {
  std::vector<std::string_view> names;
  if (!operand.starts_with('{')) return names;
  collect(operand, names);
  if (std::ranges::any_of(names, [](std::string_view n) { return !n.starts_with("%rs"); })) names.clear();
  return names;
}

bool mentions(std::string_view operand, std::string_view name) {
  for (std::size_t at = operand.find(name); at != std::string_view::npos; at = operand.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (end == operand.size() || (std::isalnum(static_cast<unsigned char>(operand[end])) == 0 && operand[end] != '_'))
      return true;
  }
  return false;
}

}  // namespace

bool only_addresses(const AsmInstruction& i, std::string_view name) {
  if (!accesses_memory(i.opcode)) return false;
  bool addressed = false;
  for (std::string_view o : i.operands) {
    if (address_register(o) == name)
      addressed = true;
    else if (mentions(o, name))
      return false;
  }
  return addressed;
}

bool only_short_addresses(const AsmInstruction& i, std::string_view name) {
  const std::string_view op = i.opcode;
  const bool short_space = op.find(".shared") != std::string_view::npos || op.find(".local") != std::string_view::npos;
  if (!short_space || !only_addresses(i, name)) return false;
  return !is_async_copy(op) || (i.operands.size() > 1 && address_register(i.operands[1]) != name);
}

PtxAccesses ptx_accesses(const AsmInstruction& i) {
  PtxAccesses a;
  if (!i.guard.empty()) collect(i.guard, a.reads);
  std::size_t first = 0, results = has_result(i.opcode) ? 1 : 0;
  if (i.opcode == "kc.math") {
    first = 1;
    results = i.operands.empty() ? 0 : results_of_math(i.operands[0]);
  }
  for (std::size_t k = first; k < i.operands.size(); ++k) {
    const bool written = k < first + results && !i.operands[k].starts_with('[');
    collect(i.operands[k], written ? a.writes : a.reads);
  }
  return a;
}

std::vector<PtxAccesses> all_accesses(const AsmFunction& kernel) {
  std::vector<PtxAccesses> all;
  all.reserve(kernel.instructions.size());
  for (const AsmInstruction& i : kernel.instructions) all.push_back(ptx_accesses(i));
  return all;
}

PtxFlow ptx_flow(const AsmFunction& kernel) {
  PtxFlow flow;
  std::unordered_map<std::string_view, int> numbers, labels;
  auto number = [&](std::string_view name) {
    const auto [at, fresh] = numbers.try_emplace(name, static_cast<int>(flow.names.size()));
    if (fresh) {
      flow.names.push_back(name);
      flow.graph.weight.push_back(weight_of(name));
    }
    return at->second;
  };
  flow.graph.blocks.resize(kernel.blocks.size());
  for (std::size_t b = 0; b < kernel.blocks.size(); ++b)
    if (!kernel.blocks[b].label.empty()) labels[kernel.blocks[b].label] = static_cast<int>(b);
  const std::vector<PtxAccesses> accesses = all_accesses(kernel);
  const std::vector<std::string_view> offset_from = offset_bases(kernel, accesses);
  std::unordered_map<std::string_view, std::string_view> base_of;
  for (std::size_t k = 0; k < accesses.size(); ++k)
    if (!offset_from[k].empty()) base_of[accesses[k].writes[0]] = offset_from[k];
  std::vector<bool> falls_through(kernel.blocks.size(), true);
  for (std::size_t k = 0; k < accesses.size(); ++k) {
    const AsmInstruction& i = kernel.instructions[k];
    FlowBlock& block = flow.graph.blocks[static_cast<std::size_t>(i.block)];
    FlowInstruction f;
    for (std::string_view r : accesses[k].reads) {
      const auto base = base_of.find(r);
      f.uses.push_back(number(base == base_of.end() ? r : base->second));
    }
    for (std::string_view w : accesses[k].writes) f.defs.push_back(number(w));
    if (!offset_from[k].empty()) f = {};  // its registers are numbered all the same
    f.may_skip = !i.guard.empty();
    block.code.push_back(std::move(f));
    if (i.opcode.starts_with("bra"))
      if (const auto to = labels.find(i.operands.empty() ? std::string_view{} : i.operands[0]); to != labels.end())
        block.successors.push_back(to->second);
    if (i.opcode.starts_with("brx"))  // any labelled block may follow
      for (const auto& [name, to] : labels) block.successors.push_back(to);
    if (i.guard.empty() &&
        (i.opcode.starts_with("bra") || i.opcode.starts_with("brx") || i.opcode == "ret" || i.opcode == "exit"))
      falls_through[static_cast<std::size_t>(i.block)] = false;
  }
  for (std::size_t b = 0; b + 1 < kernel.blocks.size(); ++b)
    if (falls_through[b]) flow.graph.blocks[b].successors.push_back(static_cast<int>(b) + 1);
  // Copies of free values are free; a register that is also defined otherwise (a loop's counter) is not.
  std::vector<bool> free(flow.names.size(), true);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = 0; k < kernel.instructions.size(); ++k)
      for (std::string_view w : accesses[k].writes) {
        const auto r = static_cast<std::size_t>(number(w));
        if (free[r] && !needs_no_register(kernel.instructions[k], accesses[k], free, number)) {
          free[r] = false;
          changed = true;
        }
      }
  }
  std::vector<int> definitions(flow.names.size(), 0);
  for (const PtxAccesses& a : accesses)
    for (std::string_view w : a.writes) ++definitions[static_cast<std::size_t>(number(w))];
  // The upper half of what is below 2^32 is the zero register; others have none.
  const std::vector<bool> narrowed = narrowed_instructions(kernel, accesses);
  const auto largest = largest_values(kernel, accesses);
  std::vector<int> halves(flow.names.size(), 0);
  for (std::size_t k = 0; k < kernel.instructions.size(); ++k)
    for (std::string_view w : accesses[k].writes)
      if (narrowed[k] || largest.at(w) >> 32U == 0) ++halves[static_cast<std::size_t>(number(w))];
  for (std::size_t r = 0; r < halves.size(); ++r)
    if (halves[r] > 0 && halves[r] == definitions[r] && flow.graph.weight[r] == 2) flow.graph.weight[r] = 1;
  for (std::size_t r = 0; r < free.size(); ++r)
    if (free[r] && definitions[r] == 1) flow.graph.weight[r] = 0;
  // Two 16-bit values that are once the halves of one register are so all along.
  std::vector<bool> paired(flow.names.size(), false);
  for (const AsmInstruction& i : kernel.instructions)
    for (const std::string_view operand : i.operands) {
      const std::vector<std::string_view> names = halves_of(operand);
      for (std::size_t k = 0; k + 1 < names.size(); k += 2) {
        const auto low = static_cast<std::size_t>(number(names[k])),
                   high = static_cast<std::size_t>(number(names[k + 1]));
        if (low == high || paired[low] || paired[high]) continue;
        paired[low] = paired[high] = true;
        flow.graph.weight[high] = 0;
      }
    }
  return flow;
}

}  // namespace kernelcast::frontend
