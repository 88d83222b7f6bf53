// OpenCL C leaves its builtins as calls with mangled names (`_Z12get_local_idj`) on every target. The work-item
// functions have an exact counterpart in each target's intrinsics; the rest of the library comes from libclc, except
// the mathematical functions whose cost is taken from a table (math_costs.h): these stay calls.
//
// AMD has no register for sizes: compilers load them from the dispatch packet (HSA: hsa_kernel_dispatch_packet_t,
// workgroup_size_x at byte 4, grid_size_x at byte 12) or from the implicit kernel arguments (code object 5: block
// counts at 0, group sizes at 12); see "User Guide for AMDGPU Backend", LLVM documentation.
#include "frontend/ir/builtins.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "kernelcast/error.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"

#include "frontend/ir/library_bodies.h"
#include "frontend/ir/math_costs.h"

namespace kernelcast::frontend {
namespace {

using namespace llvm;
using library::plain_name;

constexpr int dispatch_group_size = 4;  // i16 each
constexpr int dispatch_grid_size = 12;  // i32 each, in work-items
constexpr const char* group_size_marker = "kc.group_size";
constexpr const char* num_groups_marker = "kc.num_groups";
constexpr int implicit_block_count = 0;  // i32 each
constexpr int implicit_group_size = 12;  // i16 each

class Ids {
 public:
  Ids(Module& module, TargetFamily family) : module_(module), family_(family) {}

  Value* local_id(IRBuilder<>& b, int axis) {
    static constexpr Intrinsic::ID nv[] = {Intrinsic::nvvm_read_ptx_sreg_tid_x, Intrinsic::nvvm_read_ptx_sreg_tid_y,
                                           Intrinsic::nvvm_read_ptx_sreg_tid_z};
    static constexpr Intrinsic::ID amd[] = {Intrinsic::amdgcn_workitem_id_x, Intrinsic::amdgcn_workitem_id_y,
                                            Intrinsic::amdgcn_workitem_id_z};
    return ranged(b, nv[axis], amd[axis], 1024);
  }
  Value* group_id(IRBuilder<>& b, int axis) {
    static constexpr Intrinsic::ID nv[] = {Intrinsic::nvvm_read_ptx_sreg_ctaid_x, Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                           Intrinsic::nvvm_read_ptx_sreg_ctaid_z};
    static constexpr Intrinsic::ID amd[] = {Intrinsic::amdgcn_workgroup_id_x, Intrinsic::amdgcn_workgroup_id_y,
                                            Intrinsic::amdgcn_workgroup_id_z};
    return ranged(b, nv[axis], amd[axis], 1 << 30);
  }
  Value* local_size(IRBuilder<>& b, int axis) {
    static constexpr Intrinsic::ID nv[] = {Intrinsic::nvvm_read_ptx_sreg_ntid_x, Intrinsic::nvvm_read_ptx_sreg_ntid_y,
                                           Intrinsic::nvvm_read_ptx_sreg_ntid_z};
    if (family_ == TargetFamily::nvidia) return ranged(b, nv[axis], nv[axis], 1025);
    return marker(b, group_size_marker, axis, 1025);
  }
  Value* num_groups(IRBuilder<>& b, int axis) {
    static constexpr Intrinsic::ID nv[] = {Intrinsic::nvvm_read_ptx_sreg_nctaid_x,
                                           Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
                                           Intrinsic::nvvm_read_ptx_sreg_nctaid_z};
    if (family_ == TargetFamily::nvidia) return ranged(b, nv[axis], nv[axis], 1 << 30);
    return marker(b, num_groups_marker, axis, 1U << 30);
  }
  Value* global_size(IRBuilder<>& b, int axis) {
    return b.CreateNUWMul(num_groups(b, axis), local_size(b, axis), "global_size");
  }
  Value* global_id(IRBuilder<>& b, int axis) {
    Value* base = b.CreateMul(group_id(b, axis), local_size(b, axis), "", true, true);
    return b.CreateAdd(base, local_id(b, axis), "global_id", true, true);
  }

