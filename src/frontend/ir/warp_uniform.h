// Whether all lanes of a warp have one value although lanes of a block may differ: votes, reductions of the whole warp,
// and what one lane hands to all.
#pragma once

#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"

namespace kernelcast::frontend {

/// What one instruction does whatever its operands are.
inline bool makes_alike_in_warp(const llvm::CallInst& call) {
  const llvm::StringRef name = call.getCalledFunction() ? call.getCalledFunction()->getName() : "";
  for (const char* start :
       {"llvm.nvvm.vote.", "llvm.nvvm.redux.sync", "llvm.nvvm.barrier0.", "llvm.amdgcn.ballot", "llvm.amdgcn.icmp",
        "llvm.amdgcn.fcmp", "llvm.amdgcn.readfirstlane", "llvm.amdgcn.readlane"})
    if (name.starts_with(start)) return true;
  return false;
}

/// The lane that every lane of the warp reads, or null: shfl.sync.idx without segments.
inline const llvm::Value* lane_read_by_all(const llvm::CallInst& call) {
  const auto* callee = call.getCalledFunction();
  if (!callee || !callee->getName().starts_with("llvm.nvvm.shfl.sync.idx")) return nullptr;
  const auto* clamp = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(3));
  return clamp && clamp->getZExtValue() == 31 ? call.getArgOperand(2) : nullptr;
}

/// `differs(value)`: lanes of a block may differ. Follows arithmetic; loads and values that meet give up.
template <class Differs>
bool alike_in_warp(const llvm::Value* value, const Differs& differs, int depth = 0) {
  constexpr int deepest = 16;
  if (!differs(value)) return true;
  const auto* i = llvm::dyn_cast<llvm::Instruction>(value);
  if (!i || depth > deepest) return false;
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(i)) {
    if (makes_alike_in_warp(*call)) return true;
    const llvm::Value* lane = lane_read_by_all(*call);
    return lane && alike_in_warp(lane, differs, depth + 1);
  }
  const bool arithmetic = llvm::isa<llvm::BinaryOperator, llvm::CmpInst, llvm::CastInst, llvm::SelectInst,
                                    llvm::UnaryOperator, llvm::FreezeInst>(i);
  if (!arithmetic) return false;
  for (const llvm::Value* operand : i->operands())
    if (!alike_in_warp(operand, differs, depth + 1)) return false;
  return true;
}

}  // namespace kernelcast::frontend
