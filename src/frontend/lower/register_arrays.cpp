#include "frontend/lower/nvidia_rules.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/Utils/Local.h"
#include "llvm/Analysis/ValueTracking.h"
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
  std::int64_t elements = 0;
  bool by_counters = false;  // of loops whose trips are known
  std::vector<Access> accesses;
};

/// How many elements an access may mean at most, for ptxas to keep an array that only counters of loops index.
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

/// How often code is executed, as ptxas guesses: by loop around it, and by copy that it makes of an innermost loop.
/// Comparisons with elements may then be as many as instructions. Fitted to ptxas 13.0's decisions on 487 kernels, of
/// which weights from 10 to 15 with 4 copies and a limit of 1.05 tell 95 % (tools/measure/measure_register_arrays.py).
constexpr double loop_weight = 15, copies_of_innermost = 4, most_comparisons = 1.05;
/// Elements of all arrays of unknown index; with more, ptxas leaves them in memory beside long code (sm_86: more than
/// 40, sm_90: 32).
constexpr std::int64_t most_elements = 32;

class Weights {
 public:
  explicit Weights(LoopInfo& loops, ScalarEvolution& evolution) : loops_(loops), evolution_(evolution) {}

  double of(const BasicBlock& block) {
    const auto [place, added] = known_.try_emplace(&block, 1);
    if (!added) return place->second;
    double weight = 1;
    for (const llvm::Loop* loop = loops_.getLoopFor(&block); loop; loop = loop->getParentLoop()) {
      const unsigned most = evolution_.getSmallConstantMaxTripCount(loop);
      const bool remainder = most != 0 && most < copies_of_innermost;  // becomes a row of branches
      const bool copied = loop->isInnermost() && loop->getNumBlocks() == 1 && !is_left_as_it_is(*loop) &&
                          evolution_.getSmallConstantTripCount(loop) == 0;
      weight *= remainder ? most : copied ? loop_weight * copies_of_innermost : loop_weight;
    }
    return place->second = weight;
  }

 private:
  LoopInfo& loops_;
  ScalarEvolution& evolution_;
  std::map<const BasicBlock*, double> known_;
};

/// What ptxas counts of an instruction: no moves, comparisons, products that are fused with a sum; one for all offsets
/// and one for all addresses that differ by a constant; and the four elements of an array that neighboring accesses
/// read or write as one access. Accesses of unknown index count as 0 here.
class Instructions {
 public:
  explicit Instructions(ScalarEvolution& evolution) : evolution_(evolution) {}

  double of(const Instruction& i) {
    if (const Value* at = getLoadStorePointerOperand(&i); at && isa<AllocaInst>(getUnderlyingObject(at))) {
      const auto* address = dyn_cast<GetElementPtrInst>(at);
      return !address || address->hasAllConstantIndices() ? 0.25 : 0;
    }
    if (isa<GetElementPtrInst>(i)) return of_address(i);
    const bool fused =
        i.getOpcode() == Instruction::FMul && i.hasOneUse() &&
        (i.user_back()->getOpcode() == Instruction::FAdd || i.user_back()->getOpcode() == Instruction::FSub);
    const bool free = fused || isa<PHINode>(i) || isa<CmpInst>(i) || isa<AllocaInst>(i) || isa<AddrSpaceCastInst>(i) ||
                      isa<BitCastInst>(i) || i.isDebugOrPseudoInst() || i.isLifetimeStartOrEnd() || in_addresses(i);
    return free ? 0 : 1;
  }

 private:
  double of_address(const Instruction& i) {
    const SCEV* address = evolution_.getSCEV(const_cast<Instruction*>(&i));
    const SCEV* base = evolution_.getPointerBase(address);
    const SCEV* offset = evolution_.removePointerBase(address);
    if (const auto* sum = dyn_cast<SCEVAddExpr>(offset); sum && isa<SCEVConstant>(sum->getOperand(0))) {
      SmallVector<const SCEV*> others(drop_begin(sum->operands()));
      offset = evolution_.getAddExpr(others);
    } else if (const auto* counter = dyn_cast<SCEVAddRecExpr>(offset)) {
      const SCEV* start = counter->getStart();
      const auto* sums = dyn_cast<SCEVAddExpr>(start);
      const SCEV* fixed = sums ? sums->getOperand(0) : start;
      if (isa<SCEVConstant>(fixed)) offset = evolution_.getMinusSCEV(offset, fixed);
    }
    if (isa<SCEVConstant>(offset)) return 0;
    return (offsets_.insert(offset).second ? 1 : 0) + (addresses_.emplace(base, offset).second ? 1 : 0);
  }

  /// Whether it is only part of addresses.
  bool in_addresses(const Instruction& i) {
    if (!i.getType()->isIntegerTy() || !(isa<BinaryOperator>(i) || isa<CastInst>(i)) || i.use_empty()) return false;
    const auto [place, added] = in_addresses_.try_emplace(&i, false);
    if (added) {
      const bool all = llvm::all_of(i.users(), [this](const User* user) {
        const auto* at = dyn_cast<Instruction>(user);
        return at && (isa<GetElementPtrInst>(at) || in_addresses(*at));
      });
      in_addresses_[&i] = all;
      return all;
    }
    return place->second;
  }

  ScalarEvolution& evolution_;
  std::set<const SCEV*> offsets_;
  std::set<std::pair<const SCEV*, const SCEV*>> addresses_;
  std::map<const Instruction*, bool> in_addresses_;
};

/// Machine instructions that accesses become where neighbors make wide ones.
struct MachineAccesses {
  const BasicBlock* block;
  std::int64_t choices;  // elements, or groups of them, that each may mean; 0: all
  std::size_t number = 0;
  std::int64_t narrowest = 4;  // elements of one
};

