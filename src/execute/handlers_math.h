// Mathematical functions of one lane. For handlers_impl.h alone.
#include <algorithm>
#include <cmath>
#include <limits>

namespace kernelcast::interpreter::KERNELCAST_HANDLERS {
namespace {

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

// Functions that are vector code. The others are calls, a lane at a time, and stand in one version only (base).
constexpr bool has_instructions(MathFunction f) {
  using M = MathFunction;
  for (const M one :
       {M::sqrt, M::rsqrt, M::reciprocal, M::fabs, M::floor, M::ceil, M::trunc, M::rint, M::lrint, M::fraction,
        M::fract, M::divide, M::fmin, M::fmax, M::minimum, M::maximum, M::copysign, M::norm3d, M::rnorm3d})
    if (f == one) return true;
  return false;
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
    return std::isinf(a) ? std::copysign(W{0}, a) : (r < largest || std::isnan(r)) ? r : largest;
  }
  if constexpr (f == M::mantissa || f == M::exponent) {
    int n = 0;
    const W m = std::frexp(a, &n);
    return f == M::mantissa ? m : std::isfinite(a) ? static_cast<W>(n) : W{0};
  }
  if constexpr (f == M::ilogb) {
    if (a == 0 || std::isnan(a)) return static_cast<W>(std::numeric_limits<int>::min());
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
  if constexpr (f == M::minimum) return std::isnan(a) ? a : std::isnan(b) ? b : least(a, b);
  if constexpr (f == M::maximum) return std::isnan(a) ? a : std::isnan(b) ? b : greatest(a, b);
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

}  // namespace
}  // namespace kernelcast::interpreter::KERNELCAST_HANDLERS
