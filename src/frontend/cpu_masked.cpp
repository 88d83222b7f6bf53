// Vectorised code of a guarded body loads and stores under masks. For addresses and counts a masked access of
// neighbouring elements is a plain one of the whole vector: what the mask leaves out lies in the same lines, but for
// the edge of the guard. Gathers and scatters become an access a lane. Addresses are often one lane of a vector of
// indices: where it can be computed by itself, it is.
#include "frontend/cpu_masked.h"

#include <vector>

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace kernelcast::frontend {
namespace {

using namespace llvm;

/// Lanes of a vector of known length; 0 otherwise.
unsigned vector_lanes(const Type& type) {
  const auto* vector = dyn_cast<FixedVectorType>(&type);
  return vector ? vector->getNumElements() : 0;
}

constexpr int deepest = 16;

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
  } else if (auto* address = dyn_cast<GetElementPtrInst>(made); address && address->getNumIndices() == 1) {
    const auto scalar = [&](Value* x) { return x->getType()->isVectorTy() ? part(x) : x; };
    Value* base = scalar(address->getPointerOperand());
    Value* index = scalar(address->getOperand(1));
    at.SetInsertPoint(made);
    out = at.CreateGEP(address->getSourceElementType(), base, index);
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
