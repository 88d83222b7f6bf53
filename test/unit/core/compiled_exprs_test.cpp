// What the random tests of compiled expressions do not aim at: sharing, errors, scratch, edges of lanes and divisors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <vector>

#include "core/compiled_code.h"
#include "core/int_math.h"
#include "kernelcast/error.h"
#include "kernelcast/expr.h"

namespace kernelcast::compiled_exprs_test {
namespace {

const Expr x = Expr::symbol("x"), n = Expr::symbol("n");
const std::vector<Symbol> inputs = {Symbol("x"), Symbol("n")};

std::int64_t value(const CompiledExprs& code, std::int64_t vx, std::int64_t vn) {
  std::vector<std::int64_t> scratch = {99, 98};  // contents do not matter
  const std::array<std::int64_t, 2> in = {vx, vn};
  std::int64_t out = 0;
  code.evaluate(in, std::span(&out, 1), scratch);
  return out;
}

CompiledExprs compile(const Expr& e) { return {std::span(&e, 1), inputs}; }

TEST(CompiledExprs, CommonPartsAreComputedOnce) {
  const Expr base = 4 * x * n + 7 * x + floor_div(n, 3);
  const std::vector<Expr> one = {base}, many = {base, base + 16, base + 32, base * 1};
  const CompiledExprs a(one, inputs), b(many, inputs);
  EXPECT_EQ(b.instructions(), a.instructions() + 2);  // two additions of a constant
}

TEST(CompiledExprs, ConstantsAndInputsNeedNoCode) {
  const std::vector<Expr> e = {Expr(5), x, Expr(0)};
  const CompiledExprs code(e, inputs);
  EXPECT_EQ(code.instructions(), 0U);
  std::vector<std::int64_t> out(3), scratch;
  code.evaluate(std::array<std::int64_t, 2>{7, 8}, out, scratch);
  EXPECT_THAT(out, ::testing::ElementsAre(5, 7, 0));
}

TEST(CompiledExprs, NoOutputs) {
  const CompiledExprs none;
  std::vector<std::int64_t> scratch;
  none.evaluate({}, {}, scratch);
  none.evaluate_lanes({}, {}, 5, scratch);
  EXPECT_EQ(none.outputs(), 0U);
}

TEST(CompiledExprs, MissingInputIsABug) { EXPECT_THROW(compile(Expr::symbol("other")), InternalError); }

TEST(CompiledExprs, ShortSpansAreABug) {
  const CompiledExprs code = compile(x + n);
  std::vector<std::int64_t> scratch, in(1), out(1);
  EXPECT_THROW(code.evaluate(in, out, scratch), InternalError);
  EXPECT_THROW(code.evaluate_lanes(in, out, 1, scratch), InternalError);
}

TEST(CompiledExprs, ErrorsOfASideNotTakenAreIgnored) {
  const CompiledExprs code = compile(select(equal(n, 0), 7, floor_div(x, n)));
  EXPECT_EQ(value(code, 12, 0), 7);
  EXPECT_EQ(value(code, 12, 5), 2);
  const CompiledExprs inner = compile(select(less(x, 1000), x * x * x * x * x * x * x, 0) + 1);
  EXPECT_EQ(value(inner, 1000000, 0), 1);
  EXPECT_EQ(value(inner, 3, 0), 2188);
  EXPECT_THROW(value(inner, 999, 0), ArithmeticError);
}

TEST(CompiledExprs, SumsHave128BitIntermediates) {
  const CompiledExprs code = compile(x * x - n * n);
  EXPECT_EQ(value(code, INT64_MAX, INT64_MAX), 0);
  EXPECT_THROW(value(code, INT64_MAX, 0), ArithmeticError);
}

TEST(CompiledExprs, LanesWithSomeHardOnes) {
  const Expr e[] = {select(n, floor_div(x, n), -1), x * x - n * x};
  const CompiledExprs code(e, inputs);
  const std::size_t lanes = 131;  // two chunks and a bit
  std::vector<std::int64_t> in(2 * lanes), out(2 * lanes), scratch;
  for (std::size_t l = 0; l < lanes; ++l) {
    in[l] = l == 70 ? INT64_MAX : static_cast<std::int64_t>(l * l * l);
    in[lanes + l] = l == 70 ? INT64_MAX : static_cast<std::int64_t>(l % 5);  // zero now and then
  }
  code.evaluate_lanes(in, out, lanes, scratch);
  for (std::size_t l = 0; l < lanes; ++l) {
    const std::int64_t vx = in[l], vn = in[lanes + l];
    EXPECT_EQ(out[l], vn == 0 ? -1 : vx / vn);
    EXPECT_EQ(out[lanes + l], l == 70 ? 0 : vx * vx - vn * vx);
  }
  in[130] = INT64_MAX;
  EXPECT_THROW(code.evaluate_lanes(in, out, lanes, scratch), ArithmeticError);
}

// One input has one value for all lanes, and so have some of the instructions: in each chunk, also where that part
// overflows and is not taken.
TEST(CompiledExprs, LanesThatShareAnInput) {
  const Expr e[] = {floor_div(n, 7) * x + mod(n, 5), n * n + 1, select(less(n, 1000), n * n * n * n, x)};
  const CompiledExprs code(e, inputs);
  std::vector<std::int64_t> scratch;
  for (const std::size_t lanes : {std::size_t{1}, std::size_t{9}, std::size_t{64}, std::size_t{150}})
    for (const std::int64_t shared : {std::int64_t{37}, std::int64_t{-8}, std::int64_t{2000000000}})
      for (const bool first : {true, false}) {  // which input is shared
        std::vector<std::int64_t> in(2 * lanes, shared), out(3 * lanes);
        for (std::size_t l = 0; l < lanes; ++l) in[(first ? lanes : 0) + l] = static_cast<std::int64_t>(l) - 3;
        code.evaluate_lanes(in, out, lanes, scratch);
        for (std::size_t k = 0; k < 3; ++k) {
          const CompiledExprs one = compile(e[k]);
          for (std::size_t l = 0; l < lanes; ++l) EXPECT_EQ(out[k * lanes + l], value(one, in[l], in[lanes + l]));
        }
      }
}

// Sums, differences and products of numbers of every size, in lanes: exact, or an error.
RC_GTEST_PROP(CompiledExprs, LanesOfLargeNumbersAreExactOrThrow, ()) {
  const std::vector<Expr> forms = {x * n, x * n + 3 * x, x + n, x - n, 3 * x, x * n - 1, 3 * x + 2 * n};
  const auto any = [] {
    const std::int64_t v = *rc::gen::arbitrary<std::int64_t>() | 1;
    const auto u = static_cast<std::uint64_t>(v);
    const auto wide = static_cast<std::int64_t>(u * 0x9e3779b97f4a7c15ULL);
    return wide >> (*rc::gen::inRange(0, 2) == 0 ? *rc::gen::inRange(0, 4) : *rc::gen::inRange(0, 63));
  };
  const auto form = static_cast<std::size_t>(*rc::gen::inRange(0, 7));
  const CompiledExprs code = compile(forms[form]);
  std::vector<std::int64_t> scratch;
  for (int i = 0; i < 50; ++i) {
    const std::int64_t vx = any(), vn = any();
    const Int128 a = vx, b = vn;
    const Int128 truth = std::array{a * b, a * b + 3 * a, a + b, a - b, 3 * a, a * b - 1, 3 * a + 2 * b}[form];
    // The point in question among harmless ones.
    std::vector<std::int64_t> in = {1, 2, vx, 3, 4, 5, vn, 6}, out(4);
    bool thrown = false;
    try {
      code.evaluate_lanes(in, out, 4, scratch);
    } catch (const ArithmeticError&) {
      thrown = true;
    }
    RC_ASSERT(thrown == !fits_int64(truth));
    if (!thrown) RC_ASSERT(static_cast<Int128>(out[2]) == truth);
  }
}

TEST(CompiledExprs, SteadyStateKeepsItsScratch) {
  const CompiledExprs code = compile(floor_div(x * n + 3, 7));
  std::vector<std::int64_t> scratch, in = {5, 6}, out(1);
  code.evaluate(in, out, scratch);
  const std::int64_t* before = scratch.data();
  for (int i = 0; i < 10; ++i) code.evaluate(in, out, scratch);
  EXPECT_EQ(scratch.data(), before);
}

// Division by multiplication against the processor's division.
RC_GTEST_PROP(CompiledExprs, MagicDivisionIsExact, ()) {
  const auto near_power = [] {
    const int bits = *rc::gen::inRange(1, 63);
    return std::max<std::int64_t>(2, (std::int64_t{1} << bits) + *rc::gen::inRange<std::int64_t>(-2, 3));
  };
  const std::int64_t d = *rc::gen::inRange(0, 2) == 0 ? near_power() : *rc::gen::inRange<std::int64_t>(2, INT64_MAX);
  const Magic m = magic_for(d);
  for (int i = 0; i < 50; ++i) {
    const std::int64_t multiple = *rc::gen::arbitrary<std::int64_t>() / d * d;
    for (const std::int64_t a :
         {multiple, multiple > INT64_MIN ? multiple - 1 : 0, multiple < INT64_MAX ? multiple + 1 : 0, INT64_MIN,
          INT64_MIN + 1, INT64_MAX, INT64_MAX - 1}) {
      RC_ASSERT(floor_by_magic(a, static_cast<std::int64_t>(m.multiplier), m.shift) == floor_quotient(a, d));
      RC_ASSERT(remainder_of(a, static_cast<std::int64_t>(floor_quotient(a, d)), d) == floor_remainder(a, d));
    }
  }
}

}  // namespace
}  // namespace kernelcast::compiled_exprs_test
