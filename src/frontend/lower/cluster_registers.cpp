#include "frontend/lower/cluster_registers.h"

#include <array>
#include <optional>

#include "frontend/ir/annotations.h"
#include "frontend/ir/ptx_calls.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

using Shape = std::array<unsigned, 3>;

std::optional<Shape> shape_of(const Function& kernel) {
  std::optional<Shape> shape;
  each_annotation(kernel, [&](StringRef key, std::int64_t blocks) {
    if (!key.consume_front("cluster_dim_") || key.size() != 1 || key[0] < 'x' || key[0] > 'z' || blocks <= 0) return;
    if (!shape) shape = Shape{1, 1, 1};
    (*shape)[static_cast<std::size_t>(key[0] - 'x')] = static_cast<unsigned>(blocks);
  });
  return shape;
}

class Registers {
 public:
  Registers(IRBuilder<>& b, const Shape& shape) : b_(b), shape_(shape) {}

  /// Null: another register. `name` as in PTX, without "%".
  Value* value(StringRef name) {
    if (name == "cluster_nctarank") return b_.getInt32(shape_[0] * shape_[1] * shape_[2]);
    if (name == "cluster_ctarank") {
      Value* rank = place(2);
      for (int axis = 1; axis >= 0; --axis) rank = b_.CreateAdd(b_.CreateMul(rank, size(axis)), place(axis));
      return rank;
    }
    const auto [base, component] = name.rsplit('.');
    if (component.size() != 1 || component[0] < 'x' || component[0] > 'z') return nullptr;
    const int axis = component[0] - 'x';
    if (base == "clusterid") return b_.CreateUDiv(block(axis), size(axis));
    if (base == "nclusterid") return b_.CreateUDiv(blocks(axis), size(axis));
    if (base == "cluster_ctaid") return place(axis);
    if (base == "cluster_nctaid") return size(axis);
    return nullptr;
  }

 private:
  Value* size(int axis) { return b_.getInt32(shape_[static_cast<std::size_t>(axis)]); }
  Value* place(int axis) { return b_.CreateURem(block(axis), size(axis)); }
  Value* block(int axis) {
    static constexpr Intrinsic::ID ids[] = {Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                                            Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                            Intrinsic::nvvm_read_ptx_sreg_ctaid_z};
    return bounded(ids[axis], 0);
  }
  Value* blocks(int axis) {
    static constexpr Intrinsic::ID ids[] = {Intrinsic::nvvm_read_ptx_sreg_nctaid_x,
                                            Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
                                            Intrinsic::nvvm_read_ptx_sreg_nctaid_z};
    return bounded(ids[axis], 1);
  }
  Value* bounded(Intrinsic::ID id, unsigned least) {
    CallInst* call = b_.CreateIntrinsic(id, {}, {});
    call->addRangeRetAttr(ConstantRange(APInt(32, least), APInt(32, 0x7fffffff)));
    return call;
  }

  IRBuilder<>& b_;
  const Shape& shape_;
};

/// The name of the register that a call reads; empty: none.
std::string register_read(const CallInst& call) {
  const Function* f = call.getCalledFunction();
  StringRef name = f ? f->getName() : "";
  if (name.consume_front("llvm.nvvm.read.ptx.sreg."))
    return name.consume_front("cluster.") ? "cluster_" + name.str() : name.str();
  if (!name.consume_front(ptx_call_prefix) || !name.consume_front("mov.")) return "";
  return name.contains("#%") ? name.split("#%").second.str() : "";
}

}  // namespace

void launch_in_clusters(Function& kernel, const Dim3& cluster) {
  const auto blocks = cluster.array();
  if (const auto fixed = shape_of(kernel)) {
    if (std::equal(fixed->begin(), fixed->end(), blocks.begin())) return;
    throw UsageError(KC_SETTING(cluster) " does not agree with the kernel's code, where a cluster has " +
                     std::to_string((*fixed)[0]) + "," + std::to_string((*fixed)[1]) + "," +
                     std::to_string((*fixed)[2]) + " blocks: leave it out");
  }
  LLVMContext& context = kernel.getContext();
  std::vector<Metadata*> note{ValueAsMetadata::get(&kernel)};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    note.push_back(MDString::get(context, std::string("cluster_dim_") + static_cast<char>('x' + axis)));
    note.push_back(
        ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(context), static_cast<std::uint64_t>(blocks[axis]))));
  }
  kernel.getParent()->getOrInsertNamedMetadata("nvvm.annotations")->addOperand(MDNode::get(context, note));
}

void place_in_cluster(Function& kernel) {
  const auto shape = shape_of(kernel);
  if (!shape) return;
  for (Instruction& i : make_early_inc_range(instructions(kernel))) {
    auto* call = dyn_cast<CallInst>(&i);
    const std::string name = call ? register_read(*call) : "";
    if (name.empty() || !call->getType()->isIntegerTy(32)) continue;
    IRBuilder<> b(call);
    if (Value* by = Registers(b, *shape).value(name)) {
      call->replaceAllUsesWith(by);
      call->eraseFromParent();
    }
  }
}

}  // namespace kernelcast::frontend
