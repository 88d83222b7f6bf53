// The steps in the order in which they need each other: loop nests become kernels with OpenCL's functions; these become
// the target's; asm statements are lifted before image accesses become asm statements of their own; libraries are
// linked; the vendor's optimizations come last.
#include "frontend/lower/lower_kernel.h"

#include "frontend/ir/annotation_cache.h"
#include "frontend/ir/builtins.h"
#include "frontend/ir/images.h"
#include "frontend/ir/math_costs.h"
#include "frontend/ir/ptx_calls.h"
#include "frontend/lift/lift.h"
#include "frontend/lower/optimize.h"
#include "frontend/source/compile_language.h"
#include "frontend/source/kernels.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace kernelcast::frontend {
namespace {

MissingBodies missing_bodies(const llvm::Function& kernel, Language language) {
  MissingBodies out;
  for (const llvm::Instruction& i : llvm::instructions(kernel)) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&i);
    const llvm::Function* f = call == nullptr ? nullptr : call->getCalledFunction();
    if (f == nullptr || !f->isDeclaration() || f->isIntrinsic() || ptx_instruction(i)) continue;
    const std::string symbol = f->getName().str();
    if (symbol.starts_with("kc_")) continue;  // marks of a work-item and its barriers, for the CPU's side
    const bool is_code = language == Language::llvm_ir || language == Language::ptx;
    const bool of_code = is_code && !is_runtime_function(symbol) && !id_value(i);
    if (!(f->hasFnAttribute(without_body_key) || of_code) || is_costed_function(symbol)) continue;
    const std::string spoken = without_parameters(llvm::demangle(symbol));
    const std::size_t scope = spoken.rfind("::");
    out.names.insert(scope == std::string::npos ? spoken : spoken.substr(scope + 2));
    if (!out.first.empty()) continue;
    out.first = "'" + llvm::demangle(symbol) + "'";
    if (const llvm::DebugLoc& at = i.getDebugLoc())
      out.first += " (" + at->getFilename().str() + ":" + std::to_string(at.getLine()) + ")";
  }
  return out;
}

/// Bodies that the kernel cannot reach: all that follows looks at every one that is there.
void drop_unreached_bodies(llvm::Module& module, const std::string& symbol) {
  llvm::SmallPtrSet<const llvm::Value*, 32> seen;
  llvm::SmallVector<const llvm::Value*, 32> open;
  const auto reach = [&](const llvm::Value* v) {
    if (v != nullptr && llvm::isa<llvm::Constant>(v) && seen.insert(v).second) open.push_back(v);
  };
  reach(module.getFunction(symbol));
  if (open.empty()) return;
  while (!open.empty()) {
    const llvm::Value* v = open.pop_back_val();
    if (const auto* f = llvm::dyn_cast<llvm::Function>(v))
      for (const llvm::Instruction& i : llvm::instructions(*f))
        for (const llvm::Use& operand : i.operands()) reach(operand.get());
    for (const llvm::Use& operand : llvm::cast<llvm::Constant>(v)->operands()) reach(operand.get());
  }
  for (llvm::Function& f : module) {
    if (f.isDeclaration() || seen.contains(&f)) continue;
    f.setComdat(nullptr);
    f.deleteBody();
  }
}

}  // namespace

LoweredKernel lower_kernel(CompiledUnit& unit, const std::string& symbol, const std::string& target, bool fast_math,
                           const std::vector<std::string>& map, const Dim3& cluster, const std::string& capability) {
  llvm::Module& module = *unit.module;
  const TargetFamily family = family_of(target);
  LoweredKernel out;
  if (is_loop_nest(unit.language)) out.nest = map_loop_nest(module, symbol, map, unit.pragmas, family);
  drop_unreached_bodies(module, symbol);
  lower_opencl_builtins(module, family);
  if (family == TargetFamily::nvidia) lift_asm_statements(module, symbol, capability);
  lower_image_accesses(module, family);
  out.library_note = link_opencl_library(module, family);
  unit.before_end = end_module;
  const auto machine = make_target_machine(target, fast_math);
  optimize_for_target(module, symbol, *machine, cluster);
  out.missing = missing_bodies(*module.getFunction(symbol), unit.language);
  return out;
}

}  // namespace kernelcast::frontend
