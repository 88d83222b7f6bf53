// Intrinsics that LLVM has for every target: arithmetic, bits, copies, reductions of vectors.
#include "frontend/decode_internal.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"

namespace kernelcast::frontend {

using namespace llvm;

bool Decoder::common_intrinsic(IntrinsicInst& i) {
  const auto arg = [&](unsigned n, std::size_t k) { return element(i.getArgOperand(n), k); };
  const auto unary_math = [&](MathFunction f) {
    elementwise(i, [&](ValueType t, std::size_t k) { return math(f, t, arg(0, k)); });
    return true;
  };
  const auto binary_math = [&](MathFunction f) {
    elementwise(i, [&](ValueType t, std::size_t k) {
      const std::uint32_t a = arg(0, k);
      return math(f, t, a, arg(1, k));
    });
    return true;
  };
  const auto unary = [&](Opcode op) {
    elementwise(i, [&](ValueType t, std::size_t k) { return binary(op, t, arg(0, k), no_register); });
    return true;
  };
  const auto two = [&](Opcode op) {
    elementwise(i, [&](ValueType t, std::size_t k) {
      const std::uint32_t a = arg(0, k);
      return binary(op, t, a, arg(1, k));
    });
    return true;
  };
  const auto three = [&](Opcode op) {
    elementwise(i, [&](ValueType t, std::size_t k) {
      const std::uint32_t a = arg(0, k), b = arg(1, k), c = arg(2, k), dst = fresh(t);
      emit(op, t, dst, a, b, c);
      return dst;
    });
    return true;
  };
  const auto overflow = [&](Opcode value_op, Opcode flag) {
    const std::uint32_t a = one(i.getArgOperand(0)), b = one(i.getArgOperand(1));
    const ValueType t = program_.registers[a];
    const std::uint32_t sum = binary(value_op, t, a, b);
    define(i, Slots{{sum, binary(flag, t, a, b)}, 0});
    return true;
  };
  const auto fold = [&](Opcode op) {
    const Slots s = value(i.getArgOperand(i.arg_size() - 1));
    std::uint32_t sum = i.arg_size() == 2 ? one(i.getArgOperand(0)) : s.regs[0];
    for (std::size_t k = i.arg_size() == 2 ? 0 : 1; k < s.regs.size(); ++k)
      sum = binary(op, program_.registers[sum], sum, s.regs[k]);
    define(i, sum);
    return true;
  };
  const bool odd = width_of(i.getType()) != 0;
  switch (i.getIntrinsicID()) {
    case Intrinsic::dbg_value:
    case Intrinsic::dbg_declare:
    case Intrinsic::dbg_label:
    case Intrinsic::dbg_assign:
    case Intrinsic::lifetime_start:
    case Intrinsic::lifetime_end:
    case Intrinsic::assume:
    case Intrinsic::experimental_noalias_scope_decl:
    case Intrinsic::donothing:
    case Intrinsic::sideeffect:
    case Intrinsic::prefetch:
    case Intrinsic::invariant_end:
      return true;
    case Intrinsic::invariant_start:
      define(i, constant(ValueType::i64, 0));
      return true;
    case Intrinsic::expect:
    case Intrinsic::ssa_copy:
    case Intrinsic::launder_invariant_group:
    case Intrinsic::strip_invariant_group:
    case Intrinsic::canonicalize:
    case Intrinsic::arithmetic_fence:
      define(i, value(i.getArgOperand(0)));
      return true;
    case Intrinsic::trap:
    case Intrinsic::debugtrap:
    case Intrinsic::ubsantrap:
      program_.texts.push_back("the kernel traps");
      emit(Opcode::finding, ValueType::i32, no_register).imm = static_cast<std::int64_t>(program_.texts.size()) - 1;
      return true;
    case Intrinsic::memcpy:
    case Intrinsic::memmove:
    case Intrinsic::memcpy_inline:
      copy(llvm::cast<MemTransferInst>(i));
      return true;
    case Intrinsic::memset:
    case Intrinsic::memset_inline:
      fill(llvm::cast<MemSetInst>(i));
      return true;
    case Intrinsic::fma:
      return three(Opcode::fma);
    case Intrinsic::fmuladd:
      return three(Opcode::fma);
    case Intrinsic::sqrt:
      return unary_math(MathFunction::sqrt);
    case Intrinsic::fabs:
      return unary_math(MathFunction::fabs);
    case Intrinsic::floor:
      return unary_math(MathFunction::floor);
    case Intrinsic::ceil:
      return unary_math(MathFunction::ceil);
    case Intrinsic::trunc:
      return unary_math(MathFunction::trunc);
    case Intrinsic::rint:
    case Intrinsic::nearbyint:
    case Intrinsic::roundeven:
      return unary_math(MathFunction::rint);
    case Intrinsic::round:
      return unary_math(MathFunction::round);
    case Intrinsic::exp:
      return unary_math(MathFunction::exp);
    case Intrinsic::exp2:
      return unary_math(MathFunction::exp2);
    case Intrinsic::exp10:
      return unary_math(MathFunction::exp10);
    case Intrinsic::log:
      return unary_math(MathFunction::log);
    case Intrinsic::log2:
      return unary_math(MathFunction::log2);
    case Intrinsic::log10:
      return unary_math(MathFunction::log10);
    case Intrinsic::sin:
      return unary_math(MathFunction::sin);
    case Intrinsic::cos:
      return unary_math(MathFunction::cos);
    case Intrinsic::pow:
      return binary_math(MathFunction::pow);
    case Intrinsic::minnum:
      return binary_math(MathFunction::fmin);
    case Intrinsic::maxnum:
      return binary_math(MathFunction::fmax);
    case Intrinsic::minimum:
      return binary_math(MathFunction::minimum);
    case Intrinsic::maximum:
      return binary_math(MathFunction::maximum);
    case Intrinsic::copysign:
      return binary_math(MathFunction::copysign);
    case Intrinsic::powi:
    case Intrinsic::ldexp: {
      const MathFunction f = i.getIntrinsicID() == Intrinsic::powi ? MathFunction::pown : MathFunction::ldexp;
      elementwise(i, [&](ValueType t, std::size_t k) {
        const std::uint32_t n = arg(1, k);
        const std::uint32_t a = arg(0, k);
        return math(f, t, a, convert(Opcode::signed_to_float, program_.registers[n], t, n));
      });
      return true;
    }
    case Intrinsic::frexp: {
      const std::uint32_t a = one(i.getArgOperand(0));
      const ValueType t = program_.registers[a];
      const std::uint32_t m = math(MathFunction::mantissa, t, a);
      const std::uint32_t e = math(MathFunction::exponent, t, a);
      define(i, Slots{{m, convert(Opcode::float_to_signed, t, types_of(i.getType()).at(1), e)}, 0});
      return true;
    }
    case Intrinsic::is_fpclass: {
      const std::uint32_t a = one(i.getArgOperand(0));
      const std::uint32_t dst = fresh(ValueType::i1);
      const std::uint64_t classes = llvm::cast<ConstantInt>(i.getArgOperand(1))->getZExtValue();
      emit(Opcode::classify, program_.registers[a], dst, a).imm = static_cast<std::int64_t>(classes);
      define(i, dst);
      return true;
    }
    case Intrinsic::ctpop:
      return unary(Opcode::popcount);
    case Intrinsic::ctlz:
    case Intrinsic::cttz:
    case Intrinsic::bitreverse:
    case Intrinsic::bswap:
      if (odd) return odd_bits(i);
      return unary(i.getIntrinsicID() == Intrinsic::ctlz         ? Opcode::count_leading_zeros
                   : i.getIntrinsicID() == Intrinsic::cttz       ? Opcode::count_trailing_zeros
                   : i.getIntrinsicID() == Intrinsic::bitreverse ? Opcode::reverse_bits
                                                                 : Opcode::swap_bytes);
    case Intrinsic::umin:
      return two(Opcode::umin);
    case Intrinsic::umax:
      return two(Opcode::umax);
    case Intrinsic::smin:
      return !odd && two(Opcode::smin);
    case Intrinsic::smax:
      return !odd && two(Opcode::smax);
    case Intrinsic::abs:
      if (odd) return false;
      elementwise(i, [&](ValueType t, std::size_t k) {
        const std::uint32_t a = arg(0, k);
        return binary(Opcode::smax, t, a, binary(Opcode::sub, t, constant(t, 0), a));
      });
      return true;
    case Intrinsic::uadd_sat:
      return !odd && two(Opcode::uadd_sat);
    case Intrinsic::usub_sat:
      return two(Opcode::usub_sat);
    case Intrinsic::sadd_sat:
      return !odd && two(Opcode::sadd_sat);
    case Intrinsic::ssub_sat:
      return !odd && two(Opcode::ssub_sat);
    case Intrinsic::uadd_with_overflow:
      return overflow(Opcode::add, Opcode::uadd_overflow);
    case Intrinsic::usub_with_overflow:
      return overflow(Opcode::sub, Opcode::usub_overflow);
    case Intrinsic::umul_with_overflow:
      return overflow(Opcode::mul, Opcode::umul_overflow);
    case Intrinsic::sadd_with_overflow:
      return overflow(Opcode::add, Opcode::sadd_overflow);
    case Intrinsic::ssub_with_overflow:
      return overflow(Opcode::sub, Opcode::ssub_overflow);
    case Intrinsic::smul_with_overflow:
      return overflow(Opcode::mul, Opcode::smul_overflow);
    case Intrinsic::fshl:
      return !odd && three(Opcode::shift_left_double);
    case Intrinsic::fshr:
      return !odd && three(Opcode::shift_right_double);
    case Intrinsic::fptosi_sat:
    case Intrinsic::fptoui_sat: {
      const Opcode op =
          i.getIntrinsicID() == Intrinsic::fptosi_sat ? Opcode::float_to_signed : Opcode::float_to_unsigned;
      if (odd) return false;
      elementwise(i, [&](ValueType t, std::size_t k) {
        const std::uint32_t a = arg(0, k);
        return convert(op, program_.registers[a], t, a);
      });
      return true;
    }
    case Intrinsic::vector_reduce_add:
      return fold(Opcode::add);
    case Intrinsic::vector_reduce_mul:
      return fold(Opcode::mul);
    case Intrinsic::vector_reduce_and:
      return fold(Opcode::and_);
    case Intrinsic::vector_reduce_or:
      return fold(Opcode::or_);
    case Intrinsic::vector_reduce_xor:
      return fold(Opcode::xor_);
    case Intrinsic::vector_reduce_smax:
      return !odd && fold(Opcode::smax);
    case Intrinsic::vector_reduce_smin:
      return !odd && fold(Opcode::smin);
    case Intrinsic::vector_reduce_umax:
      return fold(Opcode::umax);
    case Intrinsic::vector_reduce_umin:
      return fold(Opcode::umin);
    case Intrinsic::vector_reduce_fadd:
      return fold(Opcode::fadd);
    case Intrinsic::vector_reduce_fmul:
      return fold(Opcode::fmul);
    default:
      return false;
  }
}

/// Bit counts and orders of integers that live in a wider register, zero-extended.
bool Decoder::odd_bits(IntrinsicInst& i) {
  const auto id = i.getIntrinsicID();
  const unsigned bits = width_of(i.getType());
  elementwise(i, [&](ValueType t, std::size_t k) {
    const std::uint32_t a = element(i.getArgOperand(0), k);
    const std::uint32_t unused = constant(t, static_cast<std::uint64_t>(8 * size_of(t)) - bits);
    if (id == Intrinsic::ctlz)
      return binary(Opcode::sub, t, binary(Opcode::count_leading_zeros, t, a, no_register), unused);
    if (id == Intrinsic::cttz)
      return binary(Opcode::umin, t, binary(Opcode::count_trailing_zeros, t, a, no_register), constant(t, bits));
    const Opcode op = id == Intrinsic::bitreverse ? Opcode::reverse_bits : Opcode::swap_bytes;
    return binary(Opcode::lshr, t, binary(op, t, a, no_register), unused);
  });
  return true;
}

}  // namespace kernelcast::frontend
