// Quantities that carry their unit and the group of threads that they count for. Adding a per-thread to a
// per-warp count, or cycles to seconds, does not compile; going from one to the other takes a named ratio.
#pragma once

#include <compare>

namespace kernelcast {

namespace unit {
struct Cycle {};
struct Second {};
struct Byte {};
struct Hertz {};
struct Joule {};
struct Operation {};    // executed operations of any class
struct Transaction {};  // memory transactions of any size
}  // namespace unit

namespace per {
struct Thread {};
struct Warp {};
struct Block {};
struct Grid {};  // the whole launch
struct None {};  // a plain quantity, such as a clock rate
}  // namespace per

/// A number of `Unit` for each `Per`. Plain double inside; zero-initialised.
template <class Unit, class Per>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) : value_(value) {}
  [[nodiscard]] constexpr double value() const { return value_; }

  constexpr Quantity& operator+=(Quantity other) { value_ += other.value_; return *this; }
  constexpr Quantity& operator-=(Quantity other) { value_ -= other.value_; return *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value_ + b.value_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value_ - b.value_); }
  friend constexpr Quantity operator*(Quantity a, double k) { return Quantity(a.value_ * k); }
  friend constexpr Quantity operator*(double k, Quantity a) { return Quantity(a.value_ * k); }
  friend constexpr Quantity operator/(Quantity a, double k) { return Quantity(a.value_ / k); }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }
  friend constexpr auto operator<=>(Quantity a, Quantity b) = default;

 private:
  double value_ = 0;
};

template <class Per> using Cycles = Quantity<unit::Cycle, Per>;
template <class Per> using Operations = Quantity<unit::Operation, Per>;
template <class Per> using Transactions = Quantity<unit::Transaction, Per>;
template <class Per> using BytesPer = Quantity<unit::Byte, Per>;
using Seconds = Quantity<unit::Second, per::Grid>;
using Bytes = Quantity<unit::Byte, per::Grid>;
using Joules = Quantity<unit::Joule, per::Grid>;
using Hertz = Quantity<unit::Hertz, per::None>;

/// How many `Inner` there are in one `Outer`: threads per warp, warps per block, blocks per grid.
template <class Inner, class Outer>
class Ratio {
 public:
  constexpr explicit Ratio(double value) : value_(value) {}
  [[nodiscard]] constexpr double value() const { return value_; }

 private:
  double value_;
};

/// Counts of the inner group times inner groups in an outer one are counts of the outer group.
template <class Unit, class Inner, class Outer>
constexpr Quantity<Unit, Outer> operator*(Quantity<Unit, Inner> q, Ratio<Inner, Outer> r) {
  return Quantity<Unit, Outer>(q.value() * r.value());
}
template <class Unit, class Inner, class Outer>
constexpr Quantity<Unit, Inner> operator/(Quantity<Unit, Outer> q, Ratio<Inner, Outer> r) {
  return Quantity<Unit, Inner>(q.value() / r.value());
}
template <class A, class B, class C>
constexpr Ratio<A, C> operator*(Ratio<A, B> inner, Ratio<B, C> outer) {
  return Ratio<A, C>(inner.value() * outer.value());
}

/// Cycles of a whole launch at a clock are seconds.
constexpr Seconds operator/(Cycles<per::Grid> c, Hertz f) { return Seconds(c.value() / f.value()); }

}  // namespace kernelcast
