// What NVVM's annotations say of a kernel: block sizes, clusters.
#pragma once

#include <cstdint>

#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

namespace kernelcast::frontend {

/// Calls `see(key, value)` for each number that an entry of !nvvm.annotations gives the function.
template <class See>
void each_annotation(const llvm::Function& function, const See& see) {
  const llvm::NamedMDNode* notes = function.getParent()->getNamedMetadata("nvvm.annotations");
  if (!notes) return;
  for (const llvm::MDNode* note : notes->operands()) {
    if (note->getNumOperands() < 3 ||
        llvm::mdconst::dyn_extract_or_null<llvm::Function>(note->getOperand(0)) != &function)
      continue;
    for (unsigned k = 1; k + 1 < note->getNumOperands(); k += 2) {
      const auto* key = llvm::dyn_cast_or_null<llvm::MDString>(note->getOperand(k).get());
      const auto* value = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(note->getOperand(k + 1));
      if (key && value) see(key->getString(), value->getSExtValue());
    }
  }
}

}  // namespace kernelcast::frontend
