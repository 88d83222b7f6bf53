// Floating point and conversions. Where PTX leaves the rounding to the compiler (mul and add without .rn), so does
// LLVM; roundings other than to nearest are NVVM's intrinsics.
#include "frontend/lift/lifter.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/MDBuilder.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

std::string rounding_word(ptx::Rounding r) {
  return r == ptx::Rounding::rz ? "rz" : r == ptx::Rounding::rm ? "rm" : r == ptx::Rounding::rp ? "rp" : "rn";
}

bool is_directed(ptx::Rounding r) { return r == ptx::Rounding::rz || r == ptx::Rounding::rm || r == ptx::Rounding::rp; }

bool is_half(ptx::Type t) {
  return t == ptx::Type::f16 || t == ptx::Type::bf16 || t == ptx::Type::f16x2 || t == ptx::Type::bf16x2;
}

}  // namespace

Value* Lifter::clamped(Value* v) {
  Type* type = v->getType();
  Value* above = b_.CreateBinaryIntrinsic(Intrinsic::maxnum, v, ConstantFP::get(type, 0.0));
  return b_.CreateBinaryIntrinsic(Intrinsic::minnum, above, ConstantFP::get(type, 1.0));
}

bool Lifter::floating(const Instruction& i) {
  using ptx::Op;
  const ptx::Type t = i.type();
  if (t == ptx::Type::tf32) return false;
  const bool fast = i.has("ftz"), f64 = t == ptx::Type::f64;
  const auto operand = [&](std::size_t n) { return read(i.operands.at(n), t); };
  const auto give = [&](Value* v) {
    if (i.has("sat")) v = clamped(v);
    if (i.has("relu")) v = b_.CreateBinaryIntrinsic(Intrinsic::maxnum, v, ConstantFP::get(v->getType(), 0.0));
    write(i.operands.at(0), v);
    return true;
  };
  // add.rz.ftz.f32 is llvm.nvvm.add.rz.ftz.f
  const auto directed = [&](const std::string& name, ArrayRef<Value*> values) {
    return give(
        nvvm(name + "." + rounding_word(i.rounding) + (fast && !f64 ? ".ftz" : "") + (f64 ? ".d" : ".f"), values));
  };
  const bool turns = is_directed(i.rounding);
  if (turns && (is_half(t) || t == ptx::Type::f32x2)) return false;
  if (is_half(t) && (i.has("sat") || i.has("relu"))) return false;  // one instruction, which LLVM does not have
  switch (i.op) {
    case Op::add:
      return turns ? directed("add", {operand(1), operand(2)}) : give(b_.CreateFAdd(operand(1), operand(2)));
    case Op::sub:
      return turns ? directed("add", {operand(1), b_.CreateFNeg(operand(2))})
                   : give(b_.CreateFSub(operand(1), operand(2)));
    case Op::mul:
      return turns ? directed("mul", {operand(1), operand(2)}) : give(b_.CreateFMul(operand(1), operand(2)));
    case Op::mad:
    case Op::fma:
      if (turns) return directed("fma", {operand(1), operand(2), operand(3)});
      return give(b_.CreateIntrinsic(Intrinsic::fma, {operand(1)->getType()}, {operand(1), operand(2), operand(3)}));
    case Op::div: {
      if (turns) return directed("div", {operand(1), operand(2)});
      if (i.has("approx")) return give(nvvm(fast ? "div.approx.ftz.f" : "div.approx.f", {operand(1), operand(2)}));
      Value* quotient = b_.CreateFDiv(operand(1), operand(2));
      if (auto* made = dyn_cast<llvm::Instruction>(quotient); made && i.has("full"))
        made->setMetadata(LLVMContext::MD_fpmath, MDBuilder(into_.getContext()).createFPMath(2.5F));
      return give(quotient);
    }
    case Op::neg:
      return give(b_.CreateFNeg(operand(1)));
    case Op::abs:
      return give(b_.CreateUnaryIntrinsic(Intrinsic::fabs, operand(1)));
    case Op::min:
    case Op::max: {
      if (i.has("xorsign") || i.operands.size() != 3) return false;
      const bool least = i.op == Op::min, nan_wins = i.has("NaN");
      const Intrinsic::ID id = nan_wins ? (least ? Intrinsic::minimum : Intrinsic::maximum)
                                        : (least ? Intrinsic::minnum : Intrinsic::maxnum);
      return give(b_.CreateBinaryIntrinsic(id, operand(1), operand(2)));
    }
    case Op::copysign:  // copysign d, a, b: the sign of a
      return give(b_.CreateBinaryIntrinsic(Intrinsic::copysign, operand(2), operand(1)));
    default:
      return !is_half(t) && t != ptx::Type::f32x2 && function_of_one(i);
  }
}

bool Lifter::function_of_one(const Instruction& i) {
  using ptx::Op;
  const bool f64 = i.type() == ptx::Type::f64;
  const char* name = i.op == Op::rcp     ? "rcp"
                     : i.op == Op::sqrt  ? "sqrt"
                     : i.op == Op::rsqrt ? "rsqrt"
                     : i.op == Op::sin   ? "sin"
                     : i.op == Op::cos   ? "cos"
                     : i.op == Op::lg2   ? "lg2"
                     : i.op == Op::ex2   ? "ex2"
                                         : nullptr;
  if (!name) return false;
  Value* x = read(i.operands.at(1), i.type());
  if (i.op == Op::rcp && i.has("approx") && !f64 && !i.has("ftz")) {
    // No intrinsic: as a division that may be approximate.
    Value* quotient = nvvm("div.approx.f", {ConstantFP::get(x->getType(), 1.0), x});
    return write(i.operands[0], quotient), true;
  }
  std::string full = std::string(name) + (i.has("approx") ? ".approx" : "." + rounding_word(i.rounding));
  if (i.has("ftz")) full += ".ftz";
  write(i.operands[0], nvvm(full + (f64 ? ".d" : ".f"), {x}));
  return true;
}

