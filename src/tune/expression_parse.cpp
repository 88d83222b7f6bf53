// Recursive descent over two grammars that share atoms, arithmetic and functions: Python 3 (language reference, 6) and
// the expressions of C (C17, 6.5) without assignment, casts and pointers. One row of a table is one level of binary
// operators, loosest first.
#include "tune/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include "kernelcast/error.h"

namespace kernelcast::tune {
namespace {

constexpr int deepest = 200;      // nested parentheses, signs and conditions
constexpr int most_terms = 2000;  // a + b + c ...: one inside the other in the tree, which is walked by recursion
constexpr std::size_t longest = 100000;

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_name(char c) { return is_name_start(c) || is_digit(c); }

struct Operator {
  std::string_view sign;
  NodeKind kind;
  std::string_view not_before{};  // characters that would make another operator of it
};
using Level = std::span<const Operator>;

constexpr std::array<Operator, 1> bit_or{{{"|", NodeKind::bit_or, "|"}}};
constexpr std::array<Operator, 1> bit_xor{{{"^", NodeKind::bit_xor}}};
constexpr std::array<Operator, 1> bit_and{{{"&", NodeKind::bit_and, "&"}}};
constexpr std::array<Operator, 2> shifts{{{"<<", NodeKind::shift_left}, {">>", NodeKind::shift_right}}};
constexpr std::array<Operator, 2> sums{{{"+", NodeKind::add}, {"-", NodeKind::subtract}}};
constexpr std::array<Operator, 4> python_products{
    {{"//", NodeKind::floor_divide}, {"/", NodeKind::divide}, {"%", NodeKind::modulo}, {"*", NodeKind::multiply, "*"}}};
constexpr std::array<Operator, 3> c_products{
    {{"/", NodeKind::divide_c}, {"%", NodeKind::modulo_c}, {"*", NodeKind::multiply}}};
constexpr std::array<Operator, 2> equalities{{{"==", NodeKind::equal}, {"!=", NodeKind::not_equal}}};
constexpr std::array<Operator, 4> orders{{{"<=", NodeKind::less_equal},
                                          {">=", NodeKind::greater_equal},
                                          {"<", NodeKind::less, "<"},
                                          {">", NodeKind::greater, ">"}}};
constexpr std::array<Operator, 1> c_or{{{"||", NodeKind::or_}}};
constexpr std::array<Operator, 1> c_and{{{"&&", NodeKind::and_}}};

constexpr std::array<Level, 6> python_levels{bit_or, bit_xor, bit_and, shifts, sums, python_products};
constexpr std::array<Level, 10> c_levels{c_or,       c_and,  bit_or, bit_xor, bit_and,
                                         equalities, orders, shifts, sums,    c_products};

struct Function {
  std::string_view name;
  int fewest, most;  // arguments
  bool python_only;
};
constexpr std::array<Function, 20> functions{
    {{"min", 1, 1000, false}, {"max", 1, 1000, false}, {"abs", 1, 1, false},   {"ceil", 1, 1, false},
     {"floor", 1, 1, false},  {"round", 1, 2, false},  {"int", 1, 1, false},   {"float", 1, 1, false},
     {"bool", 1, 1, true},    {"len", 1, 1, true},     {"sum", 1, 1, true},    {"range", 1, 3, true},
     {"list", 1, 1, true},    {"all", 1, 1, true},     {"any", 1, 1, true},    {"log2", 1, 1, false},
     {"sqrt", 1, 1, false},   {"pow", 2, 2, false},    {"sorted", 1, 1, true}, {"prod", 1, 1, true}}};

class Reader {
 public:
  Reader(std::string_view text, Syntax syntax, NameTable& names) : text_(text), syntax_(syntax), names_(names) {
    if (text.size() > longest) fail_expression(text.substr(0, 60), "it is too long");
  }

  ParsedExpression run() {
    const int root = conditional();
    skip_blanks();
    if (at_ != text_.size()) fail(fmt::format("cannot make sense of \"{}\"", text_.substr(at_, 60)));
    return {std::move(nodes_), root};
  }

 private:
  [[nodiscard]] bool python() const { return syntax_ == Syntax::python; }

  int conditional() {
    const Depth depth(*this);
    const int value = python() ? disjunction() : binary(0);
    if (python() && word("if")) {
      const int condition = disjunction();
      if (!word("else")) fail("\"else\" is missing");
      return make(NodeKind::conditional, {condition, value, conditional()});
    }
    if (!python() && symbol("?")) {
      const int yes = conditional();
      expect(":");
      return make(NodeKind::conditional, {value, yes, conditional()});
    }
    return value;
  }

  int disjunction() {
    int left = conjunction();
    while (word("or")) left = make(NodeKind::or_, {left, conjunction()});
    return left;
  }

