// Masked accesses as plain ones, for analyses that follow loads and stores.
#pragma once

namespace llvm {
class Function;
}

namespace kernelcast::frontend {

/// Of code that is only looked at: it no longer does the same.
void take_masks_off(llvm::Function& f);

}  // namespace kernelcast::frontend
