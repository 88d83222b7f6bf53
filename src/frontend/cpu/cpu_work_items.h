// A work-item's code before it stands in a loop over a group's.
#pragma once

#include <vector>

namespace llvm {
class Function;
class Module;
class TargetMachine;
}  // namespace llvm

namespace kernelcast::frontend {

/// The functions that these nests call for a work-item (`runs_work_items`): what they call is inlined, their barriers
/// get the local memory as arguments (`local_mark`), and with a machine each is optimised by itself, as PoCL does
/// before it makes loops over work-items. False, and nothing happens, when these nests call none.
bool prepare_work_items(llvm::Module& module, const std::vector<llvm::Function*>& nests, llvm::TargetMachine* machine);

}  // namespace kernelcast::frontend
