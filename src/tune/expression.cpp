// Evaluation is a walk over the tree. Numbers are doubles with a mark that says whether they are whole, which decides
// what C's division means; whole numbers beyond 2^53 are an error instead of a wrong digit. One evaluation has a budget
// of steps and of parts of values, so that no expression takes more than about a second or a gigabyte.
#include "tune/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "io/interrupt.h"
#include "kernelcast/error.h"

namespace kernelcast::tune {
namespace {

constexpr std::size_t longest_list = 1U << 20U;
constexpr std::size_t steps_between_looks = 4096;  // whether the program was interrupted
constexpr std::size_t most_steps = 10'000'000;     // of one evaluation: nodes, and entries that are looked at
constexpr std::size_t most_parts = 1U << 22U;      // of all the values that one evaluation makes

class Walker {
 public:
  Walker(const std::string& text, const std::vector<ExpressionNode>& nodes, Scope& scope, const NameTable& names)
      : text_(text), nodes_(nodes), scope_(scope), names_(names) {}

  Value value(int index) {
    spend(1);
    const ExpressionNode& n = nodes_[static_cast<std::size_t>(index)];
    switch (n.kind) {
      case NodeKind::constant:
        return n.constant;
      case NodeKind::name:
        if (scope_.known[static_cast<std::size_t>(n.name)] == 0) {
          fail(fmt::format("nothing is called {}", names_.name(n.name)));
        }
        return scope_.values[static_cast<std::size_t>(n.name)];
      case NodeKind::list:
        return list(n);
      case NodeKind::tuple_index:
        return item(n);
      case NodeKind::call:
        return call(n);
      case NodeKind::comprehension:
        return comprehension(n);
      case NodeKind::conditional:
        return value(n.children[truth(value(n.children[0])) ? 1 : 2]);
      case NodeKind::or_: {
        Value left = value(n.children[0]);
        return truth(left) ? left : value(n.children[1]);
      }
      case NodeKind::and_: {
        Value left = value(n.children[0]);
        return truth(left) ? value(n.children[1]) : left;
      }
      case NodeKind::not_:
        return boolean(!truth(value(n.children[0])));
      case NodeKind::negate:
      case NodeKind::plus:
      case NodeKind::invert:
        return unary(n.kind, value(n.children[0]));
      case NodeKind::in:
      case NodeKind::not_in:
        return boolean(contains(n) == (n.kind == NodeKind::in));
      default:
        return binary(n.kind, value(n.children[0]), value(n.children[1]));
    }
  }

  bool truth(const Value& v) const {
    if (v.is_number()) return v.number != 0;
    return v.kind == Value::Kind::text ? !v.text().empty() : !v.items().empty();
  }

  [[noreturn]] void fail(std::string_view what) const { fail_expression(text_, what); }

  double number(const Value& v) const {
    if (v.is_number()) return v.number;
    fail(v.kind == Value::Kind::list ? fmt::format("{} is a list: give an index", brief(v))
                                     : fmt::format("\"{}\" is not a number", brief(v)));
  }

 private:
  void spend(std::size_t by) {
    const std::size_t before = steps_;
    steps_ += by;
    if (before / steps_between_looks != steps_ / steps_between_looks && interrupted()) fail("interrupted");
    if (steps_ > most_steps) fail(fmt::format("it takes more than {} steps: write a shorter one", most_steps));
  }

  /// What a list or a text that was just made costs: its memory, and what it would cost to look through it.
  Value made(Value v) {
    parts_ += v.kind == Value::Kind::list ? v.items().size() : v.parts() / 16;
    if (parts_ > most_parts || v.parts() > most_parts)
      fail(fmt::format("its lists and texts have more than {} parts: write a shorter one", most_parts));
    return v;
  }

  bool same(const Value& a, const Value& b) {
    if (!a.is_number() && !b.is_number()) spend(std::min(a.parts(), b.parts()));
    return equal(a, b);
  }

  static Value boolean(bool b) { return Value::whole(b ? 1 : 0); }

  static std::string brief(const Value& v) {
    if (v.parts() > 1000) return v.kind == Value::Kind::list ? "a long list" : "a long text";
    std::string text = text_of(v);
    return text.size() > 40 ? text.substr(0, 37) + "..." : text;
  }

