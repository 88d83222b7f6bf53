// Calls: work-item functions, LLVM's own intrinsics, mathematical functions and the little inline assembly that is
// known.
#include "frontend/builtins.h"
#include "frontend/decode_internal.h"
#include "frontend/math_costs.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace kernelcast::frontend {

using namespace llvm;

bool Decoder::id_call(llvm::Instruction& i) {
  const auto id = id_value(i);
  if (!id) return false;
  using In = ProgramInput::Kind;
  static const std::map<IdValue::Kind, In> kinds = {{IdValue::Kind::local_id, In::local_id},
                                                    {IdValue::Kind::group_id, In::group_id},
                                                    {IdValue::Kind::local_size, In::local_size},
                                                    {IdValue::Kind::num_groups, In::num_groups},
                                                    {IdValue::Kind::global_size, In::global_size}};
  const In kind = kinds.at(id->kind);
  const ValueType t = type_of(i.getType());
  auto [it, added] = ids_.try_emplace({static_cast<int>(kind), id->axis, static_cast<int>(t)}, 0);
  if (added) it->second = input({kind, t, 0, static_cast<std::uint64_t>(id->axis), 0, ""});
  define(i, it->second);
  return true;
}

void Decoder::call(CallInst& i) {
  if (is_barrier(i)) {
    if (i.getType()->isVoidTy()) {
      emit(Opcode::barrier, ValueType::i32, no_register);
      return;
    }
    const std::uint32_t what = one(i.getArgOperand(0));
    const std::uint32_t predicate = binary(Opcode::ne, ValueType::i32, what, constant(ValueType::i32, 0));
    const std::uint32_t dst = fresh(ValueType::i32);
    SimtInstruction& out = emit(Opcode::barrier, ValueType::i1, dst, predicate);
    const auto id = llvm::cast<IntrinsicInst>(i).getIntrinsicID();
    out.imm = static_cast<std::int64_t>(id == Intrinsic::nvvm_barrier0_and  ? BarrierOp::all
                                        : id == Intrinsic::nvvm_barrier0_or ? BarrierOp::any
                                                                            : BarrierOp::count);
    return define(i, dst);
  }
  if (i.isInlineAsm()) {
    if (!inline_assembly(i)) unsupported(i, "this inline assembly");
    return;
  }
  if (auto* intrinsic = dyn_cast<IntrinsicInst>(&i)) {
    if (common_intrinsic(*intrinsic) || nvidia_intrinsic(*intrinsic) || amd_intrinsic(*intrinsic)) return;
    unsupported(i, "the function '" + i.getCalledFunction()->getName().str() + "'");
  }
  const std::string symbol = i.getCalledFunction() ? i.getCalledFunction()->getName().str() : "";
  if (auto name = math_function(symbol); name && math_call(i, *name)) return;
  const bool prints = symbol == "vprintf" || symbol.find("printf") != std::string::npos;
  if (prints) {
    if (!i.getType()->isVoidTy()) elementwise(i, [&](ValueType t, std::size_t) { return constant(t, 0); });
    return;
  }
  if (symbol == "__assertfail" || symbol == "__assert_fail" || symbol == "abort") {
    program_.texts.push_back("the assertion fails");
    emit(Opcode::finding, ValueType::i32, no_register).imm = static_cast<std::int64_t>(program_.texts.size()) - 1;
    return;
  }
  unsupported(i, "the function '" + demangle(symbol) + "', which has no body here");
}

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

