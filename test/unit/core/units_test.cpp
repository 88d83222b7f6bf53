// Quantities: what adds, what converts, and above all what does not compile.
#include "kernelcast/units.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace kernelcast {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) { a + b; };
template <class A, class B>
concept Subtractable = requires(A a, B b) { a - b; };
template <class A, class B>
concept AddAssignable = requires(A a, B b) { a += b; };
template <class A, class B>
concept Comparable = requires(A a, B b) { a < b; };
template <class A, class B>
concept EqualityComparable = requires(A a, B b) { a == b; };
template <class A, class B>
concept Multipliable = requires(A a, B b) { a* b; };
template <class A, class B>
concept Divisible = requires(A a, B b) { a / b; };

using WarpsPerBlock = Ratio<per::Warp, per::Block>;
using ThreadsPerWarp = Ratio<per::Thread, per::Warp>;

// The same unit and group: everything.
static_assert(Addable<Operations<per::Thread>, Operations<per::Thread>>);
static_assert(Comparable<Cycles<per::Warp>, Cycles<per::Warp>>);
static_assert(EqualityComparable<Seconds, Seconds>);

// Different groups: nothing.
static_assert(!Addable<Operations<per::Thread>, Operations<per::Warp>>);
static_assert(!Subtractable<Operations<per::Block>, Operations<per::Warp>>);
static_assert(!AddAssignable<Cycles<per::Grid>&, Cycles<per::Block>>);
static_assert(!Comparable<Transactions<per::Thread>, Transactions<per::Warp>>);
static_assert(!EqualityComparable<BytesPer<per::Thread>, Bytes>);
static_assert(!Divisible<Operations<per::Thread>, Operations<per::Warp>>);

// Different units: nothing, except a launch's cycles over a clock.
static_assert(!Addable<Cycles<per::Grid>, Seconds>);
static_assert(!Addable<Bytes, Operations<per::Grid>>);
static_assert(!Comparable<Cycles<per::Grid>, Seconds>);
static_assert(!Divisible<Cycles<per::Warp>, Hertz>);
static_assert(!Divisible<Hertz, Cycles<per::Grid>>);
static_assert(std::is_same_v<decltype(Cycles<per::Grid>{} / Hertz{}), Seconds>);

// Plain numbers scale, and are not quantities.
static_assert(!Addable<Seconds, double>);
static_assert(!std::is_convertible_v<double, Seconds>);
static_assert(!std::is_convertible_v<Seconds, double>);
static_assert(!Comparable<Seconds, double>);
static_assert(!Multipliable<Seconds, Seconds>);
static_assert(!Divisible<double, Seconds>);

// One group into another takes the ratio of just these groups, in the right direction.
static_assert(std::is_same_v<decltype(Operations<per::Warp>{} * WarpsPerBlock{1}), Operations<per::Block>>);
static_assert(std::is_same_v<decltype(Operations<per::Block>{} / WarpsPerBlock{1}), Operations<per::Warp>>);
static_assert(!Multipliable<Operations<per::Thread>, WarpsPerBlock>);
static_assert(!Multipliable<Operations<per::Block>, WarpsPerBlock>);
static_assert(!Divisible<Operations<per::Warp>, WarpsPerBlock>);
static_assert(std::is_same_v<decltype(ThreadsPerWarp{32} * WarpsPerBlock{8}), Ratio<per::Thread, per::Block>>);
static_assert(!Multipliable<WarpsPerBlock, ThreadsPerWarp>);
static_assert(!std::is_convertible_v<double, WarpsPerBlock>);

TEST(Units, ArithmeticIsThatOfDoubles) {
  constexpr Operations<per::Warp> a(3), b(4);
  static_assert((a + b).value() == 7);
  static_assert((b - a).value() == 1);
  static_assert((2.0 * a).value() == 6 && (a * 2.0).value() == 6 && (a / 2.0).value() == 1.5);
  static_assert(b / a == 4.0 / 3.0);
  static_assert(a < b && a == Operations<per::Warp>(3));
  Operations<per::Warp> sum;
  sum += a;
  sum += b;
  sum -= Operations<per::Warp>(1);
  EXPECT_EQ(sum.value(), 6);
}

TEST(Units, RatiosConvertGroups) {
  const Ratio<per::Thread, per::Warp> lanes(32);
  const Ratio<per::Warp, per::Block> warps(8);
  EXPECT_EQ((Operations<per::Thread>(2) * lanes).value(), 64);
  EXPECT_EQ((Operations<per::Thread>(2) * (lanes * warps)).value(), 512);
  EXPECT_EQ((Operations<per::Block>(512) / warps).value(), 64);
  EXPECT_DOUBLE_EQ((Cycles<per::Grid>(1.3e9) / Hertz(1.3e9)).value(), 1.0);
}

}  // namespace
}  // namespace kernelcast
