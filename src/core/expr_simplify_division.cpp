// Division and modulo. With d > 0 a constant, q and r polynomials, and everything over the integers:
//   floor((d*q + r) / d) = q + floor(r / d)                  mod(d*q + r, d) = mod(r, d)
//   floor((g*p + c) / (g*k)) = floor((p + floor(c / g)) / k) mod(g*p + c, g*k) = g*mod(p + floor(c / g), k) + mod(c, g)
//   floor((floor(x / m) + c) / d) = floor((x + m*c) / (m*d)) mod(j*mod(x, n*d) + r, d) = mod(j*x + r, d)
// The first line holds for every divisor other than 0, also a symbolic one. ceil(a / d) = floor((a + d - 1) / d), d >
// 0.
#include <algorithm>

#include "core/expr_node.h"
#include "core/expr_range.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

struct Split {
  Expr quotient, rest;  // dividend = divisor * quotient + rest
};

// By a constant k >= 2. The constant term of the rest is in [0, k), the other coefficients are in (-k, k).
Split split(const Expr& a, std::int64_t k) {
  std::vector<Term> quotient, rest;
  for (const Term& t : terms_of(a)) {
    const bool constant = t.factors.empty();
    const auto q = constant ? static_cast<std::int64_t>(floor_quotient(t.coefficient, k)) : t.coefficient / k;
    const auto r = constant ? static_cast<std::int64_t>(floor_remainder(t.coefficient, k)) : t.coefficient % k;
    if (q != 0) quotient.push_back({t.factors, q});
    if (r != 0) rest.push_back({t.factors, r});
  }
  return {ExprNode::wrap(std::move(quotient)), ExprNode::wrap(std::move(rest))};
}

// The greatest common divisor of k and the coefficients of all terms but the constant one.
std::int64_t common_divisor(const Expr& a, std::int64_t k) {
  std::uint64_t g = magnitude(k);
  for (const Term& t : terms_of(a)) {
    if (!t.factors.empty()) g = greatest_common_divisor(g, magnitude(t.coefficient));
  }
  return static_cast<std::int64_t>(g);
}

// floor(a / g) where g divides all coefficients but the constant term's.
Expr divide_coefficients(const Expr& a, std::int64_t g) {
  std::vector<Term> out = terms_of(a);
  for (Term& t : out) t.coefficient = static_cast<std::int64_t>(floor_quotient(t.coefficient, g));
  if (!out.empty() && out.back().coefficient == 0) out.pop_back();
  return ExprNode::wrap(std::move(out));
}

// floor(a / k), k >= 2.
Expr divide(const Expr& a, std::int64_t k) {
  auto [quotient, rest] = split(a, k);
  const Bounds bounds = static_bounds(rest);
  if (bounds.finite() && floor_quotient(bounds.lo, k) == floor_quotient(bounds.hi, k)) {
    if (const auto only = narrow(floor_quotient(bounds.lo, k))) return quotient + Expr(*only);
  }
  const std::int64_t g = common_divisor(rest, k);
  if (g > 1) {
    rest = divide_coefficients(rest, g);
    k /= g;
  }
  const std::int64_t offset = rest.constant_term();
  if (const OpNode* inner = single_op(rest - offset, Op::floor_div)) {
    if (const auto m = inner->args[1].constant(); m && *m > 0) {
      const auto product = narrow(static_cast<Int128>(*m) * k);
      if (product) return quotient + divide(inner->args[0] + Expr(*m) * offset, *product);
    }
  }
  return quotient + make_op(Op::floor_div, {rest, k});
}

// Replaces mod(x, n) by x in linear terms wherever that changes the value by multiples of n only, n allowed by
// `absorbs`.
template <class Predicate>
std::optional<Expr> unwrap_modulo(const Expr& a, Predicate absorbs) {
  std::vector<Term> kept;
  Expr added;
  bool changed = false;
  for (const Term& t : terms_of(a)) {
    const OpNode* op = t.factors.size() == 1 && t.factors[0].exponent == 1 ? t.factors[0].atom.op() : nullptr;
    if (op != nullptr && op->op == Op::mod && absorbs(op->args[1])) {
      added = added + Expr(t.coefficient) * op->args[0];
      changed = true;
    } else {
      kept.push_back(t);
    }
  }
  if (!changed) return std::nullopt;
  return ExprNode::wrap(std::move(kept)) + added;
}