 private:
  Value* ranged(IRBuilder<>& b, Intrinsic::ID nv, Intrinsic::ID amd, unsigned bound) {
    CallInst* call = b.CreateIntrinsic(family_ == TargetFamily::nvidia ? nv : amd, {}, {});
    call->addRangeRetAttr(ConstantRange(APInt(32, 0), APInt(32, bound)));
    return call;
  }
  /// Sizes are markers until code is generated, so that the optimiser does not take the loads apart.
  Value* marker(IRBuilder<>& b, const char* what, int axis, unsigned bound) {
    FunctionCallee f = module_.getOrInsertFunction(std::string(what) + "." + "xyz"[axis], b.getInt32Ty());
    auto* function = cast<Function>(f.getCallee());
    function->setDoesNotAccessMemory();
    function->setDoesNotThrow();
    function->setWillReturn();
    function->addFnAttr(Attribute::Speculatable);
    CallInst* call = b.CreateCall(f);
    call->addRangeRetAttr(ConstantRange(APInt(32, 1), APInt(32, bound)));
    return call;
  }
  Module& module_;
  TargetFamily family_;
};

void make_barrier(IRBuilder<>& b, TargetFamily family) {
  if (family == TargetFamily::nvidia) {
    b.CreateIntrinsic(Intrinsic::nvvm_barrier0, {}, {});
  } else {
    b.CreateFence(AtomicOrdering::SequentiallyConsistent, b.getContext().getOrInsertSyncScopeID("workgroup"));
    b.CreateIntrinsic(Intrinsic::amdgcn_s_barrier, {}, {});
  }
}

Value* linear_id(IRBuilder<>& b, Ids& ids, bool global) {
  auto id = [&](int a) { return global ? ids.global_id(b, a) : ids.local_id(b, a); };
  auto size = [&](int a) { return global ? ids.global_size(b, a) : ids.local_size(b, a); };
  Value* zy = b.CreateAdd(b.CreateMul(id(2), size(1)), id(1));
  return b.CreateAdd(b.CreateMul(zy, size(0)), id(0));
}

/// AMD's GPUs run 64 lanes up to gfx9xx and, unless told otherwise, 32 from gfx10xx on.
unsigned lanes_of_sub_group(const Function& function, TargetFamily family) {
  if (family == TargetFamily::nvidia) return 32;
  const StringRef target = function.getFnAttribute("target-cpu").getValueAsString();
  return target.starts_with("gfx1") && target.size() >= 7 ? 32 : 64;
}

/// The replacement of one call, or null when the function is not a work-item function. Void calls give a constant.
Value* lowered(CallInst& call, StringRef name, Ids& ids, TargetFamily family) {
  IRBuilder<> b(&call);
  const unsigned warp = lanes_of_sub_group(*call.getFunction(), family);
  auto by_axis = [&](auto&& get, unsigned outside) -> Value* {
    if (call.arg_size() == 0) return get(0);
    Value* axis = call.getArgOperand(0);
    if (auto* c = dyn_cast<ConstantInt>(axis))
      return c->getZExtValue() < 3 ? get(static_cast<int>(c->getZExtValue())) : b.getInt32(outside);
    Value* chosen = b.getInt32(outside);  // an axis that is computed
    for (int a = 2; a >= 0; --a)
      chosen = b.CreateSelect(b.CreateICmpEQ(axis, ConstantInt::get(axis->getType(), a)), get(a), chosen);
    return chosen;
  };
  if (name == "get_local_id") return by_axis([&](int a) { return ids.local_id(b, a); }, 0);
  if (name == "get_group_id") return by_axis([&](int a) { return ids.group_id(b, a); }, 0);
  if (name == "get_global_id") return by_axis([&](int a) { return ids.global_id(b, a); }, 0);
  if (name == "get_local_size" || name == "get_enqueued_local_size")
    return by_axis([&](int a) { return ids.local_size(b, a); }, 1);
  if (name == "get_num_groups") return by_axis([&](int a) { return ids.num_groups(b, a); }, 1);
  if (name == "get_global_size") return by_axis([&](int a) { return ids.global_size(b, a); }, 1);
  if (name == "get_global_offset") return b.getInt32(0);
  if (name == "get_work_dim") return b.getInt32(3);
  if (name == "get_local_linear_id") return linear_id(b, ids, false);
  if (name == "get_global_linear_id") return linear_id(b, ids, true);
  if (name == "get_sub_group_size" || name == "get_max_sub_group_size") return b.getInt32(warp);
  if (name == "get_sub_group_local_id") return b.CreateAnd(linear_id(b, ids, false), warp - 1);
  if (name == "get_sub_group_id") return b.CreateUDiv(linear_id(b, ids, false), b.getInt32(warp));
  if (name == "get_num_sub_groups") {
    Value* threads = b.CreateMul(b.CreateMul(ids.local_size(b, 0), ids.local_size(b, 1)), ids.local_size(b, 2));
    return b.CreateUDiv(b.CreateAdd(threads, b.getInt32(warp - 1)), b.getInt32(warp));
  }
  Value* done = b.getInt32(0);
  if (name == "barrier" || name == "work_group_barrier") return make_barrier(b, family), done;
  if (name == "sub_group_barrier") return done;
  if (name == "mem_fence" || name == "read_mem_fence" || name == "write_mem_fence" ||
      name == "atomic_work_item_fence") {
    if (family == TargetFamily::nvidia)
      b.CreateIntrinsic(Intrinsic::nvvm_membar_cta, {}, {});  // NVPTX cannot select fences of a work-group
    else
      b.CreateFence(AtomicOrdering::AcquireRelease, b.getContext().getOrInsertSyncScopeID("workgroup"));
    return done;
  }
  return nullptr;
}

bool needs_library(const Module& module) {
  for (const Function& f : module)
    if (f.isDeclaration() && !f.isIntrinsic() && !f.use_empty() && !plain_name(f.getName()).empty() &&
        !is_costed_function(f.getName().str()))
      return true;
  return false;
}

}  // namespace

TargetFamily family_of(const std::string& target) {
  if (target.starts_with("sm_")) return TargetFamily::nvidia;
  if (target.starts_with("gfx")) return TargetFamily::amd;
  throw InternalError("no back end for the code generation target '" + target + "'");
}

void lower_opencl_builtins(Module& module, TargetFamily family) {
  Ids ids(module, family);
  std::vector<CallInst*> dead;
  for (Function& f : module)
    for (Instruction& i : instructions(f)) {
      auto* call = dyn_cast<CallInst>(&i);
      if (!call || !call->getCalledFunction() || !call->getCalledFunction()->isDeclaration()) continue;
      Value* v = lowered(*call, plain_name(call->getCalledFunction()->getName()), ids, family);
      if (!v) continue;
      if (!call->getType()->isVoidTy()) {
        IRBuilder<> b(call);
        call->replaceAllUsesWith(b.CreateZExtOrTrunc(v, call->getType()));
      }
      dead.push_back(call);
    }
  for (CallInst* call : dead) call->eraseFromParent();
}

std::optional<std::string> link_opencl_library(Module& module, TargetFamily family) {
  if (!needs_library(module)) return std::nullopt;
  library::forward_generic_functions(module);
  library::define_mad_hi(module);
  if (family == TargetFamily::nvidia) library::define_long_atomics(module);
  const char* path =
      family == TargetFamily::nvidia ? "/usr/lib/clc/nvptx64--nvidiacl.bc" : "/usr/lib/clc/amdgcn--amdhsa.bc";
  if (!std::filesystem::exists(path))
    return "the OpenCL C library for this target is not installed (package libclc-19): its functions are counted as "
           "one "
           "operation each";
  SMDiagnostic problem;
  auto bitcode = getLazyIRFileModule(path, problem, module.getContext());
  if (!bitcode) return "the OpenCL C library could not be read: " + problem.getMessage().str();
  if (family == TargetFamily::nvidia) library::define_half_functions(module, *bitcode);
  bitcode->setTargetTriple(module.getTargetTriple());
  bitcode->setDataLayout(module.getDataLayout());
  const std::string metadata[] = {"llvm.ident", "opencl.ocl.version", "opencl.spir.version"};
  for (const std::string& name : metadata)
    if (NamedMDNode* node = bitcode->getNamedMetadata(name)) bitcode->eraseNamedMetadata(node);
  if (Linker::linkModules(module, std::move(bitcode), Linker::Flags::LinkOnlyNeeded))
    return "the OpenCL C library could not be linked";
  for (Function& f : module) {
    if (f.isDeclaration()) continue;
    if (is_costed_function(f.getName().str()) && !plain_name(f.getName()).empty()) f.deleteBody();
  }
  lower_opencl_builtins(module, family);  // the library's own uses
  return std::nullopt;
}

std::optional<IdValue> id_value(const Value& value) {
  using Kind = IdValue::Kind;
  if (auto* call = dyn_cast<IntrinsicInst>(&value)) {
    switch (call->getIntrinsicID()) {
      case Intrinsic::nvvm_read_ptx_sreg_tid_x:
      case Intrinsic::amdgcn_workitem_id_x:
        return IdValue{Kind::local_id, 0};
      case Intrinsic::nvvm_read_ptx_sreg_tid_y:
      case Intrinsic::amdgcn_workitem_id_y:
        return IdValue{Kind::local_id, 1};
      case Intrinsic::nvvm_read_ptx_sreg_tid_z:
      case Intrinsic::amdgcn_workitem_id_z:
        return IdValue{Kind::local_id, 2};
      case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
      case Intrinsic::amdgcn_workgroup_id_x:
        return IdValue{Kind::group_id, 0};
      case Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
      case Intrinsic::amdgcn_workgroup_id_y:
        return IdValue{Kind::group_id, 1};
      case Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
      case Intrinsic::amdgcn_workgroup_id_z:
        return IdValue{Kind::group_id, 2};
      case Intrinsic::nvvm_read_ptx_sreg_ntid_x:
        return IdValue{Kind::local_size, 0};
      case Intrinsic::nvvm_read_ptx_sreg_ntid_y:
        return IdValue{Kind::local_size, 1};
      case Intrinsic::nvvm_read_ptx_sreg_ntid_z:
        return IdValue{Kind::local_size, 2};
      case Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
        return IdValue{Kind::num_groups, 0};
      case Intrinsic::nvvm_read_ptx_sreg_nctaid_y:
        return IdValue{Kind::num_groups, 1};
      case Intrinsic::nvvm_read_ptx_sreg_nctaid_z:
        return IdValue{Kind::num_groups, 2};
      default:
        return std::nullopt;
    }
  }
  if (auto* call = dyn_cast<CallInst>(&value); call && call->getCalledFunction()) {
    StringRef name = call->getCalledFunction()->getName();
    const int axis = name.empty() ? 0 : name.back() - 'x';
    if (name.consume_front(group_size_marker)) return IdValue{Kind::local_size, axis};
    if (name.consume_front(num_groups_marker)) return IdValue{Kind::num_groups, axis};
  }
  auto* load = dyn_cast<LoadInst>(&value);
  if (!load) return std::nullopt;
  APInt offset(64, 0);
  const Value* base =
      load->getPointerOperand()->stripAndAccumulateConstantOffsets(load->getModule()->getDataLayout(), offset, true);
  auto* source = dyn_cast<IntrinsicInst>(base);
  if (!source) return std::nullopt;
  const int byte = static_cast<int>(offset.getSExtValue());
  auto in = [&](int first, int size) { return byte >= first && byte < first + 3 * size && (byte - first) % size == 0; };
  if (source->getIntrinsicID() == Intrinsic::amdgcn_dispatch_ptr) {
    if (in(dispatch_group_size, 2)) return IdValue{Kind::local_size, (byte - dispatch_group_size) / 2};
    if (in(dispatch_grid_size, 4)) return IdValue{Kind::global_size, (byte - dispatch_grid_size) / 4};
  }
  if (source->getIntrinsicID() == Intrinsic::amdgcn_implicitarg_ptr) {
    if (in(implicit_block_count, 4)) return IdValue{Kind::num_groups, byte / 4};
    if (in(implicit_group_size, 2)) return IdValue{Kind::local_size, (byte - implicit_group_size) / 2};
  }
  return std::nullopt;
}

void lower_size_markers(Module& module) {
  auto load_from = [&](IRBuilder<>& b, int byte, Type* type) -> Value* {
    Value* base = b.CreateIntrinsic(Intrinsic::amdgcn_dispatch_ptr, {}, {});
    const auto alignment = Align(static_cast<std::uint64_t>(type->getScalarSizeInBits() / 8));
    LoadInst* load = b.CreateAlignedLoad(type, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, byte), alignment);
    load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(module.getContext(), {}));
    return b.CreateZExt(load, b.getInt32Ty());
  };
  std::vector<CallInst*> dead;
  for (Function& f : module)
    for (Instruction& i : instructions(f)) {
      auto* call = dyn_cast<CallInst>(&i);
      if (!call || !call->getCalledFunction() || !call->getCalledFunction()->getName().starts_with("kc.")) continue;
      const auto id = id_value(*call);
      if (!id) continue;
      IRBuilder<> b(call);
      Value* size = load_from(b, dispatch_group_size + 2 * id->axis, b.getInt16Ty());
      if (id->kind == IdValue::Kind::num_groups)
        size = b.CreateUDiv(load_from(b, dispatch_grid_size + 4 * id->axis, b.getInt32Ty()), size);
      call->replaceAllUsesWith(size);
      dead.push_back(call);
    }
  for (CallInst* call : dead) call->eraseFromParent();
}

