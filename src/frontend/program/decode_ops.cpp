// Arithmetic, comparisons, conversions and the taking apart of vectors.
#include "frontend/program/decode_internal.h"
#include "llvm/IR/Operator.h"

namespace kernelcast::frontend {

using namespace llvm;

bool Decoder::arithmetic(llvm::Instruction& i) {
  if (auto* b = dyn_cast<BinaryOperator>(&i)) {
    binary_operator(*b);
  } else if (auto* c = dyn_cast<CmpInst>(&i)) {
    comparison(*c);
  } else if (auto* x = dyn_cast<CastInst>(&i)) {
    cast_value(*x);
  } else if (auto* s = dyn_cast<SelectInst>(&i)) {
    elementwise(i, [&](ValueType t, std::size_t k) {
      const std::uint32_t dst = fresh(t);
      const std::uint32_t yes = element(s->getTrueValue(), k), no = element(s->getFalseValue(), k);
      emit(Opcode::select, t, dst, element(s->getCondition(), k), yes, no);
      return dst;
    });
  } else if (i.getOpcode() == llvm::Instruction::FNeg) {
    elementwise(i, [&](ValueType t, std::size_t k) {
      return result(i.getType(),
                    binary(Opcode::fneg, computed_as(i.getType(), t), operand(i.getOperand(0), k), no_register));
    });
  } else if (isa<FreezeInst>(i)) {
    define(i, value(i.getOperand(0)));
  } else if (isa<GEPOperator>(i)) {
    gep(cast<GEPOperator>(i), i);
  } else if (isa<ExtractElementInst>(i) || isa<InsertElementInst>(i) || isa<ShuffleVectorInst>(i) ||
             isa<ExtractValueInst>(i) || isa<InsertValueInst>(i)) {
    vector_shape(i);
  } else {
    return false;
  }
  return true;
}

void Decoder::binary_operator(BinaryOperator& i) {
  static const std::map<unsigned, Opcode> codes = {
      {llvm::Instruction::Add, Opcode::add},   {llvm::Instruction::Sub, Opcode::sub},
      {llvm::Instruction::Mul, Opcode::mul},   {llvm::Instruction::UDiv, Opcode::udiv},
      {llvm::Instruction::SDiv, Opcode::sdiv}, {llvm::Instruction::URem, Opcode::urem},
      {llvm::Instruction::SRem, Opcode::srem}, {llvm::Instruction::Shl, Opcode::shl},
      {llvm::Instruction::LShr, Opcode::lshr}, {llvm::Instruction::AShr, Opcode::ashr},
      {llvm::Instruction::And, Opcode::and_},  {llvm::Instruction::Or, Opcode::or_},
      {llvm::Instruction::Xor, Opcode::xor_},  {llvm::Instruction::FAdd, Opcode::fadd},
      {llvm::Instruction::FSub, Opcode::fsub}, {llvm::Instruction::FMul, Opcode::fmul},
      {llvm::Instruction::FDiv, Opcode::fdiv}, {llvm::Instruction::FRem, Opcode::frem}};
  const Opcode op = codes.at(i.getOpcode());
  const bool needed = (op == Opcode::shl || op == Opcode::lshr || op == Opcode::ashr) && needed_where_computed(i);
  const bool is_signed = op == Opcode::sdiv || op == Opcode::srem || op == Opcode::ashr;
  elementwise(i, [&](ValueType t, std::size_t k) {
    std::uint32_t a = operand(i.getOperand(0), k), b = operand(i.getOperand(1), k);
    if (is_signed) a = signed_view(i.getOperand(0), a);
    if (is_signed && op != Opcode::ashr) b = signed_view(i.getOperand(1), b);
    const std::uint32_t dst = binary(op, computed_as(i.getType(), t), a, b);
    program_.code.back().checked = needed;
    trim(i.getType(), dst);
    return result(i.getType(), dst);
  });
}

void Decoder::comparison(CmpInst& i) {
  static const std::map<CmpInst::Predicate, Opcode> codes = {
      {CmpInst::ICMP_EQ, Opcode::eq},    {CmpInst::ICMP_NE, Opcode::ne},    {CmpInst::ICMP_ULT, Opcode::ult},
      {CmpInst::ICMP_ULE, Opcode::ule},  {CmpInst::ICMP_UGT, Opcode::ugt},  {CmpInst::ICMP_UGE, Opcode::uge},
      {CmpInst::ICMP_SLT, Opcode::slt},  {CmpInst::ICMP_SLE, Opcode::sle},  {CmpInst::ICMP_SGT, Opcode::sgt},
      {CmpInst::ICMP_SGE, Opcode::sge},  {CmpInst::FCMP_OEQ, Opcode::foeq}, {CmpInst::FCMP_ONE, Opcode::fone},
      {CmpInst::FCMP_OLT, Opcode::folt}, {CmpInst::FCMP_OLE, Opcode::fole}, {CmpInst::FCMP_OGT, Opcode::fogt},
      {CmpInst::FCMP_OGE, Opcode::foge}, {CmpInst::FCMP_ORD, Opcode::ford}, {CmpInst::FCMP_UEQ, Opcode::fueq},
      {CmpInst::FCMP_UNE, Opcode::fune}, {CmpInst::FCMP_ULT, Opcode::fult}, {CmpInst::FCMP_ULE, Opcode::fule},
      {CmpInst::FCMP_UGT, Opcode::fugt}, {CmpInst::FCMP_UGE, Opcode::fuge}, {CmpInst::FCMP_UNO, Opcode::funo}};
  elementwise(i, [&](ValueType, std::size_t k) {
    if (i.getPredicate() == CmpInst::FCMP_TRUE || i.getPredicate() == CmpInst::FCMP_FALSE)
      return constant(ValueType::i1, i.getPredicate() == CmpInst::FCMP_TRUE ? 1 : 0);
    std::uint32_t a = operand(i.getOperand(0), k), b = operand(i.getOperand(1), k);
    if (i.isSigned()) {
      a = signed_view(i.getOperand(0), a);
      b = signed_view(i.getOperand(1), b);
    }
    return binary(codes.at(i.getPredicate()), program_.registers[a], a, b);
  });
}

void Decoder::cast_value(CastInst& i) {
  Value* from = i.getOperand(0);
  if (i.getOpcode() == llvm::Instruction::AddrSpaceCast) {
    const unsigned source = i.getSrcTy()->getPointerAddressSpace(), target = i.getDestTy()->getPointerAddressSpace();
    Slots s = value(from);
    if (source == target || s.regs.size() != 1) return define(i, s);
    const auto window = [](unsigned space) {
      return space == 3   ? interpreter::shared_window << interpreter::window_bits
             : space == 5 ? interpreter::private_window << interpreter::window_bits
                          : 0;
    };
    if (window(source) != 0) {
      s.displacement += static_cast<std::int64_t>(window(source));
    } else if (window(target) != 0) {
      const std::uint32_t whole = materialised(s);
      s = Slots{{fresh(ValueType::i64)}, 0};
      emit(Opcode::low_bits, ValueType::i64, s.regs[0], whole).imm = interpreter::window_bits;
    }
    return define(i, s);
  }
  if (i.getOpcode() == llvm::Instruction::BitCast) {
    const auto in = types_of(i.getSrcTy()), out = types_of(i.getDestTy());
    if (in.size() == out.size()) {
      if (i.getSrcTy()->isPointerTy()) return define(i, value(from));
      return elementwise(i, [&](ValueType t, std::size_t k) {
        const std::uint32_t a = element(from, k);
        const std::uint32_t dst = fresh(t);
        emit(Opcode::move, in[k], dst, a).to = t;
        return dst;
      });
    }
    // Through an integer as wide as the wider of both kinds of element.
    const bool joins = in.size() > out.size();
    const std::size_t ratio = joins ? in.size() / out.size() : out.size() / in.size();
    const ValueType narrow = joins ? in[0] : out[0], wide = joins ? out[0] : in[0];
    const auto bits_type = [](ValueType t) {
      const int bytes = size_of(t);
      return bytes == 1   ? (t == ValueType::i1 ? ValueType::i1 : ValueType::i8)
             : bytes == 2 ? ValueType::i16
             : bytes == 4 ? ValueType::i32
             : bytes == 8 ? ValueType::i64
                          : ValueType::i128;
    };
    const ValueType n = bits_type(narrow), w = bits_type(wide);
    const unsigned step = n == ValueType::i1 ? 1U : static_cast<unsigned>(size_of(n)) * 8;
    auto reinterpret = [&](std::uint32_t a, ValueType f, ValueType t) {
      if (f == t) return a;
      const std::uint32_t dst = fresh(t);
      emit(Opcode::move, f, dst, a).to = t;
      return dst;
    };
    Slots result;
    for (std::size_t k = 0; k < std::min(in.size(), out.size()); ++k) {
      if (joins) {
        std::uint32_t sum = no_register;
        for (std::size_t p = 0; p < ratio; ++p) {
          std::uint32_t part = convert(Opcode::zero_extend, n, w, reinterpret(element(from, k * ratio + p), narrow, n));
          if (p > 0) part = binary(Opcode::shl, w, part, constant(w, p * step));
          sum = sum == no_register ? part : binary(Opcode::or_, w, sum, part);
        }
        result.regs.push_back(reinterpret(sum, w, wide));
      } else {
        const std::uint32_t whole = reinterpret(element(from, k), wide, w);
        for (std::size_t p = 0; p < ratio; ++p) {
          std::uint32_t part = p == 0 ? whole : binary(Opcode::lshr, w, whole, constant(w, p * step));
          part = convert(Opcode::truncate, w, n, part);
          result.regs.push_back(reinterpret(part, n, narrow));
        }
      }
    }
    return define(i, result);
  }
  static const std::map<unsigned, Opcode> codes = {
      {llvm::Instruction::Trunc, Opcode::truncate},         {llvm::Instruction::ZExt, Opcode::zero_extend},
      {llvm::Instruction::SExt, Opcode::sign_extend},       {llvm::Instruction::FPTrunc, Opcode::float_to_float},
      {llvm::Instruction::FPExt, Opcode::float_to_float},   {llvm::Instruction::FPToUI, Opcode::float_to_unsigned},
      {llvm::Instruction::FPToSI, Opcode::float_to_signed}, {llvm::Instruction::UIToFP, Opcode::unsigned_to_float},
      {llvm::Instruction::SIToFP, Opcode::signed_to_float}, {llvm::Instruction::PtrToInt, Opcode::truncate},
      {llvm::Instruction::IntToPtr, Opcode::zero_extend}};
  const Opcode op = codes.at(i.getOpcode());
  elementwise(i, [&](ValueType stored, std::size_t k) {
    const ValueType t = computed_as(i.getDestTy(), stored);
    std::uint32_t a = operand(from, k);
    if (op == Opcode::signed_to_float && program_.registers[a] == ValueType::i1)  // true is -1
      a = convert(Opcode::sign_extend, ValueType::i1, ValueType::i32, a);
    const ValueType f = program_.registers[a];
    if (op == Opcode::sign_extend || op == Opcode::signed_to_float) a = signed_view(from, a);
    if (op == Opcode::sign_extend && f == ValueType::i1 && t == ValueType::i1) return a;
    std::uint32_t dst = a;
    const bool grows_odd = width_of(i.getDestTy()) != 0;
    if (f != t || grows_odd) {
      dst = fresh(t);
      emit(f == t ? Opcode::move : op, f, dst, a).to = t;
    }
    if (grows_odd) trim(i.getDestTy(), dst);
    return result(i.getDestTy(), dst);
  });
}

void Decoder::vector_shape(llvm::Instruction& i) {
  if (auto* e = dyn_cast<ExtractElementInst>(&i)) {
    const Slots s = value(e->getVectorOperand());
    if (auto* n = dyn_cast<ConstantInt>(e->getIndexOperand()))
      return define(i, s.regs.at(std::min<std::size_t>(n->getZExtValue(), s.regs.size() - 1)));
    const std::uint32_t index = one(e->getIndexOperand());
    const ValueType t = type_of(i.getType());
    std::uint32_t found = s.regs[0];
    for (std::size_t k = 1; k < s.regs.size(); ++k) {
      const std::uint32_t here =
          binary(Opcode::eq, program_.registers[index], index, constant(program_.registers[index], k));
      const std::uint32_t dst = fresh(t);
      emit(Opcode::select, t, dst, here, s.regs[k], found);
      found = dst;
    }
    return define(i, found);
  }
  if (auto* n = dyn_cast<InsertElementInst>(&i)) {
    Slots s = value(n->getOperand(0));
    const std::uint32_t item = one(n->getOperand(1));
    if (auto* at = dyn_cast<ConstantInt>(n->getOperand(2))) {
      s.regs.at(std::min<std::size_t>(at->getZExtValue(), s.regs.size() - 1)) = item;
      return define(i, s);
    }
    const std::uint32_t index = one(n->getOperand(2));
    const ValueType t = program_.registers[item];
    for (std::size_t k = 0; k < s.regs.size(); ++k) {
      const std::uint32_t here =
          binary(Opcode::eq, program_.registers[index], index, constant(program_.registers[index], k));
      const std::uint32_t dst = fresh(t);
      emit(Opcode::select, t, dst, here, item, s.regs[k]);
      s.regs[k] = dst;
    }
    return define(i, s);
  }
  if (auto* s = dyn_cast<ShuffleVectorInst>(&i)) {
    const Slots a = value(s->getOperand(0)), b = value(s->getOperand(1));
    Slots out;
    for (int from : s->getShuffleMask()) {
      const auto k = static_cast<std::size_t>(std::max(from, 0));
      out.regs.push_back(k < a.regs.size() ? a.regs[k] : b.regs.at(k - a.regs.size()));
    }
    return define(i, out);
  }
  // Where a member of a structure starts in the flat list.
  auto place = [&](Type* type, ArrayRef<unsigned> path) {
    std::size_t at = 0;
    for (unsigned n : path) {
      for (unsigned k = 0; k < n; ++k)
        at += types_of(isa<StructType>(type) ? type->getStructElementType(k) : type->getArrayElementType()).size();
      type = isa<StructType>(type) ? type->getStructElementType(n) : type->getArrayElementType();
    }
    return std::make_pair(at, types_of(type).size());
  };
  if (auto* e = dyn_cast<ExtractValueInst>(&i)) {
    const Slots s = value(e->getAggregateOperand());
    const auto [at, n] = place(e->getAggregateOperand()->getType(), e->getIndices());
    Slots out;
    for (std::size_t k = 0; k < n; ++k) out.regs.push_back(s.regs.at(at + k));
    return define(i, out);
  }
  auto* n = llvm::cast<InsertValueInst>(&i);
  Slots s = value(n->getAggregateOperand());
  Slots item = value(n->getInsertedValueOperand());
  if (item.displacement != 0) item = Slots{{materialised(item)}, 0};
  const auto [at, count] = place(n->getType(), n->getIndices());
  for (std::size_t k = 0; k < count; ++k) s.regs.at(at + k) = item.regs.at(k);
  define(i, s);
}

}  // namespace kernelcast::frontend
