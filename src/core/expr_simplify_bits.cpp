// Bit operations and shifts, turned into arithmetic wherever two's complement says the same:
//   x & (2^k - 1) = mod(x, 2^k);  x & -2^k = 2^k * floor(x / 2^k);  x << k = x * 2^k;  x >> k = floor(x / 2^k)
//   x | y = x ^ y = x + y when x is a multiple of 2^k and 0 <= y < 2^k.
#include <algorithm>

#include "core/expr_node.h"
#include "core/expr_range.h"

namespace kernelcast {
namespace {

// The largest 2^k, k <= 62, that divides every value of the expression as its coefficients show.
std::int64_t power_of_two_divisor(const Expr& e) {
  std::uint64_t g = std::uint64_t{1} << 62U;
  for (const Term& t : terms_of(e)) g = greatest_common_divisor(g, magnitude(t.coefficient));
  return static_cast<std::int64_t>(g);
}

bool disjoint_bits(const Expr& a, const Expr& b) { return static_bounds(b).within(0, power_of_two_divisor(a) - 1); }

Simplified with_constant(Op op, const Expr& a, std::int64_t k) {
  if (op == Op::bit_and) {
    if (k == 0) return Expr(0);
    if (k == -1) return a;
    if (k > 0 && k < int64_max && is_power_of_two(k + 1)) return Expr::apply(Op::mod, a, k + 1);
    if (k != int64_min && k < 0 && is_power_of_two(-k)) return Expr(-k) * Expr::apply(Op::floor_div, a, -k);
    if (k > 0 && is_power_of_two(k)) {  // one bit: floor(x / 2^i) mod 2
      return Expr(k) * Expr::apply(Op::mod, Expr::apply(Op::floor_div, a, k), 2);
    }
  } else {
    if (k == 0) return a;
    if (k == -1) return op == Op::bit_or ? Expr(-1) : -a - 1;
    if (op == Op::bit_xor && k == 1 && is_boolean(a)) return negate(a);
  }
  return std::nullopt;
}

Simplified simplify_logic(Op op, const Expr& a, const Expr& b) {
  if (a == b) return op == Op::bit_xor ? Expr(0) : a;
  if (const auto k = a.constant()) {
    if (auto simple = with_constant(op, b, *k)) return simple;
  }
  if (const auto k = b.constant()) {
    if (auto simple = with_constant(op, a, *k)) return simple;
  }
  if (is_boolean(a) && is_boolean(b)) {
    if (op == Op::bit_and) return a * b;
    if (op == Op::bit_or) return Expr::apply(Op::max, a, b);
    return negate(Expr::apply(Op::equal, a, b));
  }
  if (op != Op::bit_and && (disjoint_bits(a, b) || disjoint_bits(b, a))) return a + b;
  return std::nullopt;
}

}  // namespace

Simplified simplify_bits(Op op, const Expr& a, const Expr& b) {
  switch (op) {
    case Op::shift_left:
      if (a.is_zero()) return Expr(0);
      if (const auto k = b.constant()) {
        if (*k < 0 || *k > 62) return std::nullopt;
        return a * Expr(std::int64_t{1} << *k);
      }
      if (a.constant() == 1) return std::nullopt;
      return a * make_op(Op::shift_left, {1, b});
    case Op::shift_right:
      if (a.is_zero()) return Expr(0);
      if (const auto k = b.constant()) {
        if (*k < 0 || *k > 62) return std::nullopt;
        return Expr::apply(Op::floor_div, a, std::int64_t{1} << *k);
      }
      return std::nullopt;
    case Op::bit_width: {
      const Bounds bounds = static_bounds(a);
      if (bounds.hi <= 0) return Expr(0);
      if (is_boolean(a)) return a;
      return std::nullopt;
    }
    default:
      return simplify_logic(op, a, b);
  }
}

}  // namespace kernelcast
