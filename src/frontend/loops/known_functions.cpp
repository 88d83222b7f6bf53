// Names, because bodies of toolkit functions are either not there or made of instructions of one target.
#include "frontend/loops/known_functions.h"

#include <algorithm>

#include "clang/Basic/SourceManager.h"
#include "frontend/source/compile_language.h"

namespace kernelcast::frontend {
namespace {

using namespace clang;

bool starts_with_any(llvm::StringRef name, std::initializer_list<const char*> heads) {
  return std::any_of(heads.begin(), heads.end(), [&](const char* h) { return name.starts_with(h); });
}

bool is_any(llvm::StringRef name, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* n) { return name == n; });
}

}  // namespace

bool is_collective(const FunctionDecl* f) {
  const std::string full = f->getQualifiedNameAsString();
  const llvm::StringRef qualified(full);
  const std::string own = f->getNameAsString();
  const llvm::StringRef name(own);
  if (qualified.contains("cooperative_groups::")) {
    return !is_any(name,
                   {"thread_rank", "num_threads", "size", "group_index", "thread_index", "group_dim", "block_rank",
                    "meta_group_rank", "meta_group_size", "is_valid", "this_thread_block", "this_grid"});
  }
  if (qualified.contains("wmma::")) return true;
  return name == "sync" || name == "barrier" ||
         starts_with_any(name, {"__syncthreads",
                                "__syncwarp",
                                "__bar",
                                "__shfl",
                                "__ballot",
                                "__any",
                                "__all",
                                "__activemask",
                                "__match_",
                                "__reduce_",
                                "__builtin_amdgcn_s_barrier",
                                "__builtin_amdgcn_ds_",
                                "__builtin_amdgcn_readlane",
                                "__builtin_amdgcn_readfirstlane",
                                "work_group_",
                                "sub_group_",
                                "async_work_group",
                                "wait_group_events",
                                "intel_sub_group",
                                "shfl",
                                "ballot"});
}

bool is_target_specific(llvm::StringRef name) {
  if (!starts_with_any(name, {"__nvvm_", "__builtin_amdgcn_"})) return false;
  return !name.contains("read_ptx_sreg") && !name.contains("workitem_id") && !name.contains("workgroup_");
}

bool is_fence(llvm::StringRef name) {
  return starts_with_any(name,
                         {"mem_fence", "read_mem_fence", "write_mem_fence", "atomic_work_item_fence", "__threadfence",
                          "__builtin_amdgcn_fence", "__nvvm_membar", "__sync_synchronize", "__atomic_thread_fence"});
}

bool is_atomic(llvm::StringRef name) {
  return starts_with_any(name, {"atomic", "atom_", "unsafeAtomic", "safeAtomic", "__atomic_", "__sync_",
                                "__hip_atomic_", "__scoped_atomic_", "__opencl_atomic_", "__c11_atomic_"});
}

bool is_order_free_atomic(llvm::StringRef name, unsigned arguments) {
  const std::string lower_text = name.lower();
  const llvm::StringRef lower(lower_text);
  if (lower.contains("test") || lower.contains("load") || lower.contains("store")) return false;
  // With a limit they wrap around at it, which another call's limit would notice.
  if ((lower.contains("inc") || lower.contains("dec")) && arguments > 1) return false;
  return lower.contains("add") || lower.contains("sub") || lower.contains("min") || lower.contains("max") ||
         lower.contains("and") || lower.contains("_or") || lower.contains("xor") || lower.ends_with("or") ||
         lower.contains("inc") || lower.contains("dec");
}

bool is_location_query(llvm::StringRef name) {
  return starts_with_any(name, {"get_global", "get_local", "get_group", "get_num_groups", "get_enqueued",
                                "get_work_dim", "get_sub_group", "get_max_sub_group"});
}

bool is_lane_query(llvm::StringRef name) {
  return starts_with_any(
             name, {"get_global_id", "get_local_id", "get_global_linear_id", "get_local_linear_id", "get_sub_group",
                    "__nvvm_read_ptx_sreg_tid", "__nvvm_read_ptx_sreg_laneid", "__builtin_amdgcn_workitem_id"}) ||
         name == "thread_rank";
}

bool is_toolkit(const FunctionDecl* f, const ASTContext& context) {
  const SourceLocation at = f->getLocation();
  if (f->getBuiltinID() != 0 || f->isImplicit() || at.isInvalid()) return true;
  const SourceManager& sources = context.getSourceManager();
  const SourceLocation place = sources.getExpansionLoc(at);
  if (sources.getFilename(place).starts_with(kVirtualHeaderFolder)) return true;
  return f->getDefinition() == nullptr && sources.isInSystemHeader(place);
}

}  // namespace kernelcast::frontend
