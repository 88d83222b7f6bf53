// Intrinsics of the two target families.
#include "frontend/ir/builtins.h"
#include "frontend/program/decode_internal.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace kernelcast::frontend {

using namespace llvm;

bool Decoder::nvidia_intrinsic(IntrinsicInst& i) {
  StringRef name = i.getCalledFunction()->getName();
  if (!name.consume_front("llvm.nvvm.")) return false;
  const auto arg = [&](unsigned n) { return one(i.getArgOperand(n)); };
  if (is_read_only_load(i, /*uniform=*/true)) {
    load_from(i, i.getArgOperand(0), i.getType());
    return true;
  }
  switch (i.getIntrinsicID()) {
    case Intrinsic::nvvm_atomic_load_inc_32:
      atomic(i, AtomicOp::wrap_inc, i.getArgOperand(0), i.getArgOperand(1), nullptr);
      return true;
    case Intrinsic::nvvm_atomic_load_dec_32:
      atomic(i, AtomicOp::wrap_dec, i.getArgOperand(0), i.getArgOperand(1), nullptr);
      return true;
    case Intrinsic::nvvm_isspacep_shared:
    case Intrinsic::nvvm_isspacep_local:
    case Intrinsic::nvvm_isspacep_global: {
      const std::uint32_t window =
          binary(Opcode::lshr, ValueType::i64, arg(0), constant(ValueType::i64, interpreter::window_bits));
      const bool shared = i.getIntrinsicID() == Intrinsic::nvvm_isspacep_shared;
      if (i.getIntrinsicID() == Intrinsic::nvvm_isspacep_global)
        define(i, binary(Opcode::ult, ValueType::i64, window, constant(ValueType::i64, interpreter::parameter_window)));
      else
        define(i, binary(Opcode::eq, ValueType::i64, window,
                         constant(ValueType::i64, shared ? interpreter::shared_window : interpreter::private_window)));
      return true;
    }
    default:
      break;
  }
  if (name.starts_with("membar") || name.starts_with("fence") || name == "nanosleep") return true;
  if (name == "exit") unsupported(i, "an exit in the middle of a block");
  if (name.starts_with("ptr.") || name.starts_with("move.ptr")) {
    define(i, value(i.getArgOperand(0)));
    return true;
  }
  if (name == "bar.warp.sync" || name == "barrier.sync.aligned") {
    emit(Opcode::warp_barrier, ValueType::i32, no_register);
    return true;
  }
  if (nvidia_warp(i, name)) return true;
  return nvidia_math(i, name);
}

