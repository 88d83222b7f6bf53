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

/// The phi of the block that alone decides its test, by itself or compared with a constant; else null.
PHINode* deciding_phi(Value* test, const BasicBlock& block) {
  auto* compare = dyn_cast<ICmpInst>(test);
  if (compare && (compare->getParent() != &block || !isa<ConstantInt>(compare->getOperand(1)))) return nullptr;
  auto* phi = dyn_cast<PHINode>(compare ? compare->getOperand(0) : test);
  return phi && phi->getParent() == &block ? phi : nullptr;
}

/// The test's value where that phi is `value`; null: not known.
ConstantInt* outcome(Value* test, Value* value) {
  auto* number = dyn_cast<ConstantInt>(value);
  auto* compare = dyn_cast<ICmpInst>(test);
  if (!number || !compare) return number;
  return dyn_cast_or_null<ConstantInt>(ConstantFoldCompareInstOperands(compare->getPredicate(), number,
                                                                       cast<ConstantInt>(compare->getOperand(1)),
                                                                       compare->getModule()->getDataLayout()));
}

/// The test's value where `from` jumps to the block of the test; null: not known.
ConstantInt* value_on_edge(Value* test, BasicBlock& block, BasicBlock& from) {
  if (auto* phi = deciding_phi(test, block)) return outcome(test, phi->getIncomingValueForBlock(&from));
  if (auto* made = dyn_cast<Instruction>(test); made && made->getParent() == &block) return nullptr;
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
  auto* phi = deciding_phi(branch.getCondition(), block);
  auto* joined = phi ? dyn_cast<PHINode>(phi->getIncomingValueForBlock(&from)) : nullptr;
  if (!joined || joined->getParent() != &from) return false;
  return any_of(joined->incoming_values(), [&](Value* value) {
    const auto* way = outcome(branch.getCondition(), value);
    return way && !loop.contains(branch.getSuccessor(way->isOne() ? 0 : 1));
  });
}

/// Where the block's test leads from `from`, if that is known and outside of the loop; else null.
BasicBlock* way_out(BasicBlock& from, BasicBlock& block, const llvm::Loop& loop) {
  auto& branch = cast<BranchInst>(*block.getTerminator());
  const auto* known = value_on_edge(branch.getCondition(), block, from);
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
  auto& known = *ConstantInt::getBool(branch.getContext(), branch.getSuccessor(0) == exit);
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
