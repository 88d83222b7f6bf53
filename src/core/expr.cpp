// Polynomials in canonical form: order, sums, products, and the questions that a linear form answers.
//
// Coefficients are gathered in 128 bits and narrowed once, so ArithmeticError means that the final coefficient leaves
// 64 bits, not an intermediate one. Products are expanded; beyond max_terms monomials the expression is refused,
// because kernels' index arithmetic is small and an expansion that large is a sign of a runaway (a hash function,
// unrolled code).
#include "kernelcast/expr.h"

#include <algorithm>
#include <array>

#include "core/expr_node.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

std::size_t mix(std::size_t h, std::size_t v) { return (h ^ v) * 0x9e3779b97f4a7c15ULL + (h >> 29U); }

int sign(bool less, bool greater) { return less ? -1 : (greater ? 1 : 0); }

std::int64_t narrow_coefficient(Int128 v) {
  if (const auto n = narrow(v)) return *n;
  throw ArithmeticError("a coefficient of a symbolic expression leaves the 64-bit range");
}

// Sums of two canonical lists: a merge.
std::vector<Term> merge(const std::vector<Term>& a, const std::vector<Term>& b, int sign_of_b) {
  std::vector<Term> out;
  out.reserve(a.size() + b.size());
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const int order = i == a.size() ? 1 : (j == b.size() ? -1 : compare(a[i].factors, b[j].factors));
    Int128 coefficient = 0;
    if (order <= 0) coefficient += a[i].coefficient;
    if (order >= 0) coefficient += static_cast<Int128>(sign_of_b) * b[j].coefficient;
    if (coefficient != 0) out.push_back({order <= 0 ? a[i].factors : b[j].factors, narrow_coefficient(coefficient)});
    if (order <= 0) ++i;
    if (order >= 0) ++j;
  }
  if (out.size() > max_terms) throw LimitError("a symbolic expression has more than 4096 terms");
  return out;
}

const Expr& small_constant(int v) {
  static const std::array<Expr, 2> table = {ExprNode::wrap({}), ExprNode::wrap({Term{{}, 1}})};
  return table[static_cast<std::size_t>(v)];
}

}  // namespace

// ---- atoms, monomials, order

std::size_t Atom::hash() const {
  if (const Symbol* s = symbol()) return mix(1, s->id());
  return operation().hash;
}

bool is_boolean(const Atom& a) { return a.op() != nullptr && a.op()->is_boolean(); }

int compare(const Atom& a, const Atom& b) {
  if (a == b) return 0;
  const Symbol *sa = a.symbol(), *sb = b.symbol();
  if ((sa != nullptr) != (sb != nullptr)) return sa != nullptr ? -1 : 1;
  if (sa != nullptr) return sa->name().compare(sb->name());
  const OpNode &x = a.operation(), &y = b.operation();
  if (x.op != y.op) return sign(x.op < y.op, true);
  if (x.args.size() != y.args.size()) return sign(x.args.size() < y.args.size(), true);
  for (std::size_t i = 0; i < x.args.size(); ++i) {
    if (const int c = compare(x.args[i], y.args[i]); c != 0) return c;
  }
  return 0;
}

std::uint32_t degree(const Factors& f) {
  std::uint32_t d = 0;
  for (const Factor& factor : f) d += factor.exponent;
  return d;
}

int compare(const Factors& a, const Factors& b) {
  const std::uint32_t da = degree(a), db = degree(b);
  if (da != db) return sign(da > db, true);
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (const int c = compare(a[i].atom, b[i].atom); c != 0) return c;
    if (a[i].exponent != b[i].exponent) return sign(a[i].exponent > b[i].exponent, true);
  }
  return sign(a.size() < b.size(), a.size() > b.size());
}

int compare(const Expr& a, const Expr& b) {
  if (&a.node() == &b.node()) return 0;
  const auto &x = terms_of(a), &y = terms_of(b);
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (const int c = compare(x[i].factors, y[i].factors); c != 0) return c;
    if (x[i].coefficient != y[i].coefficient) return sign(x[i].coefficient < y[i].coefficient, true);
  }
  return sign(x.size() < y.size(), x.size() > y.size());
}

Factors multiply(const Factors& a, const Factors& b) {
  if (degree(a) + degree(b) > max_degree) throw LimitError("a symbolic expression has a degree above 255");
  Factors out;
  out.reserve(a.size() + b.size());
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    const int order = compare(a[i].atom, b[j].atom);
    if (order < 0) {
      out.push_back(a[i++]);
    } else if (order > 0) {
      out.push_back(b[j++]);
    } else {
      const std::uint32_t exponent = is_boolean(a[i].atom) ? 1 : a[i].exponent + b[j].exponent;
      out.push_back({a[i].atom, exponent});
      ++i;
      ++j;
    }
  }
  out.insert(out.end(), a.begin() + static_cast<std::ptrdiff_t>(i), a.end());
  out.insert(out.end(), b.begin() + static_cast<std::ptrdiff_t>(j), b.end());
  return out;
}

Expr gather(std::vector<WideTerm> terms) {
  std::sort(terms.begin(), terms.end(),
            [](const WideTerm& a, const WideTerm& b) { return compare(a.factors, b.factors) < 0; });
  std::vector<Term> out;
  for (std::size_t i = 0; i < terms.size();) {
    Int128 sum = terms[i].coefficient;
    std::size_t j = i + 1;
    for (; j < terms.size() && terms[j].factors == terms[i].factors; ++j) {
      if (__builtin_add_overflow(sum, terms[j].coefficient, &sum)) {
        throw ArithmeticError("a coefficient of a symbolic expression leaves the 64-bit range");
      }
    }
    if (sum != 0) out.push_back({std::move(terms[i].factors), narrow_coefficient(sum)});
    if (out.size() > max_terms) throw LimitError("a symbolic expression has more than 4096 terms");
    i = j;
  }
  return ExprNode::wrap(std::move(out));
}