bool Decoder::nvidia_warp(IntrinsicInst& i, StringRef name) {
  const auto arg = [&](unsigned n) { return one(i.getArgOperand(n)); };
  const auto vote = [&](VoteOp op, std::uint32_t a, ValueType t) {
    const std::uint32_t dst = fresh(t);
    SimtInstruction& out = emit(Opcode::vote, program_.registers[a], dst, a);
    out.to = t;
    out.imm = static_cast<std::int64_t>(op);
    return dst;
  };
  if (name == "activemask") {
    const std::uint32_t dst = result(i);
    emit(Opcode::active_mask, program_.registers[dst], dst);
    return true;
  }
  if (name.starts_with("vote.")) {
    const unsigned at = name.ends_with(".sync") ? 1 : 0;
    const VoteOp op = name.contains(".all")   ? VoteOp::all
                      : name.contains(".any") ? VoteOp::any
                      : name.contains(".uni") ? VoteOp::uniform
                                              : VoteOp::ballot;
    define(i, vote(op, arg(at), type_of(i.getType())));
    return true;
  }
  if (name.starts_with("match.any.sync")) {
    define(i, vote(VoteOp::match_any, arg(1), ValueType::i32));
    return true;
  }
  if (name.starts_with("match.all.sync")) {
    const std::uint32_t mask = vote(VoteOp::match_all, arg(1), ValueType::i32);
    define(i, Slots{{mask, binary(Opcode::ne, ValueType::i32, mask, constant(ValueType::i32, 0))}, 0});
    return true;
  }
  if (name.starts_with("shfl.")) {
    const unsigned at = name.contains("sync") ? 1 : 0;
    const ShuffleOp op = name.contains(".up.")     ? ShuffleOp::up
                         : name.contains(".down.") ? ShuffleOp::down
                         : name.contains(".bfly.") ? ShuffleOp::butterfly
                                                   : ShuffleOp::index;
    const std::uint32_t a = arg(at), b = arg(at + 1), c = arg(at + 2);
    const std::uint32_t dst = fresh(program_.registers[a]);
    const bool flag = i.getType()->isStructTy();
    const std::uint32_t good = flag ? fresh(ValueType::i1) : no_register;
    SimtInstruction& out = emit(Opcode::shuffle, program_.registers[a], dst, a, b, c);
    out.imm = static_cast<std::int64_t>(op);
    out.dst2 = good;
    define(i, flag ? Slots{{dst, good}, 0} : Slots{{dst}, 0});
    return true;
  }
  if (name.consume_front("redux.sync.")) {
    static const std::map<std::string, AtomicOp> operations = {
        {"add", AtomicOp::add},   {"min", AtomicOp::smin}, {"max", AtomicOp::smax}, {"umin", AtomicOp::umin},
        {"umax", AtomicOp::umax}, {"and", AtomicOp::and_}, {"or", AtomicOp::or_},   {"xor", AtomicOp::xor_}};
    const auto op = operations.find(name.str());
    if (op == operations.end()) return false;
    const std::uint32_t a = arg(0);
    const std::uint32_t dst = fresh(ValueType::i32);
    emit(Opcode::reduce, ValueType::i32, dst, a).imm = static_cast<std::int64_t>(op->second);
    define(i, dst);
    return true;
  }
  if (!name.consume_front("read.ptx.sreg.")) return false;
  if (name == "laneid" || name.starts_with("clock") || name == "globaltimer") {
    const std::uint32_t dst = result(i);
    emit(name == "laneid" ? Opcode::lane_id : Opcode::clock, program_.registers[dst], dst);
  } else if (name.consume_front("lanemask.")) {
    define(i, lane_mask(name));
  } else if (name == "warpsize") {
    define(i, constant(ValueType::i32, 32));
  } else if (name == "smid" || name == "gridid" || name.ends_with(".w")) {
    define(i, constant(ValueType::i32, 0));
  } else {
    return false;
  }
  return true;
}