// mod(a, k), k >= 2.
Expr modulo(const Expr& a, std::int64_t k) {
  Expr rest = split(a, k).rest;
  const Bounds bounds = static_bounds(rest);
  if (bounds.finite() && floor_quotient(bounds.lo, k) == floor_quotient(bounds.hi, k)) {
    const auto shift = narrow(floor_quotient(bounds.lo, k) * k);
    if (shift) return rest - Expr(*shift);
  }
  const auto multiple_of_k = [k](const Expr& n) {
    const auto m = n.constant();
    return m && *m > 0 && *m % k == 0;
  };
  if (const auto plain = unwrap_modulo(rest, multiple_of_k)) return modulo(*plain, k);
  const std::int64_t g = common_divisor(rest, k);
  if (g == 1) return make_op(Op::mod, {rest, k});
  const std::int64_t low = rest.constant_term() % g;  // the constant term is in [0, k)
  return Expr(g) * modulo(divide_coefficients(rest, g), k / g) + low;
}

// The part of `a` that the monomial `b` divides term by term, and the rest.
Split split(const Expr& a, const Term& b) {
  std::vector<WideTerm> quotient;
  std::vector<Term> rest;
  for (const Term& t : terms_of(a)) {
    bool divides = static_cast<Int128>(t.coefficient) % b.coefficient == 0;
    Factors left;
    std::size_t j = 0;
    for (const Factor& f : t.factors) {
      if (j < b.factors.size() && f.atom == b.factors[j].atom) {
        divides = divides && f.exponent >= b.factors[j].exponent;
        if (f.exponent > b.factors[j].exponent) left.push_back({f.atom, f.exponent - b.factors[j].exponent});
        ++j;
      } else {
        left.push_back(f);
      }
    }
    if (divides && j == b.factors.size()) {
      quotient.push_back({std::move(left), static_cast<Int128>(t.coefficient) / b.coefficient});
    } else {
      rest.push_back(t);
    }
  }
  return {gather(std::move(quotient)), ExprNode::wrap(std::move(rest))};
}

// a / b when `a` is a whole multiple of the polynomial `b`.
std::optional<std::int64_t> constant_ratio(const Expr& a, const Expr& b) {
  const auto &x = terms_of(a), &y = terms_of(b);
  if (x.empty()) return 0;
  if (x.size() != y.size()) return std::nullopt;
  const auto k = narrow(static_cast<Int128>(x[0].coefficient) / y[0].coefficient);
  if (!k) return std::nullopt;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i].factors != y[i].factors || x[i].coefficient != static_cast<Int128>(*k) * y[i].coefficient)
      return std::nullopt;
  }
  return k;
}

Simplified by_symbolic(Op op, const Expr& a, const Expr& b) {
  Expr quotient, rest = a;
  if (const auto ratio = constant_ratio(a, b)) {
    quotient = *ratio;
    rest = 0;
  } else if (terms_of(b).size() == 1) {
    Split parts = split(a, terms_of(b)[0]);
    quotient = std::move(parts.quotient);
    rest = std::move(parts.rest);
  }
  if (op == Op::mod) {
    if (const OpNode* inner = single_op(rest, Op::mod); inner != nullptr && inner->args[1] == b) return rest;
    const auto plain = unwrap_modulo(rest, [&b](const Expr& n) { return n == b; });
    if (plain) return Expr::apply(Op::mod, *plain, b);
    if (rest.is_zero()) return Expr(0);
    if (quotient.is_zero()) return std::nullopt;
    return Expr::apply(Op::mod, rest, b);
  }
  if (rest.is_zero()) return quotient;
  // 0 <= mod(x, b) / b < 1 for either sign of b.
  const OpNode* remainder = op == Op::floor_div ? single_op(rest, Op::mod) : nullptr;
  if (remainder != nullptr && remainder->args[1] == b) return quotient;
  if (quotient.is_zero()) return std::nullopt;
  return quotient + Expr::apply(op, rest, b);
}

}  // namespace

Simplified simplify_division(Op op, const Expr& a, const Expr& b) {
  const auto k = b.constant();
  if (!k) return by_symbolic(op, a, b);
  if (*k == 0) return std::nullopt;
  if (*k == 1) return op == Op::mod ? Expr(0) : a;
  if (*k == -1) return op == Op::mod ? Expr(0) : -a;
  if (*k == int64_min) return std::nullopt;
  if (*k < 0) {
    // floor(a / -k) = floor(-a / k), and the same for ceil; mod(a, -k) = -mod(-a, k).
    const Expr flipped = Expr::apply(op, -a, -*k);
    return op == Op::mod ? -flipped : flipped;
  }
  if (op == Op::mod) return modulo(a, *k);
  return divide(op == Op::ceil_div ? a + Expr(*k - 1) : a, *k);
}

}  // namespace kernelcast
