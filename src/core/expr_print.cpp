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

class Printer {
 public:
  // `nested`: as an operand of an infix operation, where anything but a constant, symbol or call needs parentheses.
  void print(const Expr& e, bool nested) {
    const auto& terms = terms_of(e);
    if (terms.empty()) {
      text_ += '0';
      return;
    }
    if (const Atom* atom = single_atom(e)) {
      print(*atom, nested);
      return;
    }
    const bool simple = terms.size() == 1 && (terms[0].factors.empty() && terms[0].coefficient >= 0);
    const bool parentheses = nested && !simple;
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
        print(f.atom, true);
        first = false;
      }
    }
  }

  void print(const Atom& atom, bool nested) {
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
        print(op.args[i], false);
      }
      text_ += ')';
      return;
    }
    if (nested) text_ += '(';
    print(op.args[0], true);
    text_ += op.op == Op::select ? " ? " : sign;
    print(op.args[1], true);
    if (op.op == Op::select) {
      text_ += " : ";
      print(op.args[2], true);
    }
    if (nested) text_ += ')';
  }

  std::string text_;
};

}  // namespace

std::string Expr::str() const {
  Printer printer;
  printer.print(*this, false);
  return std::move(printer).take();
}

}  // namespace kernelcast
