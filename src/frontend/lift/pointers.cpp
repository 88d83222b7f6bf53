// A number that is cast to a pointer is followed back to the one pointer that is in it. The pointer is the base, and
// the same computation with 0 in its place is the offset: sums and differences, choices and loops keep base and offset
// apart. `and`, `or` and `xor` with an address (swizzles, alignment) act on the offset, as they do where the array
// begins at a multiple of the largest power of two in their other operand; shared arrays and allocations do at 128 and
// more, and what bank an address falls into does not depend on more.
#include "frontend/lift/lift.h"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/Utils/Local.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

class PointerFinder {
 public:
  explicit PointerFinder(Function& kernel) : dominators_(kernel) {}

  bool rewrite(IntToPtrInst& cast) {
    whole_ = false;
    find_base(cast.getOperand(0));
    // A swizzle acts on bits of the whole offset in the array, not on those behind some element of it.
    whole_ = base_ && any_of(seen_, [this](Value* v) { return takes_bits(v) && holds_pointer(v); });
    if (whole_) find_base(cast.getOperand(0));
    if (!base_ || several_) return false;
    if (auto* at = dyn_cast<Instruction>(base_); at && !dominators_.dominates(at, &cast)) return false;
    offsets_.clear();
    Value* offset = offset_of(cast.getOperand(0));
    IRBuilder<> b(&cast);
    Value* base = base_;
    // A base that is an instruction must stand before: casts of arguments and globals do; others dominate their uses.
    if (base->getType() != cast.getType()) base = in_space(b, base, cast.getType());
    if (!offset->getType()->isIntegerTy(64)) offset = b.CreateSExt(offset, b.getInt64Ty());
    Value* address =
        isa<ConstantInt>(offset) && cast_constant_zero(offset) ? base : b.CreateGEP(b.getInt8Ty(), base, offset);
    cast.replaceAllUsesWith(address);
    cast.eraseFromParent();
    return true;
  }

 private:
  static bool cast_constant_zero(Value* v) { return cast<ConstantInt>(v)->isZero(); }

  /// From a space into the generic one and back, or into another.
  static Value* in_space(IRBuilder<>& b, Value* base, Type* wanted) {
    if (base->getType() == wanted) return base;
    if (auto* through = dyn_cast<AddrSpaceCastOperator>(base); through && through->getOperand(0)->getType() == wanted)
      return through->getOperand(0);
    const unsigned from = base->getType()->getPointerAddressSpace(), to = wanted->getPointerAddressSpace();
    if (from != 0 && to != 0) base = b.CreateAddrSpaceCast(base, PointerType::get(b.getContext(), 0));
    return b.CreateAddrSpaceCast(base, wanted);
  }

  void find_base(Value* number) {
    seen_.clear();
    base_ = nullptr;
    several_ = false;
    find(number);
  }

  static Value* pointer_in(Value* v) {
    if (auto* number = dyn_cast<PtrToIntOperator>(v)) return number->getPointerOperand();
    return nullptr;
  }

  void found(Value* pointer) {
    // The array itself, whatever space it was cast to.
    for (;;) {
      if (auto* through = dyn_cast<AddrSpaceCastOperator>(pointer))
        pointer = through->getOperand(0);
      else if (auto* element = dyn_cast<GEPOperator>(pointer); element && whole_)
        pointer = element->getPointerOperand();
      else
        break;
    }
    if (base_ && base_ != pointer) several_ = true;
    base_ = pointer;
  }

  static bool takes_bits(Value* v) {
    auto* i = dyn_cast<Instruction>(v);
    if (!i) return false;
    if (auto* sum = dyn_cast<PossiblyDisjointInst>(i); sum && sum->isDisjoint()) return false;
    return i->isBitwiseLogicOp() || i->isShift() || i->getOpcode() == Instruction::Mul || i->isIntDivRem();
  }

