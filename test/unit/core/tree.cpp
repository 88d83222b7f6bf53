#include "unit/core/tree.h"

#include <algorithm>
#include <cmath>

namespace kernelcast::testing {
namespace {

constexpr Int128 too_large = static_cast<Int128>(1) << 100;

const char* name_of_op(Op op) {
  static constexpr std::array<const char*, 15> table = {
      "floor_div", "ceil_div", "mod",    "min",     "max",        "less",        "less_equal", "equal",
      "select",    "bit_and",  "bit_or", "bit_xor", "shift_left", "shift_right", "bit_width"};
  return table[static_cast<std::size_t>(op)];
}

bool fits64(Int128 v) { return v >= INT64_MIN && v <= INT64_MAX; }

// Straight from the definitions in expr.h, with loops instead of tricks.
std::optional<Int128> operation(Op op, Int128 a, Int128 b) {
  const auto floor_of = [](Int128 n, Int128 d) {
    Int128 q = n / d;
    while (d > 0 ? q * d > n : q * d < n) --q;
    return q;
  };
  switch (op) {
    case Op::floor_div:
      if (b == 0) return std::nullopt;
      return floor_of(a, b);
    case Op::ceil_div:
      if (b == 0) return std::nullopt;
      return -floor_of(-a, b);
    case Op::mod:
      if (b == 0) return std::nullopt;
      return a - b * floor_of(a, b);
    case Op::min:
      return a < b ? a : b;
    case Op::max:
      return a < b ? b : a;
    case Op::less:
      return a < b ? 1 : 0;
    case Op::less_equal:
      return a < b || a == b ? 1 : 0;
    case Op::equal:
      return a == b ? 1 : 0;
    case Op::shift_left:
      if (b < 0 || b > 62) return std::nullopt;
      for (Int128 i = 0; i < b; ++i) a *= 2;
      return a;
    case Op::shift_right:
      if (b < 0) return std::nullopt;
      for (Int128 i = 0; i < b && i < 128; ++i) a = floor_of(a, 2);
      return a;
    case Op::bit_width: {
      int n = 0;
      for (; a > 0; a /= 2) ++n;
      return n;
    }
    default:
      break;
  }
  if (!fits64(a) || !fits64(b)) return std::nullopt;
  const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
  return op == Op::bit_and ? x & y : (op == Op::bit_or ? x | y : x ^ y);
}

Exact checked(std::optional<Int128> v) {
  if (v && (*v > too_large || *v < -too_large)) return {std::nullopt, true};
  return {v, false};
}

std::int64_t pick(std::int64_t low, std::int64_t high) { return *rc::gen::inRange<std::int64_t>(low, high + 1); }

std::int64_t pick_constant(bool large) {
  const std::int64_t kind = pick(0, large ? 11 : 9);
  if (kind < 6) return pick(-10, 10);
  if (kind < 9) return (std::int64_t{1} << pick(0, 10)) * (pick(0, 4) == 0 ? -1 : 1) - (pick(0, 3) == 0 ? 1 : 0);
  if (kind < 10) return pick(-300, 300);
  return pick(0, 1) == 0 ? INT64_MAX - pick(0, 3) : INT64_MIN + pick(0, 3);
}

Tree pick_tree(const TreeOptions& options, int depth) {
  Tree t;
  const std::int64_t leaf = pick(0, 9);
  if (depth == 0 || leaf < 2) {
    t.kind = pick(0, 2) == 0 ? Tree::Kind::constant : Tree::Kind::symbol;
    t.value = t.kind == Tree::Kind::constant ? pick_constant(options.large_constants) : pick(0, 3);
    return t;
  }
  std::size_t n = 2;
  if (!options.operations || leaf < 6) {
    t.kind =
        std::array{Tree::Kind::add, Tree::Kind::subtract, Tree::Kind::multiply}[static_cast<std::size_t>(pick(0, 2))];
  } else {
    t.kind = Tree::Kind::operation;
    t.op = static_cast<Op>(pick(0, static_cast<std::int64_t>(Op::bit_width)));
    n = t.op == Op::select ? 3 : (t.op == Op::bit_width ? 1 : 2);
  }
  for (std::size_t i = 0; i < n; ++i) t.children.push_back(pick_tree(options, depth - 1));
  // Constant divisors, masks and shift counts are what kernels have, and what the rules are about.
  const bool constant_operand = t.kind == Tree::Kind::operation && n == 2 && pick(0, 2) > 0;
  const bool shift = t.kind == Tree::Kind::operation && (t.op == Op::shift_left || t.op == Op::shift_right);
  if (constant_operand) {
    t.children[1] = Tree{};
    t.children[1].value = shift ? pick(-1, 66) / (pick(0, 1) + 1) : pick_constant(options.large_constants);
  }
  return t;
}

}  // namespace

Expr build(const Tree& t) {
  std::vector<Expr> c;
  for (const Tree& child : t.children) c.push_back(build(child));
  switch (t.kind) {
    case Tree::Kind::constant:
      return t.value;
    case Tree::Kind::symbol:
      return Expr::symbol(names[static_cast<std::size_t>(t.value)]);
    case Tree::Kind::add:
      return c[0] + c[1];
    case Tree::Kind::subtract:
      return c[0] - c[1];
    case Tree::Kind::multiply:
      return c[0] * c[1];
    case Tree::Kind::operation:
      break;
  }
  c.resize(3);
  return Expr::apply(t.op, c[0], c[1], c[2]);
}

std::string text(const Tree& t) {
  if (t.kind == Tree::Kind::constant) return std::to_string(t.value);
  if (t.kind == Tree::Kind::symbol) return names[static_cast<std::size_t>(t.value)];
  const bool operation = t.kind == Tree::Kind::operation;
  const char* sign = t.kind == Tree::Kind::add ? " + " : (t.kind == Tree::Kind::subtract ? " - " : " * ");
  std::string s;
  if (operation) s += name_of_op(t.op);
  s += '(';
  for (std::size_t i = 0; i < t.children.size(); ++i) {
    if (i > 0) s += operation ? ", " : sign;
    s += text(t.children[i]);
  }
  s += ')';
  return s;
}

SymbolValues values_of(const Point& p) {
  SymbolValues values;
  for (std::size_t i = 0; i < names.size(); ++i) values.emplace(Symbol(names[i]), p[i]);
  return values;
}

Exact exact(const Tree& t, const Point& p) {
  if (t.kind == Tree::Kind::constant) return {t.value};
  if (t.kind == Tree::Kind::symbol) return {p[static_cast<std::size_t>(t.value)]};
  const Exact a = exact(t.children[0], p);
  if (!a.value) return a;
  if (t.kind == Tree::Kind::operation && t.op == Op::select) return exact(t.children[*a.value != 0 ? 1 : 2], p);
  if (t.children.size() == 1) return checked(operation(t.op, *a.value, 0));
  const Exact b = exact(t.children[1], p);
  if (!b.value) return b;
  const Int128 x = *a.value, y = *b.value;
  if (t.kind == Tree::Kind::add) return checked(x + y);
  if (t.kind == Tree::Kind::subtract) return checked(x - y);
  if (t.kind == Tree::Kind::multiply) {
    Int128 r = 0;
    if (__builtin_mul_overflow(x, y, &r)) return {std::nullopt, true};
    return checked(r);
  }
  if (t.op == Op::shift_left && (x > (too_large >> 64) || x < -(too_large >> 64))) return {std::nullopt, true};
  return checked(operation(t.op, x, y));
}

long double reach(const Tree& t, const Point& p) {
  const auto size = [](std::int64_t v) { return std::max(1.0L, std::fabs(static_cast<long double>(v))); };
  if (t.kind == Tree::Kind::constant) return size(t.value);
  if (t.kind == Tree::Kind::symbol) return size(p[static_cast<std::size_t>(t.value)]);
  const long double a = reach(t.children[0], p);
  const long double b = t.children.size() > 1 ? reach(t.children[1], p) : 0;
  if (t.kind == Tree::Kind::add || t.kind == Tree::Kind::subtract) return a + b;
  if (t.kind == Tree::Kind::multiply) return a * b;
  switch (t.op) {
    case Op::select:
      return a + b + reach(t.children[2], p);
    case Op::shift_left:
    case Op::shift_right:
      return (a + 2) * std::exp2(std::min(b, 1000.0L));
    case Op::min:
    case Op::max:
    case Op::less:
    case Op::less_equal:
    case Op::equal:
    case Op::bit_width:
      return a + b + 64;
    default:
      return (a + 2) * (b + 2);  // nested divisions multiply their divisors
  }
}

rc::Gen<Tree> any_tree(TreeOptions options) {
  return rc::gen::exec([options] { return pick_tree(options, options.depth); });
}

rc::Gen<Point> any_point(bool large) {
  return rc::gen::exec([large] {
    Point p{};
    for (std::int64_t& v : p) {
      const std::int64_t kind = pick(0, 9);
      if (kind < 6 || !large) {
        v = pick(-40, 40);
      } else if (kind < 8) {
        v = pick(-(std::int64_t{1} << 33), std::int64_t{1} << 33);
      } else {
        v = pick(0, 1) == 0 ? INT64_MAX - pick(0, 2) : INT64_MIN + pick(0, 2);
      }
    }
    return p;
  });
}

void showValue(const Tree& t, std::ostream& out) { out << text(t); }

}  // namespace kernelcast::testing
