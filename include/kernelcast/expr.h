// Symbolic integer expressions: polynomials over named symbols and opaque operations (division, min, shifts...).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast {

/// An interned name. Cheap to copy and compare; the pool is process-wide and thread-safe.
class Symbol {
 public:
  explicit Symbol(std::string_view name);
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] std::uint32_t id() const { return id_; }
  friend bool operator==(Symbol a, Symbol b) = default;
  friend auto operator<=>(Symbol a, Symbol b) = default;

 private:
  std::uint32_t id_;
};

/// An operation that is not a polynomial. All arithmetic is over the mathematical integers, results must fit 64 bits.
enum class Op : std::uint8_t {
  floor_div,    // floor(a / b)
  ceil_div,     // ceil(a / b)
  mod,          // a - b * floor(a / b): the sign of b
  min, max,
  less,         // 1 if a < b, else 0
  less_equal,
  equal,
  select,       // a != 0 ? b : c
  bit_and, bit_or, bit_xor,  // two's complement on 64 bits
  shift_left,   // a * 2^b, b in 0..62
  shift_right,  // floor(a / 2^b), b >= 0
  bit_width,    // for a >= 1: floor(log2 a) + 1; for a <= 0: 0
};

class ExprNode;
using SymbolValues = std::map<Symbol, std::int64_t>;
/// An inclusive range of integers; `lo > hi` never happens.
struct Interval { std::int64_t lo, hi; };
using SymbolRanges = std::map<Symbol, Interval>;