  int conjunction() {
    int left = negation();
    while (word("and")) left = make(NodeKind::and_, {left, negation()});
    return left;
  }

  int negation() {
    const Depth depth(*this);
    if (word("not")) return make(NodeKind::not_, {negation()});
    return chain();
  }

  /// a < b <= c means a < b and b <= c.
  int chain() {
    const int first = binary(0);
    int left = first, all = -1;
    for (;;) {
      const std::optional<NodeKind> kind = comparison_sign();
      if (!kind) return all < 0 ? first : all;
      const int right = binary(0);
      const int holds = make(*kind, {left, right});
      all = all < 0 ? holds : make(NodeKind::and_, {all, holds});
      left = right;
    }
  }

  std::optional<NodeKind> comparison_sign() {
    for (const Level level : {Level(equalities), Level(orders)}) {
      if (const Operator* o = sign_of(level)) return o->kind;
    }
    if (word("in")) return NodeKind::in;
    const std::size_t start = at_;
    if (word("not")) {
      if (word("in")) return NodeKind::not_in;
      at_ = start;
    }
    return std::nullopt;
  }

  int binary(std::size_t level) {
    const std::span<const Level> levels =
        python() ? std::span<const Level>(python_levels) : std::span<const Level>(c_levels);
    if (level == levels.size()) return sign();
    int left = binary(level + 1);
    while (const Operator* o = sign_of(levels[level])) left = make(o->kind, {left, binary(level + 1)});
    return left;
  }

  const Operator* sign_of(Level level) {
    for (const Operator& o : level) {
      if (symbol(o.sign, o.not_before)) return &o;
    }
    return nullptr;
  }

  int sign() {
    const Depth depth(*this);
    if (symbol("-")) return make(NodeKind::negate, {sign()});
    if (symbol("+")) return make(NodeKind::plus, {sign()});
    if (symbol("~")) return make(NodeKind::invert, {sign()});
    if (!python() && symbol("!", "=")) return make(NodeKind::not_, {sign()});
    const int base = postfix();
    if (python() && symbol("**")) return make(NodeKind::power, {base, sign()});
    return base;
  }

  int postfix() {
    int value = atom();
    while (python() && symbol("[")) {
      const int index = conditional();
      expect("]");
      value = make(NodeKind::tuple_index, {value, index});
    }
    return value;
  }

  int atom() {
    skip_blanks();
    if (symbol("(")) return parenthesis();
    if (python() && symbol("[")) return list();
    if (at_ < text_.size() && is_name_start(text_[at_])) return named();
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) return quoted();
    return number();
  }

  int parenthesis() {
    if (python() && symbol(")")) return make(NodeKind::list, {});
    const int first = conditional();
    if (!python() || !symbol(",")) {
      expect(")");
      return first;
    }
    std::vector<int> items{first};
    rest_of_list(items, ")");
    return make(NodeKind::list, std::move(items));
  }

  int list() {
    if (symbol("]")) return make(NodeKind::list, {});
    const int first = conditional();
    if (word("for")) return comprehension(first, "]");
    std::vector<int> items{first};
    if (symbol(",")) {
      rest_of_list(items, "]");
    } else {
      expect("]");
    }
    return make(NodeKind::list, std::move(items));
  }

  void rest_of_list(std::vector<int>& items, std::string_view end) {
    while (!symbol(end)) {
      items.push_back(conditional());
      if (!symbol(",")) {
        expect(end);
        return;
      }
    }
  }

  /// [element for x in source if condition], several `for` nested in each other.
  int comprehension(int element, std::string_view end) {
    const Depth depth(*this);
    const std::string variable(identifier());
    if (variable.empty()) fail("a name is expected after \"for\"");
    if (!word("in")) fail("\"in\" is missing");
    const int source = disjunction();
    int condition = -1;
    while (word("if")) {
      const int more = disjunction();
      condition = condition < 0 ? more : make(NodeKind::and_, {condition, more});
    }
    const bool inner = word("for");
    std::vector<int> children{inner ? comprehension(element, end) : element, source};
    if (condition >= 0) children.push_back(condition);
    if (!inner) expect(end);
    const int node = make(NodeKind::comprehension, std::move(children));
    nodes_[static_cast<std::size_t>(node)].name = names_.number_of(variable);
    if (inner) nodes_[static_cast<std::size_t>(node)].function = "flatten";
    return node;
  }

  int quoted() {
    const char quote = text_[at_];
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a quote is missing");
    const int node = constant(Value::of_text(std::string(text_.substr(at_ + 1, end - at_ - 1))));
    at_ = end + 1;
    return node;
  }

