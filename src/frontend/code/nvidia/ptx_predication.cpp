// What ptxas does with a branch around a short path was measured with ptxas 11.8 on generated kernels
// (tools/measure/measure_predication.py): the same limits for sm_52, sm_60, sm_70, sm_75 and sm_80.
//
//   1. Two branches to one target, with nothing but arithmetic between them whose results are not needed at the target:
//      at most 6 instructions in between run always, and one branch tests both conditions. A pair is not paired again.
//   2. A path around which a branch leads, or two paths that meet again: predicated, when each has at most 8
//      instructions; 20 when it loads from global memory; 6 when the condition is the same for all threads of a block.
//      The jump at the end of the first of two paths counts as one of them.
//   3. A branch to where the kernel ends is an EXIT under a predicate; nothing meets again there.
//   4. Atomics, barriers, fences, shuffles, votes, matrix instructions, calls, divisions and square roots with a slow
//      path are not predicated, and neither is a path that holds predicated instructions already.
#include "frontend/code/nvidia/ptx_predication.h"

#include <algorithm>
#include <string_view>

#include "frontend/code/nvidia/ptx_flow.h"
#include "machine/nvidia_targets.h"

namespace kernelcast::frontend {
namespace {

using C = OpClass;

constexpr double most_arithmetic = 8, most_with_loads = 20, most_if_uniform = 6, most_between_branches = 6;

struct SkippedPath {
  std::vector<std::size_t> code;  // in the order of the text
  std::vector<int> next;
  int condition = -1;       // the instruction that is its conditional branch
  bool simple = true;       // no other conditional branch and no table of branches
  bool predicated = false;  // holds predicated instructions
  bool paired = false;      // its branch tests two conditions
};

bool is_branch(const AsmInstruction& i) { return i.opcode.starts_with("bra"); }

bool has_slow_path(std::string_view opcode) {
  for (std::string_view name : {"div", "sqrt", "rem", "rcp.rn", "call", "kc.math", "brx", "ret", "exit", "trap"})
    if (opcode.starts_with(name)) return true;
  return false;
}

bool can_be_predicated(const AsmInstruction& i, const OpCounts& n) {
  if (has_slow_path(i.opcode)) return false;
  return n[C::barrier] + n[C::fence] + n[C::vote] + n[C::shuffle] + n[C::tensor] + n[C::async_copy] +
             n[C::global_atomic] + n[C::shared_atomic] + n[C::texture_load] + n[C::other] ==
         0;
}

bool touches_memory(const AsmInstruction& i, const OpCounts& n) {
  if (i.opcode.starts_with("ld.") || i.opcode.starts_with("st.")) return true;
  for (std::size_t c = 0; c < op_class_count; ++c)
    if (n.n[c] > 0 && is_memory(static_cast<OpClass>(c))) return true;
  return false;
}

/// Of each register whether it may differ between the threads of a block: what is made of parameters, constants and
/// block numbers only does not. `flow[i]` are the registers of instruction i.
std::vector<bool> differing_registers(const AsmFunction& kernel, const std::vector<OpCounts>& costs,
                                      const std::vector<const FlowInstruction*>& flow, std::size_t registers) {
  const auto brings_in_difference = [&](std::size_t k) {
    const AsmInstruction& i = kernel.instructions[k];
    const OpCounts& n = costs[k];
    if (!i.opcode.starts_with("ld.param") && !i.opcode.starts_with("ld.const") && touches_memory(i, n)) return true;
    if (n[C::shuffle] + n[C::vote] > 0) return true;
    for (std::string_view o : i.operands)
      for (std::string_view name : {"%tid", "%laneid", "%warpid", "%lanemask", "%clock", "%globaltimer", "%smid"})
        if (o.starts_with(name)) return true;
    return false;
  };
  std::vector<bool> differs(registers, false);
  const auto spread = [&](const FlowInstruction& f) {
    bool changed = false;
    for (int d : f.defs) {
      changed |= !differs[static_cast<std::size_t>(d)];
      differs[static_cast<std::size_t>(d)] = true;
    }
    return changed;
  };
  for (std::size_t k = 0; k < flow.size(); ++k)
    if (brings_in_difference(k)) spread(*flow[k]);
  for (bool changed = true; changed;) {
    changed = false;
    for (const FlowInstruction* f : flow)
      if (std::any_of(f->uses.begin(), f->uses.end(), [&](int u) { return differs[static_cast<std::size_t>(u)]; }))
        changed |= spread(*f);
  }
  return differs;
}

class Predication {
 public:
  Predication(const AsmFunction& kernel, const std::vector<OpCounts>& costs)
      : kernel_(kernel), costs_(costs), flow_(ptx_flow(kernel)) {
    removed_.resize(kernel.instructions.size(), false);
    guards_.resize(kernel.blocks.size());
    live_ = live_out(flow_.graph);
    read_paths();
    differing_ = differing_registers(kernel, costs, registers_, flow_.names.size());
  }

