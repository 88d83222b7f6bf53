// Index expressions on boxes. Idea: interval arithmetic that keeps linear parts exact. On a box, `mod(i + 1, n)` with
// i + 1 < n everywhere simply is i + 1, `min(a, b)` is a where a <= b, floor((4 * i + j) / 4) is i + floor(j / 4). What
// stays non-linear is bounded by an interval, and the variables it depends on are named, so that a caller knows along
// which of them to split the box. With all outer variables fixed, everything is decided up to the lanes.
#include "profile/index.h"

#include <algorithm>
#include <unordered_map>

#include "core/expr_node.h"
#include "core/expr_range.h"
#include "core/op_semantics.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

void set_point(Shape& s, Int128 v) {
  s.linear_mask = s.rest_mask = 0;
  s.rest = Bounds::point(v);
}

template <class F>
void for_each(VariableMask m, F f) {
  for (; m != 0; m &= m - 1) f(__builtin_ctz(m));
}

// out += k * s. A coefficient that leaves 64 bits becomes part of the rest.
void add_scaled(Shape& out, const Shape& s, std::int64_t k, const Box& box) {
  if (k == 0) return;
  for_each(s.linear_mask, [&](int v) {
    const bool has = (out.linear_mask >> v & 1) != 0;
    std::int64_t c = 0;
    if (__builtin_mul_overflow(s.linear[v], k, &c) || (has && __builtin_add_overflow(c, out.linear[v], &c))) {
      out.rest = out.rest + Bounds::point(s.linear[v]) * Bounds::point(k) * Bounds{box.lo[v], box.hi[v]};
      out.rest_mask |= 1U << v;
      return;
    }
    if (c == 0) {
      out.linear_mask &= ~(1U << v);
    } else {
      out.linear_mask |= 1U << v;
      out.linear[v] = c;
    }
  });
  out.rest = out.rest + s.rest * Bounds::point(k);
  out.rest_mask |= s.rest_mask;
}

bool is_point(const Shape& s) { return s.linear_mask == 0 && s.rest.is_point(); }

void set_rest(Shape& out, const Bounds& b, VariableMask mask) {
  out.linear_mask = 0;
  out.rest = b;
  out.rest_mask = b.is_point() ? 0 : mask;
}

Bounds quotient(const Bounds& a, std::int64_t b, bool up) {
  const auto q = [&](Int128 v) {
    if (v <= -infinity || v >= infinity) return (v < 0) != (b < 0) ? -infinity : infinity;
    return up ? ceil_quotient(v, b) : floor_quotient(v, b);
  };
  const Int128 x = q(a.lo), y = q(a.hi);
  return {std::min(x, y), std::max(x, y)};
}

// floor or ceil of a / b for a known b: terms that b divides come out, the remainder is divided as a whole.
void divide(const Shape& a, std::int64_t b, bool up, const Box& box, Shape& out) {
  Shape remainder;
  remainder.rest = a.rest;
  remainder.rest_mask = a.rest_mask;
  out.linear_mask = 0;
  for_each(a.linear_mask, [&](int v) {
    if (a.linear[v] % b == 0 && !(b == -1 && a.linear[v] == int64_min)) {
      out.linear_mask |= 1U << v;
      out.linear[v] = a.linear[v] / b;
    } else {
      remainder.linear_mask |= 1U << v;
      remainder.linear[v] = a.linear[v];
    }
  });
  const Bounds q = quotient(remainder.range(box), b, up);
  out.rest = q;
  out.rest_mask = q.is_point() ? 0 : remainder.mask();
}

// a mod b for a known b > 0.
void modulo(const Shape& a, std::int64_t b, const Box& box, Shape& out) {
  Shape r;  // a without the terms that b divides
  r.rest = a.rest;
  r.rest_mask = a.rest_mask;
  for_each(a.linear_mask, [&](int v) {
    if (a.linear[v] % b == 0) return;
    r.linear_mask |= 1U << v;
    r.linear[v] = a.linear[v];
  });
  const Bounds range = r.range(box);
  if (range.finite() && floor_quotient(range.lo, b) == floor_quotient(range.hi, b)) {
    out = r;
    out.rest = out.rest + Bounds::point(-floor_quotient(range.lo, b) * b);
    return;
  }
  set_rest(out, {0, b - 1}, r.mask());
}

}  // namespace

Bounds Shape::range(const Box& box) const {
  Bounds b = rest;
  for_each(linear_mask, [&](int v) {
    const Int128 x = static_cast<Int128>(linear[v]) * box.lo[v], y = static_cast<Int128>(linear[v]) * box.hi[v];
    b = b + (x < y ? Bounds{x, y} : Bounds{y, x});
  });
  return b;
}

