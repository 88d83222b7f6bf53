#include "frontend/lower/nvidia_rules.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/Utils/Local.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace kernelcast::frontend {
namespace {

using namespace llvm;

constexpr std::int64_t element_bytes = 4;
constexpr std::int64_t most_bytes = 256;

/// A load or store whose element is known only at run time: it is offset `start` + k * `step` for some k < `choices`.
struct Access {
  Instruction* instruction;
  Value* pointer;
  const llvm::Loop* loop = nullptr;  // whose passage k is; null: any k
  std::int64_t start = 0, step = element_bytes, choices = 0;

  bool loads() const { return isa<LoadInst>(instruction); }
};

struct Array {
  AllocaInst* variable;
  std::vector<Access> accesses;
};

/// How many elements an access may mean at most, for ptxas to keep the array in registers.
std::int64_t most_choices(std::size_t accesses, bool loads_and_stores, std::int64_t width) {
  if (width == 4) return accesses <= 2 ? 13 : accesses <= 4 ? 8 : 6;
  if (width == 2) return accesses <= 2 ? 11 : accesses <= 4 ? 8 : 6;
  switch (accesses) {
    case 1:
      return 13;
    case 2:
      return loads_and_stores ? 7 : 8;
    case 3:
      return 7;
    case 4:
      return loads_and_stores ? 5 : 6;
    default:
      return loads_and_stores ? 4 : 5;
  }
}

/// Instructions that the accesses become where neighbours make wide ones, and how wide the narrowest is.
std::pair<std::size_t, std::int64_t> machine_accesses(const std::vector<Access>& accesses) {
  std::map<std::tuple<const BasicBlock*, const llvm::Loop*, std::int64_t, bool>, std::vector<std::int64_t>> runs;
  std::size_t count = 0;
  std::int64_t narrowest = 4;
  for (const Access& a : accesses) {
    if (a.loop)
      runs[{a.instruction->getParent(), a.loop, a.step, a.loads()}].push_back(a.start);
    else
      narrowest = 1, ++count;
  }
  for (auto& [key, starts] : runs) {
    const std::int64_t step = std::get<2>(key);
    std::sort(starts.begin(), starts.end());
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
    for (std::size_t i = 0; i < starts.size();) {
      std::int64_t width = 1;
      for (const std::int64_t wide : {4, 2}) {
        const auto last = i + static_cast<std::size_t>(wide) - 1;
        if (starts[i] % (wide * element_bytes) == 0 && step % (wide * element_bytes) == 0 && last < starts.size() &&
            starts[last] == starts[i] + (wide - 1) * element_bytes) {
          width = wide;
          break;
        }
      }
      narrowest = std::min(narrowest, width);
      i += static_cast<std::size_t>(width);
      ++count;
    }
  }
  return {count, narrowest};
}

class Finder {
 public:
  explicit Finder(Function& kernel)
      : layout_(kernel.getParent()->getDataLayout()),
        dominators_(kernel),
        loops_(dominators_),
        assumptions_(kernel),
        library_(Triple(kernel.getParent()->getTargetTriple())),
        names_(library_),
        evolution_(kernel, names_, assumptions_, dominators_, loops_) {
    for (const Instruction& i : instructions(kernel)) place_.emplace(&i, place_.size());
  }

  /// The array, if its accesses are what can be replaced and few enough.
  std::optional<Array> array_of(AllocaInst& variable) {
    const auto size = variable.getAllocationSize(layout_);
    if (!size || size->isScalable() || !variable.isStaticAlloca()) return {};
    bytes_ = static_cast<std::int64_t>(size->getFixedValue());
    if (bytes_ > most_bytes || bytes_ % element_bytes != 0) return {};
    Array array{&variable, {}};
    if (!add_users(variable, variable, array) || array.accesses.empty()) return {};
    std::sort(array.accesses.begin(), array.accesses.end(),
              [this](const Access& a, const Access& b) { return place_.at(a.instruction) < place_.at(b.instruction); });
    const auto [count, width] = machine_accesses(array.accesses);
    bool loads = false, stores = false;
    std::int64_t choices = 0;
    for (const Access& a : array.accesses) {
      (a.loads() ? loads : stores) = true;
      choices = std::max(choices, a.choices);
    }
    if (choices > most_choices(count, loads && stores, width)) return {};
    return array;
  }

 private:
  bool add_users(Value& pointer, AllocaInst& variable, Array& array) {
    for (User* user : pointer.users()) {
      auto* i = cast<Instruction>(user);
      if (isa<GetElementPtrInst>(i) || isa<AddrSpaceCastInst>(i)) {
        if (!add_users(*i, variable, array)) return false;
      } else if (isa<LoadInst>(i) || isa<StoreInst>(i)) {
        if (auto* store = dyn_cast<StoreInst>(i); store && store->getValueOperand() == &pointer) return false;
        if (!add_access(*i, pointer, variable, array)) return false;
      } else if (auto* set = dyn_cast<MemSetInst>(i)) {
        if (!isa<ConstantInt>(set->getLength()) || set->isVolatile() || set->getRawDest() != &variable) return false;
      } else if (!i->isLifetimeStartOrEnd() && !isa<DbgInfoIntrinsic>(i)) {
        return false;
      }
    }
    return true;
  }

  /// Bytes from the start of the variable, also through casts to other address spaces, which PTX has; null: not known.
  const SCEV* offset_in(Value& pointer, const AllocaInst& variable) {
    const SCEV* address = evolution_.getSCEV(&pointer);
    const auto* base = dyn_cast<SCEVUnknown>(evolution_.getPointerBase(address));
    if (base == nullptr || base->getValue()->stripPointerCasts() != &variable) return nullptr;
    const SCEV* offset = evolution_.removePointerBase(address);
    return isa<SCEVCouldNotCompute>(offset) ? nullptr : offset;
  }

