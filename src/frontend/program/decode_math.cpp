// Mathematical functions by name, also those that return more through pointers.
#include "frontend/program/decode_internal.h"

namespace kernelcast::frontend {

using namespace llvm;

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

}  // namespace kernelcast::frontend
