#include "frontend/lower/amd_memory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"

namespace kernelcast::frontend {
namespace {

using namespace llvm;

constexpr unsigned global_memory = 1;

/// The pointer of which the kernel makes the resource; null: it does not.
Value* pointer_of(Value* resource) {
  auto* made = dyn_cast<IntrinsicInst>(resource->stripPointerCasts());
  return made && made->getIntrinsicID() == Intrinsic::amdgcn_make_buffer_rsrc ? made->getArgOperand(0) : nullptr;
}

/// Behind `base` by unsigned offsets; resources are of global memory.
Value* behind(IRBuilder<>& b, Value* base, ArrayRef<Value*> offsets) {
  if (base->getType()->getPointerAddressSpace() == 0) base = b.CreateAddrSpaceCast(base, b.getPtrTy(global_memory));
  for (Value* offset : offsets)
    if (const auto* c = dyn_cast<ConstantInt>(offset); !c || !c->isZero())
      base = b.CreateGEP(b.getInt8Ty(), base, b.CreateZExt(offset, b.getInt64Ty()));
  return base;
}

Align alignment_of(const DataLayout& layout, Type* type) {
  constexpr std::uint64_t word = 4;  // what the instructions want
  return Align(PowerOf2Ceil(std::min<std::uint64_t>(word, layout.getTypeStoreSize(type).getFixedValue())));
}

/// Each lane's `bytes` to the place of LDS that the lane's number gives, of blocks whose first axis fills its waves.
void store_to_lds(IRBuilder<>& b, Value* from, Value* lds, std::uint64_t bytes, Value* offset) {
  constexpr std::uint64_t lanes = 64;
  Type* type = bytes == 16   ? static_cast<Type*>(FixedVectorType::get(b.getInt32Ty(), 4))
               : bytes == 12 ? static_cast<Type*>(FixedVectorType::get(b.getInt32Ty(), 3))
                             : b.getIntNTy(static_cast<unsigned>(8 * bytes));
  const Align align(std::min<std::uint64_t>(4, bytes));
  Value* loaded = b.CreateAlignedLoad(type, from, align);
  Value* lane = b.CreateAnd(b.CreateIntrinsic(Intrinsic::amdgcn_workitem_id_x, {}, {}), b.getInt32(lanes - 1));
  Value* place = b.CreateAdd(b.CreateMul(lane, b.getInt32(static_cast<std::uint32_t>(bytes))), offset);
  b.CreateAlignedStore(loaded, b.CreateGEP(b.getInt8Ty(), lds, place), align);
}

bool is_size(const Value* v) {
  const auto* c = dyn_cast<ConstantInt>(v);
  return c && is_contained({1, 2, 4, 12, 16}, c->getSExtValue());
}

bool replaced(IntrinsicInst& i, const DataLayout& layout) {
  IRBuilder<> b(&i);
  const auto arg = [&](unsigned n) { return i.getArgOperand(n); };
  switch (i.getIntrinsicID()) {
    case Intrinsic::amdgcn_raw_ptr_buffer_load: {  // resource, offset, offset of all lanes, cache policy
      Value* base = pointer_of(arg(0));
      if (!base) return false;
      Value* loaded =
          b.CreateAlignedLoad(i.getType(), behind(b, base, {arg(1), arg(2)}), alignment_of(layout, i.getType()));
      i.replaceAllUsesWith(loaded);
      return true;
    }
    case Intrinsic::amdgcn_raw_ptr_buffer_store: {  // the same behind what is stored
      Value* base = pointer_of(arg(1));
      if (!base) return false;
      b.CreateAlignedStore(arg(0), behind(b, base, {arg(2), arg(3)}), alignment_of(layout, arg(0)->getType()));
      return true;
    }
    case Intrinsic::amdgcn_raw_ptr_buffer_load_lds: {  // resource, LDS, size, offset, offset of all lanes, of both,
                                                       // policy
      Value* base = pointer_of(arg(0));
      if (!base || !is_size(arg(2))) return false;
      store_to_lds(b, behind(b, base, {arg(3), arg(4), arg(5)}), arg(1), cast<ConstantInt>(arg(2))->getZExtValue(),
                   arg(5));
      return true;
    }
    case Intrinsic::amdgcn_global_load_lds: {  // pointer, LDS, size, offset of both, policy
      if (!is_size(arg(2))) return false;
      store_to_lds(b, behind(b, arg(0), {arg(3)}), arg(1), cast<ConstantInt>(arg(2))->getZExtValue(), arg(3));
      return true;
    }
    default:
      return false;
  }
}

}  // namespace

void access_through_pointers(Function& kernel) {
  const DataLayout& layout = kernel.getParent()->getDataLayout();
  for (Instruction& i : make_early_inc_range(instructions(kernel)))
    if (auto* call = dyn_cast<IntrinsicInst>(&i); call && replaced(*call, layout)) call->eraseFromParent();
}

const char* unknown_amd_access(const Value& instruction) {
  const auto* call = dyn_cast<IntrinsicInst>(&instruction);
  if (!call) return "";
  const StringRef name = call->getCalledFunction()->getName();
  if (!name.starts_with("llvm.amdgcn.") || name.starts_with("llvm.amdgcn.make.")) return "";
  for (const char* what : {"raw.ptr.buffer", "raw.buffer", "struct.ptr.buffer", "struct.buffer", "raw.ptr.tbuffer",
                           "raw.tbuffer", "struct.ptr.tbuffer", "struct.tbuffer", "s.buffer.load", "global.load.lds",
                           "global.load.tr", "ds.read.tr", "image.", "load.to.lds"})
    if (name.substr(12).starts_with(what)) return what;
  return "";
}

}  // namespace kernelcast::frontend