  PtxPredication run(int sm) {
    for (std::size_t b = paths_.size(); b-- > 0;) pair_branches(static_cast<int>(b));
    for (std::size_t b = paths_.size(); b-- > 0;) predicate(static_cast<int>(b));
    PtxPredication out;
    out.scheduled.code.blocks = kernel_.blocks;
    out.scheduled.code.files = kernel_.files;
    out.counted = {kernel_, costs_};
    for (std::size_t i = 0; i < kernel_.instructions.size(); ++i) {
      const AsmInstruction& a = kernel_.instructions[i];
      const auto b = static_cast<std::size_t>(a.block);
      out.removed.push_back(removed_[i]);
      if (removed_[i]) {
        out.counted.costs[i] = {};
        continue;
      }
      if (!touches_memory(a, costs_[i])) {
        AsmInstruction& counted = out.counted.code.instructions[i];
        counted.block = counted_[b];
        if (lanes_of_[b] != counted_[b]) counted.lanes_of = lanes_of_[b];
      }
      AsmInstruction& s = out.scheduled.code.instructions.emplace_back(a);
      s.block = scheduled_[b];
      if (s.guard.empty() && !is_branch(a)) s.guard = guards_[b];
      out.scheduled.costs.push_back(costs_[i]);
    }
    add_reconvergence(machine::nvidia_target(sm).reconvergence_instructions, out.counted);
    return out;
  }

 private:
  /// A point where warps meet runs as often as what leads there; only counted, for nothing waits for it.
  void add_reconvergence(double instructions, CostedCode& counted) {
    std::vector<std::vector<int>> next;
    std::vector<bool> diverge;
    for (std::size_t b = 0; b < paths_.size(); ++b) {
      const bool gone = scheduled_[b] != static_cast<int>(b);
      next.push_back(gone ? std::vector<int>{scheduled_[b]} : paths_[b].next);
      const int condition = paths_[b].condition;
      diverge.push_back(!gone && condition >= 0 && paths_[b].next.size() > 1 && !is_uniform(condition));
    }
    for (const ReconvergencePoint& point : reconvergence_points(next, diverge)) {
      if (ends_kernel(point.at)) continue;
      AsmInstruction i = kernel_.instructions[static_cast<std::size_t>(at(point.from).condition)];
      i.opcode = "reconverge";
      i.block = point.at;
      counted.code.instructions.push_back(i);
      counted.costs.emplace_back()[C::control] = instructions;
    }
  }

  void read_paths() {
    paths_.resize(kernel_.blocks.size());
    for (std::size_t b = 0; b < paths_.size(); ++b) {
      counted_.push_back(static_cast<int>(b));
      lanes_of_.push_back(static_cast<int>(b));
      scheduled_.push_back(static_cast<int>(b));
      for (int s : flow_.graph.blocks[b].successors)
        if (std::find(paths_[b].next.begin(), paths_[b].next.end(), s) == paths_[b].next.end())
          paths_[b].next.push_back(s);
    }
    for (std::size_t i = 0; i < kernel_.instructions.size(); ++i) {
      const AsmInstruction& a = kernel_.instructions[i];
      SkippedPath& p = paths_[static_cast<std::size_t>(a.block)];
      registers_.push_back(&flow_.graph.blocks[static_cast<std::size_t>(a.block)].code[p.code.size()]);
      p.code.push_back(i);
      if (a.opcode.starts_with("brx")) p.simple = false;
      if (!a.guard.empty()) {
        p.simple = p.simple && is_branch(a) && p.condition < 0;
        p.condition = static_cast<int>(i);
      }
    }
    predecessors_.assign(paths_.size(), 0);
    for (const SkippedPath& p : paths_)
      for (int s : p.next) ++predecessors_[static_cast<std::size_t>(s)];
  }

