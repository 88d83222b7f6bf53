// Forward flow over the blocks: the set of last steps with which a block may be entered. A barrier, and the start of
// the kernel, leave "nothing yet".
#include "frontend/shape/synchronization.h"

#include "frontend/ir/math_costs.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/Casting.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

using LastSteps = unsigned;  // a set of these
constexpr LastSteps last_none = 1, last_store = 2, last_compute = 4;

LastSteps left_by(const std::vector<BarrierStep>& steps, LastSteps last) {
  if (steps.empty()) return last;
  switch (steps.back()) {
    case BarrierStep::store:
      return last_store;
    case BarrierStep::compute:
      return last_compute;
    case BarrierStep::barrier:
      break;
  }
  return last_none;
}

int flat_in(const std::vector<BarrierStep>& steps, LastSteps last) {
  int flat = 0;
  for (const BarrierStep step : steps) {
    if (step == BarrierStep::barrier && (last & last_store) != 0 && (last & last_compute) == 0) ++flat;
    last = left_by({step}, last);
  }
  return flat;
}

}  // namespace

bool is_computation(const Instruction& i) {
  if (!i.getType()->isFPOrFPVectorTy()) return false;
  if (i.isBinaryOp() || isa<UnaryOperator>(i)) return true;
  // Clang calls every OpenCL function convergent; of intrinsics LLVM knows which exchange values between lanes.
  const auto* call = dyn_cast<CallInst>(&i);
  const Function* f = call != nullptr ? call->getCalledFunction() : nullptr;
  if (f == nullptr) return false;
  return f->isIntrinsic() ? f->doesNotAccessMemory() && !f->isConvergent() : is_costed_function(f->getName().str());
}

std::unordered_map<const BasicBlock*, int> flat_barriers(const Function& kernel, const BarrierSteps& steps) {
  static const std::vector<BarrierStep> none;
  const auto steps_of = [&](const BasicBlock* b) -> const std::vector<BarrierStep>& {
    const auto it = steps.find(b);
    return it == steps.end() ? none : it->second;
  };
  std::unordered_map<const BasicBlock*, LastSteps> entry{{&kernel.getEntryBlock(), last_none}};
  const ReversePostOrderTraversal<const Function*> order(&kernel);
  for (bool changed = true; changed;) {
    changed = false;
    for (const BasicBlock* block : order) {
      const LastSteps out = left_by(steps_of(block), entry[block]);
      for (const BasicBlock* next : successors(block)) {
        LastSteps& in = entry[next];
        changed |= (out & ~in) != 0;
        in |= out;
      }
    }
  }
  std::unordered_map<const BasicBlock*, int> flat;
  for (const auto& [block, its] : steps)
    if (const int n = flat_in(its, entry[block]); n > 0) flat[block] = n;
  return flat;
}

}  // namespace kernelcast::frontend
