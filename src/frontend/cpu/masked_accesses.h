// Masked accesses as plain ones, for analyses that follow loads and stores.
#pragma once

namespace llvm {
class Function;
class Type;
}  // namespace llvm

namespace kernelcast::frontend {

/// Lanes of a vector of known length; 0 otherwise.
unsigned vector_lanes(const llvm::Type& type);

/// Of code that is only looked at: it no longer does the same.
void take_masks_off(llvm::Function& f);

}  // namespace kernelcast::frontend
