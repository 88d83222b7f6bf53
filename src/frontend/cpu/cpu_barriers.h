// Work-items of a group as loops between barriers, as OpenCL runtimes for CPUs run them.
#pragma once

#include <string_view>

namespace llvm {
class Function;
}

namespace kernelcast::frontend {

/// Calls that a nest of work-items holds: first thing in the body of the loop over a group's items, and at barriers.
inline constexpr std::string_view work_item_mark = "kc_work_item", barrier_mark = "kc_barrier";
/// A barrier that has the addresses of the local memory as arguments, and the annotation of that memory.
inline constexpr std::string_view barrier_of_memory = "kc_barrier_of", local_mark = "kc_local";

/// Whether the function has a loop over the work-items of a group.
bool runs_work_items(const llvm::Function& f);

/// Takes the marks off. A loop over work-items that holds barriers becomes a loop for each piece of code between two of
/// them; what a work-item computes before a barrier and needs behind it lies in an array with an element for each.
/// False when barriers stand where that cannot be done: under conditions that join again without one. They are left out
/// then, and the loop stays one. `own_arrays`: variables in memory that barriers do not have as arguments are a
/// work-item's own, and iterations of a loop without barriers are independent; otherwise such variables are the
/// group's.
bool split_at_barriers(llvm::Function& f, bool own_arrays);

/// How names of arrays begin whose elements are the same for all work-items, although they are kept for each.
inline constexpr std::string_view kept_same = "kept.same";

}  // namespace kernelcast::frontend
