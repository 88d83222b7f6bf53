// Intrinsics that LLVM has for every target: arithmetic, bits, copies, reductions of vectors.
#include <algorithm>
#include <iterator>

#include "frontend/program/decode_internal.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

/// What an intrinsic does with its arguments: a function of mathematics or an operation on each element, an operation
/// with its overflow as a second result, or an operation that folds a vector.
enum class IntrinsicForm : std::uint8_t { math, operation, overflow, fold };

struct IntrinsicRow {
  Intrinsic::ID id;
  IntrinsicForm form;
  int arguments;
  bool odd_widths = true;   // also of integers that live in a wider register
  MathFunction function{};  // of math
  Opcode op{}, flag{};      // of the others; `flag` of overflow
};

constexpr IntrinsicRow math_of_one(Intrinsic::ID id, MathFunction f) { return {id, IntrinsicForm::math, 1, true, f}; }
constexpr IntrinsicRow math_of_two(Intrinsic::ID id, MathFunction f) { return {id, IntrinsicForm::math, 2, true, f}; }
constexpr IntrinsicRow on_elements(Intrinsic::ID id, int arguments, Opcode op, bool odd = true) {
  return {id, IntrinsicForm::operation, arguments, odd, {}, op};
}
constexpr IntrinsicRow with_overflow(Intrinsic::ID id, Opcode op, Opcode flag) {
  return {id, IntrinsicForm::overflow, 2, true, {}, op, flag};
}
constexpr IntrinsicRow folded(Intrinsic::ID id, Opcode op, bool odd = true) {
  return {id, IntrinsicForm::fold, 1, odd, {}, op};
}

constexpr IntrinsicRow intrinsic_rows[] = {
    math_of_one(Intrinsic::sqrt, MathFunction::sqrt),
    math_of_one(Intrinsic::fabs, MathFunction::fabs),
    math_of_one(Intrinsic::floor, MathFunction::floor),
    math_of_one(Intrinsic::ceil, MathFunction::ceil),
    math_of_one(Intrinsic::trunc, MathFunction::trunc),
    math_of_one(Intrinsic::rint, MathFunction::rint),
    math_of_one(Intrinsic::nearbyint, MathFunction::rint),
    math_of_one(Intrinsic::roundeven, MathFunction::rint),
    math_of_one(Intrinsic::round, MathFunction::round),
    math_of_one(Intrinsic::exp, MathFunction::exp),
    math_of_one(Intrinsic::exp2, MathFunction::exp2),
    math_of_one(Intrinsic::exp10, MathFunction::exp10),
    math_of_one(Intrinsic::log, MathFunction::log),
    math_of_one(Intrinsic::log2, MathFunction::log2),
    math_of_one(Intrinsic::log10, MathFunction::log10),
    math_of_one(Intrinsic::sin, MathFunction::sin),
    math_of_one(Intrinsic::cos, MathFunction::cos),
    math_of_two(Intrinsic::pow, MathFunction::pow),
    math_of_two(Intrinsic::minnum, MathFunction::fmin),
    math_of_two(Intrinsic::maxnum, MathFunction::fmax),
    math_of_two(Intrinsic::minimum, MathFunction::minimum),
    math_of_two(Intrinsic::maximum, MathFunction::maximum),
    math_of_two(Intrinsic::copysign, MathFunction::copysign),
    on_elements(Intrinsic::ctpop, 1, Opcode::popcount),
    on_elements(Intrinsic::umin, 2, Opcode::umin),
    on_elements(Intrinsic::umax, 2, Opcode::umax),
    on_elements(Intrinsic::smin, 2, Opcode::smin, false),
    on_elements(Intrinsic::smax, 2, Opcode::smax, false),
    on_elements(Intrinsic::uadd_sat, 2, Opcode::uadd_sat, false),
    on_elements(Intrinsic::usub_sat, 2, Opcode::usub_sat),
    on_elements(Intrinsic::sadd_sat, 2, Opcode::sadd_sat, false),
    on_elements(Intrinsic::ssub_sat, 2, Opcode::ssub_sat, false),
    on_elements(Intrinsic::fma, 3, Opcode::fma),
    on_elements(Intrinsic::fmuladd, 3, Opcode::fma),
    on_elements(Intrinsic::fshl, 3, Opcode::shift_left_double, false),
    on_elements(Intrinsic::fshr, 3, Opcode::shift_right_double, false),
    with_overflow(Intrinsic::uadd_with_overflow, Opcode::add, Opcode::uadd_overflow),
    with_overflow(Intrinsic::usub_with_overflow, Opcode::sub, Opcode::usub_overflow),
    with_overflow(Intrinsic::umul_with_overflow, Opcode::mul, Opcode::umul_overflow),
    with_overflow(Intrinsic::sadd_with_overflow, Opcode::add, Opcode::sadd_overflow),
    with_overflow(Intrinsic::ssub_with_overflow, Opcode::sub, Opcode::ssub_overflow),
    with_overflow(Intrinsic::smul_with_overflow, Opcode::mul, Opcode::smul_overflow),
    folded(Intrinsic::vector_reduce_add, Opcode::add),
    folded(Intrinsic::vector_reduce_mul, Opcode::mul),
    folded(Intrinsic::vector_reduce_and, Opcode::and_),
    folded(Intrinsic::vector_reduce_or, Opcode::or_),
    folded(Intrinsic::vector_reduce_xor, Opcode::xor_),
    folded(Intrinsic::vector_reduce_smax, Opcode::smax, false),
    folded(Intrinsic::vector_reduce_smin, Opcode::smin, false),
    folded(Intrinsic::vector_reduce_umax, Opcode::umax),
    folded(Intrinsic::vector_reduce_umin, Opcode::umin),
    folded(Intrinsic::vector_reduce_fadd, Opcode::fadd),
    folded(Intrinsic::vector_reduce_fmul, Opcode::fmul),
};

}  // namespace

