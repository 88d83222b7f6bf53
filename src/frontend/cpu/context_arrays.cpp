// A counter of a loop with a barrier is the same for all work-items, but PoCL keeps one for each, in memory. Its trips
// could not be told from that, nor where an access goes whose address was kept. In the copy that is counted the arrays
// give way to what they hold: x[item] is stored once as a function of the item, so a load of x[i] is that function of
// i.
#include "frontend/cpu/function_passes.h"

#include <optional>
#include <vector>

#include "frontend/cpu/cpu_barriers.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

namespace kernelcast::frontend {
namespace {

using namespace llvm;

constexpr int longest = 16;

/// A load or store of elements of an array, one or as many as a vector has.
struct KeptAccess {
  Instruction* made;
  Value* index;  // of the first element is index + plus, in the array's elements; null for 0
  std::int64_t plus;
};

Type* kept_type(const AllocaInst& array) {
  const auto* all = dyn_cast<ArrayType>(array.getAllocatedType());
  return all ? all->getElementType() : array.getAllocatedType();
}

/// All accesses of an array of single elements; nothing when something else is done with it.
std::optional<std::vector<KeptAccess>> kept_accesses(AllocaInst& array) {
  std::vector<KeptAccess> found;
  const DataLayout& layout = array.getModule()->getDataLayout();
  const auto size = static_cast<std::int64_t>(layout.getTypeAllocSize(kept_type(array)).getFixedValue());
  struct Step {
    Value *address, *index;
    std::int64_t plus;
  };
  std::vector<Step> work{{&array, nullptr, 0}};
  while (!work.empty()) {
    const auto [address, index, plus] = work.back();
    work.pop_back();
    for (User* user : address->users()) {
      if (auto* step = dyn_cast<GetElementPtrInst>(user)) {
        APInt bytes(64, 0);
        const bool whole = step->getNumIndices() == 1 && step->getSourceElementType() == kept_type(array);
        if (step->accumulateConstantOffset(layout, bytes) && bytes.getSExtValue() % size == 0)
          work.push_back({step, index, plus + bytes.getSExtValue() / size});
        else if (whole && !index && !step->getType()->isVectorTy())
          work.push_back({step, step->getOperand(1), plus});
        else
          return std::nullopt;
      } else if (auto* load = dyn_cast<LoadInst>(user)) {
        if (load->getType()->getScalarType() != kept_type(array)) return std::nullopt;
        found.push_back({load, index, plus});
      } else if (auto* store = dyn_cast<StoreInst>(user)) {
        if (store->getValueOperand() == address ||
            store->getValueOperand()->getType()->getScalarType() != kept_type(array))
          return std::nullopt;
        found.push_back({store, index, plus});
      } else {
        return std::nullopt;
      }
    }
  }
  return found;
}

/// Variables in place of arrays whose elements are all the same.
void one_for_all(Function& f) {
  std::vector<AllocaInst*> arrays, variables;
  for (Instruction& i : f.getEntryBlock())
    if (auto* array = dyn_cast<AllocaInst>(&i); array && array->getName().starts_with(StringRef(kept_same)))
      arrays.push_back(array);
  for (AllocaInst* array : arrays) {
    const auto accesses = kept_accesses(*array);
    if (!accesses) continue;
    Type* type = kept_type(*array);
    auto* variable = new AllocaInst(type, 0, "same", array->getIterator());
    for (const KeptAccess& a : *accesses) {
      IRBuilder<> at(a.made);
      if (auto* load = dyn_cast<LoadInst>(a.made)) {
        Value* one = at.CreateLoad(type, variable);
        const unsigned lanes = vector_lanes(*load->getType());
        load->replaceAllUsesWith(lanes ? at.CreateVectorSplat(lanes, one) : one);
      } else {
        Value* stored = cast<StoreInst>(a.made)->getValueOperand();
        at.CreateStore(vector_lanes(*stored->getType()) ? at.CreateExtractElement(stored, std::uint64_t{0}) : stored,
                       variable);
      }
      a.made->eraseFromParent();
    }
    variables.push_back(variable);
  }
  DominatorTree tree(f);
  PromoteMemToReg(variables, tree);
  // What the loop over items makes of a variable each time anew, it makes once: then LLVM sees the variable's steps.
  LoopInfo info(tree);
  for (BasicBlock& block : f)
    for (PHINode& phi : block.phis())
      for (Value* value : phi.incoming_values())
        if (auto* made = dyn_cast<Instruction>(value); made && phi.getName().starts_with("same"))
          for (llvm::Loop* loop = info.getLoopFor(made->getParent()); loop && !loop->contains(&phi);
               loop = info.getLoopFor(made->getParent())) {
            bool moved = false;
            if (!loop->makeLoopInvariant(made, moved) || !moved) break;
          }
}

/// A value as a function of the work-item, written anew for another one.
class Again {
 public:
  Again(Value* item, Value* other, Instruction* place, const DominatorTree& tree)
      : item_(item), other_(other), place_(place), tree_(tree) {}

  /// Null when it cannot be.
  Value* of(Value* v, unsigned lane, int depth = 0) {
    if (depth > longest) return nullptr;
    const bool vector = v->getType()->isVectorTy();
    if (auto* constant = dyn_cast<Constant>(v)) return vector ? constant->getAggregateElement(lane) : constant;
    if (v == item_) return other_;
    if (!vector && (!isa<Instruction>(v) || (tree_.dominates(v, place_) && !inside(v)))) return v;
    auto* made = dyn_cast<Instruction>(v);
    return made ? of_instruction(*made, lane, depth + 1) : nullptr;
  }

