// Expr::apply: constant folding, then the rules for the operation, then the plain node.
//
// Every rule is an identity over the mathematical integers, for negative numbers, too. A rule may remove an undefined
// part (0 * (1 / n) is 0, x / x is 1); none adds one. A rule whose intermediate coefficients overflow is not applied.
#include <algorithm>

#include "core/expr_node.h"
#include "core/expr_range.h"
#include "core/op_semantics.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

Simplified simplify(Op op, const Expr& a, const Expr& b, const Expr& c) {
  switch (op) {
    case Op::floor_div:
    case Op::ceil_div:
    case Op::mod:
      return simplify_division(op, a, b);
    case Op::min:
    case Op::max:
      return simplify_extremum(op, a, b);
    case Op::less:
    case Op::less_equal:
    case Op::equal:
      return simplify_comparison(op, a, b);
    case Op::select:
      return simplify_select(a, b, c);
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor:
    case Op::shift_left:
    case Op::shift_right:
    case Op::bit_width:
      return simplify_bits(op, a, b);
  }
  return std::nullopt;
}

std::vector<Expr> operands(Op op, const Expr& a, const Expr& b, const Expr& c) {
  if (arity(op) == 1) return {a};
  if (arity(op) == 3) return {a, b, c};
  if (is_commutative(op) && compare(b, a) < 0) return {b, a};
  return {a, b};
}

}  // namespace

Expr Expr::apply(Op op, const Expr& a, const Expr& b, const Expr& c) {
  const auto ka = a.constant(), kb = b.constant(), kc = c.constant();
  if (ka && (arity(op) < 2 || kb) && (arity(op) < 3 || kc)) {
    if (const auto value = apply_op(op, *ka, kb.value_or(0), kc.value_or(0))) return *value;
    return make_op(op, operands(op, a, b, c));  // undefined: an error only where it is evaluated
  }
  try {
    if (Simplified simpler = simplify(op, a, b, c)) return *std::move(simpler);
  } catch (const LimitError&) {
    // The simpler form does not fit 64 bits or the size limits: keep the operation as it stands.
  }
  return make_op(op, operands(op, a, b, c));
}

Simplified simplify_select(const Expr& c, const Expr& a, const Expr& b) {
  if (const auto k = c.constant()) return *k != 0 ? a : b;
  if (!static_bounds(c).contains(0)) return a;
  if (a == b) return a;
  if (is_boolean(c)) {
    if (a.constant() == 1 && b.constant() == 0) return c;
    if (a.constant() == 0 && b.constant() == 1) return negate(c);
    // c && a: the product evaluates both sides, so only where `a` is defined without `c`.
    if (b.constant() == 0 && is_boolean(a) && is_total(a)) return c * a;
    if (a.constant() == 1 && is_boolean(b) && is_total(b)) return Expr::apply(Op::max, c, b);
  }
  for (const Op op : {Op::less, Op::less_equal}) {
    if (const OpNode* test = single_op(c, op)) {
      const Expr difference = test->args[1] - test->args[0];  // positive (not negative) where the test holds
      if (b - a == difference) return Expr::apply(Op::min, a, b);
      if (a - b == difference) return Expr::apply(Op::max, a, b);
    }
  }
  // not(x) ? a : b reads x ? b : a
  if (const OpNode* test = single_op(c, Op::equal);
      test != nullptr && test->args[1].is_zero() && is_boolean(test->args[0])) {
    return make_op(Op::select, {test->args[0], b, a});
  }
  return std::nullopt;
}

}  // namespace kernelcast
