// Instructions of PTX on floating point of 16 bits and less that are calls here: packed comparisons, arithmetic that
// saturates, conversions (PTX ISA: cvt, set, add, mul, fma, tanh). Halves are computed with as f32, whose results are
// rounded once more: exact for sums and products (24 bits are more than twice 11 and two).
#include "frontend/ir/ptx_calls.h"
#include "frontend/program/decode_internal.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

/// A format of at most eight bits.
struct SmallFloat {
  int mantissa, bias, sign;          // sign: its bit
  std::uint64_t most, not_a_number;  // without the sign
  bool keeps_sign;                   // of NaN
};
std::optional<SmallFloat> small_float(ptx::Type t) {
  switch (t) {
    case ptx::Type::e4m3x2:
      return SmallFloat{3, 7, 7, 0x7e, 0x7f, true};
    case ptx::Type::e5m2x2:
      return SmallFloat{2, 15, 7, 0x7b, 0x7f, true};
    case ptx::Type::e2m3x2:
      return SmallFloat{3, 1, 5, 0x1f, 0x1f, false};
    case ptx::Type::e3m2x2:
      return SmallFloat{2, 3, 5, 0x1f, 0x1f, false};
    case ptx::Type::e2m1x2:
      return SmallFloat{1, 1, 3, 0x7, 0x7, false};
    default:
      return std::nullopt;
  }
}
unsigned lane_bits(ptx::Type t) { return t == ptx::Type::e2m1x2 ? 4 : 8; }

ptx::Type of_one(ptx::Type t) {
  return t == ptx::Type::f16x2 ? ptx::Type::f16 : t == ptx::Type::bf16x2 ? ptx::Type::bf16 : t;
}
bool is_pair(ptx::Type t) { return t == ptx::Type::f16x2 || t == ptx::Type::bf16x2; }
bool is_narrow(ptx::Type t) { return of_one(t) == ptx::Type::f16 || of_one(t) == ptx::Type::bf16; }

std::optional<Opcode> comparison_opcode(ptx::Comparison c) {
  using C = ptx::Comparison;
  switch (c) {
    case C::eq:
      return Opcode::foeq;
    case C::ne:
      return Opcode::fone;
    case C::lt:
      return Opcode::folt;
    case C::le:
      return Opcode::fole;
    case C::gt:
      return Opcode::fogt;
    case C::ge:
      return Opcode::foge;
    case C::equ:
      return Opcode::fueq;
    case C::neu:
      return Opcode::fune;
    case C::ltu:
      return Opcode::fult;
    case C::leu:
      return Opcode::fule;
    case C::gtu:
      return Opcode::fugt;
    case C::geu:
      return Opcode::fuge;
    case C::num:
      return Opcode::ford;
    case C::nan:
      return Opcode::funo;
    default:
      return std::nullopt;
  }
}

}  // namespace

/// The same bits as another type.
std::uint32_t Decoder::moved(std::uint32_t reg, ValueType to) {
  if (program_.registers[reg] == to) return reg;
  const std::uint32_t dst = fresh(to);
  emit(Opcode::move, program_.registers[reg], dst, reg).to = to;
  return dst;
}

/// The bits of a register of at most 32 bits, zeros above.
std::uint32_t Decoder::word_of(std::uint32_t reg) {
  if (program_.registers[reg] == ValueType::f16) reg = moved(reg, ValueType::i16);
  if (program_.registers[reg] == ValueType::f32) reg = moved(reg, ValueType::i32);
  const ValueType has = program_.registers[reg];
  if (has == ValueType::i32) return reg;
  return convert(size_of(has) > 4 ? Opcode::truncate : Opcode::zero_extend, has, ValueType::i32, reg);
}

/// Lane 0 or 1 of `bits` as f32 or f64.
std::uint32_t Decoder::narrow_value(std::uint32_t bits, unsigned lane, ptx::Type t, ValueType as) {
  const std::uint32_t f32 = matrix_element(bits, static_cast<int>(lane), of_one(t));
  return as == ValueType::f32 ? f32 : convert(Opcode::float_to_float, ValueType::f32, as, f32);
}

/// A number as f16 or bf16, to the nearest, in the low half of a word.
std::uint32_t Decoder::narrow_bits(std::uint32_t number, ptx::Type t) {
  const ValueType has = program_.registers[number];
  if (of_one(t) == ptx::Type::f16)
    return word_of(has == ValueType::f16 ? number : convert(Opcode::float_to_float, has, ValueType::f16, number));
  if (has == ValueType::f64) number = convert(Opcode::float_to_float, has, ValueType::f32, number);
  return word_of(result(llvm::Type::getBFloatTy(kernel_.getContext()), number));
}