 private:
  /// Whether it is made of the item's number.
  bool inside(Value* v, int depth = 0) const {
    if (v == item_) return true;
    const auto* made = dyn_cast<Instruction>(v);
    if (!made || isa<PHINode>(made) || depth > longest) return false;
    return std::any_of(made->op_begin(), made->op_end(), [&](const Use& u) { return inside(u.get(), depth + 1); });
  }

  Value* of_instruction(Instruction& made, unsigned lane, int depth) {
    IRBuilder<> at(place_);
    if (auto* binary = dyn_cast<BinaryOperator>(&made)) {
      Value *left = of(binary->getOperand(0), lane, depth), *right = of(binary->getOperand(1), lane, depth);
      if (!left || !right) return nullptr;
      Value* out = at.CreateBinOp(binary->getOpcode(), left, right);
      if (auto* same = dyn_cast<BinaryOperator>(out)) same->copyIRFlags(binary);
      return out;
    }
    if (auto* cast = dyn_cast<CastInst>(&made)) {
      Value* from = of(cast->getOperand(0), lane, depth);
      return from ? at.CreateCast(cast->getOpcode(), from, cast->getType()->getScalarType()) : nullptr;
    }
    if (auto* step = dyn_cast<GetElementPtrInst>(&made)) {
      Value* base = of(step->getPointerOperand(), lane, depth);
      std::vector<Value*> indices;
      for (Use& u : step->indices()) indices.push_back(of(u.get(), lane, depth));
      if (!base || std::find(indices.begin(), indices.end(), nullptr) != indices.end()) return nullptr;
      return at.CreateGEP(step->getSourceElementType(), base, indices);
    }
    if (auto* insert = dyn_cast<InsertElementInst>(&made)) {
      const auto* index = dyn_cast<ConstantInt>(insert->getOperand(2));
      if (!index) return nullptr;
      return of(insert->getOperand(index->getZExtValue() == lane ? 1 : 0), lane, depth);
    }
    if (auto* shuffle = dyn_cast<ShuffleVectorInst>(&made)) {
      const unsigned width = vector_lanes(*shuffle->getOperand(0)->getType());
      const int from = shuffle->getMaskValue(lane);
      if (from < 0 || width == 0) return nullptr;
      return of(shuffle->getOperand(static_cast<unsigned>(from) >= width), static_cast<unsigned>(from) % width, depth);
    }
    if (auto* merged = dyn_cast<PHINode>(&made)) return of_counter(*merged, lane);
    return nullptr;
  }

  /// A vector that counts beside the item's number: its lanes at the begin are 0, 1, 2, ...
  Value* of_counter(PHINode& merged, unsigned lane) {
    const auto* item = dyn_cast<PHINode>(item_);
    if (!item || item->getParent() != merged.getParent() || !merged.getType()->isIntOrIntVectorTy()) return nullptr;
    for (unsigned n = 0; n < merged.getNumIncomingValues(); ++n) {
      const auto* first = dyn_cast<Constant>(merged.getIncomingValue(n));
      const auto* begin = first && first->getType()->isVectorTy()
                              ? dyn_cast_or_null<ConstantInt>(first->getAggregateElement(lane))
                              : nullptr;
      if (!begin || begin->getZExtValue() != lane) continue;
      IRBuilder<> at(place_);
      Value* number = at.CreateZExtOrTrunc(other_, merged.getType()->getScalarType());
      return at.CreateAdd(number, ConstantInt::get(number->getType(), lane));
    }
    return nullptr;
  }

  Value *item_, *other_;
  Instruction* place_;
  const DominatorTree& tree_;
};

/// Indices and addresses that work-items keep, computed where they are loaded.
void compute_again(Function& f) {
  std::vector<AllocaInst*> arrays;
  for (Instruction& i : f.getEntryBlock())
    if (auto* array = dyn_cast<AllocaInst>(&i);
        array && array->getName().starts_with("kept") && kept_type(*array)->isIntOrPtrTy())
      arrays.push_back(array);
  const DominatorTree tree(f);
  for (AllocaInst* array : arrays) {
    const auto accesses = kept_accesses(*array);
    if (!accesses) continue;
    const KeptAccess* kept = nullptr;
    for (const KeptAccess& a : *accesses)
      if (isa<StoreInst>(a.made) && a.index && isa<PHINode>(a.index) && a.plus == 0) kept = kept ? kept : &a;
    if (!kept) continue;
    Value* value = cast<StoreInst>(kept->made)->getValueOperand();
    for (const KeptAccess& a : *accesses) {
      auto* load = dyn_cast<LoadInst>(a.made);
      if (!load) continue;
      IRBuilder<> at(load);
      Value* first = a.index ? a.index : ConstantInt::get(kept->index->getType(), 0);
      const unsigned lanes = vector_lanes(*load->getType());
      Value* all = lanes ? PoisonValue::get(load->getType()) : nullptr;
      for (unsigned lane = 0; lane < std::max(1u, lanes); ++lane) {
        Value* item = at.CreateAdd(first, ConstantInt::getSigned(first->getType(), a.plus + lane));
        Value* one = Again(kept->index, item, load, tree).of(value, 0);
        if (!one || !lanes) {
          all = one;
          break;
        }
        all = at.CreateInsertElement(all, one, lane);
      }
      if (!all) continue;
      load->replaceAllUsesWith(all);
    }
  }
}

}  // namespace

void see_through_kept(Function& f) {
  one_for_all(f);
  compute_again(f);
}

}  // namespace kernelcast::frontend
