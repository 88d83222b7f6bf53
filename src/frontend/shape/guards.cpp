// When a block runs. Within one loop body the control-flow graph without back edges is a DAG; inner loops are one node
// each. A block that post-dominates its immediate dominator runs whenever that one does; every other block collects the
// paths over its incoming edges. Paths are disjoint, so known conditions with the same data-decided factors add up to
// one.
#include "frontend/ir/warp_uniform.h"
#include "frontend/shape/kernel_model.h"
#include "kernelcast/error.h"
#include "llvm/IR/Constants.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

constexpr std::size_t max_paths = 16;

void add_path(Guard& guard, const Path& path) {
  if (path.condition.is_zero()) return;
  for (Path& p : guard.paths)
    if (p.factors == path.factors) {
      p.condition = p.condition + path.condition;
      return;
    }
  // Two paths that differ only in the outcome of one branch are one path without it.
  for (std::size_t n = 0; n < guard.paths.size(); ++n) {
    Path& p = guard.paths[n];
    if (p.factors.size() != path.factors.size() || !(p.condition == path.condition) || p.factors.empty()) continue;
    int differing = -1, differences = 0;
    for (std::size_t k = 0; k < p.factors.size(); ++k)
      if (!(p.factors[k] == path.factors[k])) {
        ++differences;
        differing = static_cast<int>(k);
      }
    if (differences != 1 || p.factors[differing].unknown != path.factors[differing].unknown) continue;
    Path merged = p;
    merged.factors.erase(merged.factors.begin() + differing);
    guard.paths.erase(guard.paths.begin() + static_cast<std::ptrdiff_t>(n));
    return add_path(guard, merged);
  }
  guard.paths.push_back(path);
}

}  // namespace

const Guard& KernelModel::guard(BasicBlock* block) { return guard_of_node(block, loops_.getLoopFor(block), nullptr); }

const Guard& KernelModel::guard_of_node(BasicBlock* node, llvm::Loop* level, BasicBlock* top) {
  if (!top) top = level ? level->getHeader() : &function_.getEntryBlock();
  const Branching key{node, top};
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer)
    if (auto it = layer->guards.find(key); it != layer->guards.end()) return it->second;
  Guard g;
  try {
    g = compute_guard(node, level, top);
  } catch (const Error&) {  // its conditions leave 64 bits or the limits of an expression
    g.paths = {Path{
        1, {Path::Factor{branch_unknown(node_at(dominators_.getNode(node)->getIDom()->getBlock(), level)), true}}}};
  }
  Layer& layer = layer_for(g);
  return layer.guards.insert_or_assign(key, std::move(g)).first->second;
}

/// The node that stands for a block at a level: itself, or the header of the inner loop that holds it.
BasicBlock* KernelModel::node_at(BasicBlock* block, llvm::Loop* level) {
  llvm::Loop* l = loops_.getLoopFor(block);
  while (l && l != level && l->getParentLoop() != level) l = l->getParentLoop();
  return l && l != level ? l->getHeader() : block;
}

/// Whether the next iteration of `loop` can be reached from a block without passing `avoided`: then `avoided` may
/// follow always, but not in the same iteration.
bool KernelModel::goes_round(BasicBlock* from, BasicBlock* avoided, llvm::Loop* loop) {
  std::set<BasicBlock*> seen{from, avoided};
  std::vector<BasicBlock*> open{from};
  while (!open.empty()) {
    BasicBlock* block = open.back();
    open.pop_back();
    for (BasicBlock* next : successors(block)) {
      if (next == loop->getHeader()) return true;
      if (loop->contains(next) && seen.insert(next).second) open.push_back(next);
    }
  }
  return false;
}

Guard KernelModel::compute_guard(BasicBlock* node, llvm::Loop* level, BasicBlock* top) {
  if (node == top) return Guard{};
  BasicBlock* above = node_at(dominators_.getNode(node)->getIDom()->getBlock(), level);
  if (post_dominators_.dominates(node, above) &&
      (!level || (level->contains(above) && !goes_round(above, node, level))))
    return guard_of_node(above, level, top);
  Guard result;
  result.paths.clear();
  std::set<BasicBlock*> seen;
  for (BasicBlock* from : predecessors(node)) {
    if (!seen.insert(from).second) continue;
    if (level && !level->contains(from)) continue;
    if (llvm::Loop* own = loops_.getLoopFor(node); own && own != level && own->contains(from))
      continue;  // back edge of the inner loop
    const Guard edge = edge_guard(from, node, level, top);
    for (const Path& p : edge.paths) add_path(result, p);
  }
  if (result.paths.empty()) {  // unreachable in the known world
    result.paths.push_back(Path{0, {}});
  } else if (result.paths.size() > max_paths) {
    // Too many paths to keep apart: one data-decided path that stands for all.
    Guard one;
    one.paths = {Path{1, {Path::Factor{branch_unknown(above), true}}}};
    return one;
  }
  return result;
}

