// Comparisons, boolean algebra, minimum and maximum.
//
// a < b depends on d = b - a > 0 alone. Over the integers, with g the common divisor of all coefficients of d but the
// constant's c: g*p + c > 0 exactly if p + ceil(c / g) > 0. The result is written with positive coefficients on both
// sides ("4*x + 3 < n"), as <= when the constant is 1, so equal conditions are equal expressions, and the negation
// of a comparison is again one: not(d > 0) is 1 - d > 0.
// Booleans are expressions that can only be 0 or 1; AND is the product, OR the maximum, and De Morgan's rules push NOT
// inward.
#include <algorithm>

#include "core/expr_node.h"
#include "core/expr_range.h"

namespace kernelcast {
namespace {

// d = positive - negative, all coefficients of both parts positive.
struct Sides {
  Expr positive, negative;
};

Sides sides(const Expr& d) {
  std::vector<WideTerm> positive, negative;
  for (const Term& t : terms_of(d)) {
    if (t.coefficient > 0) {
      positive.push_back({t.factors, t.coefficient});
    } else {
      negative.push_back({t.factors, -static_cast<Int128>(t.coefficient)});
    }
  }
  return {gather(std::move(positive)), gather(std::move(negative))};
}

std::uint64_t content(const Expr& d) {
  std::uint64_t g = 0;
  for (const Term& t : terms_of(d)) {
    if (!t.factors.empty()) g = greatest_common_divisor(g, magnitude(t.coefficient));
  }
  return g;
}

Expr divide_content(const Expr& d, Int128 g, Int128 constant) {
  std::vector<WideTerm> out;
  for (const Term& t : terms_of(d)) {
    if (!t.factors.empty()) out.push_back({t.factors, t.coefficient / g});
  }
  out.push_back({{}, constant});
  return gather(std::move(out));
}

// If d = c + k*m with a 0/1 monomial m: a condition on d as a condition on m.
template <class Holds>
Simplified of_boolean_difference(const Expr& d, Holds holds) {
  const auto& t = terms_of(d);
  const std::int64_t c = d.constant_term();
  if (t.size() != (c == 0 ? 1U : 2U)) return std::nullopt;
  const Expr m = monomial(t[0].factors);
  if (!is_boolean(m)) return std::nullopt;
  const bool at_zero = holds(static_cast<Int128>(c)), at_one = holds(static_cast<Int128>(c) + t[0].coefficient);
  if (at_zero == at_one) return Expr(at_zero ? 1 : 0);
  return at_one ? m : negate(m);
}

// d > 0
Expr positive(const Expr& d) {
  if (const auto k = d.constant()) return *k > 0 ? 1 : 0;
  const Bounds bounds = static_bounds(d);
  if (bounds.lo > 0) return 1;
  if (bounds.hi <= 0) return 0;
  if (auto simple = of_boolean_difference(d, [](Int128 v) { return v > 0; })) return *std::move(simple);
  const auto g = static_cast<Int128>(content(d));
  const Int128 constant = ceil_quotient(d.constant_term(), g);
  const bool or_equal = constant == 1;
  const Sides s = sides(divide_content(d, g, or_equal ? 0 : constant));
  return make_op(or_equal ? Op::less_equal : Op::less, {s.negative, s.positive});
}

// d == 0
Expr zero(const Expr& d) {
  if (const auto k = d.constant()) return *k == 0 ? 1 : 0;
  if (!static_bounds(d).contains(0)) return 0;
  if (auto simple = of_boolean_difference(d, [](Int128 v) { return v == 0; })) return *std::move(simple);
  auto g = static_cast<Int128>(content(d));
  if (d.constant_term() % g != 0) return 0;
  if (terms_of(d)[0].coefficient < 0) g = -g;  // the first term stands on the left
  const Sides s = sides(divide_content(d, g, d.constant_term() / g));
  return make_op(Op::equal, {s.positive, s.negative});
}

Expr negate_atom(const Atom& atom) {
  const OpNode& op = atom.operation();
  if (op.op == Op::less) return positive(op.args[0] - op.args[1] + 1);
  if (op.op == Op::less_equal) return positive(op.args[0] - op.args[1]);
  if (op.op == Op::equal && op.args[1].is_zero() && is_boolean(op.args[0])) return op.args[0];
  if (op.op == Op::max) {
    Expr product = 1;
    for (const Expr& a : op.args) {
      if (!is_boolean(a)) return make_op(Op::equal, {monomial({{atom, 1}}), 0});
      product = product * negate(a);
    }
    return product;
  }
  return make_op(Op::equal, {monomial({{atom, 1}}), 0});
}

void flatten(Op op, const Expr& e, std::vector<Expr>& into) {
  if (const OpNode* node = single_op(e, op)) {
    into.insert(into.end(), node->args.begin(), node->args.end());  // operands of a node are flat already
  } else {
    into.push_back(e);
  }
}

// True if a is never above b.
bool never_above(const Expr& a, const Expr& b) {
  if (const auto ka = a.constant(), kb = b.constant(); ka && kb) return *ka <= *kb;
  const Bounds x = static_bounds(a), y = static_bounds(b);
  if (x.hi <= y.lo) return true;
  const auto &s = terms_of(a), &t = terms_of(b);
  if (s.size() > 64 || t.size() > 64) return false;
  return static_bounds(b - a).lo >= 0;
}

}  // namespace

bool is_boolean(const Expr& e) { return static_bounds(e).within(0, 1); }

Expr negate(const Expr& boolean) {
  if (const auto k = boolean.constant()) return 1 - *k;
  const auto& terms = terms_of(boolean);
  if (terms.size() != 1 || terms[0].coefficient != 1) return zero(boolean);
  Expr any = 0;
  for (const Factor& f : terms[0].factors) {
    if (!is_boolean(f.atom)) return make_op(Op::equal, {boolean, 0});
    any = Expr::apply(Op::max, any, negate_atom(f.atom));
  }
  return any;
}

Simplified simplify_comparison(Op op, const Expr& a, const Expr& b) {
  if (op == Op::equal) return zero(a - b);
  return positive(op == Op::less ? b - a : b - a + 1);
}

Simplified simplify_extremum(Op op, const Expr& a, const Expr& b) {
  if (op == Op::min && is_boolean(a) && is_boolean(b)) return a * b;
  std::vector<Expr> all;
  flatten(op, a, all);
  flatten(op, b, all);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  // Drop every operand that another one always beats; with many operands that would be slow and only equal ones go.
  if (all.size() <= 16) {
    for (std::size_t i = 0; i < all.size();) {
      bool beaten = false;
      for (std::size_t j = 0; j < all.size() && !beaten; ++j) {
        beaten = i != j && (op == Op::min ? never_above(all[j], all[i]) : never_above(all[i], all[j]));
      }
      if (beaten) {
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }
  if (all.size() == 1) return all[0];
  return make_op(op, std::move(all));
}

}  // namespace kernelcast