/// f64 as f16 or bf16 by rz, rm or rp: the nearest, or its neighbour where that lies beyond.
std::uint32_t Decoder::rounded_toward(std::uint32_t number, ptx::Type t, ptx::Rounding how) {
  const ValueType w = ValueType::i32, b = ValueType::i1;
  const std::uint32_t bits = narrow_bits(number, t), near = narrow_value(bits, 0, t, ValueType::f64);
  const std::uint32_t negative = binary(Opcode::ne, w, binary(Opcode::lshr, w, bits, constant(w, 15)), constant(w, 0));
  const std::uint32_t positive = binary(Opcode::xor_, b, negative, constant(b, 1));
  const std::uint32_t above = binary(Opcode::fogt, ValueType::f64, near, number);
  const std::uint32_t below = binary(Opcode::folt, ValueType::f64, near, number);
  const std::uint32_t never = constant(b, 0);
  const bool up = how == ptx::Rounding::rp, down = how == ptx::Rounding::rm;
  const std::uint32_t less = down ? above : up ? never : binary(Opcode::and_, b, above, positive);
  const std::uint32_t more = up ? below : down ? never : binary(Opcode::and_, b, below, negative);
  const std::uint32_t grows =
      binary(Opcode::or_, b, binary(Opcode::and_, b, less, negative), binary(Opcode::and_, b, more, positive));
  const std::uint32_t shrinks =
      binary(Opcode::or_, b, binary(Opcode::and_, b, less, positive), binary(Opcode::and_, b, more, negative));
  const std::uint32_t step =
      selected(w, grows, constant(w, 1), selected(w, shrinks, constant(w, 0xffffffff), constant(w, 0)));
  return binary(Opcode::and_, w, binary(Opcode::add, w, bits, step), constant(w, 0xffff));
}

/// One value of a pair of at most eight bits each as f16, its bits in a word. With the exponent's bias moved, the bits
/// are the upper ones of a wider number, denormals included.
std::uint32_t Decoder::small_value(std::uint32_t both, unsigned lane, ptx::Type t) {
  const SmallFloat format = *small_float(t);
  const ValueType w = ValueType::i32;
  const auto number = [&](std::uint64_t v) { return constant(w, v); };
  const std::uint32_t code = binary(Opcode::lshr, w, both, number(std::uint64_t{lane} * lane_bits(t)));
  const std::uint32_t size = binary(Opcode::and_, w, code, number((std::uint64_t{1} << format.sign) - 1));
  const std::uint32_t wide = binary(Opcode::shl, w, size, number(static_cast<std::uint64_t>(23 - format.mantissa)));
  const std::uint32_t factor = constant(ValueType::f32, static_cast<std::uint64_t>(254 - format.bias) << 23);
  const std::uint32_t value = binary(Opcode::fmul, ValueType::f32, moved(wide, ValueType::f32), factor);
  std::uint32_t bits = word_of(convert(Opcode::float_to_float, ValueType::f32, ValueType::f16, value));
  if (t == ptx::Type::e5m2x2)  // infinity
    bits = selected(w, binary(Opcode::eq, w, size, number(0x7c)), number(0x7c00), bits);
  const std::uint32_t sign = binary(
      Opcode::and_, w, binary(Opcode::lshr, w, code, number(static_cast<std::uint64_t>(format.sign))), number(1));
  const std::uint32_t value_bits = binary(Opcode::or_, w, bits, binary(Opcode::shl, w, sign, number(15)));
  if (!format.keeps_sign) return value_bits;  // no NaN
  return selected(w, binary(Opcode::ugt, w, size, number(t == ptx::Type::e4m3x2 ? 0x7e : 0x7c)), number(0x7fff),
                  value_bits);
}

