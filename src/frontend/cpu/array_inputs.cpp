// A load sees what was in an array before the nest, unless a store to the same address is sure to come first: it
// dominates the load and stands in a loop around it, so that between the two no counter of the address has moved.
// A sum that is cleared and then added up in memory (c[i] = 0; for (...) c[i] += ...) is thus written first. An array
// that one loop clears and the next adds to is not seen to be.
#include "frontend/cpu/function_passes.h"

#include <algorithm>

#include "frontend/shape/kernel_model.h"
#include "kernelcast/error.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace kernelcast::frontend {
namespace {

struct ArrayAccess {
  llvm::Instruction* instruction;
  int buffer;
  std::optional<Expr> offset;  // none: not known
  std::uint64_t bytes;         // 0: not known
};

class ArrayReader {
 public:
  explicit ArrayReader(llvm::Function& function) : function_(function), model_(function, profile_) {}

  std::vector<ArrayUse> read() {
    collect();
    std::vector<ArrayUse> uses;
    for (std::size_t b = 0; b < profile_.buffers.size(); ++b) {
      const Buffer& buffer = profile_.buffers[b];
      if (buffer.parameter < 0) continue;
      ArrayUse use;
      use.name = buffer.name;
      const auto here = [b](const ArrayAccess& a) { return a.buffer == static_cast<int>(b); };
      use.stored = std::any_of(stores_.begin(), stores_.end(), here);
      use.read_first = std::any_of(loads_.begin(), loads_.end(),
                                   [&](const ArrayAccess& load) { return here(load) && !written_before(load); });
      if (use.stored || std::any_of(loads_.begin(), loads_.end(), here)) uses.push_back(std::move(use));
    }
    return uses;
  }

 private:
  void collect() {
    for (llvm::Instruction& i : llvm::instructions(function_)) {
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&i)) {
        add(loads_, i, load->getPointerOperand(), size_of(load->getType()));
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
        add(stores_, i, store->getPointerOperand(), size_of(store->getValueOperand()->getType()));
      } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&i)) {
        add(loads_, i, update->getPointerOperand(), size_of(update->getType()));
        add(stores_, i, update->getPointerOperand(), size_of(update->getType()));
      } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&i)) {
        const std::uint64_t bytes = size_of(exchange->getNewValOperand()->getType());
        add(loads_, i, exchange->getPointerOperand(), bytes);
        add(stores_, i, exchange->getPointerOperand(), bytes);
      } else if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&i)) {
        add(loads_, i, copy->getSource(), length_of(*copy->getLength()));
        add(stores_, i, copy->getDest(), length_of(*copy->getLength()));
      } else if (auto* fill = llvm::dyn_cast<llvm::MemSetInst>(&i)) {
        add(stores_, i, fill->getDest(), length_of(*fill->getLength()));
      }
    }
  }

  [[nodiscard]] std::uint64_t size_of(llvm::Type* type) const {
    return function_.getParent()->getDataLayout().getTypeStoreSize(type).getKnownMinValue();
  }

  static std::uint64_t length_of(const llvm::Value& length) {
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(&length);
    return constant ? constant->getZExtValue() : 0;
  }

  void add(std::vector<ArrayAccess>& to, llvm::Instruction& i, llvm::Value* pointer, std::uint64_t bytes) {
    try {
      const Address where = model_.address(pointer);
      to.push_back({&i, where.buffer, where.offset, bytes});
    } catch (const Error&) {  // the address leaves 64 bits: which array it is may still be known
      to.push_back({&i, model_.unknown_address(pointer, "the address leaves 64 bits").buffer, std::nullopt, bytes});
    }
  }

  [[nodiscard]] bool written_before(const ArrayAccess& load) {
    if (!load.offset || load.bytes == 0) return false;
    return std::any_of(stores_.begin(), stores_.end(), [&](const ArrayAccess& store) {
      if (store.buffer != load.buffer || store.bytes < load.bytes || !store.offset || *store.offset != *load.offset)
        return false;
      if (store.instruction == load.instruction) return false;
      const llvm::Loop* around = model_.loops().getLoopFor(store.instruction->getParent());
      return (!around || around->contains(load.instruction)) &&
             model_.dominators().dominates(store.instruction, load.instruction);
    });
  }

  llvm::Function& function_;
  KernelProfile profile_;
  KernelModel model_;
  std::vector<ArrayAccess> loads_, stores_;
};

}  // namespace

std::vector<ArrayUse> array_uses(llvm::Function& function) { return ArrayReader(function).read(); }

}  // namespace kernelcast::frontend
