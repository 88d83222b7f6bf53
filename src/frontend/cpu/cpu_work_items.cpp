// PoCL runs -O3 over the kernel as written for one work-item, finds barriers and makes loops over work-items, and runs
// -O3 again (pocl/pocl, lib/CL/pocl_llvm_wg.cc). So what one work-item computes once is known once: an address that is
// used on both sides of a barrier is a value that lives across it. Loops stay rolled (the same file, and
// pocl_llvm_build.cc: "UnrollLoops = false").
#include "frontend/cpu/function_passes.h"

#include <algorithm>
#include <set>
#include <string>

#include "frontend/cpu/cpu_barriers.h"
#include "frontend/cpu/cpu_target.h"
#include "frontend/lower/optimize.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace kernelcast::frontend {
namespace {

using namespace llvm;

std::set<Function*> called_by(const std::vector<Function*>& nests) {
  std::set<Function*> items;
  for (const Function* f : nests) {
    if (!runs_work_items(*f)) continue;
    for (const Instruction& i : instructions(*f))
      if (const auto* call = dyn_cast<CallInst>(&i))
        if (Function* callee = call->getCalledFunction(); callee && !callee->isDeclaration()) items.insert(callee);
  }
  return items;
}

/// The variable of an annotation `local_mark`.
AllocaInst* marked_local(const IntrinsicInst& note) {
  if (note.getIntrinsicID() != Intrinsic::var_annotation) return nullptr;
  const auto* text = dyn_cast<GlobalVariable>(note.getArgOperand(1)->stripPointerCasts());
  const auto* data = text && text->hasInitializer() ? dyn_cast<ConstantDataArray>(text->getInitializer()) : nullptr;
  if (!data || !data->isCString() || data->getAsCString() != StringRef(local_mark)) return nullptr;
  return dyn_cast<AllocaInst>(note.getArgOperand(0)->stripPointerCasts());
}

/// Takes the annotations off and gives the variables to the function's barriers, which may change them. A pointer is
/// annotated for what it points to.
void give_to_barriers(Function& item) {
  std::vector<Value*> local;
  for (Instruction& i : make_early_inc_range(instructions(item))) {
    auto* note = dyn_cast<IntrinsicInst>(&i);
    AllocaInst* variable = note ? marked_local(*note) : nullptr;
    if (!variable) continue;
    if (!variable->getAllocatedType()->isPointerTy()) local.push_back(variable);
    note->eraseFromParent();
  }
  Module& module = *item.getParent();
  FunctionCallee barrier = module.getOrInsertFunction(
      barrier_of_memory, FunctionType::get(Type::getVoidTy(module.getContext()), /*isVarArg=*/true));
  auto* declared = cast<Function>(barrier.getCallee());
  for (const auto a : {Attribute::NoDuplicate, Attribute::Convergent, Attribute::NoUnwind}) declared->addFnAttr(a);
  for (Instruction& i : make_early_inc_range(instructions(item))) {
    auto* call = dyn_cast<CallInst>(&i);
    if (!call || !call->getCalledFunction() || call->getCalledFunction()->getName() != StringRef(barrier_mark))
      continue;
    IRBuilder<>(call).CreateCall(barrier, local);
    call->eraseFromParent();
  }
}

}  // namespace

bool prepare_work_items(Module& module, const std::vector<Function*>& nests, TargetMachine* machine) {
  const std::set<Function*> items = called_by(nests);
  if (std::any_of(nests.begin(), nests.end(), [](const Function* f) { return runs_work_items(*f); }))
    for (Function& f : module)  // PoCL lets no loop become a call of the C library
      for (const char* name : {"memcpy", "memset", "memmove"}) f.addFnAttr((Twine("no-builtin-") + name).str());
  if (items.empty()) return false;
  for (Function* item : items) {
    item->removeFnAttr(Attribute::AlwaysInline);
    item->addFnAttr(Attribute::NoInline);
  }
  run_passes(module, nullptr, "always-inline,globaldce");
  for (Function* item : items) {
    give_to_barriers(*item);
    if (machine) simplify_for_cpu(*item, *machine);
    item->removeFnAttr(Attribute::NoInline);
    item->addFnAttr(Attribute::AlwaysInline);
  }
  return true;
}

}  // namespace kernelcast::frontend
