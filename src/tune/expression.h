// Expressions over tuning parameters, in C (--constraint, --tile) and in Python (Kernel Tuner's files). Read once into
// a tree, evaluated for millions of configurations.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tune/value.h"

namespace kernelcast::tune {

/// Names of values, numbered in order of first appearance. Expressions that are read with the same table share its
/// numbers.
class NameTable {
 public:
  int number_of(std::string_view name);
  /// -1: not there.
  [[nodiscard]] int find(std::string_view name) const;
  [[nodiscard]] const std::string& name(int number) const { return names_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
  std::map<std::string, int, std::less<>> numbers_;
};

/// Values by number of name; a name that has none yet is `nothing`.
struct Scope {
  std::vector<Value> values;
  std::vector<char> known;
  explicit Scope(std::size_t names) : values(names), known(names, 0) {}
  void set(int name, Value value) {
    values[static_cast<std::size_t>(name)] = std::move(value);
    known[static_cast<std::size_t>(name)] = 1;
  }
  void forget(int name) { known[static_cast<std::size_t>(name)] = 0; }
};

enum class Syntax : unsigned char { c, python };

/// What a node of an expression does. Arithmetic of C differs in division: whole numbers stay whole.
enum class NodeKind : unsigned char {
  constant,
  name,
  list,
  tuple_index,
  call,
  comprehension,
  conditional,
  or_,
  and_,
  not_,
  negate,
  invert,
  plus,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in,
  bit_or,
  bit_xor,
  bit_and,
  shift_left,
  shift_right,
  add,
  subtract,
  multiply,
  divide,
  divide_c,
  floor_divide,
  modulo,
  modulo_c,
  power
};

struct ExpressionNode {
  NodeKind kind = NodeKind::constant;
  Value constant{};
  int name = -1;                // name, comprehension: its variable
  std::string function{};       // call
  std::vector<int> children{};  // comprehension: element, source, condition or none
};

class Expression {
 public:
  Expression() = default;  // the constant 0
  /// Reads `text`. Python: conditionals, `or and not`, chained comparisons, `in`, | ^ & << >>, + - * / // %, **, lists,
  /// list comprehensions, indices, min max abs ceil floor round int float bool len sum range list all any log2 sqrt
  /// pow, also as math.NAME. C: ?: || && | ^ & comparisons << >> + - * / % ! ~ and the same functions of numbers.
  /// Throws UserError that quotes the expression and says where it stops making sense.
  Expression(std::string_view text, Syntax syntax, NameTable& names);

  /// Throws UserError that quotes the expression: unknown names, division by zero, values of the wrong kind, numbers
  /// that are not finite.
  [[nodiscard]] Value value(Scope& scope, const NameTable& names) const;
  /// The same where a number is needed.
  [[nodiscard]] double number(Scope& scope, const NameTable& names) const;
  /// Whether a condition holds.
  [[nodiscard]] bool holds(Scope& scope, const NameTable& names) const;
  /// Numbers of the names it needs, in order of appearance.
  [[nodiscard]] const std::vector<int>& names() const { return free_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool empty() const { return nodes_.empty(); }
  [[nodiscard]] bool is_constant() const { return free_.empty(); }

 private:
  std::string text_;
  std::vector<ExpressionNode> nodes_;
  int root_ = -1;
  std::vector<int> free_;
};

/// Names with one value or several (ProblemSize, read with an index).
using Names = std::map<std::string, std::vector<double>>;
/// A Python expression that is needed once, as a number.
double evaluate(std::string_view expression, const Names& names);
/// Names that a Python expression uses; in order of appearance.
std::vector<std::string> names_in(std::string_view expression);

struct ParsedExpression {
  std::vector<ExpressionNode> nodes;
  int root = -1;
};
/// Throws UserError.
ParsedExpression parse_expression(std::string_view text, Syntax syntax, NameTable& names);

/// The error of every expression: quotes the text.
[[noreturn]] void fail_expression(std::string_view text, std::string_view what);

}  // namespace kernelcast::tune
