// Idea: compilers put a test before each 64-bit division whose operands they do not know: where both fit in 32 bits,
// they are divided as such, in a quarter of the time. Which way a kernel goes is not in its text; sizes, indices and
// what a remainder leaves are below 2^32 in nearly all programs, products of two such values, hashes and packed keys
// are not. Source: NVVM's and LLVM's pass BypassSlowDivision, which nvcc 13.0 applies to all 64-bit divisions of sm_75
// to sm_120 whose operands are not known.
#include "frontend/lower/optimize.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/KnownBits.h"

namespace kernelcast::frontend {
namespace {

using namespace llvm;

constexpr unsigned most_depth = 16;  // of an expression; what is deeper is taken for short

bool is_long_division(const Instruction& i) {
  switch (i.getOpcode()) {
    case Instruction::UDiv:
    case Instruction::SDiv:
    case Instruction::URem:
    case Instruction::SRem:
      return i.getType()->isIntegerTy(64) && !isa<Constant>(i.getOperand(1));
    default:
      return false;
  }
}

/// Whether a value is more than sizes and numbers of threads, blocks and passages: loaded or left by a remainder.
bool comes_from_data(const Value* v, unsigned depth, SmallPtrSetImpl<const Value*>& seen) {
  if (isa<LoadInst>(v)) return true;
  const auto* i = dyn_cast<Instruction>(v);
  if (!i || depth == 0 || !seen.insert(i).second) return false;
  if (i->getOpcode() == Instruction::URem || i->getOpcode() == Instruction::SRem) return true;
  if (!isa<BinaryOperator, CastInst, PHINode, SelectInst>(i)) return false;
  return any_of(i->operands(), [&](const Use& u) { return comes_from_data(u.get(), depth - 1, seen); });
}

bool comes_from_data(const Value* v) {
  SmallPtrSet<const Value*, 16> seen;
  return comes_from_data(v, most_depth, seen);
}

/// Whether a 64-bit value is likely to need more than 32 bits.
class Width {
 public:
  explicit Width(const DataLayout& layout) : layout_(layout) {}

  bool is_long(const Value* v) {
    seen_.clear();
    return is_long(v, most_depth);
  }

 private:
  bool is_long(const Value* v, unsigned depth) {
    if (const auto* c = dyn_cast<ConstantInt>(v)) return !c->getValue().isIntN(32) && !c->getValue().isSignedIntN(32);
    if (isa<PtrToIntInst>(v)) return true;
    const auto* i = dyn_cast<Instruction>(v);
    if (!i || depth == 0 || !seen_.insert(i).second) return false;
    if (computeKnownBits(i, layout_).countMinLeadingZeros() >= i->getType()->getScalarSizeInBits() - 32) return false;
    const auto operand = [&](unsigned k) { return is_long(i->getOperand(k), depth - 1); };
    switch (i->getOpcode()) {
      case Instruction::Add:
      case Instruction::Sub:
      case Instruction::Or:
      case Instruction::Xor:
        return operand(0) || operand(1);
      case Instruction::And:
      case Instruction::URem:
      case Instruction::SRem:
        return operand(0) && operand(1);
      case Instruction::Mul:
        return operand(0) || operand(1) || (comes_from_data(i->getOperand(0)) && comes_from_data(i->getOperand(1)));
      case Instruction::Shl: {
        const auto* by = dyn_cast<ConstantInt>(i->getOperand(1));
        return (by && by->getZExtValue() >= 16 && comes_from_data(i->getOperand(0))) || operand(0);
      }
      case Instruction::LShr:
      case Instruction::AShr:
      case Instruction::UDiv:
      case Instruction::SDiv:
        return operand(0);
      case Instruction::Select:
        return operand(1) || operand(2);
      case Instruction::PHI:
        return any_of(i->operands(), [&](const Use& u) { return is_long(u.get(), depth - 1); });
      case Instruction::Call: {
        const auto* intrinsic = dyn_cast<IntrinsicInst>(i);  // rotations and the like
        return intrinsic && i->getType()->isIntegerTy(64) &&
               (intrinsic->getIntrinsicID() == Intrinsic::fshl || intrinsic->getIntrinsicID() == Intrinsic::fshr ||
                intrinsic->getIntrinsicID() == Intrinsic::bswap ||
                intrinsic->getIntrinsicID() == Intrinsic::bitreverse);
      }
      default:
        return false;
    }
  }

  const DataLayout& layout_;
  SmallPtrSet<const Value*, 16> seen_;
};

/// The test, of the high words, and the short division; its other way is left out.
void divide_short(Instruction& i) {
  IRBuilder<> b(&i);
  Value *dividend = i.getOperand(0), *divisor = i.getOperand(1);
  const auto low = [&b](Value* v) { return b.CreateTrunc(v, b.getInt32Ty()); };
  const auto high = [&b, &low](Value* v) { return low(b.CreateLShr(v, 32)); };
  Value* fits = b.CreateICmpEQ(b.CreateOr(high(dividend), high(divisor)), b.getInt32(0));
  const bool remainder = i.getOpcode() == Instruction::URem || i.getOpcode() == Instruction::SRem;
  Value* result = remainder ? b.CreateURem(low(dividend), low(divisor)) : b.CreateUDiv(low(dividend), low(divisor));
  i.replaceAllUsesWith(b.CreateZExt(b.CreateSelect(fits, result, b.getInt32(~0U)), i.getType()));
  i.eraseFromParent();
}

/// Written so that the code generator adds no test: the long way alone.
void divide_long(Instruction& i) {
  IRBuilder<> b(&i);
  const bool with_sign = i.getOpcode() == Instruction::SDiv || i.getOpcode() == Instruction::SRem;
  const bool remainder = i.getOpcode() == Instruction::URem || i.getOpcode() == Instruction::SRem;
  const std::string text = std::string(remainder ? "rem." : "div.") + (with_sign ? "s64" : "u64") + " $0, $1, $2;";
  auto* type = FunctionType::get(b.getInt64Ty(), {b.getInt64Ty(), b.getInt64Ty()}, false);
  i.replaceAllUsesWith(b.CreateCall(InlineAsm::get(type, text, "=l,l,l", false), {i.getOperand(0), i.getOperand(1)}));
  i.eraseFromParent();
}

}  // namespace

bool choose_ways_of_divisions(Function& kernel, bool nvidia) {
  const DataLayout& layout = kernel.getParent()->getDataLayout();
  const auto known_short = [&layout](const Value* v) {
    return computeKnownBits(v, layout).countMinLeadingZeros() >= 32;
  };
  SmallVector<Instruction*, 8> divisions;
  for (Instruction& i : instructions(kernel))
    if (is_long_division(i) && !(known_short(i.getOperand(0)) && known_short(i.getOperand(1)))) divisions.push_back(&i);
  Width width(layout);
  SmallVector<bool, 8> is_long;
  for (const Instruction* i : divisions)
    is_long.push_back(width.is_long(i->getOperand(0)) || width.is_long(i->getOperand(1)));
  bool any_short = false;
  for (std::size_t k = 0; k < divisions.size(); ++k) {
    if (!is_long[k]) {
      divide_short(*divisions[k]);
      any_short = true;
    } else if (nvidia) {
      divide_long(*divisions[k]);
    }
  }
  return any_short;
}

}  // namespace kernelcast::frontend
