// Index expressions on boxes against all points of small boxes.
#include "profile/index.h"

#include <gtest/gtest.h>
// rapidcheck/gtest.h needs gtest first
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "kernelcast/profile.h"

namespace kernelcast::index_test {
namespace {

Scope scope() {
  Scope s;
  for (int axis = 0; axis < 3; ++axis) s.symbols.push_back(local_id(axis));
  for (int axis = 0; axis < 3; ++axis) s.symbols.push_back(group_id(axis));
  s.symbols.push_back(Symbol("i"));
  return s;
}

const Symbol n("arg:n");

Shape shape_of(const Expr& e, const Box& box, std::int64_t n_value) {
  ConstantPool pool;
  Index index(e, scope(), pool);
  const Symbol parameters[] = {n};
  const std::int64_t values[] = {n_value};
  pool.compile(parameters);
  pool.evaluate(values);
  Shape s;
  index.shape_on(box, pool, s);
  return s;
}

Box box_of(std::int64_t wg_lo, std::int64_t wg_hi) {
  Box b;
  b.variables = 7;
  b.hi[0] = 7;
  b.lo[3] = wg_lo;
  b.hi[3] = wg_hi;
  return b;
}

TEST(Index, SeesThroughAWrapWhereItDoesNotHappen) {
  const Expr i = Expr(group_id(0)) * 8 + Expr(local_id(0));
  const Shape inside = shape_of(mod(i + 1, n), box_of(0, 8), 80);
  EXPECT_EQ(inside.rest_mask, 0U);
  EXPECT_EQ(inside.linear_mask, 0b1001U);
  EXPECT_EQ(inside.linear[3], 8);
  EXPECT_TRUE(inside.rest == Bounds::point(1));
  const Shape edge = shape_of(mod(i + 1, n), box_of(0, 9), 80);
  EXPECT_EQ(edge.rest_mask, 0b1001U);
}

TEST(Index, DividesWhatTheDivisorDivides) {
  const Shape s = shape_of(floor_div(Expr(group_id(0)) * 8 + Expr(local_id(0)), 4), box_of(0, 9), 0);
  EXPECT_EQ(s.linear_mask, 0b1000U);
  EXPECT_EQ(s.linear[3], 2);
  EXPECT_EQ(s.rest_mask, 0b1U);
  EXPECT_TRUE((s.rest == Bounds{0, 1}));
}

TEST(Index, DropsTheSideOfAMinimumThatNeverWins) {
  const Shape s = shape_of(min(Expr(group_id(0)), n), box_of(0, 9), 9);
  EXPECT_EQ(s.linear_mask, 0b1000U);
  EXPECT_EQ(s.rest_mask, 0U);
}

// Full range from the first case on, not growing with the number of cases.
int between(int low, int high) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high + 1)); }

Expr random_expression(int depth) {
  if (depth == 0)
    return *rc::gen::element<Expr>(Expr(local_id(0)), Expr(group_id(0)), Expr(Symbol("i")), Expr(n),
                                   Expr(between(-9, 9)));
  const Expr a = random_expression(depth - 1), b = random_expression(depth - 1);
  switch (between(0, 13)) {
    case 0:
      return a - b;
    case 1:
      return a * b;
    case 2:
      return a * between(-4, 8);
    case 3:
      return floor_div(a, between(1, 9));
    case 4:
      return ceil_div(a, -between(1, 4));
    case 5:
      return mod(a, between(1, 9));
    case 6:
      return min(a, b);
    case 7:
      return max(a, b);
    case 8:
      return select(less(a, b), a, b + 1);
    case 9:
      return less_equal(a, b);
    case 10:
      return equal(a, b) * a;
    case 11:
      return Expr::apply(*rc::gen::element(Op::bit_and, Op::bit_or, Op::bit_xor), a, b);
    case 12:
      return Expr::apply(Op::shift_right, a, between(0, 3));
    default:
      return a + b;
  }
}

void check_one() {
  const Expr e = random_expression(between(1, 3));
  Box box;
  box.variables = 7;
  for (int v : {0, 3, 6}) {
    box.lo[v] = v == 0 ? 0 : between(0, 5);
    box.hi[v] = box.lo[v] + between(0, 4);
  }
  const auto n_value = static_cast<std::int64_t>(between(-5, 19));
  const Shape s = shape_of(e, box, n_value);
  const Bounds range = s.range(box);
  SymbolValues values{{n, n_value}};
  for (values[local_id(0)] = box.lo[0]; values[local_id(0)] <= box.hi[0]; ++values[local_id(0)])
    for (values[group_id(0)] = box.lo[3]; values[group_id(0)] <= box.hi[3]; ++values[group_id(0)])
      for (values[Symbol("i")] = box.lo[6]; values[Symbol("i")] <= box.hi[6]; ++values[Symbol("i")]) {
        const std::int64_t got = e.evaluate(values);
        if (!range.contains(got)) RC_FAIL("out of range: " + e.str());
        Int128 linear = 0;
        const std::int64_t at[7] = {values[local_id(0)], 0, 0, values[group_id(0)], 0, 0, values[Symbol("i")]};
        for (int v = 0; v < 7; ++v)
          if ((s.linear_mask >> v & 1) != 0) linear += static_cast<Int128>(s.linear[v]) * at[v];
        if (!s.rest.contains(got - linear)) RC_FAIL("rest out of range: " + e.str());
        if (s.rest_mask == 0 && s.rest.is_point() && linear + s.rest.lo != got) RC_FAIL("not exact: " + e.str());
        // The rest may only vary with the variables it names.
        if (s.rest_mask == 0 && !s.rest.is_point()) RC_FAIL("a rest that depends on nothing is a point: " + e.str());
      }
}

RC_GTEST_PROP(Index, HoldsEveryValueAndIsExactWhereLinear, ()) {
  for (int i = 0; i < 20; ++i) check_one();
}

}  // namespace
}  // namespace kernelcast::index_test
