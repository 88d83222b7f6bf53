// Exact values and substitution. Both visit every operation of the graph once, however often it is used.
//
// What is guaranteed about errors: evaluate returns a value only if it is the exact one. It throws exactly when
// (a) an operation whose value is needed is undefined, or it or one of its operands, or the result, leaves 64 bits, or
// (b) a single monomial of a sum leaves 128 bits although the sum does not.
// `select` needs its condition and the operand that it takes; every other operation needs all of its operands.
#include <optional>
#include <unordered_map>

#include "core/expr_node.h"
#include "core/op_semantics.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

class Evaluator {
 public:
  explicit Evaluator(const SymbolValues& values) : values_(values) {}

  std::int64_t value(const Expr& e) {
    Int128 sum = 0;
    for (const Term& t : terms_of(e)) {
      Int128 product = t.coefficient;
      for (const Factor& f : t.factors) {
        const std::int64_t v = value(f.atom);
        for (std::uint32_t i = 0; i < f.exponent; ++i) {
          if (__builtin_mul_overflow(product, static_cast<Int128>(v), &product)) fail(e, "result beyond 64 bits");
        }
      }
      if (__builtin_add_overflow(sum, product, &sum)) fail(e, "result beyond 64 bits");
    }
    const auto result = narrow(sum);
    if (!result) fail(e, "result beyond 64 bits");
    return *result;
  }

 private:
  std::int64_t value(const Atom& atom) {
    if (const Symbol* s = atom.symbol()) {
      const auto it = values_.find(*s);
      if (it == values_.end()) throw InternalError("evaluate: no value for symbol '" + s->name() + "'");
      return it->second;
    }
    const OpNode* op = &atom.operation();
    if (const auto it = known_.find(op); it != known_.end()) return it->second;
    const std::int64_t v = operation_value(atom);
    known_.emplace(op, v);
    return v;
  }

  std::int64_t operation_value(const Atom& atom) {
    const OpNode& op = atom.operation();
    const std::int64_t a = value(op.args[0]);
    if (op.op == Op::select) return value(op.args[a != 0 ? 1 : 2]);
    const std::int64_t b = op.args.size() > 1 ? value(op.args[1]) : 0;
    auto result = apply_op(op.op, a, b);
    for (std::size_t i = 2; i < op.args.size() && result; ++i) result = apply_op(op.op, *result, value(op.args[i]));
    if (!result) fail(monomial({{atom, 1}}), failure_reason(op.op, b));
    return *result;
  }

  [[noreturn]] static void fail(const Expr& e, const char* reason) {
    std::string text = e.str();
    if (text.size() > 200) text = text.substr(0, 200) + "...";
    throw ArithmeticError(std::string(reason) + " in " + text, e.symbol_names());
  }

  const SymbolValues& values_;
  std::unordered_map<const OpNode*, std::int64_t> known_;
};

class Substituter {
 public:
  explicit Substituter(const std::map<Symbol, Expr>& by) : by_(by) {}

  Expr replace(const Expr& e) {
    std::vector<WideTerm> plain;
    Expr sum;
    for (const Term& t : terms_of(e)) {
      Factors kept;
      Expr product = t.coefficient;
      bool changed = false;
      for (const Factor& f : t.factors) {
        if (const std::optional<Expr> v = replace(f.atom)) {
          for (std::uint32_t i = 0; i < f.exponent; ++i) product = product * *v;
          changed = true;
        } else {
          kept.push_back(f);
        }
      }
      if (changed) {
        sum = sum + product * monomial(kept);
      } else {
        plain.push_back({t.factors, t.coefficient});
      }
    }
    return plain.size() == terms_of(e).size() ? e : sum + gather(std::move(plain));
  }

 private:
  // Nothing when the atom does not change.
  std::optional<Expr> replace(const Atom& atom) {
    if (const Symbol* s = atom.symbol()) {
      const auto it = by_.find(*s);
      return it == by_.end() ? std::nullopt : std::optional(it->second);
    }
    const OpNode* op = &atom.operation();
    if (const auto it = known_.find(op); it != known_.end()) return it->second;
    std::optional<Expr> result;
    if (affected(*op)) {
      std::vector<Expr> args;
      for (const Expr& a : op->args) args.push_back(replace(a));
      if (op->op == Op::min || op->op == Op::max) {
        result = args[0];
        for (std::size_t i = 1; i < args.size(); ++i) result = Expr::apply(op->op, *result, args[i]);
      } else {
        args.resize(3);
        result = Expr::apply(op->op, args[0], args[1], args[2]);
      }
    }
    known_.emplace(op, result);
    return result;
  }

  bool affected(const OpNode& op) const {
    for (const Symbol s : op.symbols) {
      if (by_.contains(s)) return true;
    }
    return false;
  }

  const std::map<Symbol, Expr>& by_;
  std::unordered_map<const OpNode*, std::optional<Expr>> known_;
};

}  // namespace

std::int64_t Expr::evaluate(const SymbolValues& values) const { return Evaluator(values).value(*this); }
Expr Expr::substitute(const std::map<Symbol, Expr>& by) const { return Substituter(by).replace(*this); }

}  // namespace kernelcast