bool Decoder::tabled_intrinsic(IntrinsicInst& i) {
  const IntrinsicRow* row = std::find_if(std::begin(intrinsic_rows), std::end(intrinsic_rows),
                                         [&](const IntrinsicRow& r) { return r.id == i.getIntrinsicID(); });
  if (row == std::end(intrinsic_rows) || (!row->odd_widths && width_of(i.getType()) != 0)) return false;
  const auto arg = [&](unsigned n, std::size_t k) { return operand(i.getArgOperand(n), k); };
  if (row->form == IntrinsicForm::overflow) {
    const std::uint32_t a = one(i.getArgOperand(0)), b = one(i.getArgOperand(1));
    const ValueType t = program_.registers[a];
    const std::uint32_t sum = binary(row->op, t, a, b);
    define(i, Slots{{sum, binary(row->flag, t, a, b)}, 0});
    return true;
  }
  if (row->form == IntrinsicForm::fold) {  // two arguments: the first one begins the sum
    const Slots s = value(i.getArgOperand(i.arg_size() - 1));
    std::uint32_t sum = i.arg_size() == 2 ? one(i.getArgOperand(0)) : s.regs[0];
    for (std::size_t k = i.arg_size() == 2 ? 0 : 1; k < s.regs.size(); ++k)
      sum = binary(row->op, program_.registers[sum], sum, s.regs[k]);
    define(i, sum);
    return true;
  }
  const auto compute = [&](ValueType t, std::size_t k) {
    const std::uint32_t a = arg(0, k);
    if (row->form == IntrinsicForm::math && row->arguments == 1) return math(row->function, t, a);
    if (row->arguments == 1) return binary(row->op, t, a, no_register);
    const std::uint32_t b = arg(1, k);
    if (row->form == IntrinsicForm::math) return math(row->function, t, a, b);
    if (row->arguments == 2) return binary(row->op, t, a, b);
    const std::uint32_t c = arg(2, k), dst = fresh(t);
    emit(row->op, t, dst, a, b, c);
    return dst;
  };
  elementwise(i, [&](ValueType stored, std::size_t k) {
    return result(i.getType(), compute(computed_as(i.getType(), stored), k));
  });
  return true;
}

bool Decoder::common_intrinsic(IntrinsicInst& i) {
  const auto arg = [&](unsigned n, std::size_t k) { return element(i.getArgOperand(n), k); };
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
    case Intrinsic::ctlz:
    case Intrinsic::cttz:
    case Intrinsic::bitreverse:
    case Intrinsic::bswap:
      if (odd) return odd_bits(i);
      elementwise(i, [&](ValueType t, std::size_t k) {
        const auto id = i.getIntrinsicID();
        const Opcode op = id == Intrinsic::ctlz         ? Opcode::count_leading_zeros
                          : id == Intrinsic::cttz       ? Opcode::count_trailing_zeros
                          : id == Intrinsic::bitreverse ? Opcode::reverse_bits
                                                        : Opcode::swap_bytes;
        return binary(op, t, arg(0, k), no_register);
      });
      return true;
    case Intrinsic::abs:
      if (odd) return false;
      elementwise(i, [&](ValueType t, std::size_t k) {
        const std::uint32_t a = arg(0, k);
        return binary(Opcode::smax, t, a, binary(Opcode::sub, t, constant(t, 0), a));
      });
      return true;
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
    default:
      return tabled_intrinsic(i);
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
