// Arithmetic for all lanes of a warp: plain loops over rows that the compiler makes vector code of. Included once for
// each instruction set (handlers_*.cpp), with the parts that it includes; everything lives in a namespace of its own so
// that no two versions meet.
#include <cstring>

#ifndef KERNELCAST_HANDLERS
#error "define KERNELCAST_HANDLERS, the namespace of this version"
#endif

// In this order: each uses those before it.
// clang-format off
#include "execute/handlers_rows.h"
#include "execute/handlers_integer.h"
#include "execute/handlers_real.h"
#include "execute/handlers_math.h"
#include "execute/handlers_convert.h"
// clang-format on

namespace kernelcast::interpreter::KERNELCAST_HANDLERS {
namespace {

template <class T, Opcode op>
void integer_handler(unsigned char* file, const PreparedOp& p) {
  binary_row<T, T>(file, p, [](T a, T b) { return integer<T, op>(a, b); });
}
template <class T, Opcode op>
void test_handler(unsigned char* file, const PreparedOp& p) {
  binary_row<std::uint8_t, T>(file, p, [](T a, T b) { return integer_test<T, op>(a, b); });
}
template <class T, Opcode op>
void integer_unary_handler(unsigned char* file, const PreparedOp& p) {
  unary_row<T, T>(file, p, [](T a) { return integer_unary<T, op>(a); });
}
template <class T, Opcode op>
void real_handler(unsigned char* file, const PreparedOp& p) {
  using W = typename Wide<T>::type;
  binary_row<T, T>(file, p, [](T a, T b) { return narrow<T>(real<W, op>(static_cast<W>(a), static_cast<W>(b))); });
}
template <class T, Opcode op>
void real_test_handler(unsigned char* file, const PreparedOp& p) {
  using W = typename Wide<T>::type;
  binary_row<std::uint8_t, T>(file, p, [](T a, T b) { return real_test<W, op>(static_cast<W>(a), static_cast<W>(b)); });
}
template <class T>
void negate_handler(unsigned char* file, const PreparedOp& p) {
  using U = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                               std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  unary_row<U, U>(file, p, [](U a) { return static_cast<U>(a ^ (U{1} << (sizeof(U) * 8 - 1))); });
}
template <class T>
void fma_handler(unsigned char* file, const PreparedOp& p) {
  if constexpr (std::is_same_v<T, Half>) {
    ternary_row<Half, Half>(file, p, [](Half a, Half b, Half c) {
      return Half(static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c));
    });
  } else {
    ternary_row<T, T>(file, p, [](T a, T b, T c) { return std::fma(a, b, c); });
  }
}
template <class T, MathFunction f>
void math_handler(unsigned char* file, const PreparedOp& p) {
  using W = typename Wide<T>::type;
  if constexpr (f == MathFunction::norm3d || f == MathFunction::rnorm3d) {
    ternary_row<T, T>(file, p, [](T a, T b, T c) {
      return narrow<T>(function<W, f>(static_cast<W>(a), static_cast<W>(b), static_cast<W>(c)));
    });
  } else if (arguments_of(f) == 2) {
    binary_row<T, T>(file, p,
                     [](T a, T b) { return narrow<T>(function<W, f>(static_cast<W>(a), static_cast<W>(b), W{})); });
  } else {
    unary_row<T, T>(file, p, [](T a) { return narrow<T>(function<W, f>(static_cast<W>(a), W{}, W{})); });
  }
}
template <class T>
void classify_handler(unsigned char* file, const PreparedOp& p) {
  using W = typename Wide<T>::type;
  unary_row<std::uint8_t, T>(file, p, [&](T a) { return is_of_class<W>(static_cast<W>(a), p.imm); });
}
template <class T>
void select_handler(unsigned char* file, const PreparedOp& p) {
  T* d = row<T>(file, p.dst);
  const std::uint8_t* a = row<std::uint8_t>(file, p.a);
  const T* b = row<T>(file, p.b);
  const T* c = row<T>(file, p.c);
  for (int l = 0; l < p.groups * lanes_at_once; ++l) d[l] = a[l] != 0 ? b[l] : c[l];
}
template <class T>
void address_handler(unsigned char* file, const PreparedOp& p) {
  std::int64_t* d = row<std::int64_t>(file, p.dst);
  const std::int64_t* a = row<std::int64_t>(file, p.a);
  const T* b = row<T>(file, p.b);
  const std::uint64_t scale = static_cast<std::uint64_t>(p.imm);
  for (int g = 0; g < p.groups; ++g, d += lanes_at_once, a += lanes_at_once, b += lanes_at_once) {
    KERNELCAST_INDEPENDENT
    for (int l = 0; l < lanes_at_once; ++l)
      d[l] = static_cast<std::int64_t>(static_cast<std::uint64_t>(a[l]) +
                                       static_cast<std::uint64_t>(static_cast<std::int64_t>(b[l])) * scale);
  }
}
template <class T, Opcode op>
void three_handler(unsigned char* file, const PreparedOp& p) {
  constexpr unsigned n = bits_of<T>;
  ternary_row<T, T>(file, p, [](T a, T b, T c) -> T {
    if constexpr (op == Opcode::shift_left_double || op == Opcode::shift_right_double) {
      const auto by = static_cast<unsigned>(c % n);
      if (by == 0) return op == Opcode::shift_left_double ? a : b;
      if constexpr (op == Opcode::shift_left_double) return static_cast<T>(a << by | b >> (n - by));
      return static_cast<T>(a << (n - by) | b >> by);
    } else if constexpr (op == Opcode::bit_extract_u || op == Opcode::bit_extract_s) {
      const unsigned from = static_cast<unsigned>(b) & 0xffU, count = static_cast<unsigned>(c) & 0xffU;
      if (count == 0) return 0;
      const bool is_signed = op == Opcode::bit_extract_s;
      const auto wide = is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<Signed<T>>(a)))
                                  : static_cast<std::uint64_t>(a);
      const std::uint64_t beyond = is_signed && (wide >> 63U) != 0 ? ~std::uint64_t{0} : 0;
      const std::uint64_t field = from >= 64 ? beyond : from == 0 ? wide : wide >> from | beyond << (64 - from);
      if (count >= 64) return static_cast<T>(field);
      const std::uint64_t kept = field & ((std::uint64_t{1} << count) - 1);
      if (!is_signed || (kept >> (count - 1) & 1U) == 0) return static_cast<T>(kept);
      return static_cast<T>(kept | ~((std::uint64_t{1} << count) - 1));
    } else {
      const std::uint64_t pool = static_cast<std::uint64_t>(b) << 32 | static_cast<std::uint32_t>(a);
      std::uint32_t r = 0;
      for (unsigned k = 0; k < 4; ++k) {
        const auto selector = static_cast<unsigned>(c >> (4 * k)) & 0xfU;
        auto byte = static_cast<std::uint32_t>(pool >> (8 * (selector & 7U))) & 0xffU;
        if ((selector & 8U) != 0) byte = (byte & 0x80U) != 0 ? 0xffU : 0;
        r |= byte << (8 * k);
      }
      return static_cast<T>(r);
    }
  });
}
template <class T>
void move_handler(unsigned char* file, const PreparedOp& p) {
  std::memmove(file + p.dst, file + p.a, sizeof(T) * static_cast<std::size_t>(p.groups) * lanes_at_once);
}
template <class T>
void low_bits_handler(unsigned char* file, const PreparedOp& p) {
  const T mask = static_cast<T>((static_cast<T>(1) << p.imm) - 1);
  unary_row<T, T>(file, p, [mask](T a) { return static_cast<T>(a & mask); });
}
template <class T>
void sign_from_bits_handler(unsigned char* file, const PreparedOp& p) {
  const int by = bits_of<T> - static_cast<int>(p.imm);
  unary_row<T, T>(file, p, [by](T a) { return static_cast<T>(static_cast<Signed<T>>(static_cast<T>(a << by)) >> by); });
}

