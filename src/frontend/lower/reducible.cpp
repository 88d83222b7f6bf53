// LLVM's FixIrreducible does the work: it puts a header in front of each such cycle, to which all its entries jump and
// which goes on by a chain of tests. Device compilers have to do the like where the hardware masks lanes. Limits: the
// tests count as work that a compiler which knows better would not do; indirect jumps, which device code has none of.
#include "frontend/lower/reducible.h"

#include "frontend/lower/optimize.h"
#include "kernelcast/error.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"

namespace kernelcast::frontend {
namespace {

constexpr const char* mark_of_reducible = "kernelcast-made-reducible";

}  // namespace

bool has_irreducible_flow(llvm::Function& function) {
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  const llvm::ReversePostOrderTraversal<const llvm::Function*> order(&function);
  return llvm::containsIrreducibleCFG<const llvm::BasicBlock*>(order, loops);
}

void make_reducible(llvm::Module& module, llvm::Function& function) {
  if (function.isDeclaration() || !has_irreducible_flow(function)) return;
  run_passes(module, nullptr, "function(lower-switch,fix-irreducible)");
  if (has_irreducible_flow(function))
    throw LimitError("function '" + function.getName().str() +
                     "' jumps into a loop in a way that cannot be analysed; enter its loops at their heads");
  function.addFnAttr(mark_of_reducible);
}

bool was_made_reducible(const llvm::Function& function) { return function.hasFnAttribute(mark_of_reducible); }

}  // namespace kernelcast::frontend
