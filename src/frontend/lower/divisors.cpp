#include "frontend/lower/nvidia_rules.h"

#include <string>
#include <vector>

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

namespace kernelcast::frontend {
namespace {

using namespace llvm;

constexpr const char* hidden = "kc.divisor.i";

bool is_hidden(const Instruction& i) {
  const auto* call = dyn_cast<CallInst>(&i);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName().starts_with(hidden);
}

Function* hiding_function(Module& module, Type* type) {
  const std::string name = hidden + std::to_string(type->getIntegerBitWidth());
  if (Function* known = module.getFunction(name)) return known;
  Function* made = Function::Create(FunctionType::get(type, {type}, false), GlobalValue::ExternalLinkage, name, module);
  made->setDoesNotAccessMemory();
  made->setDoesNotThrow();
  made->setWillReturn();
  made->setSpeculatable();
  return made;
}

/// Replaces hidden divisors by what they hide, where `shows` says so.
template <typename Shows>
void show(Function& kernel, Shows shows) {
  std::vector<Instruction*> found;
  for (Instruction& i : instructions(kernel))
    if (is_hidden(i) && shows(i)) found.push_back(&i);
  for (Instruction* i : found) {
    i->replaceAllUsesWith(i->getOperand(0));
    i->eraseFromParent();
  }
}

}  // namespace

void hide_divisors(Function& kernel) {
  std::vector<Instruction*> remainders;
  for (Instruction& i : instructions(kernel))
    if ((i.getOpcode() == Instruction::URem || i.getOpcode() == Instruction::SRem) && i.getType()->isIntegerTy() &&
        !isa<Constant>(i.getOperand(1)))
      remainders.push_back(&i);
  for (Instruction* i : remainders) {
    IRBuilder<> at(i);
    i->setOperand(1, at.CreateCall(hiding_function(*kernel.getParent(), i->getType()), {i->getOperand(1)}));
  }
}

void show_other_divisors(Function& kernel) {
  DominatorTree dominators(kernel);
  AssumptionCache assumptions(kernel);
  const DataLayout& layout = kernel.getParent()->getDataLayout();
  show(kernel, [&](const Instruction& i) {
    const Value* divisor = i.getOperand(0);
    const bool plain =
        PatternMatch::match(divisor, PatternMatch::m_Shl(PatternMatch::m_One(), PatternMatch::m_Value()));
    return plain || !isKnownToBeAPowerOfTwo(divisor, layout, true, 0, &assumptions, &i, &dominators);
  });
}

void show_divisors(Function& kernel) {
  show(kernel, [](const Instruction&) { return true; });
}

}  // namespace kernelcast::frontend