  Value checked(double x, bool whole) const {
    if (!std::isfinite(x)) fail("the value is not finite");
    if (whole && std::abs(x) > largest_whole) fail("a whole number leaves the range of 2^53");
    return whole ? Value::whole(x) : Value::real(x);
  }

  Value list(const ExpressionNode& n) {
    std::vector<Value> items;
    for (const int child : n.children) items.push_back(value(child));
    return made(Value::of_list(std::move(items)));
  }

  Value item(const ExpressionNode& n) {
    Value from = value(n.children[0]);
    if (from.is_number()) from = Value::of_list({from});  // ProblemSize of one axis
    double index = number(value(n.children[1]));
    if (from.kind != Value::Kind::list) fail(fmt::format("{} has no entries", brief(from)));
    const double size = static_cast<double>(from.items().size());
    if (index < 0) index += size;
    if (index < 0 || index >= size) fail(fmt::format("{} is shorter", brief(from)));
    return from.items()[static_cast<std::size_t>(index)];
  }

  bool contains(const ExpressionNode& n) {
    const Value what = value(n.children[0]), where = value(n.children[1]);
    if (where.kind == Value::Kind::text && what.kind == Value::Kind::text) {
      return where.text().find(what.text()) != std::string::npos;
    }
    if (where.kind != Value::Kind::list) fail("\"in\" needs a list");
    spend(where.items().size());
    return std::any_of(where.items().begin(), where.items().end(), [&](const Value& v) { return same(v, what); });
  }

  Value comprehension(const ExpressionNode& n) {
    const Value source = value(n.children[1]);
    if (source.kind != Value::Kind::list) fail("\"for\" needs a list");
    const auto slot = static_cast<std::size_t>(n.name);
    const Value before = scope_.values[slot];
    const char known = scope_.known[slot];
    std::vector<Value> items;
    for (const Value& v : source.items()) {
      scope_.set(n.name, v);
      if (n.children.size() > 2 && !truth(value(n.children[2]))) continue;
      const Value element = value(n.children[0]);
      if (n.function == "flatten") {
        items.insert(items.end(), element.items().begin(), element.items().end());
      } else {
        items.push_back(element);
      }
      if (items.size() > longest_list) fail("the list is too long");
      spend(1);
    }
    scope_.values[slot] = before;
    scope_.known[slot] = known;
    return made(Value::of_list(std::move(items)));
  }

  Value unary(NodeKind kind, const Value& v) const {
    const double x = number(v);
    if (kind == NodeKind::invert) return checked(-static_cast<double>(bits(v)) - 1, true);
    return {v.kind, kind == NodeKind::negate ? -x : x};
  }

  std::int64_t bits(const Value& v) const {
    const double x = number(v);
    if (v.kind != Value::Kind::integer) fail("operators on bits need whole numbers");
    return static_cast<std::int64_t>(x);
  }

  Value binary(NodeKind kind, const Value& l, const Value& r) {
    switch (kind) {
      case NodeKind::equal:
        return boolean(same(l, r));
      case NodeKind::not_equal:
        return boolean(!same(l, r));
      case NodeKind::bit_or:
        return Value::whole(static_cast<double>(bits(l) | bits(r)));
      case NodeKind::bit_xor:
        return Value::whole(static_cast<double>(bits(l) ^ bits(r)));
      case NodeKind::bit_and:
        return Value::whole(static_cast<double>(bits(l) & bits(r)));
      case NodeKind::shift_left:
      case NodeKind::shift_right:
        return shifted(kind, l, r);
      case NodeKind::add:
        if (l.kind == Value::Kind::list && r.kind == Value::Kind::list) return joined(l, r);
        if (l.kind == Value::Kind::text && r.kind == Value::Kind::text)
          return made(Value::of_text(l.text() + r.text()));
        break;
      default:
        break;
    }
    if (l.kind == Value::Kind::text && r.kind == Value::Kind::text) fail("texts have no order");
    return arithmetic(kind, number(l), number(r), l.kind == Value::Kind::integer && r.kind == Value::Kind::integer);
  }

  Value shifted(NodeKind kind, const Value& l, const Value& r) const {
    const std::int64_t by = bits(r);
    if (by < 0 || by > 62) fail("a shift is by 0 to 62 bits");
    const double factor = std::ldexp(1.0, static_cast<int>(by));
    const double x = static_cast<double>(bits(l));
    return checked(kind == NodeKind::shift_left ? x * factor : std::floor(x / factor), true);
  }

