#include "frontend/lower/nvidia_rules.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace kernelcast::frontend {
namespace {

using namespace llvm;

struct Written {
  const AllocaInst* variable;
  std::int64_t start;
  std::uint64_t bytes;
};

/// What an instruction writes, if that is a part of a private variable that is known, and nothing else.
std::optional<Written> written_by(const Instruction& i, const DataLayout& layout) {
  const Value* to = nullptr;
  std::optional<std::uint64_t> bytes;
  if (const auto* store = dyn_cast<StoreInst>(&i); store && store->isSimple()) {
    to = store->getPointerOperand();
    bytes = layout.getTypeStoreSize(store->getValueOperand()->getType());
  } else if (const auto* block = dyn_cast<MemIntrinsic>(&i); block && !block->isVolatile()) {
    to = block->getRawDest();
    if (const auto* length = dyn_cast<ConstantInt>(block->getLength())) bytes = length->getZExtValue();
  }
  if (!to || !bytes) return {};
  APInt offset(layout.getIndexTypeSizeInBits(to->getType()), 0);
  const auto* variable = dyn_cast<AllocaInst>(to->stripAndAccumulateConstantOffsets(layout, offset, true));
  return variable ? std::optional(Written{variable, offset.getSExtValue(), *bytes}) : std::nullopt;
}

/// Whether an instruction may read private memory that is not known to be another variable's.
bool may_read(const Instruction& i, const AllocaInst& variable) {
  if (!i.mayReadFromMemory() || i.isDebugOrPseudoInst() || i.isLifetimeStartOrEnd()) return false;
  const Value* from = nullptr;
  if (const auto* load = dyn_cast<LoadInst>(&i)) from = load->getPointerOperand();
  if (const auto* copy = dyn_cast<MemTransferInst>(&i)) from = copy->getRawSource();
  if (!from) return true;
  const Value* source = getUnderlyingObject(from);
  const unsigned space = from->getType()->getPointerAddressSpace();
  const bool private_space = space == 0 || space == 5;
  return source == &variable || (private_space && !isIdentifiedObject(source) && !isa<Argument>(source));
}

/// Whether the block writes all of it before it may read any.
bool overwrites(const BasicBlock& block, const Written& what, const DataLayout& layout) {
  for (const Instruction& i : block) {
    if (may_read(i, *what.variable)) return false;
    if (const auto again = written_by(i, layout);
        again && again->variable == what.variable && again->start <= what.start &&
        again->start + static_cast<std::int64_t>(again->bytes) >= what.start + static_cast<std::int64_t>(what.bytes))
      return true;
  }
  return false;
}

}  // namespace

bool store_once(Function& kernel) {
  struct Store {
    Instruction* instruction;
    BasicBlock* target;  // where it is wanted
  };
  const DataLayout& layout = kernel.getParent()->getDataLayout();
  std::vector<Store> stores;
  for (BasicBlock& block : kernel) {
    const auto* branch = dyn_cast<BranchInst>(block.getTerminator());
    if (!branch || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1)) continue;
    for (Instruction& i : reverse(block)) {
      const auto what = written_by(i, layout);
      if (!what) continue;
      const bool read = any_of(make_range(std::next(i.getIterator()), block.end()),
                               [&](const Instruction& later) { return may_read(later, *what->variable); });
      if (read) continue;
      for (const unsigned taken : {0U, 1U}) {
        BasicBlock* then = branch->getSuccessor(taken);
        BasicBlock* target = branch->getSuccessor(1 - taken);
        if (then->getSinglePredecessor() != &block || then->getSingleSuccessor() != target) continue;
        if (overwrites(*then, *what, layout)) stores.push_back({&i, target});
      }
    }
  }
  std::map<std::pair<BasicBlock*, BasicBlock*>, BasicBlock*> between;
  for (const Store& s : stores) {
    BasicBlock* before = s.instruction->getParent();
    BasicBlock*& block = between[{before, s.target}];
    if (!block) block = SplitEdge(before, s.target);
    s.instruction->moveBefore(*block, block->getFirstInsertionPt());
  }
  return !stores.empty();
}

}  // namespace kernelcast::frontend
