// The forms that expressions take: simplifications by name, text, errors and limits.
#include "kernelcast/expr.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "kernelcast/error.h"

namespace kernelcast {
namespace {

const Expr x = Expr::symbol("x"), y = Expr::symbol("y"), n = Expr::symbol("n"), k = Expr::symbol("K");
Expr apply(Op op, const Expr& a, const Expr& b = {}, const Expr& c = {}) { return Expr::apply(op, a, b, c); }

struct Case {
  const char* text;
  Expr e;
};

// What each expression becomes. The property tests show that it is right, these show that it is simple.
TEST(Expr, SimplestForms) {
  const Expr a = less(x, n), b = less(y, n);
  const std::vector<Case> cases = {
      {"4*K*lid.y + 4*k + min(n, 8)", 4 * k * Expr::symbol("lid.y") + 4 * Expr::symbol("k") + min(n, 8)},
      {"0", 0 * x},
      {"x", x + 0},
      {"3*x", 2 * x + x},
      {"-x*x - y", -x * x - y},
      {"x*x - y*y", (x + y) * (x - y)},
      // division
      {"3*x", floor_div(12 * x, 4)},
      {"x + 3*y + (n / K)", floor_div(x * k + 3 * k * y + n, k)},
      {"x / 4", floor_div(4 * x + 3, 16)},
      {"x / 12", floor_div(floor_div(x, 3), 4)},
      {"(n + 255) / 256", ceil_div(n, 256)},
      {"(n + 31) / 32", floor_div(n - 1, 32) + 1},
      {"-x", floor_div(x, -1)},
      {"x", floor_div(x, 1)},
      {"y", floor_div(16 * y + mod(x, 16), 16)},
      {"0", floor_div(mod(x, k), k)},
      {"ceil_div(x, y)", ceil_div(x, y)},
      {"1 / 0", floor_div(1, 0)},
      // modulo
      {"0", mod(x, 1)},
      {"x % 8", mod(mod(x, 8), 8)},
      {"x % 8", mod(mod(x, 64), 8)},
      {"x % 8", mod(mod(x, 8), 64)},
      {"4*(x % 4)", mod(4 * x, 16)},
      {"4*(x % 4) + 3", mod(4 * x + 3, 16)},
      {"x % n", mod(x + 5 * n, n)},
      {"(x + y) % n", mod(mod(x, n) + y, n)},
      // minimum, maximum
      {"min(n, x, 8)", min(min(x, 9), min(n, min(8, x)))},
      {"x", max(x, x - 1)},
      {"x", min(x, x)},
      {"x % 8", min(mod(x, 8), 7)},
      {"max(0, x)", max(x, 0)},
      // comparisons
      {"x < n", a},
      {"n <= x", logical_not(a)},
      {"x < n", logical_not(logical_not(a))},
      {"x <= y", less(x, y + 1)},
      {"x <= y", logical_not(less(y, x))},
      {"x < 2*y", less(2 * x, 4 * y)},
      {"x <= 2*y", less(2 * x, 4 * y + 1)},
      {"1", less(x, x + 1)},
      {"0", less_equal(x, x - 1)},
      {"1", less(mod(x, 8), 8)},
      {"0", equal(2 * x, 4 * y + 1)},
      {"x == 2*y", equal(4 * y, 2 * x)},
      {"x != y", logical_not(equal(y, x))},
      {"x == y", logical_not(logical_not(equal(y, x)))},
      // booleans
      {"(x < n)*(y < n)", a * b * a},
      {"max(n <= x, n <= y)", logical_not(a * b)},
      {"(x < n)*(y < n)", logical_not(logical_not(a * b))},
      {"x < n", equal(a, 1)},
      {"n <= x", less(a, 1)},
      {"n <= x", 0 + equal(1 - a, 1)},
      {"x < n", select(a, 1, 0)},
      {"n <= x", select(a, 0, 1)},
      {"(x < n)*(y < n)", select(a, b, 0)},
      {"(0 < y) ? (x / y < n) : 0", select(less(0, y), less(floor_div(x, y), n), 0)},  // not evaluated for y = 0
      // select
      {"x", select(1, x, y)},
      {"y", select(0, x, y)},
      {"x", select(n, x, x)},
      {"min(x, y)", select(less(x, y), x, y)},
      {"max(x, y)", select(less_equal(x, y), y, x)},
      // bits
      {"x % 16", apply(Op::bit_and, x, 15)},
      {"16*(x / 16)", apply(Op::bit_and, x, -16)},
      {"4*((x / 4) % 2)", apply(Op::bit_and, x, 4)},
      {"8*x", apply(Op::shift_left, x, 3)},
      {"x / 8", apply(Op::shift_right, x, 3)},
      {"x*(1 << y)", apply(Op::shift_left, x, y)},
      {"16*x + (y % 16)", apply(Op::bit_or, 16 * x, mod(y, 16))},
      {"-x - 1", apply(Op::bit_xor, x, -1)},
      {"n <= x", apply(Op::bit_xor, a, 1)},
      {"max(x < n, y < n)", apply(Op::bit_or, a, b)},
      {"11", apply(Op::bit_width, 1024)},
  };
  for (const Case& c : cases) EXPECT_EQ(c.e.str(), c.text);
}

// Rules that C programmers expect and that fail for negative numbers.
TEST(Expr, NegativeNumbersRoundDown) {
  EXPECT_EQ(floor_div(-7, 2), Expr(-4));
  EXPECT_EQ(ceil_div(-7, 2), Expr(-3));
  EXPECT_EQ(mod(-7, 4), Expr(1));
  EXPECT_EQ(mod(7, -4), Expr(-1));
  EXPECT_EQ(apply(Op::shift_right, -1, 5), Expr(-1));
  EXPECT_EQ(apply(Op::shift_right, -1, 200), Expr(-1));
  EXPECT_EQ(floor_div(x - 1, 2).evaluate({{Symbol("x"), 0}}), -1);
  EXPECT_FALSE(less(mod(x, 8), 0).constant() == 1);
  EXPECT_EQ(less(mod(x, 8), 0), Expr(0));
  EXPECT_FALSE(less_equal(0, x).constant().has_value());
  EXPECT_FALSE(apply(Op::bit_width, x).constant().has_value());
}

TEST(Expr, ErrorsOnlyWhereTheyMatter) {
  const SymbolValues zero = {{Symbol("n"), 0}, {Symbol("x"), 3}};
  EXPECT_THROW((void)floor_div(x, n).evaluate(zero), ArithmeticError);
  EXPECT_THROW((void)floor_div(1, 0).evaluate({}), ArithmeticError);
  EXPECT_EQ(select(equal(n, 0), 7, floor_div(x, n)).evaluate(zero), 7);
  EXPECT_EQ(select(n, floor_div(x, n), 7).evaluate(zero), 7);
  EXPECT_THROW((void)apply(Op::shift_left, 1, 63).evaluate({}), ArithmeticError);
  EXPECT_THROW((void)floor_div(INT64_MIN, -1).evaluate({}), ArithmeticError);
  EXPECT_EQ(floor_div(INT64_MAX, -1), Expr(-INT64_MAX));
  EXPECT_THROW((void)y.evaluate(zero), InternalError);
  try {
    (void)(x + floor_div(5, n)).evaluate(zero);
    FAIL();
  } catch (const ArithmeticError& e) {
    EXPECT_STREQ(e.what(), "division by zero in 5 / n");
  }
}

TEST(Expr, OverflowIsExact) {
  EXPECT_THROW((void)(Expr(INT64_MAX) + 1), ArithmeticError);
  EXPECT_THROW((void)(Expr(INT64_MAX) * x * 2), ArithmeticError);
  EXPECT_EQ((Expr(INT64_MAX) + x) - x, Expr(INT64_MAX));
  const Expr huge = x * x;
  EXPECT_THROW((void)huge.evaluate({{Symbol("x"), 3037000500}}), ArithmeticError);
  EXPECT_EQ(huge.evaluate({{Symbol("x"), 3037000499}}), 9223372030926249001);
  // The terms leave 64 bits, the sum does not.
  EXPECT_EQ((x * x - y * y).evaluate({{Symbol("x"), INT64_MAX}, {Symbol("y"), INT64_MAX}}), 0);
  EXPECT_EQ((x + y).evaluate({{Symbol("x"), INT64_MIN}, {Symbol("y"), INT64_MAX}}), -1);
  // Four terms of 2^126: their sum wraps to 0 even in 128 bits.
  const SymbolValues least = {
      {Symbol("x"), INT64_MIN}, {Symbol("y"), INT64_MIN}, {Symbol("n"), INT64_MIN}, {Symbol("K"), INT64_MIN}};
  EXPECT_THROW((void)(x * x + y * y + n * n + k * k).evaluate(least), ArithmeticError);
  EXPECT_THROW((void)(x * y * n * k).evaluate(least), ArithmeticError);
  // A fold beyond 64 bits.
  EXPECT_THROW((void)floor_div(apply(Op::shift_left, -300, 56), -2).evaluate({}), ArithmeticError);
}

TEST(Expr, CoefficientOfLinearForms) {
  const Symbol s("x");
  EXPECT_EQ((4 * k * x + y).coefficient(s), std::optional(4 * k));
  EXPECT_EQ((x + y * x + 3).coefficient(s), std::optional(y + 1));
  EXPECT_EQ(y.coefficient(s), std::optional(Expr(0)));
  EXPECT_EQ((x * x).coefficient(s), std::nullopt);
  EXPECT_EQ(floor_div(x, 2).coefficient(s), std::nullopt);
  EXPECT_EQ((x + min(y, 3)).coefficient(s), std::optional(Expr(1)));
  EXPECT_EQ((4 * x + 7).constant_term(), 7);
  EXPECT_EQ((4 * x).constant_term(), 0);
}

TEST(Expr, RangesAreTightOnSimpleForms) {
  const SymbolRanges box = {{Symbol("x"), {0, 31}}, {Symbol("y"), {-4, 4}}};
  const auto is = [&](const Expr& e, std::int64_t lo, std::int64_t hi) {
    const auto r = e.range(box);
    return r && r->lo == lo && r->hi == hi;
  };
  EXPECT_TRUE(is(4 * x + 3, 3, 127));
  EXPECT_TRUE(is(x - y, -4, 35));
  EXPECT_TRUE(is(y * y, 0, 16));
  EXPECT_TRUE(is(floor_div(x, 8), 0, 3));
  EXPECT_TRUE(is(mod(x, 8), 0, 7));
  EXPECT_TRUE(is(mod(x + 64, 64), 0, 31));
  EXPECT_TRUE(is(min(x, 10), 0, 10));
  EXPECT_TRUE(is(less(x, 32), 1, 1));
  EXPECT_TRUE(is(less(x, y), 0, 1));
  EXPECT_TRUE(is(select(less(x, 32), x, n), 0, 31));
  EXPECT_TRUE(is(mod(n, 8), 0, 7));
  EXPECT_TRUE(is(apply(Op::bit_width, n), 0, 63));
  EXPECT_TRUE(is(apply(Op::bit_width, n + n), 0, 64));
  EXPECT_FALSE(n.range(box).has_value());
  EXPECT_FALSE((x + n).range(box).has_value());
  EXPECT_FALSE((x * Expr(INT64_MAX)).range(box).has_value());
}

TEST(Expr, LimitsInsteadOfExplosions) {
  const auto power = [](Expr base, int times) {
    Expr product = 1;
    for (int i = 0; i < times; ++i) product = product * base;
    return product;
  };
  EXPECT_THROW((void)power(x + y + n + k + 1, 30), LimitError);
  EXPECT_THROW((void)power(x, 256), LimitError);
  EXPECT_EQ(power(x, 255).evaluate({{Symbol("x"), -1}}), -1);
  const auto nested = [](int depth) {
    Expr e = x;
    for (int i = 0; i < depth; ++i) e = apply(Op::bit_xor, e + 1, floor_div(e, n));
    return e;
  };
  EXPECT_THROW((void)nested(1000), LimitError);
  // A graph with 2^120 paths: every walk must visit each operation once.
  const Expr deep = nested(120);
  EXPECT_EQ(deep, nested(120));
  EXPECT_FALSE(deep < nested(120));
  EXPECT_LT(deep.str().size(), 20000U);
  EXPECT_EQ(deep.symbols().size(), 2U);
  EXPECT_NO_THROW((void)deep.substitute({{Symbol("x"), y + 1}}));
  EXPECT_NO_THROW((void)deep.range({{Symbol("x"), {0, 5}}, {Symbol("n"), {1, 3}}}));
  EXPECT_NO_THROW((void)deep.evaluate({{Symbol("x"), 5}, {Symbol("n"), 3}}));
}

TEST(Expr, SymbolsAreInternedAcrossThreads) {
  EXPECT_EQ(Symbol("a"), Symbol("a"));
  EXPECT_NE(Symbol("a"), Symbol("b"));
  EXPECT_EQ(Symbol("arg:N").name(), "arg:N");
  std::vector<std::thread> threads;
  std::vector<std::string> seen(4);
  for (std::size_t t = 0; t < seen.size(); ++t) {
    threads.emplace_back([t, &seen] {
      for (int i = 0; i < 2000; ++i) {
        const Symbol s("thread symbol " + std::to_string(i));
        const auto make = [&] { return floor_div(Expr(s) + static_cast<int>(t % 2), 3); };
        const Expr one = make(), two = make();  // nodes are shared between threads and released by turns
        if (s.name() != "thread symbol " + std::to_string(i) || !(one == two)) seen[t] = "wrong";
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::string& s : seen) EXPECT_EQ(s, "");
}

}  // namespace
}  // namespace kernelcast