/// f32 to at most eight bits, to the nearest and saturated. As f64 with the exponent's bias moved, nothing is rounded
/// before the mantissa is cut.
std::uint32_t Decoder::small_bits(std::uint32_t x, ptx::Type t) {
  const SmallFloat format = *small_float(t);
  const ValueType w = ValueType::i32, d = ValueType::i64;
  const std::uint32_t bits = moved(x, w);
  const std::uint32_t size = binary(Opcode::and_, w, bits, constant(w, 0x7fffffff));
  const std::uint32_t wide =
      convert(Opcode::float_to_float, ValueType::f32, ValueType::f64, moved(size, ValueType::f32));
  const std::uint32_t factor = constant(ValueType::f64, static_cast<std::uint64_t>(format.bias) << 52);
  const std::uint32_t scaled = moved(binary(Opcode::fmul, ValueType::f64, wide, factor), d);
  const std::uint64_t cut = 52 - static_cast<std::uint64_t>(format.mantissa);
  const std::uint32_t odd = binary(Opcode::and_, d, binary(Opcode::lshr, d, scaled, constant(d, cut)), constant(d, 1));
  const std::uint32_t up =
      binary(Opcode::add, d, scaled, binary(Opcode::add, d, odd, constant(d, (std::uint64_t{1} << (cut - 1)) - 1)));
  const std::uint32_t limited =
      binary(Opcode::umin, d, binary(Opcode::lshr, d, up, constant(d, cut)), constant(d, format.most));
  const std::uint32_t code = convert(Opcode::truncate, d, w, limited);
  const std::uint32_t sign = binary(Opcode::shl, w, binary(Opcode::lshr, w, bits, constant(w, 31)),
                                    constant(w, static_cast<std::uint64_t>(format.sign)));
  const std::uint32_t known = binary(Opcode::ule, w, size, constant(w, 0x7f800000));
  const std::uint32_t nan = constant(w, format.not_a_number);
  const std::uint32_t otherwise = format.keeps_sign ? binary(Opcode::or_, w, sign, nan) : nan;
  return selected(w, known, binary(Opcode::or_, w, sign, code), otherwise);
}