  bool add_access(Instruction& i, Value& pointer, AllocaInst& variable, Array& array) {
    const SCEV* offset = offset_in(pointer, variable);
    if (offset == nullptr) return false;
    if (isa<SCEVConstant>(offset)) return true;  // SROA's
    Type* type = getLoadStoreType(&i);
    if (!type->isSingleValueType() || type->isVectorTy() || layout_.getTypeStoreSize(type) != element_bytes)
      return false;
    if (i.isVolatile() || i.isAtomic()) return false;
    Access access{&i, &pointer};
    if (const auto* counter = dyn_cast<SCEVAddRecExpr>(offset);
        counter && counter->isAffine() && isa<SCEVConstant>(counter->getStart()) &&
        isa<SCEVConstant>(counter->getStepRecurrence(evolution_))) {
      access.loop = counter->getLoop();
      access.start = cast<SCEVConstant>(counter->getStart())->getAPInt().getSExtValue();
      access.step = cast<SCEVConstant>(counter->getStepRecurrence(evolution_))->getAPInt().getSExtValue();
      access.choices = evolution_.getSmallConstantTripCount(access.loop);
      if (access.choices > 0 && access.step != 0 && inside(access)) {
        array.accesses.push_back(access);
        return true;
      }
      access = Access{&i, &pointer};
    }
    if (evolution_.getConstantMultiple(offset).urem(element_bytes) != 0) return false;
    access.choices = bytes_ / element_bytes;
    array.accesses.push_back(access);
    return true;
  }

  bool inside(const Access& a) const {
    const std::int64_t last = a.start + (a.choices - 1) * a.step;
    return std::min(a.start, last) >= 0 && std::max(a.start, last) + element_bytes <= bytes_;
  }

  const DataLayout& layout_;
  DominatorTree dominators_;
  LoopInfo loops_;
  AssumptionCache assumptions_;
  TargetLibraryInfoImpl library_;
  TargetLibraryInfo names_;
  ScalarEvolution evolution_;
  std::map<const Instruction*, std::size_t> place_;
  std::int64_t bytes_ = 0;
};

/// Replaces the accesses of one array by selections among all elements that each may mean.
class Selections {
 public:
  explicit Selections(const Array& array) : array_(array), layout_(array.variable->getModule()->getDataLayout()) {}

  void replace() {
    for (const Access& a : array_.accesses) {
      IRBuilder<> at(a.instruction);
      if (a.loads())
        replace_load(a, at);
      else
        replace_store(a, at);
    }
    for (const Access& a : array_.accesses) a.instruction->eraseFromParent();
  }

 private:
  void replace_load(const Access& a, IRBuilder<>& at) {
    const std::vector<Value*> is = conditions(a, at);
    Type* type = a.instruction->getType();
    Value* value = at.CreateAlignedLoad(type, element(a, 0, at), Align(element_bytes));
    for (std::size_t k = 1; k < is.size(); ++k)
      value = at.CreateSelect(is[k], at.CreateAlignedLoad(type, element(a, k, at), Align(element_bytes)), value);
    a.instruction->replaceAllUsesWith(value);
  }

  void replace_store(const Access& a, IRBuilder<>& at) {
    const std::vector<Value*> is = conditions(a, at);
    Value* value = cast<StoreInst>(a.instruction)->getValueOperand();
    for (std::size_t k = 0; k < is.size(); ++k) {
      Value* place = element(a, k, at);
      Value* old = at.CreateAlignedLoad(value->getType(), place, Align(element_bytes));
      at.CreateAlignedStore(at.CreateSelect(is[k], value, old), place, Align(element_bytes));
    }
  }

  Value* element(const Access& a, std::size_t k, IRBuilder<>& at) const {
    return at.CreateConstGEP1_64(at.getInt8Ty(), array_.variable,
                                 static_cast<std::uint64_t>(a.start + static_cast<std::int64_t>(k) * a.step));
  }

  /// One comparison for each element, shared by accesses of a block whose elements go together.
  const std::vector<Value*>& conditions(const Access& a, IRBuilder<>& at) {
    auto& known = conditions_[{a.instruction->getParent(), a.loop, a.step, a.choices, a.loop ? nullptr : a.pointer}];
    if (!known.empty()) return known;
    Value* offset = at.getInt32(0);
    for (Value* p = a.pointer; p != array_.variable;) {
      if (auto* gep = dyn_cast<GetElementPtrInst>(p)) {
        offset = at.CreateAdd(offset, at.CreateTrunc(emitGEPOffset(&at, layout_, gep), at.getInt32Ty()));
        p = gep->getPointerOperand();
      } else {
        p = cast<AddrSpaceCastInst>(p)->getPointerOperand();
      }
    }
    for (std::int64_t k = 0; k < a.choices; ++k)
      known.push_back(at.CreateICmpEQ(offset, at.getInt32(static_cast<std::uint32_t>(a.start + k * a.step))));
    return known;
  }

  const Array& array_;
  const DataLayout& layout_;
  std::map<std::tuple<const BasicBlock*, const llvm::Loop*, std::int64_t, std::int64_t, const Value*>,
           std::vector<Value*>>
      conditions_;
};

}  // namespace

bool keep_small_arrays_in_registers(Function& kernel) {
  std::vector<Array> arrays;
  {
    Finder finder(kernel);
    for (Instruction& i : kernel.getEntryBlock())
      if (auto* variable = dyn_cast<AllocaInst>(&i))
        if (auto array = finder.array_of(*variable)) arrays.push_back(std::move(*array));
  }
  for (const Array& array : arrays) Selections(array).replace();
  return !arrays.empty();
}

}  // namespace kernelcast::frontend