// Turns the expression graph into nodes; parts without variables become slots.
struct Index::Builder {
  Index& index;
  const Scope& scope;
  ConstantPool& pool;
  std::unordered_map<const OpNode*, int> operations;
  std::array<int, max_variables> variable_nodes{};

  Builder(Index& i, const Scope& s, ConstantPool& p) : index(i), scope(s), pool(p) { variable_nodes.fill(-1); }

  [[nodiscard]] bool varies(const Atom& atom) const {
    if (const Symbol* s = atom.symbol()) return scope.find(*s) >= 0;
    const auto& symbols = atom.op()->symbols;
    return std::any_of(symbols.begin(), symbols.end(), [&](Symbol s) { return scope.find(s) >= 0; });
  }

  int add(Node n) {
    index.nodes_.push_back(std::move(n));
    return static_cast<int>(index.nodes_.size()) - 1;
  }

  int atom_node(const Atom& atom) {
    if (const Symbol* s = atom.symbol()) {
      const int v = scope.find(*s);
      index.mask_ |= 1U << v;
      if (variable_nodes[v] < 0) {
        Node n{};
        n.kind = Node::Kind::variable;
        n.variable = v;
        variable_nodes[v] = add(std::move(n));
      }
      return variable_nodes[v];
    }
    const OpNode* op = atom.op();
    if (const auto it = operations.find(op); it != operations.end()) return it->second;
    Node n{};
    n.kind = Node::Kind::operation;
    n.op = op->op;
    for (const Expr& a : op->args) n.operands.push_back(sum_node(a));
    return operations[op] = add(std::move(n));
  }

  int sum_node(const Expr& e) {
    std::vector<std::pair<Factors, Expr>> groups;  // varying factors -> sum of the constant cofactors
    for (const Term& t : terms_of(e)) {
      Factors varying, constant;
      for (const Factor& f : t.factors) (varies(f.atom) ? varying : constant).push_back(f);
      const Expr cofactor = monomial(constant) * Expr(t.coefficient);
      const auto it = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == varying; });
      if (it == groups.end())
        groups.emplace_back(std::move(varying), cofactor);
      else
        it->second = it->second + cofactor;
    }
    Node n{};
    n.kind = Node::Kind::sum;
    n.constant_slot = pool.slot(0);
    for (const auto& [factors, cofactor] : groups) {
      if (factors.empty()) {
        n.constant_slot = pool.slot(cofactor);
        continue;
      }
      Product p{pool.slot(cofactor), {}};
      for (const Factor& f : factors) p.factors.emplace_back(atom_node(f.atom), f.exponent);
      n.products.push_back(std::move(p));
    }
    return add(std::move(n));
  }
};

Index::Index(const Expr& e, const Scope& scope, ConstantPool& pool) : expression_(e) {
  Builder(*this, scope, pool).sum_node(e);
  const Node& root = nodes_.back();
  constant_slot_ = root.constant_slot;
  affine_ = true;
  for (const Product& p : root.products) {
    const bool linear =
        p.factors.size() == 1 && p.factors[0].second == 1 && nodes_[p.factors[0].first].kind == Node::Kind::variable;
    if (!linear) {
      affine_ = false;
      terms_.clear();
      break;
    }
    terms_.push_back({nodes_[p.factors[0].first].variable, p.slot});
  }
  values_.resize(nodes_.size());
}

void Index::sum_shape(const Node& n, const Box& box, const ConstantPool& pool, Shape& out) {
  set_point(out, pool[n.constant_slot]);
  for (const Product& p : n.products) {
    const std::int64_t k = pool[p.slot];
    // Constants multiply into k; at most one varying factor keeps the product linear.
    Int128 factor = k;
    const Shape* varying = nullptr;
    bool simple = true;
    for (const auto& [node, exponent] : p.factors) {
      const Shape& s = values_[node];
      if (is_point(s)) {
        for (std::uint32_t i = 0; i < exponent && simple; ++i) {
          simple = fits_int64(s.rest.lo) && fits_int64(factor);
          if (simple) factor *= s.rest.lo;
        }
      } else if (varying == nullptr && exponent == 1) {
        varying = &s;
      } else {
        simple = false;
      }
    }
    if (simple && factor == 0) continue;
    if (simple && varying == nullptr) {
      out.rest = out.rest + Bounds::point(factor);
      continue;
    }
    if (simple && fits_int64(factor)) {
      add_scaled(out, *varying, static_cast<std::int64_t>(factor), box);
      continue;
    }
    Bounds b = Bounds::point(k);
    VariableMask mask = 0;
    for (const auto& [node, exponent] : p.factors) {
      b = b * power(values_[node].range(box), exponent);
      mask |= values_[node].mask();
    }
    out.rest = out.rest + b;
    if (!b.is_point()) out.rest_mask |= mask;
  }
}