bool is_read_only_load(const CallInst& call, bool uniform) {
  switch (call.getIntrinsicID()) {
    case Intrinsic::nvvm_ldg_global_f:
    case Intrinsic::nvvm_ldg_global_i:
    case Intrinsic::nvvm_ldg_global_p:
      return true;
    case Intrinsic::nvvm_ldu_global_f:
    case Intrinsic::nvvm_ldu_global_i:
    case Intrinsic::nvvm_ldu_global_p:
      return uniform;
    default:
      return false;
  }
}

bool is_runtime_function(const std::string& symbol) {
  static const std::set<std::string> plain{"printf", "vprintf", "puts",    "malloc",        "free",        "abort",
                                           "memcpy", "memset",  "memmove", "__assert_fail", "__assertfail"};
  constexpr std::array<std::string_view, 8> families{"kc_",    "cuda",   "hip",    "__nv",
                                                     "__ocml", "__ockl", "__cuda", "__hip"};
  return plain.contains(symbol) ||
         std::any_of(families.begin(), families.end(), [&symbol](std::string_view f) { return symbol.starts_with(f); });
}

bool is_barrier(const Value& value) {
  auto* call = dyn_cast<IntrinsicInst>(&value);
  if (!call) return false;
  switch (call->getIntrinsicID()) {
    case Intrinsic::nvvm_barrier0:
    case Intrinsic::nvvm_barrier0_and:
    case Intrinsic::nvvm_barrier0_or:
    case Intrinsic::nvvm_barrier0_popc:
    case Intrinsic::nvvm_barrier:
    case Intrinsic::nvvm_barrier_n:
    case Intrinsic::nvvm_barrier_sync:
    case Intrinsic::nvvm_bar_sync:
    case Intrinsic::nvvm_barrier_sync_cnt:
    case Intrinsic::amdgcn_s_barrier:
      return true;
    default:
      return false;
  }
}

}  // namespace kernelcast::frontend