/// Of accesses at these distances from a multiple of `step` bytes.
void count_machine_accesses(std::vector<std::int64_t> starts, std::int64_t step, MachineAccesses& into) {
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  for (std::size_t i = 0; i < starts.size(); ++into.number) {
    std::int64_t width = 1;
    for (const std::int64_t wide : {4, 2}) {
      const std::int64_t bytes = wide * element_bytes;
      const std::size_t last = i + static_cast<std::size_t>(wide) - 1;
      if (starts[i] % bytes == 0 && step % bytes == 0 && last < starts.size() &&
          starts[last] == starts[i] + bytes - element_bytes) {
        width = wide;
        break;
      }
    }
    into.narrowest = std::min(into.narrowest, width);
    i += static_cast<std::size_t>(width);
  }
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
    Array array{&variable, 0, false, {}};
    if (!add_users(variable, variable, array) || array.accesses.empty()) return {};
    std::sort(array.accesses.begin(), array.accesses.end(),
              [this](const Access& a, const Access& b) { return place_.at(a.instruction) < place_.at(b.instruction); });
    array.elements = bytes_ / element_bytes;
    array.by_counters = llvm::all_of(array.accesses, [](const Access& a) { return a.loop != nullptr; });
    return array.by_counters && !few_choices(array) ? std::nullopt : std::optional(array);
  }

  /// Whether ptxas keeps the arrays of unknown index in registers, which it decides for all of them: each access is
  /// compared with the numbers of all their elements.
  bool few_comparisons(const Function& kernel, const std::vector<Array>& arrays) {
    std::int64_t elements = 0;
    for (const Array& array : arrays) elements += array.by_counters ? 0 : array.elements;
    if (elements == 0) return true;  // as in most kernels
    Weights weights(loops_, evolution_);
    Instructions counted(evolution_);
    double instructions = 2 * static_cast<double>(kernel.arg_size()), comparisons = 0;  // reads of arguments
    for (const Instruction& i : llvm::instructions(kernel)) instructions += counted.of(i) * weights.of(*i.getParent());
    for (const Array& array : arrays) {
      for (const MachineAccesses& a : machine_accesses_of(array)) {
        const double times = weights.of(*a.block) * static_cast<double>(a.number);
        instructions += times;
        if (!array.by_counters) comparisons += times * static_cast<double>(a.choices == 0 ? elements : a.choices);
      }
    }
    return elements <= most_elements && comparisons <= most_comparisons * instructions;
  }

 private:
  bool few_choices(const Array& array) {
    std::size_t number = 0;
    std::int64_t narrowest = 4, choices = 0;
    for (const MachineAccesses& a : machine_accesses_of(array)) {
      number += a.number;
      narrowest = std::min(narrowest, a.narrowest);
      choices = std::max(choices, a.choices);
    }
    bool loads = false, stores = false;
    for (const Access& a : array.accesses) (a.loads() ? loads : stores) = true;
    return choices <= most_choices(number, loads && stores, narrowest);
  }

  std::vector<MachineAccesses> machine_accesses_of(const Array& array) {
    struct Run {
      const Access* first;
      const SCEV* offset;  // of the first
      std::vector<std::int64_t> starts;
    };
    std::vector<Run> runs;
    for (const Access& a : array.accesses) {
      const SCEV* offset = a.loop ? nullptr : offset_in(*a.pointer, *array.variable);
      std::int64_t start = a.loop ? a.start : 0;
      const auto run = llvm::find_if(runs, [&](const Run& r) {
        const Access& b = *r.first;
        if (b.instruction->getParent() != a.instruction->getParent() || b.loads() != a.loads()) return false;
        if (b.loop != a.loop || b.step != a.step) return false;
        if (a.loop) return true;
        const std::optional<APInt> apart = evolution_.computeConstantDifference(offset, r.offset);
        if (apart) start = apart->getSExtValue();
        return apart.has_value();
      });
      (run == runs.end() ? *runs.insert(runs.end(), {&a, offset, {}}) : *run).starts.push_back(start);
    }
    std::vector<MachineAccesses> all;
    for (Run& run : runs) {
      const Access& first = *run.first;
      MachineAccesses& into = all.emplace_back(MachineAccesses{first.instruction->getParent(), 0});
      std::int64_t step = first.step;
      if (first.loop) {
        for (const Access& a : array.accesses)
          if (a.loop == first.loop) into.choices = std::max(into.choices, a.choices);
      } else {
        const std::int64_t lowest = *std::min_element(run.starts.begin(), run.starts.end());
        for (std::int64_t& start : run.starts) start -= lowest;
        const SCEV* from = evolution_.getAddExpr(
            run.offset, evolution_.getConstant(run.offset->getType(), static_cast<std::uint64_t>(lowest), true));
        const APInt multiple = evolution_.getConstantMultiple(from);
        step = multiple.isZero() || multiple.ugt(16) ? 16 : static_cast<std::int64_t>(multiple.getZExtValue());
      }
      count_machine_accesses(std::move(run.starts), step, into);
    }
    return all;
  }

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
      } else if (auto* copy = dyn_cast<MemTransferInst>(i)) {
        if (!isa<ConstantInt>(copy->getLength()) || copy->isVolatile()) return false;
        if (copy->getRawDest() != &variable && copy->getRawSource() != &variable) return false;
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
    if (!finder.few_comparisons(kernel, arrays))
      llvm::erase_if(arrays, [](const Array& array) { return !array.by_counters; });
  }
  for (const Array& array : arrays) Selections(array).replace();
  return !arrays.empty();
}

}  // namespace kernelcast::frontend