namespace {

std::optional<MathFunction> function_named(const std::string& name) {
  static const std::map<std::string, MathFunction> names = [] {
    std::map<std::string, MathFunction> m = {
#define KERNELCAST_MATH(name, arguments) {#name, MathFunction::name},
#include "kernelcast/math_functions.def"
#undef KERNELCAST_MATH
    };
    for (const char* hidden : {"fraction", "quotient", "mantissa", "exponent", "minimum", "maximum"}) m.erase(hidden);
    m["nearbyint"] = MathFunction::rint;
    m["native_recip"] = MathFunction::reciprocal;
    m["native_divide"] = MathFunction::divide;
    m["native_powr"] = MathFunction::powr;
    for (const char* native :
         {"exp", "exp2", "exp10", "log", "log2", "log10", "sin", "cos", "tan", "tanh", "sqrt", "rsqrt"})
      m[std::string("native_") + native] = m.at(native);
    return m;
  }();
  auto it = names.find(name);
  return it == names.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace

bool Decoder::math_call(CallInst& i, const std::string& name) {
  const auto arg = [&](unsigned n, std::size_t k) { return element(i.getArgOperand(n), k); };
  // Functions that return more through pointers.
  const unsigned n = i.arg_size();
  const auto store_all = [&](unsigned pointer, auto make) {
    Value* to = i.getArgOperand(pointer);
    const Slots at = value(to);
    const std::size_t elements = value(i.getArgOperand(0)).regs.size();
    for (std::size_t k = 0; k < elements; ++k) {
      const std::uint32_t reg = make(k);
      const ValueType t = program_.registers[reg];
      SimtInstruction& out = emit(Opcode::store, t, no_register, at.regs[0], reg);
      out.imm = at.displacement + static_cast<std::int64_t>(k) * size_of(t);
      out.pointing = pointing(to);
    }
  };
  const auto of_first = [&](MathFunction f) {
    return [&, f](std::size_t k) {
      const std::uint32_t a = arg(0, k);
      return math(f, program_.registers[a], a);
    };
  };
  const auto integer_of = [&](MathFunction f) {
    return [&, f](std::size_t k) {
      const std::uint32_t a = arg(0, k);
      const ValueType t = program_.registers[a];
      return convert(Opcode::float_to_signed, t, ValueType::i32, math(f, t, a));
    };
  };
  const bool pointer_last = n >= 2 && i.getArgOperand(n - 1)->getType()->isPointerTy();
  if (pointer_last) {
    if (name == "sincos" || name == "native_sincos" || name == "sincospi") {
      const bool pi = name == "sincospi";
      const MathFunction s = pi ? MathFunction::sinpi : MathFunction::sin,
                         c = pi ? MathFunction::cospi : MathFunction::cos;
      if (n == 3) {
        store_all(1, of_first(s));
        store_all(2, of_first(c));
      } else {
        store_all(1, of_first(c));
        elementwise(i, [&](ValueType, std::size_t k) { return of_first(s)(k); });
      }
    } else if (name == "modf") {
      store_all(1, of_first(MathFunction::trunc));
      elementwise(i, [&](ValueType, std::size_t k) { return of_first(MathFunction::fraction)(k); });
    } else if (name == "fract") {
      store_all(1, of_first(MathFunction::floor));
      elementwise(i, [&](ValueType, std::size_t k) { return of_first(MathFunction::fract)(k); });
    } else if (name == "frexp") {
      store_all(1, integer_of(MathFunction::exponent));
      elementwise(i, [&](ValueType, std::size_t k) { return of_first(MathFunction::mantissa)(k); });
    } else if (name == "remquo" && n == 3) {
      const auto of_both = [&](MathFunction f) {
        return [&, f](std::size_t k) {
          const std::uint32_t a = arg(0, k), b = arg(1, k);
          return math(f, program_.registers[a], a, b);
        };
      };
      store_all(2, [&](std::size_t k) {
        const std::uint32_t q = of_both(MathFunction::quotient)(k);
        return convert(Opcode::float_to_signed, program_.registers[q], ValueType::i32, q);
      });
      elementwise(i, [&](ValueType, std::size_t k) { return of_both(MathFunction::remainder)(k); });
    } else if (name == "lgamma_r") {
      store_all(1, integer_of(MathFunction::lgamma_sign));
      elementwise(i, [&](ValueType, std::size_t k) { return of_first(MathFunction::lgamma)(k); });
    } else {
      return false;
    }
    return true;
  }
  if (name == "fma" || name == "mad") {
    elementwise(i, [&](ValueType t, std::size_t k) {
      const std::uint32_t a = arg(0, k), b = arg(1, k), c = arg(2, k), dst = fresh(t);
      emit(Opcode::fma, t, dst, a, b, c);
      return dst;
    });
    return true;
  }
  std::string plain = name;
  if (plain == "llrint") plain = "lrint";
  if (plain == "llround") plain = "lround";
  const auto f = function_named(plain);
  if (!f || static_cast<unsigned>(arguments_of(*f)) != n) return false;
  elementwise(i, [&](ValueType t, std::size_t k) {
    std::uint32_t a = arg(0, k);
    std::uint32_t b = n > 1 ? arg(1, k) : no_register;
    const std::uint32_t c = n > 2 ? arg(2, k) : no_register;
    // jn(n, x): the order stands first; here it is the second argument.
    if (*f == MathFunction::jn || *f == MathFunction::yn) std::swap(a, b);
    const ValueType in = program_.registers[a];
    if (b != no_register && !is_float(program_.registers[b]))
      b = convert(Opcode::signed_to_float, program_.registers[b], in, b);
    const std::uint32_t out = math(*f, in, a, b, c);
    return is_float(t) ? out : convert(Opcode::float_to_signed, in, t, out);
  });
  return true;
}

bool Decoder::inline_assembly(CallInst& i) {
  const auto* assembly = llvm::cast<InlineAsm>(i.getCalledOperand());
  const StringRef text = StringRef(assembly->getAsmString()).trim();
  const auto mentions = [&](StringRef what) { return text.contains(what); };
  const bool no_result = i.getType()->isVoidTy();
  if (text.empty() || (no_result && (mentions("membar") || mentions("fence") || mentions("prefetch") ||
                                     mentions("s_waitcnt") || mentions("s_nop")))) {
    if (!no_result && i.arg_size() > 0) define(i, value(i.getArgOperand(0)));
    return text.empty() ? no_result || i.arg_size() > 0 : true;
  }
  if (i.getType()->isStructTy() || no_result) return false;
  if (mentions("activemask")) {
    const std::uint32_t dst = result(i);
    emit(Opcode::active_mask, program_.registers[dst], dst);
    return true;
  }
  if (mentions("%laneid") || mentions("%%laneid")) {
    const std::uint32_t dst = result(i);
    emit(Opcode::lane_id, program_.registers[dst], dst);
    return true;
  }
  for (const char* relation : {"lt", "le", "gt", "ge", "eq"})
    if (mentions(std::string("%lanemask_") + relation)) {
      define(i, lane_mask(relation));
      return true;
    }
  if (mentions("clock") || mentions("globaltimer")) {
    const std::uint32_t dst = result(i);
    emit(Opcode::clock, program_.registers[dst], dst);
    return true;
  }
  const auto three_operands = [&](Opcode op) {
    if (i.arg_size() != 3) return false;
    const std::uint32_t a = one(i.getArgOperand(0)), b = one(i.getArgOperand(1)), c = one(i.getArgOperand(2));
    const std::uint32_t dst = result(i);
    emit(op, program_.registers[dst], dst, a, b, c);
    return true;
  };
  if (text.starts_with("bfe.u32")) return three_operands(Opcode::bit_extract_u);
  if (text.starts_with("bfe.s32")) return three_operands(Opcode::bit_extract_s);
  if (text.starts_with("prmt.b32")) return three_operands(Opcode::permute_bytes);
  if (text.starts_with("dp4a.") && i.arg_size() == 3) {
    const bool is_signed = text.starts_with("dp4a.s32.s32");
    if (!is_signed && !text.starts_with("dp4a.u32.u32")) return false;
    const std::uint32_t a = one(i.getArgOperand(0)), b = one(i.getArgOperand(1));
    std::uint32_t sum = one(i.getArgOperand(2));
    for (unsigned k = 0; k < 4; ++k) {
      const auto byte = [&](std::uint32_t word) {
        const std::uint32_t dst = fresh(ValueType::i32);
        emit(is_signed ? Opcode::bit_extract_s : Opcode::bit_extract_u, ValueType::i32, dst, word,
             constant(ValueType::i32, std::uint64_t{8} * k), constant(ValueType::i32, 8));
        return dst;
      };
      const std::uint32_t x = byte(a);
      sum = binary(Opcode::add, ValueType::i32, sum, binary(Opcode::mul, ValueType::i32, x, byte(b)));
    }
    define(i, sum);
    return true;
  }
  return false;
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

/// The mask of lanes that stand in a relation to this one.
std::uint32_t Decoder::lane_mask(StringRef relation) {
  const ValueType t = ValueType::i32;
  const std::uint32_t lane = fresh(t);
  emit(Opcode::lane_id, t, lane);
  const std::uint32_t here = binary(Opcode::shl, t, constant(t, 1), lane);
  if (relation == "eq") return here;
  const std::uint32_t below = binary(Opcode::sub, t, here, constant(t, 1));
  if (relation == "lt") return below;
  const std::uint32_t up_to = binary(Opcode::or_, t, below, here);
  if (relation == "le") return up_to;
  return binary(Opcode::xor_, t, relation == "gt" ? up_to : below, constant(t, 0xffffffff));
}

}  // namespace kernelcast::frontend