  /// Whether all threads of a block take a conditional branch the same way.
  [[nodiscard]] bool is_uniform(int branch) const {
    const auto& uses = registers_[static_cast<std::size_t>(branch)]->uses;
    return std::none_of(uses.begin(), uses.end(), [&](int u) { return differing_[static_cast<std::size_t>(u)]; });
  }

  SkippedPath& at(int b) { return paths_[static_cast<std::size_t>(b)]; }

  /// `b` branches one of two ways and nothing else.
  bool chooses(int b) { return at(b).simple && at(b).condition >= 0 && at(b).next.size() == 2; }

  /// Nothing is left to do in `b` but to return.
  bool ends_kernel(int b) {
    const SkippedPath& p = at(b);
    return p.next.empty() && p.code.size() == 1 && kernel_.instructions[p.code[0]].opcode == "ret";
  }

  /// Reached from `from` only, and later in the text.
  [[nodiscard]] bool only_after(int b, int from) const {
    return b > from && predecessors_[static_cast<std::size_t>(b)] == 1;
  }

  double instructions_of(const SkippedPath& p) {
    double n = 0;
    for (std::size_t i : p.code)
      if (static_cast<int>(i) != p.condition && !removed_[i]) n += costs_[i].total();
    return n;
  }

  /// Rule 1 of this file: b and the block behind it branch to one target.
  void pair_branches(int b) {
    if (!chooses(b)) return;
    for (int k = 0; k < 2; ++k) {
      const int second = at(b).next[static_cast<std::size_t>(k)], target = at(b).next[static_cast<std::size_t>(1 - k)];
      if (!only_after(second, b) || !chooses(second) || at(second).paired || at(second).next[0] == b) continue;
      const auto& ways = at(second).next;
      if ((ways[0] != target && ways[1] != target) || target == b || ends_kernel(target)) continue;
      if (instructions_of(at(second)) > most_between_branches || !runs_always(second, target)) continue;
      const int other = ways[0] == target ? ways[1] : ways[0];
      for (std::size_t i = 0; i < lanes_of_.size(); ++i)
        if (lanes_of_[i] == second) lanes_of_[i] = b;
      join(b, second);
      removed_[static_cast<std::size_t>(at(b).condition)] = true;
      at(b).condition = at(second).condition;
      at(b).next = {other, target};
      --predecessors_[static_cast<std::size_t>(target)];
      at(b).paired = true;
      return;
    }
  }

  /// Nothing in `b` but arithmetic, and none of its results is live at `target`.
  bool runs_always(int b, int target) {
    std::vector<bool> used(flow_.names.size(), false);
    const FlowBlock& to = flow_.graph.blocks[static_cast<std::size_t>(target)];
    for (std::size_t r = 0; r < used.size(); ++r)
      used[r] = ((live_[static_cast<std::size_t>(target)][r / 64] >> (r % 64)) & 1U) != 0;
    for (auto i = to.code.rbegin(); i != to.code.rend(); ++i) {
      if (!i->may_skip)
        for (int d : i->defs) used[static_cast<std::size_t>(d)] = false;
      for (int u : i->uses) used[static_cast<std::size_t>(u)] = true;
    }
    for (std::size_t i : at(b).code) {
      const AsmInstruction& a = kernel_.instructions[i];
      if (is_branch(a)) continue;
      if (touches_memory(a, costs_[i]) || !can_be_predicated(a, costs_[i])) return false;
      for (int d : registers_[i]->defs)
        if (used[static_cast<std::size_t>(d)]) return false;
    }
    return true;
  }