/// cvt to or from pairs of small numbers, and to halves by a stated rounding.
bool Decoder::narrow_conversion(CallInst& i, const ptx::Instruction& what) {
  using ptx::Type;
  const ValueType w = ValueType::i32;
  const Type to = what.types[0], from = what.types[1];
  const auto pair = [&](std::uint32_t low, std::uint32_t high, unsigned bits) {
    return binary(Opcode::or_, w, low, binary(Opcode::shl, w, high, constant(w, bits)));
  };
  const auto give = [&](std::uint32_t bits) {
    const ValueType wanted = type_of(i.getType());
    if (wanted == ValueType::f16) return define(i, moved(convert(Opcode::truncate, w, ValueType::i16, bits), wanted));
    define(i, size_of(wanted) < 4 ? convert(Opcode::truncate, w, wanted, bits) : bits);
  };
  const auto first = [&] { return word_of(one(i.getArgOperand(0))); };
  if (small_float(from) && to == Type::f16x2)
    return give(pair(small_value(first(), 0, from), small_value(first(), 1, from), 16)), true;
  if (small_float(to)) {
    std::uint32_t high = 0, low = 0;
    if (from == Type::f32) {  // the first operand is the upper half
      high = one(i.getArgOperand(0));
      low = one(i.getArgOperand(1));
    } else if (is_pair(from)) {
      const std::uint32_t both = first();
      high = narrow_value(both, 1, from, ValueType::f32);
      low = narrow_value(both, 0, from, ValueType::f32);
    } else {
      return false;
    }
    return give(pair(small_bits(low, to), small_bits(high, to), lane_bits(to))), true;
  }
  if (to == Type::ue8m0x2 &&
      (from == Type::bf16x2 || from == Type::f32)) {  // the exponent; rp: the next one for what is more
    const bool wide = from == Type::f32;
    const std::uint64_t infinity = wide ? 0x7f800000 : 0x7f80, mantissa = wide ? 0x7fffff : 0x7f;
    const auto exponent = [&](unsigned lane) {  // of f32 the first operand is the upper half
      const std::uint32_t bits =
          wide ? word_of(one(i.getArgOperand(1 - lane))) : binary(Opcode::lshr, w, first(), constant(w, 16 * lane));
      const std::uint32_t size = binary(Opcode::and_, w, bits, constant(w, infinity | mantissa));
      std::uint32_t e = binary(Opcode::lshr, w, size, constant(w, wide ? 23 : 7));
      if (what.rounding == ptx::Rounding::rp) {
        const std::uint32_t more =
            binary(Opcode::ne, w, binary(Opcode::and_, w, size, constant(w, mantissa)), constant(w, 0));
        const std::uint32_t large = binary(Opcode::ugt, w, size, constant(w, mantissa / 2 + 1));
        const std::uint32_t finite = binary(Opcode::ult, w, size, constant(w, infinity));
        const std::uint32_t up =
            binary(Opcode::and_, ValueType::i1, binary(Opcode::and_, ValueType::i1, more, large), finite);
        e = binary(Opcode::add, w, e, selected(w, up, constant(w, 1), constant(w, 0)));
      }
      if (!what.has("satfinite")) return e;
      const std::uint32_t number = binary(Opcode::ule, w, size, constant(w, infinity));
      return selected(w, number, binary(Opcode::umin, w, e, constant(w, 0xfe)), constant(w, 0xff));
    };
    return give(pair(exponent(0), exponent(1), 8)), true;
  }
  if (from == Type::ue8m0x2 && to == Type::bf16x2) {
    const auto value = [&](unsigned lane) {
      const std::uint32_t e =
          binary(Opcode::and_, w, binary(Opcode::lshr, w, first(), constant(w, 8 * lane)), constant(w, 0xff));
      const std::uint32_t bits = binary(Opcode::shl, w, e, constant(w, 7));
      const std::uint32_t least = selected(w, binary(Opcode::eq, w, e, constant(w, 0)), constant(w, 0x40), bits);
      return selected(w, binary(Opcode::eq, w, e, constant(w, 0xff)), constant(w, 0x7fff), least);
    };
    return give(pair(value(0), value(1), 16)), true;
  }
  if (to != Type::f16 && to != Type::bf16) return false;
  using R = ptx::Rounding;
  if (what.rounding != R::rz && what.rounding != R::rm && what.rounding != R::rp) return false;
  const std::uint32_t given = one(i.getArgOperand(0));
  if (from == Type::f32) {
    const std::uint32_t wide =
        convert(Opcode::float_to_float, ValueType::f32, ValueType::f64, moved(given, ValueType::f32));
    return give(rounded_toward(wide, to, what.rounding)), true;
  }
  if (ptx::is_float(from)) return false;
  const bool is_signed = ptx::is_signed(from);
  const ValueType has = program_.registers[given], d = ValueType::i64;
  std::uint32_t wide = has == d ? given : convert(is_signed ? Opcode::sign_extend : Opcode::zero_extend, has, d, given);
  if (ptx::bits_of(from) == 64) {  // what an f64 cannot hold: only that there is something below matters
    const std::uint32_t top = binary(is_signed ? Opcode::ashr : Opcode::lshr, d, wide, constant(d, 52));
    const std::uint32_t large = binary(Opcode::ugt, d, binary(Opcode::add, d, top, constant(d, 1)), constant(d, 1));
    const std::uint32_t kept = binary(Opcode::and_, d, wide, constant(d, ~std::uint64_t{0xfff}));
    const std::uint32_t some = binary(Opcode::ne, d, kept, wide);
    const std::uint32_t cut = binary(Opcode::or_, d, kept, selected(d, some, constant(d, 0x800), constant(d, 0)));
    wide = selected(d, large, cut, wide);
  }
  const std::uint32_t number =
      convert(is_signed ? Opcode::signed_to_float : Opcode::unsigned_to_float, d, ValueType::f64, wide);
  return give(rounded_toward(number, to, what.rounding)), true;
}

/// atom and red on several numbers at one address: an atomic operation on each, counted once.
bool Decoder::packed_atomic(CallInst& i, const ptx::Instruction& what) {
  const ptx::Type t = what.type();
  if (what.combine != ptx::Combine::add || !(is_narrow(t) || t == ptx::Type::f32)) return false;
  const ValueType w = ValueType::i32;
  const ValueType element = t == ptx::Type::f32           ? ValueType::f32
                            : of_one(t) == ptx::Type::f16 ? ValueType::f16
                                                          : ValueType::i16;
  const unsigned lanes = is_pair(t) ? 2 : 1;
  const bool looks = !i.use_empty();
  Value* pointer = i.getArgOperand(0);
  const std::uint32_t address = materialised(value(pointer));
  const int counted = site(i, AccessKind::atomic, 0, 1 << 20);
  Slots out;
  const auto types = i.getType()->isVoidTy() ? std::vector<ValueType>{} : types_of(i.getType());
  for (unsigned k = 0; k + 1 < i.arg_size(); ++k) {
    const std::uint32_t given = one(i.getArgOperand(1 + k));
    std::uint32_t all = no_register;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      std::uint32_t operand = given;
      if (element != ValueType::f32) {
        const std::uint32_t bits = binary(Opcode::lshr, w, word_of(given), constant(w, 16 * lane));
        operand = moved(convert(Opcode::truncate, w, ValueType::i16, bits), element);
      }
      const auto bytes = static_cast<std::uint64_t>(size_of(element));
      const std::uint32_t at =
          binary(Opcode::add, ValueType::i64, address, constant(ValueType::i64, bytes * (k * lanes + lane)));
      const std::uint32_t old = fresh(element);
      SimtInstruction& done = emit(Opcode::atomic, element, old, at, operand);
      done.imm = static_cast<std::int64_t>(AtomicOp::fadd);
      done.synchronises = looks;
      done.pointing = pointing(pointer);
      done.site = k == 0 && lane == 0 ? counted : -1;
      if (element == ValueType::f32) {
        all = old;
      } else {
        const std::uint32_t bits = word_of(old);
        all = lane == 0 ? bits : binary(Opcode::or_, w, all, binary(Opcode::shl, w, bits, constant(w, 16)));
      }
    }
    if (types.empty()) continue;
    if (element != ValueType::f32 && size_of(types[k]) < 4) all = convert(Opcode::truncate, w, ValueType::i16, all);
    out.regs.push_back(moved(all, types[k]));
  }
  if (element != ValueType::i16) note_element(pointer, element);
  if (!types.empty()) define(i, std::move(out));
  return true;
}

