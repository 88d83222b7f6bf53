// Integer operations of one lane. For handlers_impl.h alone.
#include <bit>
#include <cstdint>
#include <type_traits>

namespace kernelcast::interpreter::KERNELCAST_HANDLERS {
namespace {

template <class T, Opcode op>
T integer(T a, T b) {
  using S = Signed<T>;
  constexpr int n = bits_of<T>;
  const auto s = [](T v) { return static_cast<S>(v); };
  // Operands narrower than int would be promoted to a signed type: compute in unsigned of at least that width.
  using P = std::conditional_t<(sizeof(T) < 4), unsigned, T>;
  const P x = a, y = b;
  if constexpr (op == Opcode::add) return static_cast<T>(x + y);
  if constexpr (op == Opcode::sub) return static_cast<T>(x - y);
  if constexpr (op == Opcode::mul) return static_cast<T>(x * y);
  if constexpr (op == Opcode::udiv) return b == 0 ? static_cast<T>(~T{0}) : static_cast<T>(a / b);
  if constexpr (op == Opcode::urem) return b == 0 ? a : static_cast<T>(a % b);
  if constexpr (op == Opcode::sdiv) {
    if (b == 0) return static_cast<T>(~T{0});
    return s(b) == -1 ? static_cast<T>(P{0} - x) : static_cast<T>(s(a) / s(b));
  }
  if constexpr (op == Opcode::srem) {
    if (b == 0) return a;
    return s(b) == -1 ? T{0} : static_cast<T>(s(a) % s(b));
  }
  // Shifts by the width or more are poison in LLVM; the hardware gives 0 or the sign, or wraps: here as if wrapped.
  if constexpr (op == Opcode::shl) return static_cast<T>(x << (y & P(n - 1)));
  if constexpr (op == Opcode::lshr) return static_cast<T>(x >> (y & P(n - 1)));
  if constexpr (op == Opcode::ashr) return static_cast<T>(s(a) >> static_cast<int>(y & P(n - 1)));
  if constexpr (op == Opcode::and_) return static_cast<T>(x & y);
  if constexpr (op == Opcode::or_) return static_cast<T>(x | y);
  if constexpr (op == Opcode::xor_) return static_cast<T>(x ^ y);
  if constexpr (op == Opcode::umin) return a < b ? a : b;
  if constexpr (op == Opcode::umax) return a > b ? a : b;
  if constexpr (op == Opcode::smin) return s(a) < s(b) ? a : b;
  if constexpr (op == Opcode::smax) return s(a) > s(b) ? a : b;
  if constexpr (op == Opcode::uadd_sat) {
    const T sum = static_cast<T>(x + y);
    return sum < a ? static_cast<T>(~T{0}) : sum;
  }
  if constexpr (op == Opcode::usub_sat) return a < b ? T{0} : static_cast<T>(x - y);
  constexpr T top = static_cast<T>(static_cast<T>(1) << (n - 1));
  if constexpr (op == Opcode::sadd_sat) {
    const T sum = static_cast<T>(x + y);
    const bool over = ((a ^ sum) & (b ^ sum) & top) != 0;
    return over ? ((a & top) != 0 ? top : static_cast<T>(~top)) : sum;
  }
  if constexpr (op == Opcode::ssub_sat) {
    const T difference = static_cast<T>(x - y);
    const bool over = ((a ^ b) & (a ^ difference) & top) != 0;
    return over ? ((a & top) != 0 ? top : static_cast<T>(~top)) : difference;
  }
  if constexpr (op == Opcode::mulhi_u || op == Opcode::mulhi_s) {
    if constexpr (sizeof(T) <= 4) {
      using W = std::conditional_t<op == Opcode::mulhi_u, std::uint64_t, std::int64_t>;
      const W p =
          op == Opcode::mulhi_u ? static_cast<W>(a) * static_cast<W>(b) : static_cast<W>(s(a)) * static_cast<W>(s(b));
      return static_cast<T>(p >> n);
    } else if constexpr (sizeof(T) == 8) {
      if constexpr (op == Opcode::mulhi_u) return static_cast<T>((static_cast<U128>(a) * b) >> 64);
      return static_cast<T>((static_cast<S128>(s(a)) * s(b)) >> 64);
    } else {
      return 0;  // no such operation
    }
  }
}

template <class T, Opcode op>
std::uint8_t integer_test(T a, T b) {
  using S = Signed<T>;
  const S s = static_cast<S>(a), t = static_cast<S>(b);
  if constexpr (op == Opcode::eq) return a == b;
  if constexpr (op == Opcode::ne) return a != b;
  if constexpr (op == Opcode::ult) return a < b;
  if constexpr (op == Opcode::ule) return a <= b;
  if constexpr (op == Opcode::ugt) return a > b;
  if constexpr (op == Opcode::uge) return a >= b;
  if constexpr (op == Opcode::slt) return s < t;
  if constexpr (op == Opcode::sle) return s <= t;
  if constexpr (op == Opcode::sgt) return s > t;
  if constexpr (op == Opcode::sge) return s >= t;
  T u;
  S v;
  if constexpr (op == Opcode::uadd_overflow) return __builtin_add_overflow(a, b, &u);
  if constexpr (op == Opcode::usub_overflow) return __builtin_sub_overflow(a, b, &u);
  if constexpr (op == Opcode::umul_overflow) return __builtin_mul_overflow(a, b, &u);
  if constexpr (op == Opcode::sadd_overflow) return __builtin_add_overflow(s, t, &v);
  if constexpr (op == Opcode::ssub_overflow) return __builtin_sub_overflow(s, t, &v);
  if constexpr (op == Opcode::smul_overflow) return __builtin_mul_overflow(s, t, &v);
}

template <class T, Opcode op>
T integer_unary(T a) {
  constexpr int n = bits_of<T>;
  if constexpr (sizeof(T) == 16) {
    const auto low = static_cast<std::uint64_t>(a), high = static_cast<std::uint64_t>(a >> 64);
    if constexpr (op == Opcode::popcount) return static_cast<T>(std::popcount(low) + std::popcount(high));
    return 0;  // rejected when decoding: no kernel has it
  } else {
    if constexpr (op == Opcode::popcount) return static_cast<T>(std::popcount(a));
    if constexpr (op == Opcode::count_leading_zeros) return static_cast<T>(std::countl_zero(a));
    if constexpr (op == Opcode::count_trailing_zeros) return static_cast<T>(std::countr_zero(a));
    if constexpr (op == Opcode::reverse_bits) {
      T r = 0;
      for (int k = 0; k < n; ++k) r = static_cast<T>(r | static_cast<T>(((a >> k) & 1U)) << (n - 1 - k));
      return r;
    }
    if constexpr (op == Opcode::swap_bytes) {
      T r = 0;
      for (int k = 0; k < n; k += 8) r = static_cast<T>(r | static_cast<T>((a >> k) & 0xffU) << (n - 8 - k));
      return r;
    }
  }
}

}  // namespace
}  // namespace kernelcast::interpreter::KERNELCAST_HANDLERS