Guard KernelModel::edge_guard(BasicBlock* from, BasicBlock* to, llvm::Loop* level, BasicBlock* top) {
  llvm::Loop* source = loops_.getLoopFor(from);
  llvm::Loop* inner = source;
  while (inner && inner != level && inner->getParentLoop() != level) inner = inner->getParentLoop();
  if (inner && inner != level) return exit_guard(from, inner, guard_of_node(inner->getHeader(), level, top));
  Guard g = guard_of_node(from, level, top);
  if (from->getTerminator()->getNumSuccessors() < 2) return g;
  const Path step = branch_path(from, to);
  Guard result;
  result.paths.clear();
  for (Path p : g.paths) {
    p.condition = p.condition * step.condition;
    p.factors.insert(p.factors.end(), step.factors.begin(), step.factors.end());
    add_path(result, p);
  }
  return result;
}

/// Leaving an inner loop by one of its exits: the paths that entered it, shared among the exits. One that is known to
/// end the loop has all of them (data-decided early exits are taken never, as assumed for the trips); otherwise the
/// data choose, exit after exit, and the last has the rest.
Guard KernelModel::exit_guard(BasicBlock* from, llvm::Loop* loop, Guard entered) {
  SmallVector<BasicBlock*, 4> exiting;
  loop->getExitingBlocks(exiting);
  if (exiting.size() < 2) return entered;
  SmallVector<BasicBlock*, 4> regular;
  for (BasicBlock* block : exiting)
    if (auto* branch = dyn_cast<BranchInst>(block->getTerminator());
        branch && branch->isConditional() && data_in(condition(branch->getCondition())).empty())
      regular.push_back(block);
  Guard none;
  none.paths.clear();
  if (trips(loop).trips && regular.size() == 1) return regular[0] == from ? entered : none;
  auto leaves_when_taken = [&](BasicBlock* block) { return !loop->contains(block->getTerminator()->getSuccessor(0)); };
  for (BasicBlock* block : exiting) {
    if (block == from && block == exiting.back()) break;
    const bool here = block == from;
    for (Path& p : entered.paths) p.factors.push_back({branch_unknown(block), leaves_when_taken(block) == here});
    if (here) break;
  }
  return entered;
}

Path KernelModel::branch_path(BasicBlock* from, BasicBlock* to) {
  Path path;
  if (auto known = known_edge_condition(from, to)) {
    path.condition = *known;
    return path;
  }
  auto* branch = dyn_cast<BranchInst>(from->getTerminator());
  const bool taken = branch ? branch->getSuccessor(0) == to : from->getTerminator()->getSuccessor(0) != to;
  // A data-decided exit of this loop is taken to be never taken (listed where the trips are).
  llvm::Loop* loop = loops_.getLoopFor(from);
  if (loop && loop->isLoopExiting(from)) {
    if (!loop->contains(to)) path.condition = 0;
    return path;
  }
  path.factors.push_back({branch_unknown(from), taken});
  return path;
}

std::optional<Expr> KernelModel::known_edge_condition(BasicBlock* from, BasicBlock* to) {
  Instruction* end = from->getTerminator();
  if (auto* branch = dyn_cast<BranchInst>(end)) {
    if (branch->isUnconditional() || branch->getSuccessor(0) == branch->getSuccessor(1)) return Expr(1);
    const Expr c = condition(branch->getCondition());
    if (!data_in(c).empty() || counts_loop_elsewhere(c, from)) return std::nullopt;
    return branch->getSuccessor(0) == to ? c : logical_not(c);
  }
  if (auto* table = dyn_cast<SwitchInst>(end)) {
    const Expr v = integer(table->getCondition());
    if (!data_in(v).empty() || counts_loop_elsewhere(v, from)) return std::nullopt;
    Expr hit = 0, others = 1;
    for (auto& c : table->cases()) {
      const Expr is = equal(v, Expr(c.getCaseValue()->getSExtValue()));
      if (c.getCaseSuccessor() == to) hit = hit + is;
      others = others * logical_not(is);
    }
    return table->getDefaultDest() == to ? hit + others : hit;
  }
  return std::nullopt;
}

bool KernelModel::counts_loop_elsewhere(const Expr& e, const BasicBlock* at) const {
  return std::any_of(counters_.begin(), counters_.end(),
                     [&](const auto& c) { return !c.first->contains(at) && e.depends_on(c.second); });
}

int KernelModel::branch_unknown(BasicBlock* block) {
  if (auto it = branch_unknowns_.find(block); it != branch_unknowns_.end()) return it->second;
  const SourceLine where = line_of(*block->getTerminator());
  std::string reason = "the data decide";
  if (auto* branch = dyn_cast<BranchInst>(block->getTerminator()); branch && branch->isConditional()) {
    reason = reason_in(condition(branch->getCondition()), reason);
  } else if (auto* table = dyn_cast<SwitchInst>(block->getTerminator())) {
    reason = reason_in(integer(table->getCondition()), reason);
  }
  Unknown u{Unknown::Kind::probability,
            "branch:" + std::to_string(where.line),
            where,
            0.5,
            alike_in_warp(block->getTerminator()->getOperand(0), [this](const Value* v) { return divergent(v); }),
            reason};
  profile_.unknowns.push_back(std::move(u));
  return branch_unknowns_[block] = static_cast<int>(profile_.unknowns.size()) - 1;
}

}  // namespace kernelcast::frontend
