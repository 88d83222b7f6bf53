// Arithmetic for all lanes of a warp: plain loops over rows that the compiler makes vector code of. Included once for
// each instruction set (handlers_*.cpp); everything lives in a namespace of its own so that no two versions meet.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "execute/half.h"
#include "execute/prepared.h"

#ifndef KERNELCAST_HANDLERS
#error "define KERNELCAST_HANDLERS, the namespace of this version"
#endif

namespace kernelcast::interpreter::KERNELCAST_HANDLERS {
namespace {

__extension__ using U128 = unsigned __int128;
__extension__ using S128 = __int128;

template <class T>
struct SignedOf {
  using type = std::make_signed_t<T>;
};
template <>
struct SignedOf<U128> {
  using type = S128;
};
template <class T>
using Signed = typename SignedOf<T>::type;

template <class T>
constexpr int bits_of = static_cast<int>(sizeof(T)) * 8;

template <class T>
T* row(unsigned char* file, std::uint32_t at) {
  return reinterpret_cast<T*>(file + at);
}

template <class D, class A, class F>
void unary_row(unsigned char* file, const PreparedOp& op, F f) {
  D* d = row<D>(file, op.dst);
  const A* a = row<A>(file, op.a);
  for (int g = 0; g < op.groups; ++g, d += lanes_at_once, a += lanes_at_once) {
#pragma GCC ivdep
    for (int l = 0; l < lanes_at_once; ++l) d[l] = f(a[l]);
  }
}

template <class D, class A, class F>
void binary_row(unsigned char* file, const PreparedOp& op, F f) {
  D* d = row<D>(file, op.dst);
  const A* a = row<A>(file, op.a);
  const A* b = row<A>(file, op.b);
  for (int g = 0; g < op.groups; ++g, d += lanes_at_once, a += lanes_at_once, b += lanes_at_once) {
#pragma GCC ivdep
    for (int l = 0; l < lanes_at_once; ++l) d[l] = f(a[l], b[l]);
  }
}

template <class D, class A, class F>
void ternary_row(unsigned char* file, const PreparedOp& op, F f) {
  D* d = row<D>(file, op.dst);
  const A* a = row<A>(file, op.a);
  const A* b = row<A>(file, op.b);
  const A* c = row<A>(file, op.c);
  for (int g = 0; g < op.groups; ++g) {
#pragma GCC ivdep
    for (int l = 0; l < lanes_at_once; ++l) d[l] = f(a[l], b[l], c[l]);
    d += lanes_at_once;
    a += lanes_at_once;
    b += lanes_at_once;
    c += lanes_at_once;
  }
}

// Half arithmetic goes through float, all other types stay.
template <class T>
struct Wide {
  using type = T;
};
template <>
struct Wide<Half> {
  using type = float;
};

template <class T, class W>
T narrow(W v) {
  if constexpr (std::is_same_v<T, Half>)
    return Half(v);
  else
    return static_cast<T>(v);
}

// ---- integers

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

// ---- floating point

template <class W>
W least(W a, W b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class W>
W greatest(W a, W b) {
  if (a != a) return b;
  if (b != b) return a;
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
  const bool ordered = a == a && b == b;
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

constexpr double pi = 3.141592653589793238462643383279502884;

// sin(pi x) with the argument reduced exactly.
inline double sine_of_pi(double x) {
  if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
  const double r = std::remainder(x, 2.0);
  if (r == 0 || std::fabs(r) == 1) return std::copysign(0.0, x);
  return std::sin(pi * r);
}
inline double cosine_of_pi(double x) {
  if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
  const double r = std::fabs(std::remainder(x, 2.0));
  if (r == 0.5) return 0;
  return std::cos(pi * r);
}
inline double inverse_normal(double p) {  // Newton's method on erfc; the start is Winitzki's approximation
  if (!(p > 0 && p < 1))
    return p == 0   ? -std::numeric_limits<double>::infinity()
           : p == 1 ? std::numeric_limits<double>::infinity()
                    : std::numeric_limits<double>::quiet_NaN();
  double lo = -40, hi = 40;
  for (int k = 0; k < 200; ++k) {
    const double mid = 0.5 * (lo + hi);
    (0.5 * std::erfc(-mid / std::sqrt(2.0)) < p ? lo : hi) = mid;
  }
  return 0.5 * (lo + hi);
}
inline double bessel_i(int order, double x) {
  double term = order == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; k < 500 && std::fabs(term) > 1e-18 * std::fabs(sum); ++k) {
    term *= x * x / 4 / (static_cast<double>(k) * (k + order));
    sum += term;
  }
  return sum;
}

template <class W, MathFunction f>
W function(W a, W b, W c) {
  (void)b;
  (void)c;
  const auto d = static_cast<double>(a);
  const auto e = static_cast<double>(b);
  const auto w = [](double v) { return static_cast<W>(v); };
  using M = MathFunction;
  if constexpr (f == M::sqrt) return std::sqrt(a);
  if constexpr (f == M::rsqrt) return w(1 / std::sqrt(d));
  if constexpr (f == M::cbrt) return std::cbrt(a);
  if constexpr (f == M::rcbrt) return w(1 / std::cbrt(d));
  if constexpr (f == M::reciprocal) return 1 / a;
  if constexpr (f == M::fabs) return std::fabs(a);
  if constexpr (f == M::floor) return std::floor(a);
  if constexpr (f == M::ceil) return std::ceil(a);
  if constexpr (f == M::trunc) return std::trunc(a);
  if constexpr (f == M::rint || f == M::lrint) return std::nearbyint(a);
  if constexpr (f == M::round || f == M::lround) return std::round(a);
  if constexpr (f == M::exp) return std::exp(a);
  if constexpr (f == M::exp2) return std::exp2(a);
  if constexpr (f == M::exp10) return w(std::pow(10.0, d));
  if constexpr (f == M::expm1) return std::expm1(a);
  if constexpr (f == M::log) return std::log(a);
  if constexpr (f == M::log2) return std::log2(a);
  if constexpr (f == M::log10) return std::log10(a);
  if constexpr (f == M::log1p) return std::log1p(a);
  if constexpr (f == M::logb) return std::logb(a);
  if constexpr (f == M::sin) return std::sin(a);
  if constexpr (f == M::cos) return std::cos(a);
  if constexpr (f == M::tan) return std::tan(a);
  if constexpr (f == M::sinpi) return w(sine_of_pi(d));
  if constexpr (f == M::cospi) return w(cosine_of_pi(d));
  if constexpr (f == M::tanpi) return w(sine_of_pi(d) / cosine_of_pi(d));
  if constexpr (f == M::asin) return std::asin(a);
  if constexpr (f == M::acos) return std::acos(a);
  if constexpr (f == M::atan) return std::atan(a);
  if constexpr (f == M::asinpi) return w(std::asin(d) / pi);
  if constexpr (f == M::acospi) return w(std::acos(d) / pi);
  if constexpr (f == M::atanpi) return w(std::atan(d) / pi);
  if constexpr (f == M::sinh) return std::sinh(a);
  if constexpr (f == M::cosh) return std::cosh(a);
  if constexpr (f == M::tanh) return std::tanh(a);
  if constexpr (f == M::asinh) return std::asinh(a);
  if constexpr (f == M::acosh) return std::acosh(a);
  if constexpr (f == M::atanh) return std::atanh(a);
  if constexpr (f == M::erf) return std::erf(a);
  if constexpr (f == M::erfc) return std::erfc(a);
  if constexpr (f == M::erfcx) return w(std::exp(d * d) * std::erfc(d));
  if constexpr (f == M::erfinv) return w(inverse_normal((d + 1) / 2) / std::sqrt(2.0));
  if constexpr (f == M::erfcinv) return w(-inverse_normal(d / 2) / std::sqrt(2.0));
  if constexpr (f == M::normcdf) return w(0.5 * std::erfc(-d / std::sqrt(2.0)));
  if constexpr (f == M::normcdfinv) return w(inverse_normal(d));
  if constexpr (f == M::tgamma) return std::tgamma(a);
  if constexpr (f == M::lgamma || f == M::lgamma_sign) {
    int sign = 1;
    const double g = ::lgamma_r(d, &sign);
    return f == M::lgamma ? w(g) : w(sign);
  }
  if constexpr (f == M::j0) return w(::j0(d));
  if constexpr (f == M::j1) return w(::j1(d));
  if constexpr (f == M::y0) return w(::y0(d));
  if constexpr (f == M::y1) return w(::y1(d));
  if constexpr (f == M::cyl_bessel_i0) return w(bessel_i(0, d));
  if constexpr (f == M::cyl_bessel_i1) return w(bessel_i(1, d));
  if constexpr (f == M::fraction) return std::isinf(a) ? std::copysign(W{0}, a) : std::copysign(a - std::trunc(a), a);
  if constexpr (f == M::fract) {
    const W largest = std::nextafter(W{1}, W{0});
    const W r = a - std::floor(a);
    return std::isinf(a) ? std::copysign(W{0}, a) : (r < largest || r != r) ? r : largest;
  }
  if constexpr (f == M::mantissa || f == M::exponent) {
    int n = 0;
    const W m = std::frexp(a, &n);
    return f == M::mantissa ? m : std::isfinite(a) ? static_cast<W>(n) : W{0};
  }
  if constexpr (f == M::ilogb) {
    if (a == 0 || a != a) return static_cast<W>(std::numeric_limits<int>::min());
    return std::isinf(a) ? static_cast<W>(std::numeric_limits<int>::max()) : std::logb(a);
  }
  if constexpr (f == M::atan2) return std::atan2(a, b);
  if constexpr (f == M::atan2pi) return w(std::atan2(d, e) / pi);
  if constexpr (f == M::pow || f == M::powr || f == M::pown) return std::pow(a, b);
  if constexpr (f == M::rootn) {
    const bool odd = std::fmod(e, 2.0) != 0;
    if (d < 0 && odd) return w(-std::pow(-d, 1 / e));
    return w(std::pow(d, 1 / e));
  }
  if constexpr (f == M::divide) return a / b;
  if constexpr (f == M::hypot) return std::hypot(a, b);
  if constexpr (f == M::rhypot) return w(1 / std::hypot(d, e));
  if constexpr (f == M::fmod) return std::fmod(a, b);
  if constexpr (f == M::remainder) return std::remainder(a, b);
  if constexpr (f == M::quotient) {  // the low seven bits of what remquo rounds to nearest
    const long double x = a, y = b;
    return static_cast<W>(std::fmod(std::nearbyint((x - std::remainder(x, y)) / y), 128.0L));
  }
  if constexpr (f == M::fmin) return least(a, b);
  if constexpr (f == M::fmax) return greatest(a, b);
  if constexpr (f == M::minimum) return a != a ? a : b != b ? b : least(a, b);
  if constexpr (f == M::maximum) return a != a ? a : b != b ? b : greatest(a, b);
  if constexpr (f == M::fdim) return std::fdim(a, b);
  if constexpr (f == M::copysign) return std::copysign(a, b);
  if constexpr (f == M::nextafter) return std::nextafter(a, b);
  if constexpr (f == M::norm3d) return w(std::sqrt(d * d + e * e + static_cast<double>(c) * static_cast<double>(c)));
  if constexpr (f == M::rnorm3d)
    return w(1 / std::sqrt(d * d + e * e + static_cast<double>(c) * static_cast<double>(c)));
  if constexpr (f == M::ldexp) return std::ldexp(a, static_cast<int>(std::clamp(e, -100000.0, 100000.0)));
  if constexpr (f == M::jn) return w(::jn(static_cast<int>(e), d));
  if constexpr (f == M::yn) return w(::yn(static_cast<int>(e), d));
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

// ---- conversions

template <class To, class From>
To clamped(From v) {  // C's conversion where it is defined, the nearest value otherwise, 0 for NaN: as hardware does
  if (v != v) return 0;
  constexpr From low = static_cast<From>(std::numeric_limits<To>::min());
  constexpr From high = static_cast<From>(std::numeric_limits<To>::max());
  if (v <= low) return std::numeric_limits<To>::min();
  if (v >= high) return std::numeric_limits<To>::max();
  return static_cast<To>(v);
}

// ---- tables of functions

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
#pragma GCC ivdep
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
      const std::uint64_t field = from >= 64 ? 0 : wide >> from;
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

template <class F>
Handler with_integer(ValueType t, F f) {
  switch (t) {
    case ValueType::i1:
    case ValueType::i8:
      return f(std::uint8_t{});
    case ValueType::i16:
      return f(std::uint16_t{});
    case ValueType::i32:
      return f(std::uint32_t{});
    case ValueType::i64:
      return f(std::uint64_t{});
    case ValueType::i128:
      return f(U128{});
    default:
      return nullptr;
  }
}
template <class F>
Handler with_real(ValueType t, F f) {
  switch (t) {
    case ValueType::f16:
      return f(Half{});
    case ValueType::f32:
      return f(float{});
    case ValueType::f64:
      return f(double{});
    default:
      return nullptr;
  }
}
// As bits: what only moves values.
template <class F>
Handler with_bits(ValueType t, F f) {
  switch (t) {
    case ValueType::f16:
      return f(std::uint16_t{});
    case ValueType::f32:
      return f(std::uint32_t{});
    case ValueType::f64:
      return f(std::uint64_t{});
    default:
      return with_integer(t, f);
  }
}

template <class A, class D>
void extend_unsigned(unsigned char* file, const PreparedOp& p) {
  unary_row<D, A>(file, p, [](A a) { return static_cast<D>(a); });
}
template <class A, class D>
void extend_signed(unsigned char* file, const PreparedOp& p) {
  unary_row<D, A>(file, p, [](A a) { return static_cast<D>(static_cast<Signed<D>>(static_cast<Signed<A>>(a))); });
}
template <class D>
void extend_bool(unsigned char* file, const PreparedOp& p) {
  unary_row<D, std::uint8_t>(file, p, [](std::uint8_t a) { return static_cast<D>(D{0} - static_cast<D>(a)); });
}
template <class A>
void to_bool(unsigned char* file, const PreparedOp& p) {
  unary_row<std::uint8_t, A>(file, p, [](A a) { return static_cast<std::uint8_t>(a & 1U); });
}

Handler integer_conversion(const SimtInstruction& i) {
  if (i.op == Opcode::truncate && i.to == ValueType::i1)
    return with_integer(i.type, [](auto a) -> Handler { return to_bool<decltype(a)>; });
  if (i.op == Opcode::sign_extend && i.type == ValueType::i1)
    return with_integer(i.to, [](auto d) -> Handler { return extend_bool<decltype(d)>; });
  const bool is_signed = i.op == Opcode::sign_extend;
  return with_integer(i.type, [&](auto a) -> Handler {
    using From = decltype(a);
    return with_integer(i.to, [&](auto d) -> Handler {
      if (is_signed) return extend_signed<From, decltype(d)>;
      return extend_unsigned<From, decltype(d)>;
    });
  });
}

template <class A, class D, bool is_signed>
void to_integer(unsigned char* file, const PreparedOp& p) {
  using W = typename Wide<A>::type;
  using I = std::conditional_t<is_signed, Signed<D>, D>;
  unary_row<D, A>(file, p, [](A a) { return static_cast<D>(clamped<I, W>(static_cast<W>(a))); });
}
template <class A, class D, bool is_signed>
void from_integer(unsigned char* file, const PreparedOp& p) {
  using I = std::conditional_t<is_signed, Signed<A>, A>;
  unary_row<D, A>(file, p, [](A a) {
    if constexpr (std::is_same_v<D, Half>)
      return Half(static_cast<double>(static_cast<I>(a)));
    else
      return static_cast<D>(static_cast<I>(a));
  });
}
template <class A, class D>
void real_to_real(unsigned char* file, const PreparedOp& p) {
  unary_row<D, A>(file, p, [](A a) {
    if constexpr (std::is_same_v<D, Half> && std::is_same_v<A, Half>)
      return a;
    else
      return static_cast<D>(a);
  });
}

template <bool is_signed>
Handler float_conversion(const SimtInstruction& i) {
  const bool out = i.op == Opcode::float_to_signed || i.op == Opcode::float_to_unsigned;
  return with_real(out ? i.type : i.to, [&](auto r) -> Handler {
    using Real = decltype(r);
    return with_integer(out ? i.to : i.type, [&](auto n) -> Handler {
      using Integer = decltype(n);
      if constexpr (sizeof(Integer) == 16)
        return nullptr;
      else if (out)
        return to_integer<Real, Integer, is_signed>;
      else
        return from_integer<Integer, Real, is_signed>;
    });
  });
}

template <std::size_t f>
Handler math_of(ValueType t, std::size_t wanted) {
  if constexpr (f < static_cast<std::size_t>(MathFunction::count_)) {
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