  Value joined(const Value& l, const Value& r) {
    std::vector<Value> items = l.items();
    items.insert(items.end(), r.items().begin(), r.items().end());
    return made(Value::of_list(std::move(items)));
  }

  Value arithmetic(NodeKind kind, double a, double b, bool whole) const {
    switch (kind) {
      case NodeKind::less:
        return boolean(a < b);
      case NodeKind::less_equal:
        return boolean(a <= b);
      case NodeKind::greater:
        return boolean(a > b);
      case NodeKind::greater_equal:
        return boolean(a >= b);
      case NodeKind::add:
        return checked(a + b, whole);
      case NodeKind::subtract:
        return checked(a - b, whole);
      case NodeKind::multiply:
        return checked(a * b, whole);
      case NodeKind::power:
        return checked(std::pow(a, b), whole && b >= 0);
      default:
        break;
    }
    if (b == 0) fail("division by zero");
    switch (kind) {
      case NodeKind::divide:
        return checked(a / b, false);
      case NodeKind::divide_c:
        return checked(whole ? std::trunc(a / b) : a / b, whole);
      case NodeKind::floor_divide:
        return checked(std::floor(a / b), whole);
      case NodeKind::modulo:
        return checked(a - b * std::floor(a / b), whole);
      case NodeKind::modulo_c:
        if (!whole) fail("% needs whole numbers");
        return checked(std::fmod(a, b), true);
      default:
        throw InternalError("an operator of tuning expressions has no meaning");
    }
  }

  Value call(const ExpressionNode& n) {
    std::vector<Value> arguments;
    for (const int child : n.children) arguments.push_back(value(child));
    const std::string& f = n.function;
    if (f == "range") return range(arguments);
    const bool one_list = arguments.size() == 1 && arguments[0].kind == Value::Kind::list;
    const std::vector<Value>& items = one_list ? arguments[0].items() : arguments;
    if (f == "list" || f == "sorted" || f == "len" || f == "sum" || f == "prod" || f == "all" || f == "any") {
      if (!one_list) fail(fmt::format("{} takes a list", f));
      return of_items(f, items);
    }
    spend(items.size());
    if (f == "min" || f == "max") return extreme(f, items);
    if (f == "bool") return boolean(truth(arguments[0]));
    return of_number(f, arguments);
  }

  Value of_items(const std::string& f, const std::vector<Value>& items) {
    spend(items.size());
    if (f == "len") return Value::whole(static_cast<double>(items.size()));
    if (f == "all")
      return boolean(std::all_of(items.begin(), items.end(), [this](const Value& v) { return truth(v); }));
    if (f == "any")
      return boolean(std::any_of(items.begin(), items.end(), [this](const Value& v) { return truth(v); }));
    if (f == "list") return Value::of_list(items);
    if (f == "sorted") {
      std::vector<Value> ordered = items;
      for (const Value& v : items) (void)number(v);
      std::stable_sort(ordered.begin(), ordered.end(),
                       [](const Value& a, const Value& b) { return a.number < b.number; });
      return made(Value::of_list(std::move(ordered)));
    }
    double total = f == "sum" ? 0 : 1;
    bool whole = true;
    for (const Value& v : items) {
      total = f == "sum" ? total + number(v) : total * number(v);
      whole = whole && v.kind == Value::Kind::integer;
    }
    return checked(total, whole);
  }

  Value extreme(const std::string& f, const std::vector<Value>& items) const {
    if (items.empty()) fail(fmt::format("{} of nothing", f));
    const Value* found = nullptr;
    for (const Value& v : items) {
      const double x = number(v);
      if (found == nullptr || (f == "min" ? x < found->number : x > found->number)) found = &v;
    }
    return *found;
  }

  Value of_number(const std::string& f, const std::vector<Value>& arguments) const {
    const double x = number(arguments[0]);
    const bool whole = arguments[0].kind == Value::Kind::integer;
    if (f == "abs") return checked(std::abs(x), whole);
    if (f == "ceil") return checked(std::ceil(x), true);
    if (f == "floor") return checked(std::floor(x), true);
    if (f == "int") return checked(std::trunc(x), true);
    if (f == "float") return Value::real(x);
    if (f == "log2") return checked(std::log2(x), false);
    if (f == "sqrt") return checked(std::sqrt(x), false);
    if (f == "pow")
      return checked(std::pow(x, number(arguments[1])),
                     whole && arguments[1].kind == Value::Kind::integer && arguments[1].number >= 0);
    if (arguments.size() == 1) return checked(std::nearbyint(x), true);  // round: to even, as Python 3
    const double unit = std::pow(10.0, number(arguments[1]));
    return checked(std::nearbyint(x * unit) / unit, whole);
  }

