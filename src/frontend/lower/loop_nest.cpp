// "No GPU program is needed": the serial nest is compiled as plain C, and each marked loop loses its back edge; its
// counter becomes start + step * global_id. What the loop tested stays as the guard that partly filled blocks need
// anyway. Whether the iterations are independent is the word of whoever marked the loop; a scalar carried around it is
// an error, since it shows the opposite.
#include "frontend/lower/loop_nest.h"

#include <algorithm>

#include "frontend/lower/optimize.h"
#include "frontend/lower/reducible.h"
#include "frontend/shape/kernel_model.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Regex.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

std::string variable_of(const llvm::Loop& loop) {
  for (PHINode& phi : loop.getHeader()->phis())
    if (phi.hasName() && phi.getType()->isIntegerTy())
      return phi.getName().take_until([](char c) { return c == '.'; }).str();
  return {};
}

int line_of(const llvm::Loop& loop) { return loop.getStartLoc() ? static_cast<int>(loop.getStartLoc().getLine()) : 0; }

/// The loop marked by a pragma is the first that starts after it; collapse(n) marks n - 1 nested ones as well. Pragmas
/// before the function belong to others.
std::vector<llvm::Loop*> marked_by(const Function& f, const std::vector<LoopPragma>& pragmas,
                                   ArrayRef<llvm::Loop*> loops) {
  const int first_line = f.getSubprogram() ? static_cast<int>(f.getSubprogram()->getLine()) : 0;
  std::vector<llvm::Loop*> marked;
  static const Regex collapse("collapse[[:space:]]*[(][[:space:]]*([0-9]{1,6})[[:space:]]*[)]");
  static const Regex work("(^|[^A-Za-z0-9_])(for|loop|distribute|simd)($|[^A-Za-z0-9_])");
  static const Regex sequential("(^|[^A-Za-z0-9_])seq($|[^A-Za-z0-9_])");
  for (const LoopPragma& p : pragmas) {
    if (p.line < first_line || !work.match(p.text) || sequential.match(p.text)) continue;
    llvm::Loop* nearest = nullptr;
    for (llvm::Loop* l : loops)
      if (line_of(*l) > p.line && (!nearest || line_of(*l) < line_of(*nearest))) nearest = l;
    SmallVector<StringRef, 2> found;
    int n = collapse.match(p.text, &found) ? std::stoi(found[1].str()) : 1;
    for (llvm::Loop* l = nearest; l && n > 0; --n) {
      if (std::find(marked.begin(), marked.end(), l) == marked.end()) marked.push_back(l);
      l = l->getSubLoops().size() == 1 ? l->getSubLoops()[0] : nullptr;
    }
  }
  std::sort(marked.begin(), marked.end(),
            [](llvm::Loop* a, llvm::Loop* b) { return a->getLoopDepth() < b->getLoopDepth(); });
  return marked;
}

std::vector<llvm::Loop*> named(const std::vector<std::string>& map, ArrayRef<llvm::Loop*> loops,
                               const std::string& symbol) {
  std::vector<llvm::Loop*> found;
  for (const std::string& name : map) {
    auto it = std::find_if(loops.begin(), loops.end(), [&](llvm::Loop* l) {
      return variable_of(*l) == name && (found.empty() || found.back()->contains(l));
    });
    if (it == loops.end()) {
      std::string have;
      for (llvm::Loop* l : loops)
        have += (have.empty() ? "" : ", ") + variable_of(*l) + " (line " + std::to_string(line_of(*l)) + ")";
      throw UserError(KC_SETTING(map) " " + name + ": no loop of '" + symbol + "' counts with '" + name + "'" +
                      (found.empty() ? "" : " inside the loops named before it") + "; its loops count with " + have);
    }
    found.push_back(*it);
  }
  return found;
}