void Index::operation_shape(const Node& n, const Box& box, Shape& out) {
  const auto operand = [&](std::size_t i) -> const Shape& { return values_[n.operands[i]]; };
  const Shape& a = operand(0);
  VariableMask mask = 0;
  for (int o : n.operands) mask |= values_[o].mask();
  const auto known = [&](std::size_t i) -> std::optional<std::int64_t> {
    return is_point(operand(i)) ? narrow(operand(i).rest.lo) : std::nullopt;
  };
  const auto difference = [&](const Shape& x, const Shape& y) {
    Shape d = x;
    add_scaled(d, y, -1, box);
    return d;
  };
  switch (n.op) {
    case Op::floor_div:
    case Op::ceil_div:
      if (const auto b = known(1); b && *b != 0) return divide(a, *b, n.op == Op::ceil_div, box, out);
      break;
    case Op::mod:
      if (const auto b = known(1); b && *b > 0) return modulo(a, *b, box, out);
      break;
    case Op::min:
    case Op::max: {
      // Drop every operand that another one beats everywhere.
      out = a;
      bool decided = true;
      for (std::size_t i = 1; i < n.operands.size() && decided; ++i) {
        const Bounds d = difference(operand(i), out).range(box);
        if (n.op == Op::min ? d.hi <= 0 : d.lo >= 0)
          out = operand(i);
        else
          decided = n.op == Op::min ? d.lo >= 0 : d.hi <= 0;
      }
      if (decided) return;
      break;
    }
    case Op::less:
    case Op::less_equal:
    case Op::equal: {
      const Shape d = difference(a, operand(1));
      const Bounds r = d.range(box);
      const Int128 top = n.op == Op::less ? -1 : 0, bottom = n.op == Op::equal ? 0 : -infinity;
      if (r.within(bottom, top)) return set_point(out, 1);
      if (r.lo > top || r.hi < bottom) return set_point(out, 0);
      return set_rest(out, {0, 1}, d.mask());
    }
    case Op::select: {
      const Bounds c = a.range(box);
      if (c == Bounds::point(0)) {
        out = operand(2);
        return;
      }
      if (!c.contains(0)) {
        out = operand(1);
        return;
      }
      break;
    }
    case Op::bit_and:
      for (std::size_t i = 0; i < 2; ++i)
        if (const auto m = known(i); m && *m >= 0 && *m < int64_max && is_power_of_two(*m + 1))
          return modulo(operand(1 - i), *m + 1, box, out);
      break;
    case Op::shift_left:
      if (const auto b = known(1); b && *b >= 0 && *b <= 62) {
        set_point(out, 0);
        return add_scaled(out, a, std::int64_t{1} << *b, box);
      }
      break;
    case Op::shift_right:
      if (const auto b = known(1); b && *b >= 0 && *b <= 62) return divide(a, std::int64_t{1} << *b, false, box, out);
      break;
    default:
      break;
  }
  if (n.operands.size() <= 3) {  // all known: the value itself, where it is defined
    std::array<std::int64_t, 3> v{};
    bool all = true;
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      const auto k = known(i);
      all = all && k.has_value();
      v[i] = k.value_or(0);
    }
    if (all) {
      if (const auto r = apply_op(n.op, v[0], v[1], v[2])) return set_point(out, *r);
    }
  }
  // Anything else: the interval of core's arithmetic. Operands are handed over as constants that look themselves up.
  std::vector<Expr> handles(n.operands.size());
  for (std::size_t i = 0; i < handles.size(); ++i) handles[i] = Expr(static_cast<std::int64_t>(i));
  const Bounds b = operation_bounds(
      n.op, handles, [&](const Expr& h) { return operand(static_cast<std::size_t>(*h.constant())).range(box); });
  set_rest(out, b, mask);
}

void Index::shape_on(const Box& box, const ConstantPool& pool, Shape& out) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& n = nodes_[i];
    Shape& s = i + 1 == nodes_.size() ? out : values_[i];
    switch (n.kind) {
      case Node::Kind::variable:
        set_point(s, box.lo[n.variable]);
        if (box.is_free(n.variable)) {
          s.rest = Bounds::point(0);
          s.linear_mask = 1U << n.variable;
          s.linear[n.variable] = 1;
        } else if (n.variable == box.sheared && box.is_free(box.along)) {
          s.rest = Bounds::point(static_cast<Int128>(box.lo[n.variable]) -
                                 static_cast<Int128>(box.slope) * box.lo[box.along]);
          s.linear_mask = 1U << box.along;
          s.linear[box.along] = box.slope;
        }
        break;
      case Node::Kind::sum:
        sum_shape(n, box, pool, s);
        break;
      case Node::Kind::operation:
        operation_shape(n, box, s);
        break;
    }
  }
}

Bounds Index::range_on(const Box& box, const ConstantPool& pool) {
  Shape s;
  shape_on(box, pool, s);
  return s.range(box);
}

}  // namespace kernelcast
