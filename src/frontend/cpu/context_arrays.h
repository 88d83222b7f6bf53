// What lives across barriers, seen through its arrays.
#pragma once

namespace llvm {
class Function;
}

namespace kernelcast::frontend {

/// For counting, not for running: arrays with the same element for all work-items (`kept_same`) become variables, and
/// indices and addresses that a work-item keeps across a barrier are computed again where they are loaded, if they can
/// be.
void see_through_kept(llvm::Function& f);

}  // namespace kernelcast::frontend
