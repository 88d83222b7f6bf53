// Floating-point operations of one lane, and clamping conversions. For handlers_impl.h alone.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kernelcast::interpreter::KERNELCAST_HANDLERS {
namespace {

template <class W>
W least(W a, W b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class W>
W greatest(W a, W b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <class W, Opcode op>
W real(W a, W b) {
  if constexpr (op == Opcode::fadd) return a + b;
  if constexpr (op == Opcode::fsub) return a - b;
  if constexpr (op == Opcode::fmul) return a * b;
  if constexpr (op == Opcode::fdiv) return a / b;
  if constexpr (op == Opcode::frem) return std::fmod(a, b);
}

template <class W, Opcode op>
std::uint8_t real_test(W a, W b) {
  const bool ordered = !std::isunordered(a, b);
  if constexpr (op == Opcode::foeq) return a == b;
  if constexpr (op == Opcode::fone) return ordered && a != b;
  if constexpr (op == Opcode::folt) return a < b;
  if constexpr (op == Opcode::fole) return a <= b;
  if constexpr (op == Opcode::fogt) return a > b;
  if constexpr (op == Opcode::foge) return a >= b;
  if constexpr (op == Opcode::ford) return ordered;
  if constexpr (op == Opcode::fueq) return !ordered || a == b;
  if constexpr (op == Opcode::fune) return a != b;
  if constexpr (op == Opcode::fult) return !(a >= b);
  if constexpr (op == Opcode::fule) return !(a > b);
  if constexpr (op == Opcode::fugt) return !(a <= b);
  if constexpr (op == Opcode::fuge) return !(a < b);
  if constexpr (op == Opcode::funo) return !ordered;
}

template <class W>
std::uint8_t is_of_class(W a, std::int64_t classes) {  // bits: LLVM Language Reference, llvm.is.fpclass
  using U = std::conditional_t<sizeof(W) == 8, std::uint64_t, std::uint32_t>;
  const bool negative = std::signbit(a);
  int bit = 0;
  switch (std::fpclassify(a)) {
    case FP_NAN:
      bit = (std::bit_cast<U>(a) >> (sizeof(W) == 8 ? 51 : 22) & 1U) != 0 ? 1 : 0;
      break;
    case FP_INFINITE:
      bit = negative ? 2 : 9;
      break;
    case FP_NORMAL:
      bit = negative ? 3 : 8;
      break;
    case FP_SUBNORMAL:
      bit = negative ? 4 : 7;
      break;
    default:
      bit = negative ? 5 : 6;
  }
  return (classes >> bit & 1) != 0;
}

template <class To, class From>
To clamped(From v) {  // C's conversion where it is defined, the nearest value otherwise, 0 for NaN: as hardware does
  if (std::isnan(v)) return 0;
  constexpr From low = static_cast<From>(std::numeric_limits<To>::min());
  constexpr From high = static_cast<From>(std::numeric_limits<To>::max());
  if (v <= low) return std::numeric_limits<To>::min();
  if (v >= high) return std::numeric_limits<To>::max();
  return static_cast<To>(v);
}

}  // namespace
}  // namespace kernelcast::interpreter::KERNELCAST_HANDLERS