  int number() {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("0x") || rest.starts_with("0X")) return hexadecimal();
    double value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    const std::string_view word(rest.data(), static_cast<std::size_t>(end - rest.data()));
    // from_chars also takes "inf" and "nan", which are names here; a number begins with a digit or a point.
    if (error != std::errc{} || word.empty() || !(is_digit(word[0]) || word[0] == '.')) {
      fail(at_ == text_.size() ? "it ends too early" : "a number or a name is expected");
    }
    at_ += word.size();
    const bool whole = word.find_first_of(".eE") == std::string_view::npos;
    if (whole && value > largest_whole) fail("a whole number of at most 2^53 is expected");
    if (!python()) skip_suffix(whole ? "uUlL" : "fFlL");
    return constant(whole ? Value::whole(value) : Value::real(value));
  }

  int hexadecimal() {
    at_ += 2;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value, 16);
    if (error != std::errc{} || value > static_cast<std::uint64_t>(largest_whole))
      fail("a hexadecimal number of at most 2^53 is expected");
    at_ = static_cast<std::size_t>(end - text_.data());
    if (!python()) skip_suffix("uUlL");
    return constant(Value::whole(static_cast<double>(value)));
  }

  void skip_suffix(std::string_view letters) {
    while (at_ < text_.size() && letters.find(text_[at_]) != std::string_view::npos) ++at_;
  }

  int named() {
    std::string_view name = identifier();
    if (python() && (name == "math" || name == "np" || name == "numpy") && symbol(".")) name = identifier();
    if (name == (python() ? "True" : "true")) return constant(Value::whole(1));
    if (name == (python() ? "False" : "false")) return constant(Value::whole(0));
    if (symbol("(")) return called(std::string(name));
    const int node = make(NodeKind::name, {});
    nodes_[static_cast<std::size_t>(node)].name = names_.number_of(name);
    return node;
  }

  int called(const std::string& name) {
    const auto* f = std::find_if(functions.begin(), functions.end(), [&](const Function& g) { return g.name == name; });
    if (f == functions.end() || (f->python_only && !python())) fail(fmt::format("there is no function {}", name));
    std::vector<int> arguments{conditional()};
    if (python() && word("for")) {
      arguments.front() = comprehension(arguments.front(), ")");
    } else {
      while (symbol(",")) arguments.push_back(conditional());
      expect(")");
    }
    const int count = static_cast<int>(arguments.size());
    if (count < f->fewest || count > f->most) {
      fail(f->most == 1 ? fmt::format("{} takes one value", name)
                        : fmt::format("{} takes another number of values", name));
    }
    const int node = make(NodeKind::call, std::move(arguments));
    nodes_[static_cast<std::size_t>(node)].function = name;
    return node;
  }

  int constant(Value value) {
    const int node = make(NodeKind::constant, {});
    nodes_[static_cast<std::size_t>(node)].constant = std::move(value);
    return node;
  }

  int make(NodeKind kind, std::vector<int> children) {
    int height = 1;
    for (const int child : children) height = std::max(height, heights_[static_cast<std::size_t>(child)] + 1);
    if (height > most_terms) fail(fmt::format("more than {} operators follow each other; split it", most_terms));
    ExpressionNode node;
    node.kind = kind;
    node.children = std::move(children);
    nodes_.push_back(std::move(node));
    heights_.push_back(height);
    return static_cast<int>(nodes_.size()) - 1;
  }

  std::string_view identifier() {
    skip_blanks();
    const std::size_t start = at_;
    if (at_ < text_.size() && is_name_start(text_[at_])) {
      while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    }
    return text_.substr(start, at_ - start);
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  /// Takes `s` if it comes next and none of `not_before` follows.
  bool symbol(std::string_view s, std::string_view not_before = {}) {
    skip_blanks();
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with(s)) return false;
    if (rest.size() > s.size() && not_before.find(rest[s.size()]) != std::string_view::npos) return false;
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

  [[noreturn]] void fail(std::string_view what) const { fail_expression(text_, what); }

  struct Depth {
    explicit Depth(Reader& r) : reader(r) {
      if (++reader.depth_ > deepest) reader.fail("it is nested too deeply");
    }
    ~Depth() { --reader.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    Reader& reader;
  };

  std::string_view text_;
  Syntax syntax_;
  NameTable& names_;
  std::vector<ExpressionNode> nodes_;
  std::vector<int> heights_;  // of the tree below each node
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

void fail_expression(std::string_view text, std::string_view what) {
  constexpr std::size_t most_quoted = 200;
  if (text.size() > most_quoted)
    throw UserError(fmt::format("expression \"{}...\" ({} bytes): {}", text.substr(0, most_quoted), text.size(), what));
  throw UserError(fmt::format("expression \"{}\": {}", text, what));
}

ParsedExpression parse_expression(std::string_view text, Syntax syntax, NameTable& names) {
  return Reader(text, syntax, names).run();
}

}  // namespace kernelcast::tune
