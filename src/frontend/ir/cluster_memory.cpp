#include "frontend/ir/cluster_memory.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

constexpr const char* mapping = "kc.mapa";
constexpr const char* mark = "kc.cluster";
constexpr unsigned shared_address_space = 3;

bool is_cluster_pointer(const Type* type) {
  return type->isPointerTy() && type->getPointerAddressSpace() == cluster_address_space;
}

bool is_mapping(const Value* v) {
  const auto* call = dyn_cast<CallInst>(v);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == mapping;
}

class Settler {
 public:
  explicit Settler(Function& function)
      : function_(function), space_(PointerType::get(function.getContext(), shared_address_space)) {}

  void run() {
    SmallVector<Instruction*, 32> all;
    for (Instruction& i : instructions(function_)) all.push_back(&i);
    for (Instruction* i : all) {
      if (is_cluster_pointer(i->getType())) continue;  // own() makes its counterpart
      if (auto* cast = dyn_cast<AddrSpaceCastInst>(i); cast && is_cluster_pointer(cast->getSrcTy())) {
        cast->replaceAllUsesWith(in_space(own(cast->getPointerOperand()), cast->getType(), cast));
        dead_.push_back(cast);
        continue;
      }
      bool any = false;
      for (Use& use : i->operands()) {
        if (!is_cluster_pointer(use->getType())) continue;
        use.set(own(use.get()));
        any = true;
      }
      if (any && i->mayReadOrWriteMemory()) i->setMetadata(mark, MDNode::get(i->getContext(), {}));
      if (auto* call = dyn_cast<MemIntrinsic>(i); call && any) retype(*call);
    }
    for (Instruction* i : all)
      if (is_cluster_pointer(i->getType())) dead_.push_back(i);
    for (Instruction* i : dead_) i->replaceAllUsesWith(PoisonValue::get(i->getType()));
    for (Instruction* i : dead_) i->eraseFromParent();
    if (Function* f = function_.getParent()->getFunction(mapping); f && f->use_empty()) f->eraseFromParent();
  }

 private:
  /// A copy or a fill by the function for the spaces of its pointers.
  static void retype(MemIntrinsic& call) {
    SmallVector<Type*, 3> types{call.getRawDest()->getType()};
    if (auto* copy = dyn_cast<MemTransferInst>(&call)) types.push_back(copy->getRawSource()->getType());
    types.push_back(call.getLength()->getType());
    call.setCalledFunction(Intrinsic::getDeclaration(call.getModule(), call.getIntrinsicID(), types));
  }

  /// The pointer in another space, without a cast where it comes from there.
  Value* in_space(Value* pointer, Type* wanted, Instruction* before) const {
    if (pointer->getType() == wanted) return pointer;
    if (auto* cast = dyn_cast<AddrSpaceCastOperator>(pointer); cast && cast->getPointerOperand()->getType() == wanted)
      return cast->getPointerOperand();
    if (auto* c = dyn_cast<Constant>(pointer)) return ConstantExpr::getAddrSpaceCast(c, wanted);
    if (auto* address = dyn_cast<GetElementPtrInst>(pointer)) {  // of a cast: its base may be one back
      IRBuilder<> b(address);
      Value* base = in_space(address->getPointerOperand(), wanted, address);
      const SmallVector<Value*, 4> indices(address->indices());
      return b.CreateGEP(address->getSourceElementType(), base, indices, "", address->isInBounds());
    }
    return IRBuilder<>(before).CreateAddrSpaceCast(pointer, wanted);
  }

  /// The same address in the block's own shared memory.
  Value* own(Value* v) {
    if (Value* known = own_.lookup(v)) return known;
    if (auto* phi = dyn_cast<PHINode>(v)) {
      PHINode* made = IRBuilder<>(phi).CreatePHI(space_, phi->getNumIncomingValues());
      own_[v] = made;  // a loop comes back to it
      for (unsigned k = 0; k < phi->getNumIncomingValues(); ++k)
        made->addIncoming(own(phi->getIncomingValue(k)), phi->getIncomingBlock(k));
      return made;
    }
    Value* made = make(v);
    own_[v] = made;
    return made;
  }

  Value* make(Value* v) {
    if (isa<PoisonValue>(v)) return PoisonValue::get(space_);
    if (isa<UndefValue>(v)) return UndefValue::get(space_);
    if (isa<ConstantPointerNull>(v)) return ConstantPointerNull::get(space_);
    auto* i = dyn_cast<Instruction>(v);
    Instruction* before = i ? i : &*function_.getEntryBlock().getFirstInsertionPt();
    if (is_mapping(v)) return in_space(i->getOperand(0), space_, i);
    if (auto* cast = dyn_cast<AddrSpaceCastOperator>(v)) return in_space(cast->getPointerOperand(), space_, before);
    if (auto* address = dyn_cast<GEPOperator>(v)) {
      IRBuilder<> b(before);
      const SmallVector<Value*, 4> indices(address->indices());
      return b.CreateGEP(address->getSourceElementType(), own(address->getPointerOperand()), indices, "",
                         address->isInBounds());
    }
    if (auto* choice = dyn_cast<SelectInst>(v)) {
      Value *yes = own(choice->getTrueValue()), *no = own(choice->getFalseValue());
      return IRBuilder<>(choice).CreateSelect(choice->getCondition(), yes, no);
    }
    if (auto* frozen = dyn_cast<FreezeInst>(v)) return own(frozen->getOperand(0));
    if (auto* number = dyn_cast<Operator>(v); number && number->getOpcode() == Instruction::IntToPtr)
      return IRBuilder<>(before).CreateIntToPtr(number->getOperand(0), space_);
    return UndefValue::get(space_);  // loaded from memory that holds such pointers: none is written anywhere
  }

  Function& function_;
  PointerType* space_;
  DenseMap<Value*, Value*> own_;
  SmallVector<Instruction*, 16> dead_;
};

}  // namespace

Value* mapped_to_cluster(IRBuilderBase& b, Value* own) {
  Module* module = b.GetInsertBlock()->getModule();
  auto* type = FunctionType::get(PointerType::get(b.getContext(), cluster_address_space), {own->getType()}, false);
  auto* f = cast<Function>(module->getOrInsertFunction(mapping, type).getCallee());
  f->setDoesNotThrow();
  f->setWillReturn();
  f->setDoesNotAccessMemory();
  f->addFnAttr(Attribute::Speculatable);
  return b.CreateCall(f, {own});
}

void settle_cluster_memory(Function& function) { Settler(function).run(); }

bool is_in_cluster(const Instruction& access) { return access.getMetadata(mark) != nullptr; }

}  // namespace kernelcast::frontend
