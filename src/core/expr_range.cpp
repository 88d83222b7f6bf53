// Interval arithmetic (Moore 1966: the range of an operation on ranges contains every result). Sound, not tight: a
// symbol that appears twice is treated as two independent ones, except where the canonical polynomial has merged them.
#include "core/expr_range.h"

#include <algorithm>
#include <unordered_map>

#include "core/op_semantics.h"

namespace kernelcast {
namespace {

Int128 saturate(Int128 v) { return std::clamp(v, -infinity, infinity); }

Int128 saturating_product(Int128 a, Int128 b) {
  Int128 r = 0;
  if (!__builtin_mul_overflow(a, b, &r)) return saturate(r);
  return (a < 0) != (b < 0) ? -infinity : infinity;
}

bool infinite(Int128 v) { return v <= -infinity || v >= infinity; }

// Quotient of two ends; an infinite dividend stays infinite, an infinite divisor gives 0 or -1 (the caller joins both).
Int128 end_quotient(Int128 a, Int128 b, bool up) {
  if (infinite(a)) return (a < 0) != (b < 0) ? -infinity : infinity;
  return up ? ceil_quotient(a, b) : floor_quotient(a, b);
}

Bounds corners(const Bounds& a, const Bounds& b, bool up) {
  const Int128 q[] = {end_quotient(a.lo, b.lo, up), end_quotient(a.lo, b.hi, up), end_quotient(a.hi, b.lo, up),
                      end_quotient(a.hi, b.hi, up)};
  return {*std::min_element(q, q + 4), *std::max_element(q, q + 4)};
}

Bounds no_values() { return {}; }

// floor or ceil of a / b. The divisor is split at 0, where there is no value.
Bounds quotient_bounds(const Bounds& a, const Bounds& b, bool up) {
  const bool negative = b.lo < 0, positive = b.hi > 0;
  if (!negative && !positive) return no_values();
  const Bounds below = negative ? corners(a, {b.lo, std::min<Int128>(b.hi, -1)}, up) : Bounds{};
  const Bounds above = positive ? corners(a, {std::max<Int128>(b.lo, 1), b.hi}, up) : Bounds{};
  if (negative && positive) return join(below, above);
  return negative ? below : above;
}

Bounds modulo_bounds(const Bounds& a, const Bounds& b) {
  if (b.is_point() && b.lo > 0 && !infinite(b.lo) && a.finite() &&
      floor_quotient(a.lo, b.lo) == floor_quotient(a.hi, b.lo)) {
    return {floor_remainder(a.lo, b.lo), floor_remainder(a.hi, b.lo)};
  }
  if (b.lo > 0 && a.lo >= 0) return {a.hi < b.lo ? a.lo : 0, std::min(a.hi, b.hi - 1)};
  return {b.lo < 0 ? std::min<Int128>(b.lo + 1, 0) : 0, b.hi > 0 ? std::max<Int128>(b.hi - 1, 0) : 0};
}

// All ones up to the highest bit of v >= 0.
Int128 bit_ceiling(Int128 v) {
  Int128 ones = 0;
  while (ones < v) ones = ones * 2 + 1;
  return ones;
}

Bounds bit_bounds(Op op, const Bounds& a, const Bounds& b) {
  if (a.lo >= 0 && b.lo >= 0) {
    if (op == Op::bit_and) return {0, std::min(a.hi, b.hi)};
    const Int128 top = bit_ceiling(std::min<Int128>(std::max(a.hi, b.hi), int64_max));
    return {op == Op::bit_or ? std::max(a.lo, b.lo) : 0, top};
  }
  if (op == Op::bit_and && (a.lo >= 0 || b.lo >= 0)) return {0, a.lo >= 0 ? a.hi : b.hi};
  if (!a.finite() || !b.finite()) return {int64_min, int64_max};
  // Sign-extended: with m bits of magnitude on both sides the result has at most m bits, too.
  const Int128 top = bit_ceiling(std::max({a.hi, b.hi, -1 - a.lo, -1 - b.lo}));
  return {-1 - top, top};
}

// a * 2^b or floor(a / 2^b).
Bounds shift_bounds(Op op, const Bounds& a, const Bounds& b) {
  if (op == Op::shift_left) {
    const Int128 least = std::clamp<Int128>(b.lo, 0, 62), most = std::clamp<Int128>(b.hi, 0, 62);
    return a *
           Bounds{static_cast<Int128>(1) << static_cast<int>(least), static_cast<Int128>(1) << static_cast<int>(most)};
  }
  const Int128 least = std::clamp<Int128>(b.lo, 0, 63), most = std::clamp<Int128>(b.hi, 0, 63);
  return quotient_bounds(
      a, {static_cast<Int128>(1) << static_cast<int>(least), static_cast<Int128>(1) << static_cast<int>(most)}, false);
}

Int128 bits_of(Int128 v) {
  if (infinite(v)) return v < 0 ? 0 : infinity;
  Int128 n = 0;
  for (; v > 0; v >>= 1) ++n;
  return n;
}

// 0/1 verdict on `difference` in a set of wanted values given as [lo, hi].
Bounds verdict(const Bounds& difference, const Bounds& wanted) {
  if (difference.within(wanted.lo, wanted.hi)) return Bounds::point(1);
  if (difference.hi < wanted.lo || difference.lo > wanted.hi) return Bounds::point(0);
  return {0, 1};
}

Bounds negative(const Bounds& a) { return {-a.hi, -a.lo}; }

}  // namespace

Bounds operator+(const Bounds& a, const Bounds& b) {
  return {infinite(a.lo) || infinite(b.lo) ? -infinity : saturate(a.lo + b.lo),
          infinite(a.hi) || infinite(b.hi) ? infinity : saturate(a.hi + b.hi)};
}

Bounds operator*(const Bounds& a, const Bounds& b) {
  const Int128 p[] = {saturating_product(a.lo, b.lo), saturating_product(a.lo, b.hi), saturating_product(a.hi, b.lo),
                      saturating_product(a.hi, b.hi)};
  return {*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
}

Bounds power(const Bounds& a, unsigned exponent) {
  Bounds r = Bounds::point(1);
  if (exponent % 2 == 0 && a.lo < 0) {
    const Bounds reach{0, std::max(-a.lo, a.hi)};
    const Bounds magnitudes = a.hi >= 0 ? reach : negative(a);
    for (unsigned i = 0; i < exponent; ++i) r = r * magnitudes;
    return r;
  }
  if (a.lo >= 0 || exponent == 1) {
    for (unsigned i = 0; i < exponent; ++i) r = r * a;
    return r;
  }
  // An odd power rises with its argument.
  Bounds low = Bounds::point(1), high = Bounds::point(1);
  for (unsigned i = 0; i < exponent; ++i) {
    low = low * Bounds::point(a.lo);
    high = high * Bounds::point(a.hi);
  }
  return {low.lo, high.hi};
}

Bounds join(const Bounds& a, const Bounds& b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

Bounds polynomial_bounds(const Expr& e, const std::function<Bounds(const Atom&)>& atom_bounds) {
  Bounds sum = Bounds::point(0);
  for (const Term& t : terms_of(e)) {
    Bounds product = Bounds::point(t.coefficient);
    for (const Factor& f : t.factors) product = product * power(atom_bounds(f.atom), f.exponent);
    sum = sum + product;
  }
  return sum;
}

Bounds operation_bounds(Op op, const std::vector<Expr>& args,
                        const std::function<Bounds(const Expr&)>& operand_bounds) {
  const Bounds a = operand_bounds(args[0]);
  if (op == Op::bit_width) return {bits_of(a.lo), bits_of(a.hi)};
  const Bounds b = operand_bounds(args[1]);
  switch (op) {
    case Op::floor_div:
      return quotient_bounds(a, b, false);
    case Op::ceil_div:
      return quotient_bounds(a, b, true);
    case Op::mod:
      return modulo_bounds(a, b);
    case Op::min:
    case Op::max: {
      Bounds r = a;
      for (std::size_t i = 1; i < args.size(); ++i) {
        const Bounds next = i == 1 ? b : operand_bounds(args[i]);
        r = op == Op::min ? Bounds{std::min(r.lo, next.lo), std::min(r.hi, next.hi)}
                          : Bounds{std::max(r.lo, next.lo), std::max(r.hi, next.hi)};
      }
      return r;
    }
    case Op::less:
      return verdict(b + negative(a), {1, infinity});
    case Op::less_equal:
      return verdict(b + negative(a), {0, infinity});
    case Op::equal:
      return verdict(b + negative(a), {0, 0});
    case Op::select: {
      if (a == Bounds::point(0)) return operand_bounds(args[2]);
      return a.contains(0) ? join(b, operand_bounds(args[2])) : b;
    }
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor:
      return bit_bounds(op, a, b);
    case Op::shift_left:
    case Op::shift_right:
      return shift_bounds(op, a, b);
    case Op::bit_width:
      break;  // above
  }
  return {};
}

Bounds static_bounds(const Expr& e) {
  return polynomial_bounds(
      e, [](const Atom& a) { return a.op() != nullptr ? a.op()->bounds : Bounds{int64_min, int64_max}; });
}

std::optional<Interval> Expr::range(const SymbolRanges& box) const {
  std::unordered_map<const OpNode*, Bounds> known;
  std::function<Bounds(const Expr&)> of_expr;
  const std::function<Bounds(const Atom&)> of_atom = [&](const Atom& atom) -> Bounds {
    if (const Symbol* s = atom.symbol()) {
      const auto it = box.find(*s);
      return it == box.end() ? Bounds{} : Bounds{it->second.lo, it->second.hi};
    }
    const OpNode* op = &atom.operation();
    if (const auto it = known.find(op); it != known.end()) return it->second;
    Bounds b = operation_bounds(op->op, op->args, of_expr);
    const Bounds always{std::max(b.lo, op->bounds.lo), std::min(b.hi, op->bounds.hi)};
    if (always.lo <= always.hi) b = always;
    known.emplace(op, b);
    return b;
  };
  of_expr = [&](const Expr& e) { return polynomial_bounds(e, of_atom); };
  const Bounds b = of_expr(*this);
  const auto lo = narrow(b.lo), hi = narrow(b.hi);
  if (!lo || !hi) return std::nullopt;
  return Interval{*lo, *hi};
}

}  // namespace kernelcast
