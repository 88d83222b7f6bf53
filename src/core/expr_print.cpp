// C-like text. Division and modulo print as `/` and `%` but round towards minus infinity (C rounds towards 0: the same
// for operands that are not negative). Operations inside sums and products stand in parentheses. Text stops growing at
// 16 KiB.
#include <string>

#include "core/expr_node.h"

namespace kernelcast {
namespace {

constexpr std::size_t max_text = 16384;

const char* infix(Op op) {
  switch (op) {
    case Op::floor_div:
      return " / ";
    case Op::mod:
      return " % ";
    case Op::less:
      return " < ";
    case Op::less_equal:
      return " <= ";
    case Op::equal:
      return " == ";
    case Op::bit_and:
      return " & ";
    case Op::bit_or:
      return " | ";
    case Op::bit_xor:
      return " ^ ";
    case Op::shift_left:
      return " << ";
    case Op::shift_right:
      return " >> ";
    default:
      return nullptr;
  }
}

const char* function(Op op) {
  switch (op) {
    case Op::min:
      return "min";
    case Op::max:
      return "max";
    case Op::ceil_div:
      return "ceil_div";
    default:
      return "bit_width";
  }
}

bool is_comparison(Op op) { return op == Op::less || op == Op::less_equal || op == Op::equal; }

// What stands around an expression, by how much of it needs parentheses: nothing; all but arithmetic, beside a
// comparison or select; everything but a constant, symbol or call.
enum class Around { nothing, comparison, operation };

class Printer {
 public:
  void print(const Expr& e, Around around) {
    const auto& terms = terms_of(e);
    if (terms.empty()) {
      text_ += '0';
      return;
    }
    if (const Atom* atom = single_atom(e)) {
      print(*atom, around);
      return;
    }
    const bool simple = terms.size() == 1 && (terms[0].factors.empty() && terms[0].coefficient >= 0);
    const bool parentheses = around == Around::operation && !simple;
    if (parentheses) text_ += '(';
    for (std::size_t i = 0; i < terms.size() && !full(); ++i) {
      const bool minus = terms[i].coefficient < 0;
      if (i > 0) text_ += minus ? " - " : " + ";
      if (i == 0 && minus) text_ += '-';
      print(terms[i]);
    }
    if (parentheses) text_ += ')';
  }

  std::string take() && {
    if (full()) text_ += "...";
    return std::move(text_);
  }

 private:
  [[nodiscard]] bool full() const { return text_.size() > max_text; }

  void print(const Term& t) {
    const std::uint64_t size = magnitude(t.coefficient);
    bool first = true;
    if (size != 1 || t.factors.empty()) {
      text_ += std::to_string(size);
      first = false;
    }
    for (const Factor& f : t.factors) {
      for (std::uint32_t i = 0; i < f.exponent && !full(); ++i) {
        if (!first) text_ += '*';
        print(f.atom, Around::operation);
        first = false;
      }
    }
  }

  void print(const Atom& atom, Around around) {
    if (full()) return;
    if (const Symbol* s = atom.symbol()) {
      text_ += s->name();
      return;
    }
    const OpNode& op = atom.operation();
    const char* sign = infix(op.op);
    if (sign == nullptr && op.op != Op::select) {
      text_ += function(op.op);
      text_ += '(';
      for (std::size_t i = 0; i < op.args.size(); ++i) {
        if (i > 0) text_ += ", ";
        print(op.args[i], Around::nothing);
      }
      text_ += ')';
      return;
    }
    const bool arithmetic = op.op == Op::floor_div || op.op == Op::mod;
    const bool parentheses = around == Around::operation || (around == Around::comparison && !arithmetic);
    const Around inside = is_comparison(op.op) || op.op == Op::select ? Around::comparison : Around::operation;
    if (parentheses) text_ += '(';
    const OpNode* unequal =
        op.op == Op::equal && op.args[1].is_zero() ? single_op(op.args[0], Op::equal) : nullptr;  // (a == b) == 0
    const OpNode& shown = unequal != nullptr ? *unequal : op;
    print(shown.args[0], inside);
    text_ += unequal != nullptr ? " != " : (op.op == Op::select ? " ? " : sign);
    print(shown.args[1], inside);
    if (op.op == Op::select) {
      text_ += " : ";
      print(op.args[2], inside);
    }
    if (parentheses) text_ += ')';
  }

  std::string text_;
};

}  // namespace

std::string Expr::str() const {
  Printer printer;
  printer.print(*this, Around::nothing);
  return std::move(printer).take();
}

}  // namespace kernelcast