/// What the next iteration has in place of `phi`. Where the same sum is needed in an inner loop, as in row[i + 1],
/// there is one of it, and what comes out of that loop goes by a phi of one value.
BinaryOperator* next_of(const PHINode& phi, const BasicBlock& latch) {
  Value* next = phi.getIncomingValueForBlock(&latch);
  while (auto* passed = dyn_cast<PHINode>(next)) {
    Value* one = passed->hasConstantValue();
    if (!one || one == passed) break;
    next = one;
  }
  return dyn_cast<BinaryOperator>(next);
}

/// One iteration per work-item along `axis`.
void make_work_item(llvm::Loop& loop, int axis, const std::string& symbol) {
  const std::string where =
      "the loop over '" + variable_of(loop) + "' at line " + std::to_string(line_of(loop)) + " of '" + symbol + "'";
  BasicBlock *before = loop.getLoopPreheader(), *latch = loop.getLoopLatch(), *header = loop.getHeader();
  auto* test = dyn_cast<BranchInst>(header->getTerminator());
  if (!before || !latch || !test || !test->isConditional() || !loop.isLoopExiting(header) || !loop.getExitingBlock())
    throw UserError(where + " cannot become work-items: it must be a counted for loop without break or return");
  PHINode* counter = nullptr;
  for (PHINode& phi : header->phis()) {
    auto* next = next_of(phi, *latch);
    const bool counts = phi.getType()->isIntegerTy() && next && next->getOpcode() == Instruction::Add &&
                        next->getOperand(0) == &phi && loop.isLoopInvariant(next->getOperand(1));
    if (counts && !counter) {
      counter = &phi;
      continue;
    }
    throw UserError(where + " carries '" + phi.getName().take_until([](char c) { return c == '.'; }).str() +
                    "' from one iteration to the next, so its iterations cannot be work-items");
  }
  if (!counter) throw UserError(where + " has no counter that advances by a fixed step");
  auto* next = next_of(*counter, *latch);
  IRBuilder<> b(before->getTerminator());
  Module& module = *header->getModule();
  FunctionCallee id = module.getOrInsertFunction("_Z13get_global_idj", b.getInt64Ty(), b.getInt32Ty());
  Value* mine =
      b.CreateZExtOrTrunc(b.CreateCall(id, {b.getInt32(static_cast<std::uint32_t>(axis))}), counter->getType());
  Value* step = next->getOperand(1);
  Value* value =
      b.CreateNSWAdd(counter->getIncomingValueForBlock(before), b.CreateNSWMul(mine, step), counter->getName());
  BasicBlock* exit = loop.getExitBlock();
  for (PHINode& phi : exit->phis()) phi.addIncoming(PoisonValue::get(phi.getType()), latch);
  counter->replaceAllUsesWith(value);
  counter->eraseFromParent();
  latch->getTerminator()->eraseFromParent();
  BranchInst::Create(exit, latch);
}

/// Iterations of each loop, innermost first; empty when they are not the same for every work-item.
std::vector<Expr> extents(Function& f, const std::vector<llvm::Loop*>& chosen) {
  KernelProfile scratch;
  KernelModel model(f, scratch);
  std::vector<Expr> result;
  for (auto it = chosen.rbegin(); it != chosen.rend(); ++it) {
    llvm::Loop* loop = model.loops().getLoopFor((*it)->getHeader());
    const TripCount& count = model.trips(loop);
    if (!count.trips || !count.header_test) return {};
    const Expr trips = *count.trips - 1;
    for (const llvm::Loop* outer = loop->getParentLoop(); outer; outer = outer->getParentLoop())
      if (trips.depends_on(model.counter(const_cast<llvm::Loop*>(outer)))) return {};
    result.push_back(trips);
  }
  return result;
}