/// An immutable value. Sums and products are kept in one canonical form (sorted monomials with coefficients), so
/// `x*2 + x == 3*x` holds structurally. Operators throw ArithmeticError when a coefficient leaves 64 bits, and LimitError
/// (its base) when an expression has more than 4096 terms, a degree above 255, or nests more than 256 operations.
class Expr {
 public:
  Expr();                    // 0
  Expr(std::int64_t value);  // NOLINT(google-explicit-constructor): constants read naturally in formulas
  Expr(int value) : Expr(static_cast<std::int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  Expr(Symbol symbol);       // NOLINT(google-explicit-constructor)
  static Expr symbol(std::string_view name) { return Expr(Symbol(name)); }
  /// The general constructor of opaque operations; folds constants and applies exact simplifications only. A
  /// simplification may remove an undefined part (`x / x` is 1), none adds one; what is undefined as a whole (`1 / 0`) is
  /// built and throws when evaluated. Booleans are expressions that can only be 0 or 1: AND is their product, OR their
  /// maximum, NOT is `logical_not`; equal conditions are equal expressions (`x < y + 1` is `x <= y`).
  static Expr apply(Op op, const Expr& a, const Expr& b = {}, const Expr& c = {});

  [[nodiscard]] std::optional<std::int64_t> constant() const;
  [[nodiscard]] bool is_zero() const { return constant() == 0; }
  [[nodiscard]] bool depends_on(Symbol s) const;
  void collect_symbols(std::set<Symbol>& into) const;
  [[nodiscard]] std::set<Symbol> symbols() const;
  [[nodiscard]] std::vector<std::string> symbol_names() const;

  /// If the expression is `k*s + rest` with neither k nor rest depending on s: k (0 when independent). Else nothing.
  [[nodiscard]] std::optional<Expr> coefficient(Symbol s) const;
  /// Replaces every named symbol by an expression.
  [[nodiscard]] Expr substitute(const std::map<Symbol, Expr>& by) const;
  /// The constant term of the polynomial, and the rest without it.
  [[nodiscard]] std::int64_t constant_term() const;

  /// The exact value, never a wrapped one. Throws ArithmeticError when it, or an operation or operand that it needs,
  /// leaves 64 bits or is undefined (sums have 128-bit intermediates); `select` needs its condition and the side that it
  /// takes, any other operation all its operands. Throws InternalError on a missing symbol.
  [[nodiscard]] std::int64_t evaluate(const SymbolValues& values) const;
  /// A range that contains every value over the box of ranges (sound, not always tight; nothing when it
  /// cannot be bounded in 64 bits or a symbol has no range).
  [[nodiscard]] std::optional<Interval> range(const SymbolRanges& box) const;

  /// C-like text; stable order. For example "4*K*lid.y + 4*k + min(n, 8)". `/` and `%` round towards minus infinity.
  /// Ends in "..." beyond 16 KiB.
  [[nodiscard]] std::string str() const;
  [[nodiscard]] const ExprNode& node() const { return *node_; }

  friend Expr operator+(const Expr& a, const Expr& b);
  friend Expr operator-(const Expr& a, const Expr& b);
  friend Expr operator*(const Expr& a, const Expr& b);
  friend Expr operator-(const Expr& a) { return Expr(0) - a; }
  friend bool operator==(const Expr& a, const Expr& b);
  /// A stable total order (for containers), not a numeric comparison.
  friend bool operator<(const Expr& a, const Expr& b);

 private:
  friend class ExprNode;
  explicit Expr(std::shared_ptr<const ExprNode> node) : node_(std::move(node)) {}
  std::shared_ptr<const ExprNode> node_;
};

inline Expr floor_div(const Expr& a, const Expr& b) { return Expr::apply(Op::floor_div, a, b); }
inline Expr ceil_div(const Expr& a, const Expr& b) { return Expr::apply(Op::ceil_div, a, b); }
inline Expr mod(const Expr& a, const Expr& b) { return Expr::apply(Op::mod, a, b); }
inline Expr min(const Expr& a, const Expr& b) { return Expr::apply(Op::min, a, b); }
inline Expr max(const Expr& a, const Expr& b) { return Expr::apply(Op::max, a, b); }
inline Expr less(const Expr& a, const Expr& b) { return Expr::apply(Op::less, a, b); }
inline Expr less_equal(const Expr& a, const Expr& b) { return Expr::apply(Op::less_equal, a, b); }
inline Expr equal(const Expr& a, const Expr& b) { return Expr::apply(Op::equal, a, b); }
inline Expr logical_not(const Expr& a) { return Expr::apply(Op::equal, a, 0); }
inline Expr select(const Expr& c, const Expr& a, const Expr& b) { return Expr::apply(Op::select, c, a, b); }

/// Several expressions compiled together into straight-line code over int64 slots; common parts are shared.
/// Values and errors are exactly those of Expr::evaluate. Inside, all of the code runs in 64 bits, both sides of each
/// `select` included, with a flag for anything inexact; only if the flag is set, a slower pass finds out what matters.
/// So an undefined operation on a side that is not taken does not throw, but costs time.
class CompiledExprs {
 public:
  CompiledExprs() = default;
  /// `inputs[i]` is the symbol whose value `evaluate` reads from `in[i]`. Throws InternalError if an output needs a
  /// symbol that is not listed.
  CompiledExprs(std::span<const Expr> outputs, std::span<const Symbol> inputs);
  [[nodiscard]] std::size_t inputs() const { return n_inputs_; }
  [[nodiscard]] std::size_t outputs() const { return results_.size(); }
  [[nodiscard]] std::size_t instructions() const { return code_.size(); }
  /// Thread-safe: scratch is the caller's (resized on first use, reused afterwards: no allocation in steady state). Any
  /// scratch will do, its contents do not matter. On an error the contents of `out` are unspecified.
  void evaluate(std::span<const std::int64_t> in, std::span<std::int64_t> out, std::vector<std::int64_t>& scratch) const;
  /// `lanes` points at once: input i of lane l at in[i * lanes + l]; output likewise.
  void evaluate_lanes(std::span<const std::int64_t> in, std::span<std::int64_t> out, std::size_t lanes,
                      std::vector<std::int64_t>& scratch) const;

  struct Instruction { std::uint8_t code; std::uint32_t a, b, c; };  // operands are slots

 private:
  struct Run { std::uint8_t code; std::uint32_t count; };  // neighbouring instructions of one code
  void evaluate_carefully(std::span<const std::int64_t> in, std::span<std::int64_t> out,
                          std::vector<std::int64_t>& scratch) const;
  void evaluate_one_by_one(std::span<const std::int64_t> in, std::span<std::int64_t> out, std::size_t lanes,
                           std::size_t begin, std::size_t end) const;
  std::size_t n_inputs_ = 0;
  std::vector<Expr> exprs_;      // what was compiled, for the rare inputs that need wider intermediates
  std::vector<Symbol> symbols_;  // of the inputs
  std::vector<Run> runs_;
  std::vector<std::int64_t> constants_;
  std::vector<Instruction> code_;
  std::vector<std::uint32_t> results_;
};

}  // namespace kernelcast
