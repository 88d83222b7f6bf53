// Vectorised code of a guarded body loads and stores under masks. For addresses and counts a masked access of
// neighbouring elements is a plain one of the whole vector: what the mask leaves out lies in the same lines, but for
// the edge of the guard. Gathers and scatters become an access a lane. Addresses are often one lane of a vector of
// indices: where it can be computed by itself, it is.
#include "frontend/cpu/function_passes.h"

#include <vector>

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace kernelcast::frontend {
namespace {

using namespace llvm;

constexpr int deepest = 16;

/// One lane of a vector of counters, as a counter by itself. Null for anything else that goes round a loop.
Value* lane_of_counter(IRBuilder<>& at, PHINode& counters, unsigned lane) {
  if (counters.getNumIncomingValues() != 2) return nullptr;
  for (unsigned around : {0U, 1U}) {
    const auto* next = dyn_cast<BinaryOperator>(counters.getIncomingValue(around));
    const auto* first = dyn_cast<Constant>(counters.getIncomingValue(1 - around));
    const auto* steps = next ? dyn_cast<Constant>(next->getOperand(1)) : nullptr;
    if (!first || !steps || next->getOpcode() != Instruction::Add || next->getOperand(0) != &counters) continue;
    Constant *begin = first->getAggregateElement(lane), *step = steps->getAggregateElement(lane);
    if (!begin || !step) return nullptr;
    at.SetInsertPoint(&counters);
    PHINode* counter = at.CreatePHI(begin->getType(), 2);
    at.SetInsertPoint(counters.getIncomingBlock(around)->getTerminator());
    counter->addIncoming(begin, counters.getIncomingBlock(1 - around));
    counter->addIncoming(at.CreateAdd(counter, step), counters.getIncomingBlock(around));
    return counter;
  }
  return nullptr;
}

/// One lane of a vector, from the same lane of what it is made of.
Value* lane_of(IRBuilder<>& at, Value* v, unsigned lane, int depth = 0) {
  const auto part = [&](Value* operand) { return lane_of(at, operand, lane, depth + 1); };
  if (auto* constant = dyn_cast<Constant>(v))
    if (Constant* element = constant->getAggregateElement(lane)) return element;
  auto* made = dyn_cast<Instruction>(v);
  if (!made || depth > deepest) return at.CreateExtractElement(v, lane);
  at.SetInsertPoint(made);
  Value* out = nullptr;
  if (auto* insert = dyn_cast<InsertElementInst>(made)) {
    if (const auto* index = dyn_cast<ConstantInt>(insert->getOperand(2)))
      out = index->getZExtValue() == lane ? insert->getOperand(1) : part(insert->getOperand(0));
  } else if (auto* shuffle = dyn_cast<ShuffleVectorInst>(made)) {
    const unsigned width = vector_lanes(*shuffle->getOperand(0)->getType());
    const int from = shuffle->getMaskValue(lane);
    if (from >= 0 && width > 0)
      out = lane_of(at, shuffle->getOperand(static_cast<unsigned>(from) >= width), static_cast<unsigned>(from) % width,
                    depth + 1);
  } else if (auto* binary = dyn_cast<BinaryOperator>(made)) {
    Value* left = part(binary->getOperand(0));
    Value* right = part(binary->getOperand(1));
    at.SetInsertPoint(made);
    out = at.CreateBinOp(binary->getOpcode(), left, right);
    if (auto* same = dyn_cast<BinaryOperator>(out)) same->copyIRFlags(binary);
  } else if (auto* cast = dyn_cast<CastInst>(made)) {
    Value* from = part(cast->getOperand(0));
    at.SetInsertPoint(made);
    out = at.CreateCast(cast->getOpcode(), from, cast->getType()->getScalarType());
  } else if (auto* address = dyn_cast<GetElementPtrInst>(made)) {
    const auto scalar = [&](Value* x) { return x->getType()->isVectorTy() ? part(x) : x; };
    Value* base = scalar(address->getPointerOperand());
    std::vector<Value*> indices;
    for (Use& index : address->indices()) indices.push_back(scalar(index.get()));
    at.SetInsertPoint(made);
    out = at.CreateGEP(address->getSourceElementType(), base, indices);
  } else if (auto* passed = dyn_cast<PHINode>(made); passed && passed->getNumIncomingValues() == 1) {
    Value* from = part(passed->getIncomingValue(0));  // out of a loop
    at.SetInsertPoint(made);
    PHINode* merged = at.CreatePHI(from->getType(), 1);
    merged->addIncoming(from, passed->getIncomingBlock(0));
    out = merged;
  } else if (auto* counters = dyn_cast<PHINode>(made)) {
    out = lane_of_counter(at, *counters, lane);
  }
  at.SetInsertPoint(made->getNextNode());
  if (isa<PHINode>(made)) at.SetInsertPoint(made->getParent()->getFirstNonPHI());
  return out ? out : at.CreateExtractElement(v, lane);
}

/// Lanes of index vectors that are taken out, by themselves.
void take_lanes_out(Function& f) {
  std::vector<ExtractElementInst*> lanes;
  for (Instruction& i : instructions(f))
    if (auto* extract = dyn_cast<ExtractElementInst>(&i))
      if (extract->getType()->isIntOrPtrTy() && isa<ConstantInt>(extract->getIndexOperand())) lanes.push_back(extract);
  for (ExtractElementInst* extract : lanes) {
    IRBuilder<> at(extract);
    const auto lane = static_cast<unsigned>(cast<ConstantInt>(extract->getIndexOperand())->getZExtValue());
    Value* alone = lane_of(at, extract->getVectorOperand(), lane);
    extract->replaceAllUsesWith(alone);
    extract->eraseFromParent();
  }
}

Value* gathered(IRBuilder<>& at, IntrinsicInst& call) {
  auto* type = cast<FixedVectorType>(call.getType());
  Value* all = PoisonValue::get(type);
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    Value* address = at.CreateExtractElement(call.getArgOperand(0), lane);
    all = at.CreateInsertElement(all, at.CreateLoad(type->getElementType(), address), lane);
  }
  return all;
}

void scatter(IRBuilder<>& at, IntrinsicInst& call) {
  for (unsigned lane = 0; lane < vector_lanes(*call.getArgOperand(0)->getType()); ++lane)
    at.CreateStore(at.CreateExtractElement(call.getArgOperand(0), lane),
                   at.CreateExtractElement(call.getArgOperand(1), lane));
}

}  // namespace

unsigned vector_lanes(const Type& type) {
  const auto* vector = dyn_cast<FixedVectorType>(&type);
  return vector ? vector->getNumElements() : 0;
}

void take_masks_off(Function& f) {
  std::vector<IntrinsicInst*> calls;
  for (Instruction& i : instructions(f))
    if (auto* call = dyn_cast<IntrinsicInst>(&i)) calls.push_back(call);
  for (IntrinsicInst* call : calls) {
    IRBuilder<> at(call);
    switch (call->getIntrinsicID()) {
      case Intrinsic::masked_load:
        call->replaceAllUsesWith(at.CreateLoad(call->getType(), call->getArgOperand(0)));
        break;
      case Intrinsic::masked_store:
        at.CreateStore(call->getArgOperand(0), call->getArgOperand(1));
        break;
      case Intrinsic::masked_gather:
        if (vector_lanes(*call->getType()) == 0) continue;
        call->replaceAllUsesWith(gathered(at, *call));
        break;
      case Intrinsic::masked_scatter:
        scatter(at, *call);
        break;
      default:
        continue;
    }
    call->eraseFromParent();
  }
  take_lanes_out(f);
}

}  // namespace kernelcast::frontend