void make_kernel(Function& f, TargetFamily family) {
  f.setCallingConv(family == TargetFamily::nvidia ? CallingConv::PTX_Kernel : CallingConv::AMDGPU_KERNEL);
  f.setLinkage(GlobalValue::ExternalLinkage);
  f.setComdat(nullptr);
  for (Function& other : *f.getParent())
    for (const char* host :
         {"target-cpu", "target-features", "tune-cpu", "frame-pointer", "stack-protector-buffer-size"})
      other.removeFnAttr(host);
  if (family == TargetFamily::nvidia) return;
  std::vector<AllocaInst*> slots;  // private memory has an address space of its own on AMD
  for (Instruction& i : instructions(f))
    if (auto* slot = dyn_cast<AllocaInst>(&i)) slots.push_back(slot);
  for (AllocaInst* slot : slots) {
    IRBuilder<> b(slot);
    AllocaInst* there = b.CreateAlloca(slot->getAllocatedType(), 5, slot->getArraySize(), slot->getName());
    there->setAlignment(slot->getAlign());
    slot->replaceAllUsesWith(b.CreateAddrSpaceCast(there, slot->getType()));
    slot->eraseFromParent();
  }
}

/// The loops that are to become work-items, outermost first, in a module whose variables are still in memory.
std::vector<llvm::Loop*> choose(Function& f, LoopInfo& info, const std::vector<std::string>& map,
                                const std::vector<LoopPragma>& pragmas) {
  SmallVector<llvm::Loop*, 8> loops = info.getLoopsInPreorder();
  return map.empty() ? marked_by(f, pragmas, loops) : named(map, loops, f.getName().str());
}

constexpr const char* to_values = "function(sroa,early-cse,simplifycfg,loop-simplify,lcssa)";

}  // namespace

std::vector<LoopPlace> outermost_marked_loops(const Module& module, const std::string& symbol,
                                              const std::vector<std::string>& map,
                                              const std::vector<LoopPragma>& pragmas) {
  const std::unique_ptr<Module> copy = CloneModule(module);
  run_passes(*copy, nullptr, to_values);
  Function* f = copy->getFunction(symbol);
  if (!f || f->isDeclaration()) throw InternalError("no function '" + symbol + "'");
  DominatorTree dominators(*f);
  LoopInfo info(dominators);
  const std::vector<llvm::Loop*> chosen = choose(*f, info, map, pragmas);
  std::vector<LoopPlace> places;
  for (const llvm::Loop* loop : chosen) {
    const bool inside = std::any_of(chosen.begin(), chosen.end(),
                                    [&](const llvm::Loop* other) { return other != loop && other->contains(loop); });
    const DebugLoc start = loop->getStartLoc();
    if (!inside) places.push_back({line_of(*loop), start ? static_cast<int>(start.getCol()) : 0});
  }
  return places;
}

MappedNest map_loop_nest(Module& module, const std::string& symbol, const std::vector<std::string>& map,
                         const std::vector<LoopPragma>& pragmas, TargetFamily family) {
  Function* f = module.getFunction(symbol);
  if (!f || f->isDeclaration()) throw InternalError("no function '" + symbol + "'");
  if (!f->getReturnType()->isVoidTy())
    throw UserError("'" + symbol +
                    "' returns a value; a loop nest that is to become a kernel must be a function of type void");
  for (Function& g : module) g.removeFnAttr(Attribute::OptimizeNone);
  run_passes(module, nullptr, to_values);
  make_reducible(module, *f);
  DominatorTree dominators(*f);
  LoopInfo info(dominators);
  const std::vector<llvm::Loop*> chosen = choose(*f, info, map, pragmas);
  if (chosen.empty())
    throw UserError("no loop of '" + symbol +
                    "' is marked to become work-items: give " KC_SETTING(map) " i,j (loop counters, outermost first) or "
                    "put '#pragma omp parallel for collapse(2)' before the loops");
  if (chosen.size() > 3)
    throw UserError("at most three loops can become work-items; " + std::to_string(chosen.size()) + " are marked");
  MappedNest nest;
  nest.axes = static_cast<int>(chosen.size());
  nest.extent = extents(*f, chosen);
  int axis = nest.axes;
  for (llvm::Loop* loop : chosen) make_work_item(*loop, --axis, symbol);
  make_kernel(*f, family);
  return nest;
}

}  // namespace kernelcast::frontend
