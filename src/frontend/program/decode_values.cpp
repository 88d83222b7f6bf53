#include "frontend/program/decode_internal.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/raw_ostream.h"

namespace kernelcast::frontend {

using namespace llvm;

ValueType Decoder::type_of(Type* type) const {
  if (type->isPointerTy()) return ValueType::i64;
  if (type->isHalfTy()) return ValueType::f16;
  if (type->isBFloatTy()) return ValueType::i16;  // its bits; computed with as f32
  if (type->isFloatTy()) return ValueType::f32;
  if (type->isDoubleTy()) return ValueType::f64;
  if (type->isIntegerTy()) {
    const unsigned bits = type->getIntegerBitWidth();
    if (bits == 1) return ValueType::i1;
    if (bits <= 8) return ValueType::i8;
    if (bits <= 16) return ValueType::i16;
    if (bits <= 32) return ValueType::i32;
    if (bits <= 64) return ValueType::i64;
    if (bits <= 128) return ValueType::i128;
  }
  std::string text;
  raw_string_ostream out(text);
  type->print(out);
  throw LimitError("values of the type " + text + " cannot be executed");
}

std::uint32_t Decoder::operand(Value* v, std::size_t k) {
  const std::uint32_t reg = element(v, k);
  if (!v->getType()->getScalarType()->isBFloatTy()) return reg;
  const ValueType w = ValueType::i32;
  const std::uint32_t bits =
      binary(Opcode::shl, w, convert(Opcode::zero_extend, ValueType::i16, w, reg), constant(w, 16));
  const std::uint32_t dst = fresh(ValueType::f32);
  emit(Opcode::move, w, dst, bits).to = ValueType::f32;
  return dst;
}

ValueType Decoder::computed_as(Type* type, ValueType stored) {
  return type->getScalarType()->isBFloatTy() ? ValueType::f32 : stored;
}

std::uint32_t Decoder::result(Type* type, std::uint32_t number) {
  if (!type->getScalarType()->isBFloatTy()) return number;
  const ValueType w = ValueType::i32;
  const std::uint32_t bits = fresh(w);
  emit(Opcode::move, ValueType::f32, bits, number).to = w;
  // To the nearest, ties to even.
  const std::uint32_t last = binary(Opcode::and_, w, binary(Opcode::lshr, w, bits, constant(w, 16)), constant(w, 1));
  const std::uint32_t up = binary(Opcode::add, w, bits, binary(Opcode::add, w, last, constant(w, 0x7fff)));
  const std::uint32_t nearest = binary(Opcode::lshr, w, up, constant(w, 16));
  const std::uint32_t dst = fresh(w);
  emit(Opcode::select, w, dst, binary(Opcode::funo, ValueType::f32, number, number), constant(w, 0x7fff), nearest);
  return convert(Opcode::truncate, w, ValueType::i16, dst);
}

std::vector<ValueType> Decoder::types_of(Type* type) const {
  std::vector<ValueType> out;
  auto append = [&](Type* t, std::uint64_t times) {
    const auto inner = types_of(t);
    for (std::uint64_t k = 0; k < times; ++k) out.insert(out.end(), inner.begin(), inner.end());
  };
  if (type->isVoidTy()) return out;
  if (auto* v = dyn_cast<FixedVectorType>(type)) {
    append(v->getElementType(), v->getNumElements());
  } else if (auto* a = dyn_cast<ArrayType>(type)) {
    append(a->getElementType(), a->getNumElements());
  } else if (auto* s = dyn_cast<StructType>(type)) {
    for (Type* t : s->elements()) append(t, 1);
  } else {
    out.push_back(type_of(type));
  }
  return out;
}

/// Bytes from the beginning at which the elements of types_of stand.
std::vector<std::int64_t> Decoder::places_of(Type* type, std::int64_t base) const {
  std::vector<std::int64_t> out;
  const auto append = [&](Type* t, std::int64_t at) {
    const auto inner = places_of(t, at);
    out.insert(out.end(), inner.begin(), inner.end());
  };
  if (auto* s = dyn_cast<StructType>(type)) {
    for (unsigned k = 0; k < s->getNumElements(); ++k)
      append(s->getElementType(k),
             base + static_cast<std::int64_t>(layout_.getStructLayout(s)->getElementOffset(k).getFixedValue()));
  } else if (auto* a = dyn_cast<ArrayType>(type)) {
    const auto step = static_cast<std::int64_t>(layout_.getTypeAllocSize(a->getElementType()).getFixedValue());
    for (std::uint64_t k = 0; k < a->getNumElements(); ++k)
      append(a->getElementType(), base + static_cast<std::int64_t>(k) * step);
  } else {
    for (ValueType t : types_of(type)) {
      out.push_back(base);
      base += size_of(t);
    }
  }
  return out;
}

/// Bits of an integer whose width is not that of its register; 0 for all others.
unsigned Decoder::width_of(Type* type) {
  type = type->getScalarType();
  if (!type->isIntegerTy()) return 0;
  const unsigned bits = type->getIntegerBitWidth();
  return bits == 1 || bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128 ? 0 : bits;
}

std::uint32_t Decoder::fresh(ValueType t) {
  program_.registers.push_back(t);
  return static_cast<std::uint32_t>(program_.registers.size() - 1);
}

std::uint32_t Decoder::input(ProgramInput in) {
  in.reg = fresh(in.type);
  program_.inputs.push_back(in);
  return in.reg;
}

std::uint32_t Decoder::constant(ValueType t, std::uint64_t low, std::uint64_t high) {
  auto [it, added] = constants_.try_emplace({t, low, high}, 0);
  if (added) it->second = input({ProgramInput::Kind::constant, t, 0, low, high, ""});
  return it->second;
}

SimtInstruction& Decoder::emit(Opcode op, ValueType type, std::uint32_t dst, std::uint32_t a, std::uint32_t b,
                               std::uint32_t c) {
  SimtInstruction i;
  i.op = op;
  i.type = i.to = type;
  i.dst = dst;
  i.a = a;
  i.b = b;
  i.c = c;
  i.line = line_;
  program_.code.push_back(i);
  block_of_code_.push_back(current_);
  return program_.code.back();
}

std::uint32_t Decoder::binary(Opcode op, ValueType type, std::uint32_t a, std::uint32_t b) {
  const bool predicate = (op >= Opcode::eq && op <= Opcode::smul_overflow);
  const std::uint32_t dst = fresh(predicate ? ValueType::i1 : type);
  emit(op, type, dst, a, b);
  return dst;
}

std::uint32_t Decoder::convert(Opcode op, ValueType from, ValueType to, std::uint32_t a) {
  if (from == to && op != Opcode::low_bits && op != Opcode::sign_from_bits) return a;
  const std::uint32_t dst = fresh(to);
  emit(op, from, dst, a).to = to;
  return dst;
}

std::uint32_t Decoder::math(MathFunction f, ValueType type, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t dst = fresh(type);
  emit(Opcode::math, type, dst, a, b, c).imm = static_cast<std::int64_t>(f);
  return dst;
}

void Decoder::trim(Type* type, std::uint32_t reg) {
  const unsigned bits = width_of(type);
  if (bits == 0) return;
  SimtInstruction& i = emit(Opcode::low_bits, program_.registers[reg], reg, reg);
  i.imm = bits;
}

std::uint32_t Decoder::signed_view(Value* v, std::uint32_t reg) {
  const unsigned bits = width_of(v->getType());
  if (bits == 0) return reg;
  const ValueType t = program_.registers[reg];
  const std::uint32_t dst = fresh(t);
  emit(Opcode::sign_from_bits, t, dst, reg).imm = bits;
  return dst;
}

std::uint32_t Decoder::result(Value& v) {
  const std::uint32_t reg = fresh(type_of(v.getType()));
  define(v, reg);
  return reg;
}

std::uint32_t Decoder::materialised(const Slots& s) {
  if (s.displacement == 0) return s.regs.at(0);
  return binary(Opcode::add, ValueType::i64, s.regs.at(0),
                constant(ValueType::i64, static_cast<std::uint64_t>(s.displacement)));
}

std::uint32_t Decoder::one(Value* v) { return materialised(value(v)); }

/// Constants are not remembered: what a constant expression computes stands only where it is used.
Slots Decoder::value(Value* v) {
  if (auto it = values_.find(v); it != values_.end()) return it->second;
  if (auto* c = dyn_cast<Constant>(v)) return constant_value(c);
  throw InternalError("a value is used before it is decoded");
}

Slots Decoder::constant_value(Constant* c) {
  Slots out;
  if (isa<UndefValue>(c) || isa<ConstantAggregateZero>(c) || isa<ConstantTokenNone>(c)) {  // poison is undefined, too
    for (ValueType t : types_of(c->getType())) out.regs.push_back(constant(t, 0));
    return out;
  }
  if (auto* n = dyn_cast<ConstantInt>(c)) {
    const APInt& bits = n->getValue();
    const std::uint64_t low = bits.extractBitsAsZExtValue(std::min(64U, bits.getBitWidth()), 0);
    const std::uint64_t high =
        bits.getBitWidth() > 64 ? bits.extractBitsAsZExtValue(std::min(64U, bits.getBitWidth() - 64), 64) : 0;
    out.regs.push_back(constant(type_of(c->getType()), low, high));
    return out;
  }
  if (auto* n = dyn_cast<ConstantFP>(c)) {
    out.regs.push_back(constant(type_of(c->getType()), n->getValueAPF().bitcastToAPInt().getZExtValue()));
    return out;
  }
  if (c->getType()->isPointerTy()) return pointer_constant(c);
  if (isa<ConstantAggregate>(c) || isa<ConstantDataSequential>(c)) {
    for (unsigned k = 0; Constant* part = c->getAggregateElement(k); ++k) {
      const Slots s = constant_value(part);
      out.regs.insert(out.regs.end(), s.regs.begin(), s.regs.end());
    }
    return out;
  }
  if (auto* e = dyn_cast<ConstantExpr>(c)) {
    if (e->getOpcode() == Instruction::PtrToInt) {
      const Slots p = constant_value(e->getOperand(0));
      out.regs.push_back(convert(Opcode::truncate, ValueType::i64, type_of(c->getType()), materialised(p)));
      return out;
    }
    Instruction* plain = e->getAsInstruction();  // decoded where it is used first: constants have no place of their own
    std::vector<Value*> operands(plain->op_begin(), plain->op_end());
    const SourceLine keep = line_;
    if (!arithmetic(*plain)) {
      plain->deleteValue();
      throw LimitError("a constant expression cannot be executed");
    }
    out = values_.lookup(plain);
    values_.erase(plain);
    plain->deleteValue();
    line_ = keep;
    return out;
  }
  throw LimitError("a constant of an unknown kind cannot be executed");
}

/// Globals have fixed addresses, so that every constant pointer is a number.
Slots Decoder::pointer_constant(Constant* c) {
  if (isa<ConstantPointerNull>(c)) return Slots{{constant(ValueType::i64, 0)}, 0};
  if (auto* g = dyn_cast<GlobalVariable>(c)) {
    const int buffer = model_.address(g).buffer;
    if (buffer < 0) throw LimitError("the global '" + g->getName().str() + "' cannot be executed");
    if (g->getAddressSpace() == 3) {
      const std::int64_t at = program_.shared_offsets[static_cast<std::size_t>(buffer)];
      if (at >= 0) return Slots{{constant(ValueType::i64, static_cast<std::uint64_t>(at))}, 0};
      return Slots{{constant(ValueType::i64, static_cast<std::uint64_t>(program_.shared_bytes))}, 0};
    }
    return Slots{{constant(ValueType::i64, interpreter::global_address(buffer, 0))}, 0};
  }
  auto* e = dyn_cast<ConstantExpr>(c);
  if (!e) throw LimitError("a constant pointer of an unknown kind cannot be executed");
  if (auto* g = dyn_cast<GEPOperator>(e)) {
    APInt offset(layout_.getIndexTypeSizeInBits(g->getType()), 0);
    if (!g->accumulateConstantOffset(layout_, offset)) throw LimitError("a constant address cannot be executed");
    Slots s = constant_value(cast<Constant>(g->getPointerOperand()));
    s.displacement += offset.getSExtValue();
    return s;
  }
  if (e->getOpcode() == Instruction::AddrSpaceCast) {
    const Slots s = constant_value(e->getOperand(0));
    const unsigned from = e->getOperand(0)->getType()->getPointerAddressSpace();
    const unsigned to = e->getType()->getPointerAddressSpace();
    if ((from == 3 || from == 5) && to != from)
      return Slots{{constant(ValueType::i64, 0)},
                   static_cast<std::int64_t>((from == 3 ? interpreter::shared_window : interpreter::private_window)
                                             << interpreter::window_bits) +
                       [&] {
                         for (const ProgramInput& in : program_.inputs)
                           if (in.reg == s.regs[0]) return static_cast<std::int64_t>(in.low);
                         return std::int64_t{0};
                       }() +
                       s.displacement};
    if ((to == 3 || to == 5) && to != from) {
      const std::uint32_t whole = materialised(s), offset = fresh(ValueType::i64);
      emit(Opcode::low_bits, ValueType::i64, offset, whole).imm = interpreter::window_bits;
      return Slots{{offset}, 0};
    }
    return s;
  }
  if (e->getOpcode() == Instruction::IntToPtr || e->getOpcode() == Instruction::BitCast) {
    const Slots s = constant_value(e->getOperand(0));
    return Slots{{convert(Opcode::zero_extend, program_.registers[s.regs[0]], ValueType::i64, materialised(s))}, 0};
  }
  throw LimitError("a constant address cannot be executed");
}

void Decoder::unsupported(const llvm::Instruction& i, const std::string& what) const {
  throw LimitError(what + ", at " + model_.text_of(model_.line_of(i)) + ", cannot be executed");
}

}  // namespace kernelcast::frontend
