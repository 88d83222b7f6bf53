// What the CPU's side does with a nest's function before it looks at it.
#pragma once

#include <vector>

#include "kernelcast/cpu_code.h"

namespace llvm {
class Function;
class Module;
class TargetMachine;
class Type;
}  // namespace llvm

namespace kernelcast::frontend {

/// For counting, not for running: arrays with the same element for all work-items (`kept_same`) become variables, and
/// indices and addresses that a work-item keeps across a barrier are computed again where they are loaded, if they can
/// be.
void see_through_kept(llvm::Function& f);

/// Arrays behind pointer parameters, in order of the parameters. The function's variables must be values (SROA), its
/// loops in simplified form.
std::vector<ArrayUse> array_uses(llvm::Function& function);

/// The functions that these nests call for a work-item (`runs_work_items`): what they call is inlined, their barriers
/// get the local memory as arguments (`local_mark`), and with a machine each is optimised by itself, as PoCL does
/// before it makes loops over work-items. False, and nothing happens, when these nests call none.
bool prepare_work_items(llvm::Module& module, const std::vector<llvm::Function*>& nests, llvm::TargetMachine* machine);

/// Lanes of a vector of known length; 0 otherwise.
unsigned vector_lanes(const llvm::Type& type);

/// Of code that is only looked at: it no longer does the same.
void take_masks_off(llvm::Function& f);

}  // namespace kernelcast::frontend