  /// Rule 2: one or both ways from b lead over a short path to where they meet.
  void predicate(int b) {
    if (!chooses(b)) return;
    const int one = at(b).next[0], two = at(b).next[1];
    const bool uniform = is_uniform(at(b).condition);
    for (const int way : {one, two})
      if (const int meet = leads_to(way, b); meet >= 0 && meet == (way == one ? two : one)) {
        if (!ends_kernel(meet) && is_short(way, uniform, 0)) replace(b, {way}, meet);
        return;
      }
    const int meet = leads_to(one, b), first = std::min(one, two), last = std::max(one, two);
    if (meet < 0 || meet != leads_to(two, b)) return;
    if (is_short(first, uniform, 1) && is_short(last, uniform, 0)) replace(b, {first, last}, meet);
  }

  /// The only successor of a block that is reached from `from` alone; -1: there is none.
  int leads_to(int b, int from) {
    const SkippedPath& p = at(b);
    if (!only_after(b, from) || p.condition >= 0 || p.next.size() != 1 || p.next[0] == b || p.next[0] == from)
      return -1;
    return p.next[0];
  }

  bool is_short(int b, bool uniform, double jumps) {
    const SkippedPath& p = at(b);
    if (p.predicated || !p.simple) return false;
    bool loads = false;
    for (std::size_t i : p.code) {
      if (removed_[i] || is_branch(kernel_.instructions[i])) continue;
      if (!can_be_predicated(kernel_.instructions[i], costs_[i])) return false;
      loads |= costs_[i][C::global_load] > 0;
    }
    const double most = loads ? most_with_loads : uniform ? most_if_uniform : most_arithmetic;
    return instructions_of(p) + jumps <= most;
  }

  void replace(int b, std::initializer_list<int> ways, int meet) {
    const auto branch = static_cast<std::size_t>(at(b).condition);
    removed_[branch] = true;
    at(b).condition = -1;
    at(b).predicated = true;
    for (int way : ways) {
      for (std::size_t part = 0; part < guards_.size(); ++part)
        if (scheduled_[part] == way) guards_[part] = kernel_.instructions[branch].guard;
      join(b, way);
    }
    at(b).next = {meet};
    --predecessors_[static_cast<std::size_t>(meet)];
    if (only_after(meet, b) && meet > *std::max_element(ways.begin(), ways.end())) continue_in(b, meet);
  }

  /// What follows is one block with b when nothing else leads there; its executions are counted where they were.
  void continue_in(int b, int meet) {
    SkippedPath& p = at(b);
    SkippedPath& m = at(meet);
    for (std::size_t i = 0; i < scheduled_.size(); ++i)
      if (scheduled_[i] == meet) scheduled_[i] = b;
    p.code.insert(p.code.end(), m.code.begin(), m.code.end());
    p.next = m.next;
    p.condition = m.condition;
    p.simple = p.simple && m.simple;
    p.predicated |= m.predicated;
    p.paired |= m.paired;
  }

  void join(int b, int part) {
    SkippedPath& p = at(b);
    const SkippedPath& q = at(part);
    p.code.insert(p.code.end(), q.code.begin(), q.code.end());
    p.predicated |= q.predicated;
    for (std::size_t i = 0; i < scheduled_.size(); ++i) {
      if (scheduled_[i] == part) scheduled_[i] = b;
      if (counted_[i] == part) counted_[i] = b;
    }
  }

  const AsmFunction& kernel_;
  const std::vector<OpCounts>& costs_;
  PtxFlow flow_;
  std::vector<const FlowInstruction*> registers_;  // of each instruction
  std::vector<bool> differing_;                    // registers that differ between the threads of a block
  LiveSets live_;
  std::vector<SkippedPath> paths_;
  std::vector<int> predecessors_, counted_, scheduled_;
  std::vector<int> lanes_of_;             // whose lanes do what stands in a block
  std::vector<std::string_view> guards_;  // of the instructions of a block; the sign is that of the branch around it
  std::vector<bool> removed_;             // branches
};

}  // namespace

PtxPredication predicate_short_paths(const AsmFunction& kernel, const std::vector<OpCounts>& costs, int sm) {
  return Predication(kernel, costs).run(sm);
}

}  // namespace kernelcast::frontend
