// LLVM's JumpThreading does this and more, but not for targets whose lanes may part.
#include "frontend/lower/loop_exits.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

/// The test's value where `from` jumps to the block of the test; null: not known.
Constant* value_on_edge(Value* test, BasicBlock& block, BasicBlock& from) {
  if (auto* phi = dyn_cast<PHINode>(test); phi && phi->getParent() == &block)
    return dyn_cast<Constant>(phi->getIncomingValueForBlock(&from));
  if (auto* compare = dyn_cast<ICmpInst>(test); compare && compare->getParent() == &block) {
    auto* phi = dyn_cast<PHINode>(compare->getOperand(0));
    auto* limit = dyn_cast<ConstantInt>(compare->getOperand(1));
    if (!phi || !limit || phi->getParent() != &block) return nullptr;
    auto* value = dyn_cast<ConstantInt>(phi->getIncomingValueForBlock(&from));
    return value ? ConstantFoldCompareInstOperands(compare->getPredicate(), value, limit,
                                                   block.getModule()->getDataLayout())
                 : nullptr;
  }
  constexpr int most_steps = 8;
  BasicBlock* to = &block;
  BasicBlock* at = &from;
  for (int step = 0; step < most_steps && at; ++step, to = at, at = at->getSinglePredecessor()) {
    const auto* branch = dyn_cast<BranchInst>(at->getTerminator());
    if (branch && branch->isConditional() && branch->getCondition() == test &&
        branch->getSuccessor(0) != branch->getSuccessor(1))
      return ConstantInt::getBool(test->getContext(), branch->getSuccessor(0) == to);
  }
  return nullptr;
}

/// Whether a way to `block` is joined of ways of which some leave the loop.
bool joins_ways_out(BasicBlock& from, BasicBlock& block, const llvm::Loop& loop) {
  auto& branch = cast<BranchInst>(*block.getTerminator());
  const auto* last = dyn_cast<BranchInst>(from.getTerminator());
  if (!last || last->isConditional() || &*from.getFirstNonPHIOrDbg() != last || pred_size(&from) < 2) return false;
  auto* compare = dyn_cast<ICmpInst>(branch.getCondition());
  auto* phi = dyn_cast<PHINode>(compare ? compare->getOperand(0) : branch.getCondition());
  auto* joined = phi && phi->getParent() == &block ? dyn_cast<PHINode>(phi->getIncomingValueForBlock(&from)) : nullptr;
  if (!joined || joined->getParent() != &from) return false;
  for (Value* value : joined->incoming_values()) {
    auto* c = dyn_cast<ConstantInt>(value);
    Constant* known = c;
    if (c && compare) {
      auto* limit = dyn_cast<ConstantInt>(compare->getOperand(1));
      known =
          limit ? ConstantFoldCompareInstOperands(compare->getPredicate(), c, limit, block.getModule()->getDataLayout())
                : nullptr;
    }
    if (auto* way = dyn_cast_or_null<ConstantInt>(known);
        way && !loop.contains(branch.getSuccessor(way->isOne() ? 0 : 1)))
      return true;
  }
  return false;
}

/// Where the block's test leads from `from`, if that is known and outside of the loop; else null.
BasicBlock* way_out(BasicBlock& from, BasicBlock& block, const llvm::Loop& loop) {
  auto& branch = cast<BranchInst>(*block.getTerminator());
  auto* known = dyn_cast_or_null<ConstantInt>(value_on_edge(branch.getCondition(), block, from));
  if (!known) return nullptr;
  BasicBlock* exit = branch.getSuccessor(known->isOne() ? 0 : 1);
  const bool plain =
      !loop.contains(exit) && !is_contained(successors(&from), exit) && llvm::count(successors(&from), &block) == 1;
  return plain ? exit : nullptr;
}

/// Whether a path that leaves may pass by the block: nothing happens in it.
bool only_tests(BasicBlock& block) {
  for (Instruction& i : block)
    if (!i.isTerminator() && i.mayHaveSideEffects() && !isa<DbgInfoIntrinsic>(i)) return false;
  return true;
}

/// What the exit's phi gets on a way from `from` past `block`; null: it is made in the block.
Value* past(Value* value, BasicBlock& block, BasicBlock& from, const Value* test, Constant& known) {
  if (value == test) return &known;
  auto* i = dyn_cast<Instruction>(value);
  if (!i || i->getParent() != &block) return value;
  auto* phi = dyn_cast<PHINode>(i);
  return phi ? phi->getIncomingValueForBlock(&from) : nullptr;
}

bool leave_from(BasicBlock& from, BasicBlock& block, const llvm::Loop& loop) {
  auto& branch = cast<BranchInst>(*block.getTerminator());
  BasicBlock* exit = way_out(from, block, loop);
  if (!exit) return false;
  auto& known = *cast<ConstantInt>(value_on_edge(branch.getCondition(), block, from));
  SmallVector<Value*> values;
  for (PHINode& phi : exit->phis()) {
    values.push_back(past(phi.getIncomingValueForBlock(&block), block, from, branch.getCondition(), known));
    if (!values.back()) return false;
  }
  std::size_t n = 0;
  for (PHINode& phi : exit->phis()) phi.addIncoming(values[n++], &from);
  block.removePredecessor(&from, /*KeepOneInputPHIs=*/true);
  from.getTerminator()->replaceSuccessorWith(&block, exit);
  return true;
}

/// Calls `what(from, block, loop)` for ways within a loop, or into it, to a block that may leave it and does nothing
/// else, until it returns true.
template <class What>
bool any_way(Function& function, const What& what) {
  DominatorTree dominators(function);
  const LoopInfo loops(dominators);
  for (BasicBlock& block : function) {
    const llvm::Loop* loop = loops.getLoopFor(&block);
    auto* branch = dyn_cast<BranchInst>(block.getTerminator());
    if (!loop || !branch || !branch->isConditional() || !loop->isLoopExiting(&block) || !only_tests(block)) continue;
    const SmallVector<BasicBlock*> before(predecessors(&block));
    if (before.size() < 2) continue;
    for (BasicBlock* from : before) {
      const llvm::Loop* its = loops.getLoopFor(from);
      if ((its == loop || its == loop->getParentLoop()) && what(*from, block, *loop)) return true;
    }
  }
  return false;
}

}  // namespace

bool may_leave_loops_early(Function& function) {
  return any_way(function, [](BasicBlock& from, BasicBlock& block, const llvm::Loop& loop) {
    return joins_ways_out(from, block, loop) || way_out(from, block, loop) != nullptr;
  });
}

bool leave_loops_early(Function& function) {
  bool changed = false;
  // One change at a time: loops are no longer as they were then.
  while (any_way(function, [](BasicBlock& from, BasicBlock& block, const llvm::Loop& loop) {
    if (joins_ways_out(from, block, loop) && TryToSimplifyUncondBranchFromEmptyBlock(&from)) return true;
    return leave_from(from, block, loop);
  }))
    changed = true;
  return changed;
}

}  // namespace kernelcast::frontend
