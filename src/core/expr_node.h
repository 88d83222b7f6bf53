// The inside of an Expr: a polynomial with integer coefficients over atoms. An atom is a symbol or an opaque operation
// on further expressions. Invariants, kept by the functions below:
//   - factors of a term are sorted by atom, each atom once; atoms that can only be 0 or 1 have exponent 1 (b * b = b);
//   - terms are sorted by falling degree, then by factors, so the constant term is the last; no coefficient is 0;
//   - equal operations are one object (see expr_op.cpp), so atoms compare by address.
// Equal polynomials therefore have equal term lists.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "core/bounds.h"
#include "core/int_math.h"
#include "kernelcast/expr.h"

namespace kernelcast {

/// Beyond these an expression is refused with LimitError: the front end then treats the value as unknown.
inline constexpr std::size_t max_terms = 4096;
inline constexpr std::uint32_t max_degree = 255;
inline constexpr std::uint32_t max_depth = 256;  // of nested operations; bounds every recursion

struct OpNode;
using OpRef = std::shared_ptr<const OpNode>;

class Atom {
 public:
  explicit Atom(Symbol s) : value_(s) {}
  explicit Atom(OpRef op) : value_(std::move(op)) {}
  [[nodiscard]] const Symbol* symbol() const { return std::get_if<Symbol>(&value_); }
  /// The operation, or nullptr for a symbol.
  [[nodiscard]] const OpNode* op() const {
    const OpRef* op = std::get_if<OpRef>(&value_);
    return op != nullptr ? op->get() : nullptr;
  }
  /// The operation of an atom that is known not to be a symbol.
  [[nodiscard]] const OpNode& operation() const { return *std::get<OpRef>(value_); }
  [[nodiscard]] std::size_t hash() const;
  friend bool operator==(const Atom& a, const Atom& b) { return a.value_ == b.value_; }

 private:
  std::variant<Symbol, OpRef> value_;
};

struct Factor {
  Atom atom;
  std::uint32_t exponent;
  friend bool operator==(const Factor&, const Factor&) = default;
};
using Factors = std::vector<Factor>;  // a monomial without its coefficient; empty: 1

struct Term {
  Factors factors;
  std::int64_t coefficient;
  friend bool operator==(const Term&, const Term&) = default;
};

class ExprNode {
 public:
  explicit ExprNode(std::vector<Term> canonical_terms);
  [[nodiscard]] const std::vector<Term>& terms() const { return terms_; }
  [[nodiscard]] std::size_t hash() const { return hash_; }
  /// Wraps terms that already are in canonical form.
  static Expr wrap(std::vector<Term> canonical_terms);

 private:
  std::vector<Term> terms_;
  std::size_t hash_;
};

struct OpNode {
  Op op;
  std::vector<Expr> args;
  // Derived when made:
  std::size_t hash = 0;
  std::uint32_t depth = 1;      // 1 + the deepest operand
  bool total = true;            // defined for all values of its symbols (overflow aside)
  Bounds bounds;                // of the value, whatever the symbols are
  std::vector<Symbol> symbols;  // sorted by id
  [[nodiscard]] bool is_boolean() const { return bounds.within(0, 1); }
};

/// A term whose coefficient may still be out of range while terms are gathered.
struct WideTerm {
  Factors factors;
  Int128 coefficient;
};

// ---- expr.cpp: polynomials
int compare(const Atom& a, const Atom& b);
int compare(const Factors& a, const Factors& b);  // the order of terms
int compare(const Expr& a, const Expr& b);
std::uint32_t degree(const Factors& f);
Factors multiply(const Factors& a, const Factors& b);
bool is_boolean(const Atom& a);
/// Sorts, merges equal monomials, drops zeros. Throws ArithmeticError when a coefficient leaves 64 bits.
Expr gather(std::vector<WideTerm> terms);
inline const std::vector<Term>& terms_of(const Expr& e) { return e.node().terms(); }
/// The only atom if the expression is exactly 1 * atom, else nullptr.
const Atom* single_atom(const Expr& e);
/// The operation if the expression is exactly 1 * op, else nullptr.
const OpNode* single_op(const Expr& e, Op op);
/// `factors` with coefficient 1 as an expression.
Expr monomial(const Factors& factors);

// ---- expr_op.cpp: operations
/// The opaque operation as it stands, with no simplification; equal ones share one object.
Expr make_op(Op op, std::vector<Expr> args);
std::uint32_t depth_of(const Expr& e);
bool is_total(const Expr& e);
std::vector<Symbol> symbols_of(const std::vector<Expr>& expressions);

// ---- expr_simplify*.cpp: each returns nothing when it knows no simpler form than the plain operation
using Simplified = std::optional<Expr>;
Simplified simplify_division(Op op, const Expr& a, const Expr& b);
Simplified simplify_comparison(Op op, const Expr& a, const Expr& b);
Simplified simplify_extremum(Op op, const Expr& a, const Expr& b);
Simplified simplify_select(const Expr& c, const Expr& a, const Expr& b);
Simplified simplify_bits(Op op, const Expr& a, const Expr& b);
/// True if the value can only be 0 or 1.
bool is_boolean(const Expr& e);
/// 1 - e of a boolean expression, as a product, maximum or comparison rather than as a polynomial.
Expr negate(const Expr& boolean);

}  // namespace kernelcast
