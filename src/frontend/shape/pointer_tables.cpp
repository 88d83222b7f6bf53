// Pointers that a thread keeps in an array of its own, such as those to the stages of a pipeline in shared memory.
// Where each element is written once, ahead of what reads it, an element is the pointer that was stored there: in steps
// of the index where the pointers are equally far apart, and a choice by the index otherwise.
#include <map>

#include "frontend/shape/kernel_model.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

constexpr std::size_t most_pointers = 16;

/// Stores of pointers by their offset in `table`; empty: something else may write there.
std::map<std::int64_t, StoreInst*> stores_to(AllocaInst& table, const DataLayout& layout) {
  std::map<std::int64_t, StoreInst*> stores;
  std::vector<std::pair<Value*, std::optional<std::int64_t>>> open{{&table, 0}};  // offset; nothing: not a constant
  while (!open.empty()) {
    const auto [address, offset] = open.back();
    open.pop_back();
    for (User* user : address->users()) {
      auto* i = cast<Instruction>(user);
      if (auto* gep = dyn_cast<GetElementPtrInst>(i)) {
        APInt step(layout.getIndexTypeSizeInBits(gep->getType()), 0);
        const bool known = offset && gep->accumulateConstantOffset(layout, step);
        open.emplace_back(gep, known ? std::optional(*offset + step.getSExtValue()) : std::nullopt);
      } else if (auto* store = dyn_cast<StoreInst>(i)) {
        if (store->getPointerOperand() != address || !offset || !store->getValueOperand()->getType()->isPointerTy() ||
            !stores.emplace(*offset, store).second)
          return {};
      } else if (isa<AddrSpaceCastInst>(i)) {
        open.emplace_back(i, offset);
      } else if (!isa<LoadInst>(i) && !i->isLifetimeStartOrEnd()) {
        return {};
      }
    }
  }
  return stores;
}

}  // namespace

std::optional<Address> KernelModel::pointer_in_table(LoadInst& load) {
  const DataLayout& layout = function_.getParent()->getDataLayout();
  auto* table = dyn_cast<AllocaInst>(getUnderlyingObject(load.getPointerOperand()));
  if (!table || !load.getType()->isPointerTy()) return std::nullopt;
  const auto stores = stores_to(*table, layout);
  if (stores.empty() || stores.size() > most_pointers) return std::nullopt;
  const std::int64_t first = stores.begin()->first, width = layout.getPointerTypeSize(load.getType());
  std::vector<Address> pointers;
  for (const auto& [offset, store] : stores) {
    if (offset != first + width * static_cast<std::int64_t>(pointers.size()) || !dominators_.dominates(store, &load))
      return std::nullopt;
    pointers.push_back(address(store->getValueOperand()));
    if (pointers.back().buffer < 0 || pointers.back().buffer != pointers.front().buffer) return std::nullopt;
  }
  const Expr index = floor_div(address(load.getPointerOperand()).offset - Expr(first), Expr(width));
  if (!data_in(index).empty()) return std::nullopt;
  Address out = pointers.front();
  if (pointers.size() == 1) return out;
  const Expr step = pointers[1].offset - pointers[0].offset;
  bool even = true;
  for (std::size_t n = 2; n < pointers.size(); ++n) even = even && pointers[n].offset - pointers[n - 1].offset == step;
  if (even) {
    out.offset = out.offset + index * step;
    return out;
  }
  out.offset = pointers.back().offset;
  for (std::size_t n = pointers.size() - 1; n-- > 0;)
    out.offset = select(equal(index, Expr(static_cast<std::int64_t>(n))), pointers[n].offset, out.offset);
  return out;
}

}  // namespace kernelcast::frontend