  Value range(const std::vector<Value>& arguments) {
    std::vector<double> n;
    for (const Value& v : arguments) {
      if (v.kind != Value::Kind::integer) fail("range takes whole numbers");
      n.push_back(v.number);
    }
    const double first = n.size() > 1 ? n[0] : 0, end = n.size() > 1 ? n[1] : n[0], step = n.size() > 2 ? n[2] : 1;
    if (step == 0) fail("range cannot go by steps of 0");
    if ((end - first) / step > static_cast<double>(longest_list)) fail("the list is too long");
    std::vector<Value> items;
    for (double x = first; step > 0 ? x < end : x > end; x += step) items.push_back(Value::whole(x));
    spend(items.size());
    return made(Value::of_list(std::move(items)));
  }

  const std::string& text_;
  const std::vector<ExpressionNode>& nodes_;
  Scope& scope_;
  const NameTable& names_;
  std::size_t steps_ = 0, parts_ = 0;
};

/// Names that are needed from outside, in order of appearance in the text.
std::vector<int> free_names(const std::vector<ExpressionNode>& nodes) {
  std::set<int> bound;
  for (const ExpressionNode& n : nodes) {
    if (n.kind == NodeKind::comprehension) bound.insert(n.name);
  }
  std::vector<int> free;
  std::set<int> seen;
  for (const ExpressionNode& n : nodes) {
    if (n.kind != NodeKind::name || bound.count(n.name) > 0) continue;
    if (seen.insert(n.name).second) free.push_back(n.name);
  }
  return free;
}

}  // namespace

int NameTable::number_of(std::string_view name) {
  if (const int known = find(name); known >= 0) return known;
  const int number = static_cast<int>(names_.size());
  names_.emplace_back(name);
  numbers_.emplace(std::string(name), number);
  return number;
}

int NameTable::find(std::string_view name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? -1 : found->second;
}

Expression::Expression(std::string_view text, Syntax syntax, NameTable& names) : text_(text) {
  ParsedExpression parsed = parse_expression(text, syntax, names);
  nodes_ = std::move(parsed.nodes);
  root_ = parsed.root;
  free_ = free_names(nodes_);
}

Value Expression::value(Scope& scope, const NameTable& names) const {
  if (empty()) return Value::whole(0);
  return Walker(text_, nodes_, scope, names).value(root_);
}

double Expression::number(Scope& scope, const NameTable& names) const {
  if (empty()) return 0;
  // Most sizes of a launch are a number or a parameter: no need to walk.
  const ExpressionNode& root = nodes_[static_cast<std::size_t>(root_)];
  if (root.kind == NodeKind::constant && root.constant.is_number()) return root.constant.number;
  if (root.kind == NodeKind::name && scope.known[static_cast<std::size_t>(root.name)] != 0) {
    const Value& value = scope.values[static_cast<std::size_t>(root.name)];
    if (value.is_number()) return value.number;
  }
  Walker walker(text_, nodes_, scope, names);
  return walker.number(walker.value(root_));
}

bool Expression::holds(Scope& scope, const NameTable& names) const {
  if (empty()) return false;
  Walker walker(text_, nodes_, scope, names);
  return walker.truth(walker.value(root_));
}

double evaluate(std::string_view expression, const Names& known) {
  NameTable names;
  const Expression e(expression, Syntax::python, names);
  Scope scope(names.size());
  for (const auto& [name, values] : known) {
    const int number = names.find(name);
    if (number < 0) continue;
    std::vector<Value> items;
    for (const double v : values) items.push_back(v == std::floor(v) ? Value::whole(v) : Value::real(v));
    scope.set(number, items.size() == 1 ? items.front() : Value::of_list(items));
  }
  return e.number(scope, names);
}

std::vector<std::string> names_in(std::string_view expression) {
  NameTable names;
  const Expression e(expression, Syntax::python, names);
  std::vector<std::string> all;
  for (const int n : e.names()) all.push_back(names.name(n));
  return all;
}

}  // namespace kernelcast::tune