bool Decoder::nvidia_math(IntrinsicInst& i, StringRef name) {
  const auto arg = [&](unsigned n) { return one(i.getArgOperand(n)); };
  const auto unary = [&](MathFunction f) {
    const std::uint32_t a = arg(0);
    define(i, math(f, program_.registers[a], a));
    return true;
  };
  const auto binary_math = [&](MathFunction f) {
    const std::uint32_t a = arg(0), b = arg(1);
    define(i, math(f, program_.registers[a], a, b));
    return true;
  };
  const auto two = [&](Opcode op) {
    const std::uint32_t a = arg(0), b = arg(1);
    define(i, binary(op, program_.registers[a], a, b));
    return true;
  };
  const StringRef family = name.split('.').first;
  const bool half2 = name.ends_with("16x2");
  if (half2) return false;
  if (family == "sqrt") return unary(MathFunction::sqrt);
  if (family == "rsqrt") return unary(MathFunction::rsqrt);
  if (family == "rcp") return unary(MathFunction::reciprocal);
  if (family == "ex2") return unary(MathFunction::exp2);
  if (family == "lg2") return unary(MathFunction::log2);
  if (family == "sin") return unary(MathFunction::sin);
  if (family == "cos") return unary(MathFunction::cos);
  if (family == "tanh") return unary(MathFunction::tanh);
  if (family == "fabs") return unary(MathFunction::fabs);
  if (family == "floor") return unary(MathFunction::floor);
  if (family == "ceil") return unary(MathFunction::ceil);
  if (family == "trunc") return unary(MathFunction::trunc);
  if (family == "round") return unary(MathFunction::rint);
  if (family == "div") return two(Opcode::fdiv);
  if (family == "mul") return two(Opcode::fmul);
  if (family == "add") return two(Opcode::fadd);
  if (family == "fmin") return binary_math(MathFunction::fmin);
  if (family == "fmax") return binary_math(MathFunction::fmax);
  if (family == "fma") {
    const std::uint32_t a = arg(0), b = arg(1), c = arg(2), dst = fresh(program_.registers[a]);
    emit(Opcode::fma, program_.registers[a], dst, a, b, c);
    define(i, dst);
    return true;
  }
  if (family == "saturate") {
    const std::uint32_t a = arg(0);
    const ValueType t = program_.registers[a];
    const std::uint64_t one_bits = t == ValueType::f64 ? 0x3ff0000000000000 : 0x3f800000;
    define(i, math(MathFunction::fmin, t, math(MathFunction::fmax, t, a, constant(t, 0)), constant(t, one_bits)));
    return true;
  }
  if (family == "mulhi") return two(name.contains("u") ? Opcode::mulhi_u : Opcode::mulhi_s);
  if (family == "prmt") {
    const std::uint32_t a = arg(0), b = arg(1), c = arg(2), dst = fresh(ValueType::i32);
    emit(Opcode::permute_bytes, ValueType::i32, dst, a, b, c);
    define(i, dst);
    return true;
  }
  if (family == "bitcast" || family == "move") {
    const std::uint32_t a = arg(0), dst = fresh(type_of(i.getType()));
    emit(Opcode::move, program_.registers[a], dst, a).to = type_of(i.getType());
    define(i, dst);
    return true;
  }
  if (name == "d2i.hi" || name == "d2i.lo") {
    const std::uint32_t bits = fresh(ValueType::i64);
    emit(Opcode::move, ValueType::f64, bits, arg(0)).to = ValueType::i64;
    const std::uint32_t part =
        name == "d2i.lo" ? bits : binary(Opcode::lshr, ValueType::i64, bits, constant(ValueType::i64, 32));
    define(i, convert(Opcode::truncate, ValueType::i64, ValueType::i32, part));
    return true;
  }
  if (name == "lohi.i2d") {
    const std::uint32_t low = convert(Opcode::zero_extend, ValueType::i32, ValueType::i64, arg(0));
    const std::uint32_t high = convert(Opcode::zero_extend, ValueType::i32, ValueType::i64, arg(1));
    const std::uint32_t all = binary(Opcode::or_, ValueType::i64, low,
                                     binary(Opcode::shl, ValueType::i64, high, constant(ValueType::i64, 32)));
    const std::uint32_t dst = fresh(ValueType::f64);
    emit(Opcode::move, ValueType::i64, dst, all).to = ValueType::f64;
    define(i, dst);
    return true;
  }
  // f2i.rn, d2ull.rz, ui2f.rn ...: from, "2", to, rounding.
  const auto [from, to] = family.split('2');
  static const StringRef known[] = {"f", "d", "i", "ui", "ll", "ull"};
  if (std::find(std::begin(known), std::end(known), from) == std::end(known) ||
      std::find(std::begin(known), std::end(known), to) == std::end(known))
    return false;
  std::uint32_t a = arg(0);
  const ValueType f = program_.registers[a], t = type_of(i.getType());
  if (is_float(f) && is_float(t)) {
    define(i, convert(Opcode::float_to_float, f, t, a));
  } else if (is_float(f)) {
    if (name.contains(".rn")) a = math(MathFunction::rint, f, a);
    if (name.contains(".rm")) a = math(MathFunction::floor, f, a);
    if (name.contains(".rp")) a = math(MathFunction::ceil, f, a);
    define(i, convert(to.starts_with("u") ? Opcode::float_to_unsigned : Opcode::float_to_signed, f, t, a));
  } else {
    define(i, convert(from.starts_with("u") ? Opcode::unsigned_to_float : Opcode::signed_to_float, f, t, a));
  }
  return true;
}