template <std::size_t f>
Handler math_of(ValueType t, std::size_t wanted) {
  if constexpr (f < static_cast<std::size_t>(MathFunction::count_)) {
    if constexpr (with_library_calls || has_instructions(static_cast<MathFunction>(f)))
      if (f == wanted)
        return with_real(t, [](auto r) -> Handler { return math_handler<decltype(r), static_cast<MathFunction>(f)>; });
    return math_of<f + 1>(t, wanted);
  } else {
    return nullptr;
  }
}

}  // namespace

Handler find(const SimtInstruction& i) {
  const auto integers = [&]<Opcode op>() {
    return with_integer(i.type, [](auto t) -> Handler { return integer_handler<decltype(t), op>; });
  };
  const auto tests = [&]<Opcode op>() {
    return with_integer(i.type, [](auto t) -> Handler { return test_handler<decltype(t), op>; });
  };
  const auto bits = [&]<Opcode op>() {
    return with_integer(i.type, [](auto t) -> Handler { return integer_unary_handler<decltype(t), op>; });
  };
  const auto reals = [&]<Opcode op>() {
    return with_real(i.type, [](auto t) -> Handler { return real_handler<decltype(t), op>; });
  };
  const auto real_tests = [&]<Opcode op>() {
    return with_real(i.type, [](auto t) -> Handler { return real_test_handler<decltype(t), op>; });
  };
  const auto threes = [&]<Opcode op>() {
    return with_integer(i.type, [](auto t) -> Handler {
      if constexpr (sizeof(t) == 16)
        return nullptr;
      else
        return three_handler<decltype(t), op>;
    });
  };
#define KC_CASE(table, name) \
  case Opcode::name:         \
    return table.template operator()<Opcode::name>();
  switch (i.op) {
    // clang-format off
    KC_CASE(integers, add) KC_CASE(integers, sub) KC_CASE(integers, mul) KC_CASE(integers, udiv)
    KC_CASE(integers, sdiv) KC_CASE(integers, urem) KC_CASE(integers, srem) KC_CASE(integers, shl)
    KC_CASE(integers, lshr) KC_CASE(integers, ashr) KC_CASE(integers, and_) KC_CASE(integers, or_)
    KC_CASE(integers, xor_) KC_CASE(integers, umin) KC_CASE(integers, umax) KC_CASE(integers, smin)
    KC_CASE(integers, smax) KC_CASE(integers, uadd_sat) KC_CASE(integers, usub_sat) KC_CASE(integers, sadd_sat)
    KC_CASE(integers, ssub_sat) KC_CASE(integers, mulhi_u) KC_CASE(integers, mulhi_s) KC_CASE(tests, eq)
    KC_CASE(tests, ne) KC_CASE(tests, ult) KC_CASE(tests, ule) KC_CASE(tests, ugt) KC_CASE(tests, uge)
    KC_CASE(tests, slt) KC_CASE(tests, sle) KC_CASE(tests, sgt) KC_CASE(tests, sge) KC_CASE(tests, uadd_overflow)
    KC_CASE(tests, usub_overflow) KC_CASE(tests, umul_overflow) KC_CASE(tests, sadd_overflow)
    KC_CASE(tests, ssub_overflow) KC_CASE(tests, smul_overflow) KC_CASE(bits, popcount)
    KC_CASE(bits, count_leading_zeros) KC_CASE(bits, count_trailing_zeros) KC_CASE(bits, reverse_bits)
    KC_CASE(bits, swap_bytes) KC_CASE(reals, fadd) KC_CASE(reals, fsub) KC_CASE(reals, fmul) KC_CASE(reals, fdiv)
    KC_CASE(reals, frem) KC_CASE(real_tests, foeq) KC_CASE(real_tests, fone) KC_CASE(real_tests, folt)
    KC_CASE(real_tests, fole) KC_CASE(real_tests, fogt) KC_CASE(real_tests, foge) KC_CASE(real_tests, ford)
    KC_CASE(real_tests, fueq) KC_CASE(real_tests, fune) KC_CASE(real_tests, fult) KC_CASE(real_tests, fule)
    KC_CASE(real_tests, fugt) KC_CASE(real_tests, fuge) KC_CASE(real_tests, funo) KC_CASE(threes, shift_left_double)
    KC_CASE(threes, shift_right_double) KC_CASE(threes, bit_extract_u) KC_CASE(threes, bit_extract_s)
    KC_CASE(threes, permute_bytes)
      // clang-format on
      case Opcode::fneg:
    return with_real(i.type, [](auto t) -> Handler { return negate_handler<decltype(t)>; });
  case Opcode::fma:
    return with_real(i.type, [](auto t) -> Handler { return fma_handler<decltype(t)>; });
  case Opcode::math:
    return math_of<0>(i.type, static_cast<std::size_t>(i.imm));
  case Opcode::classify:
    return with_real(i.type, [](auto t) -> Handler { return classify_handler<decltype(t)>; });
  case Opcode::select:
    return with_bits(i.type, [](auto t) -> Handler { return select_handler<decltype(t)>; });
  case Opcode::address:
    return with_integer(i.type, [](auto t) -> Handler { return address_handler<Signed<decltype(t)>>; });
  case Opcode::move:
    return with_bits(i.type, [](auto t) -> Handler { return move_handler<decltype(t)>; });
  case Opcode::truncate:
  case Opcode::zero_extend:
  case Opcode::sign_extend:
    return integer_conversion(i);
  case Opcode::float_to_float:
    return with_real(i.type, [&](auto a) -> Handler {
      using From = decltype(a);
      return with_real(i.to, [&](auto d) -> Handler { return real_to_real<From, decltype(d)>; });
    });
  case Opcode::float_to_signed:
  case Opcode::signed_to_float:
    return float_conversion<true>(i);
  case Opcode::float_to_unsigned:
  case Opcode::unsigned_to_float:
    return float_conversion<false>(i);
  case Opcode::low_bits:
    return with_integer(i.type, [](auto t) -> Handler { return low_bits_handler<decltype(t)>; });
  case Opcode::sign_from_bits:
    return with_integer(i.type, [](auto t) -> Handler { return sign_from_bits_handler<decltype(t)>; });
    default : return nullptr;
  }
#undef KC_CASE
}

}  // namespace kernelcast::interpreter::KERNELCAST_HANDLERS