  /// Looks for pointers in a number.
  void find(Value* v) {
    if (several_ || !seen_.insert(v).second) return;
    if (Value* pointer = pointer_in(v)) return found(pointer);
    auto* i = dyn_cast<Operator>(v);
    if (!i) return;
    switch (i->getOpcode()) {
      case Instruction::Or:
      case Instruction::Xor:
      case Instruction::And:
      case Instruction::Add:
        find(i->getOperand(0));
        find(i->getOperand(1));
        return;
      case Instruction::LShr:
      case Instruction::AShr:
      case Instruction::Shl:
      case Instruction::Mul:
      case Instruction::UDiv:
      case Instruction::URem:
      case Instruction::Sub:
      case Instruction::ZExt:
      case Instruction::SExt:
      case Instruction::Trunc:
      case Instruction::Freeze:
        find(i->getOperand(0));
        return;
      case Instruction::Select:
        find(i->getOperand(1));
        find(i->getOperand(2));
        return;
      case Instruction::PHI:
        for (Value* in : cast<PHINode>(i)->incoming_values()) find(in);
        return;
      default:
        return;
    }
  }

  /// Bytes from the base to the pointer, as the number `v`, a cast of it, has them.
  Value* offset_in_array(Value* v, Value* pointer) {
    auto* at = dyn_cast<Instruction>(v);
    IRBuilder<> b(v->getContext());
    if (at) b.SetInsertPoint(at);
    const DataLayout& layout = cast<Instruction>(at ? at : dominators_.getRoot()->getTerminator())->getDataLayout();
    Value* sum = ConstantInt::get(v->getType(), 0);
    for (;;) {
      if (auto* through = dyn_cast<AddrSpaceCastOperator>(pointer)) {
        pointer = through->getOperand(0);
      } else if (auto* element = dyn_cast<GEPOperator>(pointer); element && whole_) {
        Value* step = b.CreateSExtOrTrunc(emitGEPOffset(&b, layout, element), v->getType());
        sum = isa<Constant>(sum) && cast<Constant>(sum)->isNullValue() ? step : b.CreateAdd(sum, step, "", false, true);
        pointer = element->getPointerOperand();
      } else {
        return sum;
      }
    }
  }

  /// The same number with 0 in place of the base.
  Value* offset_of(Value* v) {
    if (Value* pointer = pointer_in(v)) {
      if (const auto known = offsets_.find(v); known != offsets_.end()) return known->second;
      Value* offset = offset_in_array(v, pointer);
      offsets_[v] = offset;
      return offset;
    }
    if (!seen_.contains(v) || !isa<Instruction>(v)) {
      // Constants hold no address but as a cast, which stands above; a constant expression's sum does.
      if (auto* e = dyn_cast<ConstantExpr>(v); e && e->getOpcode() == Instruction::Add)
        return ConstantExpr::getAdd(cast<Constant>(offset_of(e->getOperand(0))),
                                    cast<Constant>(offset_of(e->getOperand(1))));
      if (auto* e = dyn_cast<ConstantExpr>(v); e && e->isCast() && e->getOpcode() == Instruction::Trunc)
        return ConstantInt::get(v->getType(), 0);
      return v;
    }
    if (const auto known = offsets_.find(v); known != offsets_.end()) return known->second;
    auto* i = cast<Instruction>(v);
    if (!holds_pointer(v)) return v;
    if (auto* phi = dyn_cast<PHINode>(i)) {
      PHINode* twin = PHINode::Create(phi->getType(), phi->getNumIncomingValues(), phi->getName(), phi->getIterator());
      twin->setDebugLoc(phi->getDebugLoc());
      offsets_[v] = twin;
      for (unsigned k = 0; k < phi->getNumIncomingValues(); ++k)
        twin->addIncoming(offset_of(phi->getIncomingValue(k)), phi->getIncomingBlock(k));
      return twin;
    }
    Instruction* twin = i->clone();
    const unsigned first = isa<SelectInst>(i) ? 1 : 0;
    const unsigned past = i->getOpcode() == Instruction::Sub ? 1 : i->getNumOperands();
    for (unsigned k = first; k < past; ++k) twin->setOperand(k, offset_of(i->getOperand(k)));
    twin->insertBefore(i);
    twin->dropPoisonGeneratingFlags();
    if (twin->getOpcode() == Instruction::Add || twin->getOpcode() == Instruction::Sub)
      twin->setHasNoSignedWrap(true);  // offsets stay within an allocation
    if (twin->getOpcode() == Instruction::ZExt) {
      auto* by_sign = new SExtInst(twin->getOperand(0), twin->getType(), "", i->getIterator());
      by_sign->setDebugLoc(i->getDebugLoc());
      twin->eraseFromParent();
      twin = by_sign;
    }
    offsets_[v] = twin;
    return twin;
  }