Value* Lifter::rounded_to_integer(Value* v, ptx::Rounding how) {
  using R = ptx::Rounding;
  const Intrinsic::ID id = how == R::rni || how == R::rn   ? Intrinsic::rint
                           : how == R::rmi || how == R::rm ? Intrinsic::floor
                           : how == R::rpi || how == R::rp ? Intrinsic::ceil
                                                           : Intrinsic::trunc;
  return b_.CreateUnaryIntrinsic(id, v);
}

/// cvt.TO.FROM
bool Lifter::conversion(const Instruction& i) {
  using ptx::Type;
  const Type to = i.types[0], from = i.types[1];
  const auto plain = [](Type t) { return t == Type::f16 || t == Type::bf16 || t == Type::f32 || t == Type::f64; };
  const auto give = [&](Value* v, bool is_signed = false) {
    write(i.operands.at(0), v, is_signed);
    return true;
  };
  if ((to == Type::f16x2 || to == Type::bf16x2) && from == Type::f32) {  // the first operand is the upper half
    if (i.rounding != ptx::Rounding::rn || i.operands.size() != 3) return false;
    llvm::Type* pair = value_type(to);
    Value* v = PoisonValue::get(pair);
    for (const unsigned half : {0U, 1U}) {
      Value* x = b_.CreateFPTrunc(read(i.operands[2 - half], Type::f32), pair->getScalarType());
      v = b_.CreateInsertElement(v, x, half);
    }
    if (i.has("relu")) v = b_.CreateBinaryIntrinsic(Intrinsic::maxnum, v, ConstantFP::get(pair, 0.0));
    return give(v);
  }
  const bool to_float = plain(to), from_float = plain(from);
  if ((!to_float && ptx::is_float(to)) || (!from_float && ptx::is_float(from))) return false;
  if (ptx::bits_of(to) < 8 || ptx::bits_of(from) < 8 || i.operands.size() != 2) return false;
  const bool is_e8 = name_of(to).starts_with('e') || name_of(from).starts_with('e') || name_of(to).starts_with("ue") ||
                     name_of(from).starts_with("ue");
  if (is_e8) return false;
  Value* x = read(i.operands[1], from);
  llvm::Type* wanted = value_type(to);
  if (from_float && to_float) {
    using R = ptx::Rounding;
    const bool whole = i.rounding == R::rni || i.rounding == R::rzi || i.rounding == R::rmi || i.rounding == R::rpi;
    if (whole) x = rounded_to_integer(x, i.rounding);
    if (!whole && is_directed(i.rounding) && ptx::bits_of(to) < ptx::bits_of(from)) return false;
    if (i.has("relu")) x = b_.CreateBinaryIntrinsic(Intrinsic::maxnum, x, ConstantFP::get(x->getType(), 0.0));
    if (i.has("sat")) x = clamped(x);
    if (ptx::bits_of(to) == ptx::bits_of(from) && to != from)
      x = b_.CreateFPTrunc(b_.CreateFPExt(x, b_.getFloatTy()), wanted);
    else
      x = b_.CreateFPCast(x, wanted);
    return give(x);
  }
  if (from_float) {
    if (i.rounding != ptx::Rounding::rzi && i.rounding != ptx::Rounding::rz) x = rounded_to_integer(x, i.rounding);
    const bool is_signed = ptx::is_signed(to);
    return give(is_signed ? b_.CreateFPToSI(x, wanted) : b_.CreateFPToUI(x, wanted), is_signed);
  }
  if (to_float) {
    if (is_directed(i.rounding)) return false;
    Value* number = ptx::is_signed(from) ? b_.CreateSIToFP(x, wanted) : b_.CreateUIToFP(x, wanted);
    return give(i.has("sat") ? clamped(number) : number);
  }
  if (i.has("sat")) {
    const unsigned narrow = wanted->getIntegerBitWidth(), width = x->getType()->getIntegerBitWidth();
    if (narrow < width && ptx::is_signed(to) && ptx::is_signed(from)) {
      const auto limit = [&](APInt v) { return ConstantInt::get(into_.getContext(), v.sext(width)); };
      x = b_.CreateBinaryIntrinsic(Intrinsic::smin, x, limit(APInt::getSignedMaxValue(narrow)));
      x = b_.CreateBinaryIntrinsic(Intrinsic::smax, x, limit(APInt::getSignedMinValue(narrow)));
    } else if (narrow < width && !ptx::is_signed(to)) {
      Value* limit = ConstantInt::get(into_.getContext(), APInt::getMaxValue(narrow).zext(width));
      if (ptx::is_signed(from)) x = b_.CreateBinaryIntrinsic(Intrinsic::smax, x, Constant::getNullValue(x->getType()));
      x = b_.CreateBinaryIntrinsic(Intrinsic::umin, x, limit);
    } else if (ptx::is_signed(from) && !ptx::is_signed(to)) {
      x = b_.CreateBinaryIntrinsic(Intrinsic::smax, x, Constant::getNullValue(x->getType()));
    } else if (narrow <= width) {
      return false;
    }
  }
  return give(as(x, wanted, ptx::is_signed(from)), ptx::is_signed(to));
}

}  // namespace kernelcast::frontend
