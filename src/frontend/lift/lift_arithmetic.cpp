// Integers, bits, comparisons. PTX clamps what a shift is by, which LLVM leaves undefined.
#include <bit>

#include "frontend/lift/lifter.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

namespace kernelcast::frontend {

using namespace llvm;

bool Lifter::arithmetic(const Instruction& i) {
  if (i.op == ptx::Op::cvt) return conversion(i);
  return (ptx::is_float(i.type()) ? floating(i) : integer_arithmetic(i)) || bits(i) || comparison(i);
}

bool Lifter::multiply(const Instruction& i) {
  const ptx::Type t = i.type();
  const bool is_signed = ptx::is_signed(t);
  Value *x = read(i.operands[0 + 1], t), *y = read(i.operands[2], t);
  const unsigned width = x->getType()->getIntegerBitWidth();
  const bool of_24_bits = i.op == ptx::Op::mul24 || i.op == ptx::Op::mad24;
  if (of_24_bits) {
    const auto low = [&](Value* v) {
      v = b_.CreateShl(v, 8);
      return is_signed ? b_.CreateAShr(v, 8) : b_.CreateLShr(v, 8);
    };
    x = low(x);
    y = low(y);
  }
  Value* product = nullptr;
  ptx::Type of_sum = t;
  if (i.half == ptx::Half::lo) {
    product = b_.CreateMul(x, y);
  } else {
    Type* wide = b_.getIntNTy(2 * width);
    const auto widened = [&](Value* v) { return is_signed ? b_.CreateSExt(v, wide) : b_.CreateZExt(v, wide); };
    product = is_signed ? b_.CreateNSWMul(widened(x), widened(y)) : b_.CreateNUWMul(widened(x), widened(y));
    if (i.half == ptx::Half::hi)
      product = b_.CreateTrunc(b_.CreateLShr(product, of_24_bits ? 16 : width), x->getType());
    if (i.half == ptx::Half::wide) of_sum = width == 32 ? ptx::Type::b64 : ptx::Type::b32;
  }
  if (i.operands.size() > 3) {
    if (i.has("sat") || i.has("cc")) return false;
    product = b_.CreateAdd(product, read(i.operands[3], of_sum));
  }
  write(i.operands[0], product, is_signed);
  return true;
}

bool Lifter::carry(const Instruction& i) {
  using ptx::Op;
  const ptx::Type t = i.type();
  if (!carry_) carry_ = new AllocaInst(b_.getInt1Ty(), 0, "", entry_->getFirstInsertionPt());
  const bool in = i.op == Op::addc || i.op == Op::subc || i.op == Op::madc, out = i.has("cc");
  Value *x = read(i.operands[1], t), *y = read(i.operands[2], t);
  const bool subtracts = i.op == Op::sub || i.op == Op::subc;
  if (i.op == Op::mad || i.op == Op::madc) {
    if (i.half == ptx::Half::wide || i.operands.size() < 4) return false;
    const unsigned width = x->getType()->getIntegerBitWidth();
    Type* wide = b_.getIntNTy(2 * width);
    const bool is_signed = ptx::is_signed(t);
    const auto widened = [&](Value* v) { return is_signed ? b_.CreateSExt(v, wide) : b_.CreateZExt(v, wide); };
    Value* product = b_.CreateMul(widened(x), widened(y));
    if (i.half == ptx::Half::hi) product = b_.CreateLShr(product, width);
    x = b_.CreateTrunc(product, x->getType());
    y = read(i.operands[3], t);
  }
  const Intrinsic::ID id = subtracts ? Intrinsic::usub_with_overflow : Intrinsic::uadd_with_overflow;
  Value* first = b_.CreateIntrinsic(id, {x->getType()}, {x, y});
  Value* sum = b_.CreateExtractValue(first, 0);
  Value* over = b_.CreateExtractValue(first, 1);
  if (in) {
    Value* carried = b_.CreateZExt(b_.CreateLoad(b_.getInt1Ty(), carry_), x->getType());
    Value* second = b_.CreateIntrinsic(id, {x->getType()}, {sum, carried});
    sum = b_.CreateExtractValue(second, 0);
    over = b_.CreateOr(over, b_.CreateExtractValue(second, 1));
  }
  write(i.operands[0], sum);
  if (out) b_.CreateStore(over, carry_);
  return true;
}

bool Lifter::integer_arithmetic(const Instruction& i) {
  using ptx::Op;
  const ptx::Type t = i.type();
  const bool is_signed = ptx::is_signed(t);
  const auto x = [&] { return read(i.operands.at(1), t); };
  const auto y = [&] { return read(i.operands.at(2), t); };
  const auto give = [&](Value* v) {
    write(i.operands.at(0), v, is_signed);
    return true;
  };
  const auto two = [&](Intrinsic::ID id) { return give(b_.CreateBinaryIntrinsic(id, x(), y())); };
  const bool packed = t == ptx::Type::u16x2 || t == ptx::Type::s16x2;
  if (packed || ptx::bits_of(t) == 0) return false;
  switch (i.op) {
    case Op::addc:
    case Op::subc:
    case Op::madc:
      return carry(i);
    case Op::add:
      if (i.has("cc")) return carry(i);
      if (i.has("sat")) return two(Intrinsic::sadd_sat);
      return give(b_.CreateAdd(x(), y()));
    case Op::sub:
      if (i.has("cc")) return carry(i);
      if (i.has("sat")) return two(Intrinsic::ssub_sat);
      return give(b_.CreateSub(x(), y()));
    case Op::mad:
      if (i.has("cc")) return carry(i);
      [[fallthrough]];
    case Op::mul:
    case Op::mul24:
    case Op::mad24:
      return multiply(i);
    case Op::sad: {
      Value* a = x();
      Value* c = y();
      Value* larger = b_.CreateBinaryIntrinsic(is_signed ? Intrinsic::smax : Intrinsic::umax, a, c);
      Value* smaller = b_.CreateBinaryIntrinsic(is_signed ? Intrinsic::smin : Intrinsic::umin, a, c);
      return give(b_.CreateAdd(b_.CreateSub(larger, smaller), read(i.operands.at(3), t)));
    }
    case Op::div:
      return give(is_signed ? b_.CreateSDiv(x(), y()) : b_.CreateUDiv(x(), y()));
    case Op::rem:
      return give(is_signed ? b_.CreateSRem(x(), y()) : b_.CreateURem(x(), y()));
    case Op::abs:
      return give(b_.CreateIntrinsic(Intrinsic::abs, {x()->getType()}, {x(), b_.getFalse()}));
    case Op::neg:
      return give(b_.CreateNeg(x()));
    case Op::min:
      return !i.has("relu") && two(is_signed ? Intrinsic::smin : Intrinsic::umin);
    case Op::max:
      return !i.has("relu") && two(is_signed ? Intrinsic::smax : Intrinsic::umax);
    case Op::popc:
      return give(b_.CreateUnaryIntrinsic(Intrinsic::ctpop, x()));
    case Op::clz:
      return give(b_.CreateIntrinsic(Intrinsic::ctlz, {x()->getType()}, {x(), b_.getFalse()}));
    case Op::brev:
      return give(b_.CreateUnaryIntrinsic(Intrinsic::bitreverse, x()));
    case Op::bfind: {
      Value* v = x();
      Type* type = v->getType();
      const unsigned width = type->getIntegerBitWidth();
      if (is_signed) v = b_.CreateXor(v, b_.CreateAShr(v, width - 1));
      Value* zeros = b_.CreateIntrinsic(Intrinsic::ctlz, {type}, {v, b_.getFalse()});
      Value* none = Constant::getAllOnesValue(type);
      Value* found = i.has("shiftamt") ? zeros : b_.CreateSub(ConstantInt::get(type, width - 1), zeros);
      return give(b_.CreateSelect(b_.CreateICmpEQ(v, Constant::getNullValue(type)), none, found));
    }
    default:
      return false;
  }
}

/// By as much as PTX says: from the width on nothing is left, but the sign.
Value* Lifter::shifted(const Instruction& i, Value* v, Value* by) {
  const bool left = i.op == ptx::Op::shl, sign = ptx::is_signed(i.type());
  Type* type = v->getType();
  const unsigned width = type->getIntegerBitWidth();
  Value* limit = ConstantInt::get(by->getType(), width - 1);
  const KnownBits known = computeKnownBits(by, into_.getParent()->getDataLayout());
  const bool within = known.getMaxValue().ult(width);
  if (!within && !left && sign) by = b_.CreateBinaryIntrinsic(Intrinsic::umin, by, limit);
  Value* amount = b_.CreateZExtOrTrunc(by, type);
  Value* result = left ? b_.CreateShl(v, amount) : sign ? b_.CreateAShr(v, amount) : b_.CreateLShr(v, amount);
  if (within || (!left && sign)) return result;
  return b_.CreateSelect(b_.CreateICmpUGT(by, limit), Constant::getNullValue(type), result);
}

/// A table of three inputs as at most two operations; others stay one opaque operation.
bool Lifter::lookup3(const Instruction& i) {
  if (i.operands.size() != 5 || i.operands[4].kind != ptx::OperandKind::integer || i.has("BoolOp")) return false;
  const auto wanted = static_cast<std::uint8_t>(i.operands[4].bits);
  constexpr std::uint8_t tables[3] = {0xf0, 0xcc, 0xaa};
  const auto combined = [](int op, std::uint8_t p, std::uint8_t q) {
    return static_cast<std::uint8_t>(op == 0 ? p & q : op == 1 ? p | q : p ^ q);
  };
  const auto make = [&](int op, Value* p, Value* q) {
    return op == 0 ? b_.CreateAnd(p, q) : op == 1 ? b_.CreateOr(p, q) : b_.CreateXor(p, q);
  };
  const auto input = [&](int n) { return read(i.operands[static_cast<std::size_t>(n) + 1], ptx::Type::b32); };
  const auto inverted = [&](Value* v, bool is) { return is ? b_.CreateNot(v) : v; };
  const auto flip = [](std::uint8_t t, bool is) { return static_cast<std::uint8_t>(is ? ~t : t); };
  if (wanted == 0 || wanted == 0xff) return write(i.operands[0], b_.getInt32(wanted ? ~0U : 0U)), true;
  for (int n = 0; n < 3; ++n)
    for (const bool no : {false, true})
      if (flip(tables[n], no) == wanted) return write(i.operands[0], inverted(input(n), no)), true;
  // op2(op1(x, y), z), with inputs and the inner result inverted where that helps
  for (int z = 0; z < 3; ++z) {
    const int x = (z + 1) % 3, y = (z + 2) % 3;
    for (int how = 0; how < 9 * 32; ++how) {
      const int op1 = how % 3, op2 = how / 3 % 3, nots = how / 9;
      const bool nx = nots & 1, ny = nots & 2, nz = nots & 4, inner_no = nots & 8, last_no = nots & 16;
      const std::uint8_t inner = flip(combined(op1, flip(tables[x], nx), flip(tables[y], ny)), inner_no);
      const bool alone = flip(inner, last_no) == wanted;
      if (!alone && flip(combined(op2, inner, flip(tables[z], nz)), last_no) != wanted) continue;
      Value* v = inverted(make(op1, inverted(input(x), nx), inverted(input(y), ny)), inner_no);
      if (!alone) v = make(op2, v, inverted(input(z), nz));
      write(i.operands[0], inverted(v, last_no));
      return true;
    }
  }
  return false;
}

bool Lifter::bits(const Instruction& i) {
  using ptx::Op;
  const ptx::Type t = i.type();
  const auto x = [&] { return read(i.operands.at(1), t); };
  const auto y = [&] { return read(i.operands.at(2), t); };
  const auto give = [&](Value* v) {
    write(i.operands.at(0), v, ptx::is_signed(t));
    return true;
  };
  switch (i.op) {
    case Op::and_:
      return give(b_.CreateAnd(x(), y()));
    case Op::or_:
      return give(b_.CreateOr(x(), y()));
    case Op::xor_:
      return give(b_.CreateXor(x(), y()));
    case Op::not_:
      return give(b_.CreateNot(x()));
    case Op::cnot:
      return give(b_.CreateZExt(b_.CreateICmpEQ(x(), Constant::getNullValue(x()->getType())), x()->getType()));
    case Op::lop3:
      return lookup3(i);
    case Op::shl:
    case Op::shr:
      return give(shifted(i, x(), read(i.operands.at(2), ptx::Type::u32)));
    case Op::shf: {
      Value *low = x(), *high = y(), *by = read(i.operands.at(3), ptx::Type::u32);
      const bool left = i.has("l");
      Value* turned = b_.CreateIntrinsic(left ? Intrinsic::fshl : Intrinsic::fshr, {b_.getInt32Ty()}, {high, low, by});
      const auto* amount = dyn_cast<ConstantInt>(by);
      if (i.has("clamp") && !(amount && amount->getValue().ult(32)))
        turned = b_.CreateSelect(b_.CreateICmpUGE(by, b_.getInt32(32)), left ? low : high, turned);
      return give(turned);
    }
    case Op::prmt:
      if (i.modifiers.size() != 1) return false;  // f4e and its kin
      return give(nvvm("prmt", {x(), y(), read(i.operands.at(3), ptx::Type::b32)}));
    case Op::bfe: {
      Value* v = x();
      const auto* at = dyn_cast<ConstantInt>(read(i.operands.at(2), ptx::Type::u32));
      const auto* length = dyn_cast<ConstantInt>(read(i.operands.at(3), ptx::Type::u32));
      const unsigned width = v->getType()->getIntegerBitWidth();
      if (!at || !length) return false;
      const std::uint64_t from = at->getZExtValue() & 0xff, n = length->getZExtValue() & 0xff;
      if (n == 0 || from + n > width) return false;
      v = b_.CreateShl(v, width - from - n);
      return give(ptx::is_signed(t) ? b_.CreateAShr(v, width - n) : b_.CreateLShr(v, width - n));
    }
    case Op::bfi: {  // bfi d, a, b, at, length: a's low bits into b
      const auto* at = dyn_cast<ConstantInt>(read(i.operands.at(3), ptx::Type::u32));
      const auto* length = dyn_cast<ConstantInt>(read(i.operands.at(4), ptx::Type::u32));
      Value *field = x(), *into = y();
      const unsigned width = field->getType()->getIntegerBitWidth();
      if (!at || !length) return false;
      const std::uint64_t from = at->getZExtValue() & 0xff, n = length->getZExtValue() & 0xff;
      if (n == 0 || from + n > width) return false;
      const APInt mask = APInt::getBitsSet(width, static_cast<unsigned>(from), static_cast<unsigned>(from + n));
      Value* moved = b_.CreateAnd(b_.CreateShl(field, from), ConstantInt::get(into_.getContext(), mask));
      return give(b_.CreateOr(moved, b_.CreateAnd(into, ConstantInt::get(into_.getContext(), ~mask))));
    }
    default:
      return false;
  }
}

Value* Lifter::compare(ptx::Comparison c, ptx::Type t, Value* x, Value* y) {
  using C = ptx::Comparison;
  using P = CmpInst::Predicate;
  if (x->getType()->isFPOrFPVectorTy()) {
    static const std::pair<C, P> table[] = {{C::eq, P::FCMP_OEQ},  {C::ne, P::FCMP_ONE},  {C::lt, P::FCMP_OLT},
                                            {C::le, P::FCMP_OLE},  {C::gt, P::FCMP_OGT},  {C::ge, P::FCMP_OGE},
                                            {C::equ, P::FCMP_UEQ}, {C::neu, P::FCMP_UNE}, {C::ltu, P::FCMP_ULT},
                                            {C::leu, P::FCMP_ULE}, {C::gtu, P::FCMP_UGT}, {C::geu, P::FCMP_UGE},
                                            {C::num, P::FCMP_ORD}, {C::nan, P::FCMP_UNO}};
    for (const auto& [word, predicate] : table)
      if (word == c) return b_.CreateFCmp(predicate, x, y);
    return nullptr;
  }
  const bool is_signed = ptx::is_signed(t);
  switch (c) {
    case C::eq:
      return b_.CreateICmpEQ(x, y);
    case C::ne:
      return b_.CreateICmpNE(x, y);
    case C::lt:
      return is_signed ? b_.CreateICmpSLT(x, y) : b_.CreateICmpULT(x, y);
    case C::le:
      return is_signed ? b_.CreateICmpSLE(x, y) : b_.CreateICmpULE(x, y);
    case C::gt:
      return is_signed ? b_.CreateICmpSGT(x, y) : b_.CreateICmpUGT(x, y);
    case C::ge:
      return is_signed ? b_.CreateICmpSGE(x, y) : b_.CreateICmpUGE(x, y);
    case C::lo:
      return b_.CreateICmpULT(x, y);
    case C::ls:
      return b_.CreateICmpULE(x, y);
    case C::hi:
      return b_.CreateICmpUGT(x, y);
    case C::hs:
      return b_.CreateICmpUGE(x, y);
    default:
      return nullptr;
  }
}

bool Lifter::comparison(const Instruction& i) {
  using ptx::Op;
  const ptx::Type t = i.type();
  if (i.op == Op::selp) {
    Value* chosen =
        b_.CreateSelect(read(i.operands.at(3), ptx::Type::pred), read(i.operands[1], t), read(i.operands[2], t));
    write(i.operands[0], chosen, ptx::is_signed(t));
    return true;
  }
  if (i.op == Op::slct) {
    const ptx::Type by = i.types[1];
    Value* c = read(i.operands.at(3), by);
    Value* zero = Constant::getNullValue(c->getType());
    Value* positive = c->getType()->isFloatTy() ? b_.CreateFCmpOGE(c, zero) : b_.CreateICmpSGE(c, zero);
    write(i.operands[0], b_.CreateSelect(positive, read(i.operands[1], t), read(i.operands[2], t)));
    return true;
  }
  const bool to_number = i.op == Op::set;
  if (i.op != Op::setp && !to_number) return false;
  const ptx::Type of = to_number ? i.types[1] : t;
  Value* x = read(i.operands.at(1), of);
  Value* result = compare(i.comparison, of, x, read(i.operands.at(2), of));
  if (!result || result->getType()->isVectorTy()) return false;
  Value* opposite = nullptr;
  if (i.operands[0].kind == ptx::OperandKind::pair) opposite = b_.CreateNot(result);
  if (i.combine != ptx::Combine::none) {
    Value* with = read(i.operands.at(3), ptx::Type::pred);
    const auto joined = [&](Value* v) {
      return i.combine == ptx::Combine::and_  ? b_.CreateAnd(v, with)
             : i.combine == ptx::Combine::or_ ? b_.CreateOr(v, with)
                                              : b_.CreateXor(v, with);
    };
    result = joined(result);
    if (opposite) opposite = joined(opposite);
  }
  if (to_number) {
    llvm::Type* type = value_type(t);  // 1.0, or all bits
    write(i.operands[0], type->isFloatingPointTy() ? b_.CreateUIToFP(result, type) : b_.CreateSExt(result, type));
  } else if (opposite) {
    write(i.operands[0].elements.at(0), result);
    write(i.operands[0].elements.at(1), opposite);
  } else {
    write(i.operands[0], result);
  }
  return true;
}

}  // namespace kernelcast::frontend