  /// Whether a pointer is in the number: what find() went through may also be plain (the index of a sum).
  bool holds_pointer(Value* v) {
    SmallPtrSet<Value*, 16> visited;
    SmallVector<Value*, 16> work{v};
    while (!work.empty()) {
      Value* at = work.pop_back_val();
      if (!visited.insert(at).second) continue;
      if (pointer_in(at)) return true;
      auto* i = dyn_cast<Operator>(at);
      if (!i || !seen_.contains(at)) continue;
      for (Value* operand : i->operands())
        if (seen_.contains(operand)) work.push_back(operand);
    }
    return false;
  }

  DominatorTree dominators_;
  SmallPtrSet<Value*, 32> seen_;
  DenseMap<Value*, Value*> offsets_;
  Value* base_ = nullptr;
  bool several_ = false;
  bool whole_ = false;  // the base is the array, not an element of it
};

}  // namespace

namespace {

/// A value that the kernel was given, or loads, as the pointer of an address; smaller ones are likelier to be that.
struct Given {
  enum class Kind { parameter, loaded } kind = Kind::loaded;
  unsigned parameter = 0;
  std::int64_t offset = 0;  // in a structure
  friend auto operator<=>(const Given&, const Given&) = default;
};

/// Nothing: no 64-bit number from outside.
std::optional<Given> given(Value* v) {
  if (!v->getType()->isIntegerTy(64)) return std::nullopt;
  if (auto* a = dyn_cast<Argument>(v)) return Given{Given::Kind::parameter, a->getArgNo(), 0};
  auto* load = dyn_cast<LoadInst>(v);
  if (!load) return std::nullopt;
  std::int64_t offset = 0;
  Value* base = GetPointerBaseWithConstantOffset(load->getPointerOperand(), offset, load->getDataLayout());
  auto* a = dyn_cast<Argument>(base);
  if (a && a->hasByValAttr()) return Given{Given::Kind::parameter, a->getArgNo(), offset};
  return Given{};
}

/// What was given and is a term of the number, not multiplied by anything.
void given_terms(Value* v, SmallSetVector<Value*, 8>& found, SmallPtrSetImpl<Value*>& seen) {
  if (!seen.insert(v).second) return;
  if (given(v)) {
    found.insert(v);
    return;
  }
  auto* i = dyn_cast<Operator>(v);
  if (!i) return;
  switch (i->getOpcode()) {
    case Instruction::Add:
    case Instruction::Or:
      given_terms(i->getOperand(0), found, seen);
      given_terms(i->getOperand(1), found, seen);
      return;
    case Instruction::Sub:
    case Instruction::And:
    case Instruction::Freeze:
    case Instruction::PtrToInt:
    case Instruction::IntToPtr:
    case Instruction::AddrSpaceCast:
    case Instruction::GetElementPtr:
      return given_terms(i->getOperand(0), found, seen);
    case Instruction::Select:
      given_terms(i->getOperand(1), found, seen);
      given_terms(i->getOperand(2), found, seen);
      return;
    case Instruction::PHI:
      for (Value* in : cast<PHINode>(i)->incoming_values()) given_terms(in, found, seen);
      return;
    default:
      return;
  }
}

/// The given values that are pointers. Of several in one address one is: one that is known for one, or else the first.
SmallSetVector<Value*, 8> given_pointers(Function& kernel) {
  SmallSetVector<Value*, 8> pointers;
  std::vector<SmallSetVector<Value*, 8>> open;
  for (Instruction& i : instructions(kernel)) {
    auto* cast = dyn_cast<IntToPtrInst>(&i);
    if (!cast) continue;
    SmallSetVector<Value*, 8> terms;
    SmallPtrSet<Value*, 32> seen;
    given_terms(cast->getOperand(0), terms, seen);
    const auto loaded = [](Value* v) { return given(v)->kind == Given::Kind::loaded; };
    if (!all_of(terms, loaded)) terms.remove_if(loaded);
    if (terms.size() == 1)
      pointers.insert(terms.front());
    else if (!terms.empty())
      open.push_back(std::move(terms));
  }
  for (const auto& terms : open)
    if (none_of(terms, [&](Value* v) { return pointers.contains(v); }))
      pointers.insert(
          *std::min_element(terms.begin(), terms.end(), [](Value* l, Value* r) { return *given(l) < *given(r); }));
  return pointers;
}

/// Loads a pointer in place of a number.
void load_as_pointer(LoadInst& load) {
  IRBuilder<> b(&load);
  LoadInst* pointer = b.CreateAlignedLoad(PointerType::get(load.getContext(), 0), load.getPointerOperand(),
                                          load.getAlign(), load.isVolatile());
  pointer->setDebugLoc(load.getDebugLoc());
  pointer->setAtomic(load.getOrdering(), load.getSyncScopeID());
  if (MDNode* invariant = load.getMetadata(LLVMContext::MD_invariant_load))
    pointer->setMetadata(LLVMContext::MD_invariant_load, invariant);
  load.replaceAllUsesWith(b.CreatePtrToInt(pointer, load.getType()));
  load.eraseFromParent();
}

}  // namespace