// ---- nodes

ExprNode::ExprNode(std::vector<Term> canonical_terms) : terms_(std::move(canonical_terms)), hash_(terms_.size()) {
  for (const Term& t : terms_) {
    hash_ = mix(hash_, static_cast<std::size_t>(t.coefficient));
    for (const Factor& f : t.factors) hash_ = mix(mix(hash_, f.atom.hash()), f.exponent);
  }
}

Expr ExprNode::wrap(std::vector<Term> canonical_terms) {
  return Expr(std::make_shared<const ExprNode>(std::move(canonical_terms)));
}

const Atom* single_atom(const Expr& e) {
  const auto& t = terms_of(e);
  const bool single =
      t.size() == 1 && t[0].coefficient == 1 && t[0].factors.size() == 1 && t[0].factors[0].exponent == 1;
  return single ? &t[0].factors[0].atom : nullptr;
}

const OpNode* single_op(const Expr& e, Op op) {
  const Atom* atom = single_atom(e);
  return atom != nullptr && atom->op() != nullptr && atom->op()->op == op ? atom->op() : nullptr;
}

Expr monomial(const Factors& factors) { return ExprNode::wrap({Term{factors, 1}}); }

// ---- Expr

Expr::Expr() : node_(small_constant(0).node_) {}

Expr::Expr(std::int64_t value) {
  if (value == 0 || value == 1) {
    node_ = small_constant(static_cast<int>(value)).node_;
  } else {
    node_ = std::make_shared<const ExprNode>(std::vector<Term>{Term{{}, value}});
  }
}

Expr::Expr(Symbol symbol) : node_(std::make_shared<const ExprNode>(std::vector<Term>{Term{{{Atom(symbol), 1}}, 1}})) {}

std::optional<std::int64_t> Expr::constant() const {
  const auto& t = node_->terms();
  if (t.empty()) return 0;
  if (t.size() == 1 && t[0].factors.empty()) return t[0].coefficient;
  return std::nullopt;
}

std::int64_t Expr::constant_term() const {
  const auto& t = node_->terms();
  return !t.empty() && t.back().factors.empty() ? t.back().coefficient : 0;
}

bool Expr::depends_on(Symbol s) const {
  for (const Term& t : node_->terms()) {
    for (const Factor& f : t.factors) {
      if (f.atom.symbol() != nullptr
              ? *f.atom.symbol() == s
              : std::binary_search(f.atom.operation().symbols.begin(), f.atom.operation().symbols.end(), s)) {
        return true;
      }
    }
  }
  return false;
}

void Expr::collect_symbols(std::set<Symbol>& into) const {
  const std::vector<Symbol> all = symbols_of({*this});
  into.insert(all.begin(), all.end());
}

std::set<Symbol> Expr::symbols() const {
  std::set<Symbol> all;
  collect_symbols(all);
  return all;
}

std::vector<std::string> Expr::symbol_names() const {
  std::vector<std::string> names;
  for (const Symbol& s : symbols()) names.push_back(s.name());
  return names;
}

std::optional<Expr> Expr::coefficient(Symbol s) const {
  const Atom wanted(s);
  std::vector<WideTerm> found;
  for (const Term& t : node_->terms()) {
    Factors rest;
    bool has = false;
    for (const Factor& f : t.factors) {
      if (f.atom == wanted) {
        if (f.exponent != 1) return std::nullopt;
        has = true;
      } else {
        const OpNode* op = f.atom.op();
        if (op != nullptr && std::binary_search(op->symbols.begin(), op->symbols.end(), s)) return std::nullopt;
        rest.push_back(f);
      }
    }
    if (has) found.push_back({std::move(rest), t.coefficient});
  }
  return gather(std::move(found));
}

Expr operator+(const Expr& a, const Expr& b) {
  if (terms_of(a).empty()) return b;
  if (terms_of(b).empty()) return a;
  return ExprNode::wrap(merge(terms_of(a), terms_of(b), 1));
}

Expr operator-(const Expr& a, const Expr& b) {
  if (terms_of(b).empty()) return a;
  return ExprNode::wrap(merge(terms_of(a), terms_of(b), -1));
}

Expr operator*(const Expr& a, const Expr& b) {
  const auto &x = terms_of(a), &y = terms_of(b);
  if (x.empty() || y.empty()) return {};
  if (a.constant() == 1) return b;
  if (b.constant() == 1) return a;
  if (x.size() * y.size() > max_terms * 64) throw LimitError("a product of symbolic expressions has too many terms");
  std::vector<WideTerm> product;
  product.reserve(x.size() * y.size());
  for (const Term& t : x) {
    for (const Term& u : y) {
      product.push_back({multiply(t.factors, u.factors), static_cast<Int128>(t.coefficient) * u.coefficient});
    }
  }
  return gather(std::move(product));
}

bool operator==(const Expr& a, const Expr& b) {
  if (a.node_ == b.node_) return true;
  return a.node_->hash() == b.node_->hash() && a.node_->terms() == b.node_->terms();
}

bool operator<(const Expr& a, const Expr& b) { return compare(a, b) < 0; }

}  // namespace kernelcast
