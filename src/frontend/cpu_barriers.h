// Work-items of a group as loops between barriers, as OpenCL runtimes for CPUs run them.
#pragma once

#include <string_view>

namespace llvm {
class Function;
}

namespace kernelcast::frontend {

/// Calls that a nest of work-items holds: first thing in the body of the loop over a group's items, and at barriers.
inline constexpr std::string_view work_item_mark = "kc_work_item", barrier_mark = "kc_barrier";

/// Whether the function has a loop over the work-items of a group.
bool runs_work_items(const llvm::Function& f);

/// Takes the marks off. A loop over work-items that holds barriers becomes a loop for each piece of code between two of
/// them; what a work-item computes before a barrier and needs behind it lies in an array with an element for each.
/// False when barriers stand where that cannot be done: under conditions that join again without one. They are left out
/// then, and the loop stays one.
bool split_at_barriers(llvm::Function& f);

}  // namespace kernelcast::frontend