Function* with_pointer_parameters(Function& kernel) {
  SmallPtrSet<Argument*, 8> pointers;
  for (Value* v : given_pointers(kernel)) {
    if (auto* a = dyn_cast<Argument>(v))
      pointers.insert(a);
    else
      load_as_pointer(*cast<LoadInst>(v));
  }
  if (pointers.empty()) return &kernel;
  std::vector<Type*> types;
  for (Argument& a : kernel.args())
    types.push_back(pointers.contains(&a) ? PointerType::get(kernel.getContext(), 0) : a.getType());
  Function* made = Function::Create(FunctionType::get(kernel.getReturnType(), types, false), kernel.getLinkage(), "",
                                    kernel.getParent());
  made->copyAttributesFrom(&kernel);
  made->copyMetadata(&kernel, 0);
  kernel.setSubprogram(nullptr);
  made->splice(made->begin(), &kernel);
  IRBuilder<> b(&made->getEntryBlock(), made->getEntryBlock().getFirstInsertionPt());
  for (unsigned k = 0; k < types.size(); ++k) {
    Argument *old = kernel.getArg(k), *now = made->getArg(k);
    now->takeName(old);
    old->replaceAllUsesWith(types[k] == old->getType() ? static_cast<Value*>(now)
                                                       : b.CreatePtrToInt(now, old->getType()));
  }
  made->takeName(&kernel);
  kernel.replaceAllUsesWith(made);  // of annotations
  kernel.eraseFromParent();
  return made;
}

void recover_pointers(Function& kernel) {
  std::vector<IntToPtrInst*> casts;
  for (Instruction& i : instructions(kernel))
    if (auto* cast = dyn_cast<IntToPtrInst>(&i)) casts.push_back(cast);
  PointerFinder finder(kernel);
  for (IntToPtrInst* cast : casts) finder.rewrite(*cast);
}

}  // namespace kernelcast::frontend