bool Decoder::amd_intrinsic(IntrinsicInst& i) {
  const auto arg = [&](unsigned n) { return one(i.getArgOperand(n)); };
  const auto immediate = [&](unsigned n) {
    return static_cast<std::int64_t>(llvm::cast<ConstantInt>(i.getArgOperand(n))->getZExtValue());
  };
  const auto unary = [&](MathFunction f) {
    const std::uint32_t a = arg(0);
    define(i, math(f, program_.registers[a], a));
    return true;
  };
  const auto permute = [&](PermuteOp op, std::uint32_t a, std::uint32_t b, std::int64_t more) {
    const std::uint32_t dst = fresh(program_.registers[a]);
    SimtInstruction& out = emit(Opcode::permute_lanes, program_.registers[a], dst, a, b);
    out.imm = static_cast<std::int64_t>(op) | more << 8;
    define(i, dst);
    return true;
  };
  const auto vote = [&](std::uint32_t predicate) {
    const std::uint32_t dst = fresh(type_of(i.getType()));
    SimtInstruction& out = emit(Opcode::vote, ValueType::i1, dst, predicate);
    out.to = type_of(i.getType());
    out.imm = static_cast<std::int64_t>(VoteOp::ballot);
    define(i, dst);
    return true;
  };
  const auto three = [&](Opcode op) {
    const std::uint32_t a = arg(0), b = arg(1), c = arg(2), dst = fresh(program_.registers[a]);
    emit(op, program_.registers[a], dst, a, b, c);
    define(i, dst);
    return true;
  };
  switch (i.getIntrinsicID()) {
    case Intrinsic::amdgcn_wave_barrier:
    case Intrinsic::amdgcn_sched_barrier:
    case Intrinsic::amdgcn_s_waitcnt:
    case Intrinsic::amdgcn_s_sleep:
    case Intrinsic::amdgcn_s_setprio:
      return true;
    case Intrinsic::amdgcn_dispatch_ptr:
    case Intrinsic::amdgcn_implicitarg_ptr:
    case Intrinsic::amdgcn_kernarg_segment_ptr:
      define(i, constant(ValueType::i64, 0));  // only loads that id_value() knows use them
      return true;
    case Intrinsic::amdgcn_wavefrontsize:
      define(i,
             constant(
                 ValueType::i32,
                 kernel_.getFnAttribute("target-features").getValueAsString().contains("+wavefrontsize32") ? 32 : 64));
      return true;
    case Intrinsic::amdgcn_ballot:
      return vote(arg(0));
    case Intrinsic::amdgcn_icmp:
    case Intrinsic::amdgcn_fcmp: {
      const std::uint32_t a = arg(0), b = arg(1);
      const auto predicate = static_cast<CmpInst::Predicate>(immediate(2));
      if (predicate == CmpInst::ICMP_NE) return vote(binary(Opcode::ne, program_.registers[a], a, b));
      if (predicate == CmpInst::ICMP_EQ) return vote(binary(Opcode::eq, program_.registers[a], a, b));
      return false;
    }
    case Intrinsic::amdgcn_mbcnt_lo: {
      const std::uint32_t a = arg(0);
      return permute(PermuteOp::mbcnt_low, a, arg(1), 0);
    }
    case Intrinsic::amdgcn_mbcnt_hi: {
      const std::uint32_t a = arg(0);
      return permute(PermuteOp::mbcnt_high, a, arg(1), 0);
    }
    case Intrinsic::amdgcn_ds_bpermute: {
      const std::uint32_t selector = arg(0);
      return permute(PermuteOp::bpermute, arg(1), selector, 0);
    }
    case Intrinsic::amdgcn_ds_permute: {
      const std::uint32_t selector = arg(0);
      return permute(PermuteOp::permute, arg(1), selector, 0);
    }
    case Intrinsic::amdgcn_ds_swizzle:
      return permute(PermuteOp::swizzle, arg(0), no_register, immediate(1));
    case Intrinsic::amdgcn_readfirstlane:
      return permute(PermuteOp::read_first_lane, arg(0), no_register, 0);
    case Intrinsic::amdgcn_readlane: {
      const std::uint32_t a = arg(0);
      return permute(PermuteOp::read_lane, a, arg(1), 0);
    }
    case Intrinsic::amdgcn_sqrt:
      return unary(MathFunction::sqrt);
    case Intrinsic::amdgcn_rsq:
      return unary(MathFunction::rsqrt);
    case Intrinsic::amdgcn_rcp:
      return unary(MathFunction::reciprocal);
    case Intrinsic::amdgcn_exp2:
      return unary(MathFunction::exp2);
    case Intrinsic::amdgcn_log:
      return unary(MathFunction::log2);
    case Intrinsic::amdgcn_fract:
      return unary(MathFunction::fract);
    case Intrinsic::amdgcn_frexp_mant:
      return unary(MathFunction::mantissa);
    case Intrinsic::amdgcn_frexp_exp: {
      const std::uint32_t a = arg(0);
      const ValueType t = program_.registers[a];
      define(i, convert(Opcode::float_to_signed, t, type_of(i.getType()), math(MathFunction::exponent, t, a)));
      return true;
    }
    case Intrinsic::amdgcn_sin:
    case Intrinsic::amdgcn_cos: {  // of revolutions
      const std::uint32_t a = arg(0);
      const ValueType t = program_.registers[a];
      const std::uint64_t two = t == ValueType::f64 ? 0x4000000000000000 : t == ValueType::f32 ? 0x40000000 : 0x4000;
      const std::uint32_t half_turns = binary(Opcode::fmul, t, a, constant(t, two));
      define(i, math(i.getIntrinsicID() == Intrinsic::amdgcn_sin ? MathFunction::sinpi : MathFunction::cospi, t,
                     half_turns));
      return true;
    }
    case Intrinsic::amdgcn_fmed3: {
      const std::uint32_t a = arg(0), b = arg(1), c = arg(2);
      const ValueType t = program_.registers[a];
      const std::uint32_t low = math(MathFunction::fmin, t, a, b), high = math(MathFunction::fmax, t, a, b);
      define(i, math(MathFunction::fmax, t, low, math(MathFunction::fmin, t, high, c)));
      return true;
    }
    case Intrinsic::amdgcn_ubfe:
      return three(Opcode::bit_extract_u);
    case Intrinsic::amdgcn_sbfe:
      return three(Opcode::bit_extract_s);
    case Intrinsic::amdgcn_mul_u24:
    case Intrinsic::amdgcn_mul_i24: {
      const bool is_signed = i.getIntrinsicID() == Intrinsic::amdgcn_mul_i24;
      const auto low = [&](std::uint32_t reg) {
        const std::uint32_t dst = fresh(ValueType::i32);
        emit(is_signed ? Opcode::sign_from_bits : Opcode::low_bits, ValueType::i32, dst, reg).imm = 24;
        return dst;
      };
      const std::uint32_t a = low(arg(0));
      define(i, binary(Opcode::mul, ValueType::i32, a, low(arg(1))));
      return true;
    }
    case Intrinsic::amdgcn_s_memtime:
    case Intrinsic::amdgcn_s_memrealtime: {
      const std::uint32_t dst = result(i);
      emit(Opcode::clock, ValueType::i64, dst);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace kernelcast::frontend
