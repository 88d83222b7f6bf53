// A loop that takes a lock differs from one that repeats an update (load, compute, compare and swap) in that it
// compares with and swaps in the same values each time. What a flag is compared with, or where it lies, tells whether
// blocks wait for one another in turn: it differs between them. Addresses and values that data decide are taken to.
#include "frontend/shape/synchronization.h"

#include <algorithm>

#include "frontend/ir/builtins.h"
#include "kernelcast/error.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

bool in_shared_or_private(const Value& pointer) {
  const unsigned space = getUnderlyingObject(&pointer)->getType()->getPointerAddressSpace();
  return space == 3 || space == 5;
}

/// What a look at memory has of the loop's own values: nothing.
bool is_invariant(const llvm::Loop& loop, const Value* v) { return v == nullptr || loop.isLoopInvariant(v); }

/// The load or atomic in the loop on which a test depends, if it is the only one.
const Instruction* look_of(const Value* v, const llvm::Loop& loop, int depth = 0) {
  const auto* i = dyn_cast<Instruction>(v);
  if (!i || !loop.contains(i) || depth > 8) return nullptr;
  if (const auto* load = dyn_cast<LoadInst>(i)) return load->isVolatile() || load->isAtomic() ? i : nullptr;
  if (isa<AtomicRMWInst>(i) || isa<AtomicCmpXchgInst>(i)) return i;
  if (isa<PHINode>(i) || isa<CallBase>(i)) return nullptr;
  const Instruction* found = nullptr;
  for (const Use& u : i->operands()) {
    const Instruction* look = look_of(u.get(), loop, depth + 1);
    if (look && found && look != found) return nullptr;
    if (look) found = look;
  }
  return found;
}

/// Whether the loop only looks: no stores, no barriers, no other atomics.
bool only_looks(const llvm::Loop& loop, const Instruction& look) {
  for (const BasicBlock* block : loop.blocks())
    for (const Instruction& i : *block)
      if (&i != &look && (isa<StoreInst>(i) || isa<AtomicRMWInst>(i) || isa<AtomicCmpXchgInst>(i) || is_barrier(i)))
        return false;
  return true;
}

bool differs_between_blocks(const Expr& e, const KernelModel& model) {
  if (!model.data_in(e).empty()) return true;
  for (int axis = 0; axis < 3; ++axis)
    if (e.depends_on(group_id(axis))) return true;
  return false;
}

/// The value that a test compares what was read with; null: something else.
Value* compared_with(const Value* test, const llvm::Loop& loop) {
  const auto* compare = dyn_cast<ICmpInst>(test);
  if (!compare) return nullptr;
  for (const unsigned k : {0U, 1U})
    if (loop.isLoopInvariant(compare->getOperand(k))) return compare->getOperand(k);
  return nullptr;
}

bool in_turn(Value* pointer, Value* goal, KernelModel& model) {
  try {
    const Address where = model.address(pointer);
    if (where.buffer < 0 || differs_between_blocks(where.offset, model)) return true;
    return goal != nullptr && differs_between_blocks(model.integer(goal), model);
  } catch (const Error&) {
    return true;
  }
}

}  // namespace

Waiting waiting_of(const llvm::Loop& loop, KernelModel& model) {
  using Wait = kernelcast::Loop::Wait;
  if (!loop.getSubLoops().empty()) return {};
  SmallVector<BasicBlock*, 4> exiting;
  loop.getExitingBlocks(exiting);
  for (const BasicBlock* block : exiting) {
    const auto* branch = dyn_cast<BranchInst>(block->getTerminator());
    if (!branch || !branch->isConditional()) continue;
    const Instruction* look = look_of(branch->getCondition(), loop);
    if (!look || !only_looks(loop, *look)) continue;
    auto* pointer = const_cast<Value*>(getLoadStorePointerOperand(look));
    if (const auto* exchange = dyn_cast<AtomicCmpXchgInst>(look)) {
      pointer = const_cast<Value*>(exchange->getPointerOperand());
      if (!is_invariant(loop, exchange->getCompareOperand()) || !is_invariant(loop, exchange->getNewValOperand()))
        return {};
    } else if (const auto* update = dyn_cast<AtomicRMWInst>(look)) {
      pointer = const_cast<Value*>(update->getPointerOperand());
      if (!is_invariant(loop, update->getValOperand())) return {};
    }
    if (!pointer || !loop.isLoopInvariant(pointer) || in_shared_or_private(*pointer)) continue;
    const auto* update = dyn_cast<AtomicRMWInst>(look);
    const bool takes = isa<AtomicCmpXchgInst>(look) || (update && update->getOperation() == AtomicRMWInst::Xchg);
    if (takes) return {Wait::lock, false};
    return {Wait::flag, !in_turn(pointer, compared_with(branch->getCondition(), loop), model)};
  }
  return {};
}

}  // namespace kernelcast::frontend