/// False: none of these.
bool Decoder::narrow_floats(CallInst& i, const ptx::Instruction& what) {
  using ptx::Op;
  if (what.op == Op::cvt) return narrow_conversion(i, what);
  if (what.op == Op::atom || what.op == Op::red) return packed_atomic(i, what);
  const ptx::Type t = what.op == Op::set ? what.types[1] : what.type();
  if (!is_narrow(t)) return false;
  const ValueType w = ValueType::i32, f = ValueType::f32;
  const unsigned lanes = is_pair(t) ? 2 : 1;
  const auto give = [&](auto&& lane_bits_of) {
    std::uint32_t bits = lane_bits_of(0U);
    if (lanes == 2) bits = binary(Opcode::or_, w, bits, binary(Opcode::shl, w, lane_bits_of(1U), constant(w, 16)));
    const ValueType wanted = type_of(i.getType());
    if (size_of(wanted) < 4) bits = convert(Opcode::truncate, w, ValueType::i16, bits);
    define(i, moved(bits, wanted));
    return true;
  };
  const auto argument = [&](unsigned n, unsigned lane, ValueType as) {
    return narrow_value(word_of(one(i.getArgOperand(n))), lane, t, as);
  };
  if (what.op == Op::set) {
    const auto op = comparison_opcode(what.comparison);
    if (!op || what.combine != ptx::Combine::none) return false;
    const ptx::Type to = what.types[0];
    const std::uint64_t yes = of_one(to) == ptx::Type::f16 ? 0x3c00 : of_one(to) == ptx::Type::bf16 ? 0x3f80 : 0xffff;
    return give([&](unsigned lane) {
      return selected(w, binary(*op, f, argument(0, lane, f), argument(1, lane, f)), constant(w, yes), constant(w, 0));
    });
  }
  if (what.op == Op::tanh)
    return give([&](unsigned lane) { return narrow_bits(math(MathFunction::tanh, f, argument(0, lane, f)), t); });
  if (what.op != Op::add && what.op != Op::sub && what.op != Op::mul && what.op != Op::fma) return false;
  const bool fused = what.op == Op::fma;
  const ValueType as = fused ? ValueType::f64 : f;
  const auto real = [&](std::uint64_t f32, std::uint64_t f64) { return constant(as, fused ? f64 : f32); };
  return give([&](unsigned lane) {
    const std::uint32_t a = argument(0, lane, as), b = argument(1, lane, as);
    std::uint32_t r = 0;
    if (fused) {
      r = binary(Opcode::fadd, as, binary(Opcode::fmul, as, a, b), argument(2, lane, as));
    } else {
      r = binary(what.op == Op::add ? Opcode::fadd : what.op == Op::sub ? Opcode::fsub : Opcode::fmul, as, a, b);
    }
    const std::uint32_t zero = real(0, 0), one_ = real(0x3f800000, 0x3ff0000000000000);
    if (what.has("sat")) {
      r = selected(as, binary(Opcode::fogt, as, r, zero), r, zero);
      r = selected(as, binary(Opcode::folt, as, r, one_), r, one_);
    }
    if (what.has("relu")) r = selected(as, binary(Opcode::folt, as, r, zero), zero, r);
    return narrow_bits(r, t);
  });
}

}  // namespace kernelcast::frontend
