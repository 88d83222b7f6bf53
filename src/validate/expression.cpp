// Recursive descent that evaluates while it reads; one method a level of precedence, loosest first (Python 3 language
// reference, 6.17). Both sides of "and" and "or" are evaluated: sizes have no side effects.
#include "validate/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "kernelcast/error.h"

namespace kernelcast::validate {
namespace {

constexpr int deepest = 200;  // nested parentheses and signs

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_name(char c) { return is_name_start(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Evaluator {
 public:
  Evaluator(std::string_view text, const Names& names) : text_(text), names_(names) {}

  double run() {
    const double value = disjunction();
    skip_blanks();
    if (at_ != text_.size()) fail(fmt::format("cannot make sense of \"{}\"", text_.substr(at_)));
    if (!std::isfinite(value)) fail("the value is not finite");
    return value;
  }

 private:
  double disjunction() {
    double left = conjunction();
    while (word("or")) {
      const double right = conjunction();
      left = left != 0 ? left : right;
    }
    return left;
  }

  double conjunction() {
    double left = negation();
    while (word("and")) {
      const double right = negation();
      left = left == 0 ? left : right;
    }
    return left;
  }

  double negation() {
    const Depth depth(*this);
    if (word("not")) return negation() == 0 ? 1 : 0;
    return comparison();
  }

  double comparison() {
    double left = sum();
    bool holds = true, compared = false;
    for (;;) {
      static constexpr std::array<std::string_view, 6> signs{"<=", ">=", "==", "!=", "<", ">"};
      const auto* sign = std::find_if(signs.begin(), signs.end(), [this](std::string_view s) { return symbol(s); });
      if (sign == signs.end()) return compared ? (holds ? 1 : 0) : left;
      const double right = sum();
      holds = holds && compare(*sign, left, right);
      compared = true;
      left = right;
    }
  }

  static bool compare(std::string_view sign, double a, double b) {
    if (sign == "<=") return a <= b;
    if (sign == ">=") return a >= b;
    if (sign == "==") return a == b;
    if (sign == "!=") return a != b;
    return sign == "<" ? a < b : a > b;
  }

  double sum() {
    double left = product();
    for (;;) {
      if (symbol("+")) {
        left += product();
      } else if (symbol("-")) {
        left -= product();
      } else {
        return left;
      }
    }
  }

  double product() {
    double left = sign();
    for (;;) {
      if (symbol("//")) {
        left = std::floor(left / divisor());
      } else if (symbol("/")) {
        left /= divisor();
      } else if (symbol("%")) {
        const double by = divisor();
        left -= by * std::floor(left / by);
      } else if (symbol("*", "**")) {
        left *= sign();
      } else {
        return left;
      }
    }
  }

  double divisor() {
    const double value = sign();
    if (value == 0) fail("division by zero");
    return value;
  }

  double sign() {
    const Depth depth(*this);
    if (symbol("-")) return -sign();
    if (symbol("+")) return sign();
    const double base = atom();
    return symbol("**") ? std::pow(base, sign()) : base;
  }

  double atom() {
    skip_blanks();
    if (symbol("(")) {
      const double value = disjunction();
      expect(")");
      return value;
    }
    if (at_ < text_.size() && is_name_start(text_[at_])) return named();
    return number();
  }

  double number() {
    double value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc{}) fail(at_ == text_.size() ? "it ends too early" : "a number or a name is expected");
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  double named() {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    const std::string name(text_.substr(start, at_ - start));
    if (name == "True") return 1;
    if (name == "False") return 0;
    if (symbol("(")) return called(name);
    const auto found = names_.find(name);
    if (found == names_.end()) fail(fmt::format("nothing is called {}", name));
    if (symbol("[")) {
      const double index = disjunction();
      expect("]");
      if (index < 0 || index >= static_cast<double>(found->second.size())) fail(fmt::format("{} is shorter", name));
      return found->second[static_cast<std::size_t>(index)];
    }
    if (found->second.size() != 1) fail(fmt::format("{} is a list: give an index", name));
    return found->second.front();
  }

  double called(const std::string& function) {
    std::vector<double> arguments{disjunction()};
    while (symbol(",")) arguments.push_back(disjunction());
    expect(")");
    if (function == "min") return *std::min_element(arguments.begin(), arguments.end());
    if (function == "max") return *std::max_element(arguments.begin(), arguments.end());
    if (arguments.size() != 1) fail(fmt::format("{} takes one value", function));
    const double x = arguments.front();
    if (function == "ceil") return std::ceil(x);
    if (function == "floor") return std::floor(x);
    if (function == "round") return std::nearbyint(x);
    if (function == "int") return std::trunc(x);
    if (function == "float") return x;
    fail(fmt::format("there is no function {}", function));
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  /// Takes `s` if it comes next and `longer`, a sign that begins like it, does not.
  bool symbol(std::string_view s, std::string_view longer = {}) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(s)) return false;
    if (!longer.empty() && text_.substr(at_).starts_with(longer)) return false;
    at_ += s.size();
    return true;
  }

  bool word(std::string_view w) {
    skip_blanks();
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with(w) || (rest.size() > w.size() && is_name(rest[w.size()]))) return false;
    at_ += w.size();
    return true;
  }

  void expect(std::string_view s) {
    if (!symbol(s)) fail(fmt::format("\"{}\" is missing", s));
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(fmt::format("expression \"{}\": {}", text_, what));
  }

  struct Depth {
    explicit Depth(Evaluator& e) : evaluator(e) {
      if (++evaluator.depth_ > deepest) evaluator.fail("it is nested too deeply");
    }
    ~Depth() { --evaluator.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    Evaluator& evaluator;
  };

  std::string_view text_;
  const Names& names_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

double evaluate(std::string_view expression, const Names& names) { return Evaluator(expression, names).run(); }

std::vector<std::string> names_in(std::string_view expression) {
  static constexpr std::array<std::string_view, 12> own{"and", "or",    "not",   "min",   "max",  "ceil",
                                                        "int", "floor", "round", "float", "True", "False"};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < expression.size();) {
    if (!is_name(expression[i])) {
      ++i;
      continue;
    }
    const std::size_t start = i;
    while (i < expression.size() && is_name(expression[i])) ++i;
    const std::string_view name = expression.substr(start, i - start);
    if (is_name_start(name.front()) && std::find(own.begin(), own.end(), name) == own.end()) names.emplace_back(name);
  }
  return names;
}

}  // namespace kernelcast::validate
