// The work-item functions, barriers and fences of every dialect, brought to one form before analysis.
#pragma once

#include <optional>
#include <string>

namespace llvm {
class CallInst;
class Function;
class Module;
class Value;
}  // namespace llvm

namespace kernelcast::frontend {

enum class TargetFamily { nvidia, amd };
/// sm_NN or gfxNNN; throws InternalError for anything else.
TargetFamily family_of(const std::string& target);

/// Replaces OpenCL's work-item calls, barriers and fences by the target's intrinsics, so that code generation
/// sees what a vendor's compiler would see. Sub-groups are the hardware's warps.
void lower_opencl_builtins(llvm::Module& module, TargetFamily family);

/// Links the OpenCL C library functions that are neither work-item functions nor costed by table (vload, convert,
/// clamp, vector forms ...) from libclc's bitcode, if installed. Returns a note when they were needed but missing.
std::optional<std::string> link_opencl_library(llvm::Module& module, TargetFamily family);

/// What an id register means: which symbol of profile.h.
struct IdValue {
  enum class Kind { local_id, group_id, local_size, num_groups, global_size } kind;
  int axis;
};
/// Recognises the target's id intrinsics and, on AMD, loads from the dispatch packet and the implicit arguments.
std::optional<IdValue> id_value(const llvm::Value& value);

/// On AMD, sizes stay markers (`kc.group_size.x`) during optimisation and analysis; this makes loads from the dispatch
/// packet of them, as vendors' compilers do, before code is generated.
void lower_size_markers(llvm::Module& module);

/// __ldg where Clang has made an intrinsic of it; `uniform`: also __ldu, which asks that all lanes load one place.
bool is_read_only_load(const llvm::CallInst& call, bool uniform = false);

/// Functions that device code has from the vendor's run time or from ours, with no body in any source.
bool is_runtime_function(const std::string& symbol);

/// A whole-block barrier in the target's form.
bool is_barrier(const llvm::Value& value);

}  // namespace kernelcast::frontend
