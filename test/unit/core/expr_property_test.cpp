// Random expressions against the slow twin: values, errors, compiled code, substitution, coefficients, ranges.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <optional>
#include <set>

#include "kernelcast/error.h"
#include "unit/core/tree.h"

namespace kernelcast::testing {
namespace {

constexpr int trees_per_case = 60;
constexpr int points_per_tree = 6;
constexpr long double safe_reach = 0x1p62L;

// Nothing: an ArithmeticError or another LimitError.
template <class F>
auto attempt(F f) -> std::optional<decltype(f())> {
  try {
    return f();
  } catch (const LimitError&) {
    return std::nullopt;
  }
}

std::string as_text(std::optional<std::int64_t> v) { return v ? std::to_string(*v) : "error"; }

void show(const std::string& what) { RC_LOG() << what << "\n"; }

// The contract of evaluate: a value is exact; an error is excusable only where a number may leave 64 bits.
RC_GTEST_PROP(ExprProperty, EvaluatesExactlyOrThrows, ()) {
  int values = 0, errors = 0;
  for (int i = 0; i < trees_per_case; ++i) {
    const bool large = i % 2 == 0;
    const Tree tree = *any_tree({.depth = 5, .large_constants = large});
    const auto e = attempt([&] { return build(tree); });
    for (int j = 0; j < points_per_tree; ++j) {
      const Point p = *any_point(large);
      const Exact truth = exact(tree, p);
      const auto got = e ? attempt([&] { return e->evaluate(values_of(p)); }) : std::nullopt;
      (got ? values : errors)++;
      if (truth.value && got) {
        if (*truth.value != static_cast<Int128>(*got)) show(text(tree) + " as " + e->str() + " gave " + as_text(got));
        RC_ASSERT(*truth.value == static_cast<Int128>(*got));
      }
      if (truth.value && !got && reach(tree, p) < safe_reach) {
        show("no value for " + text(tree) + (e ? " as " + e->str() : " (not built)"));
        RC_FAIL("an error without an overflow");
      }
    }
  }
  RC_TAG(values > errors ? "mostly values" : "mostly errors");
}

RC_GTEST_PROP(ExprProperty, CompiledAgreesInValuesAndErrors, ()) {
  std::vector<Expr> outputs;
  while (outputs.size() < 12) {
    const Tree tree = *any_tree({.depth = 4, .large_constants = outputs.size() % 2 == 0});
    if (auto e = attempt([&] { return build(tree); })) outputs.push_back(*std::move(e));
  }
  const std::vector<Symbol> inputs = {Symbol("x"), Symbol("y"), Symbol("n"), Symbol("k")};
  std::vector<std::int64_t> scratch;
  for (int j = 0; j < 10; ++j) {
    const Point p = *any_point(j % 2 == 0);
    bool all = true;
    for (const Expr& e : outputs) {
      const CompiledExprs alone(std::span(&e, 1), inputs);
      std::int64_t value = 0;
      const auto compiled = attempt([&] {
        alone.evaluate(p, std::span(&value, 1), scratch);
        return value;
      });
      const auto plain = attempt([&] { return e.evaluate(values_of(p)); });
      if (compiled != plain) show(e.str() + ": compiled " + as_text(compiled) + ", plain " + as_text(plain));
      RC_ASSERT(compiled == plain);
      all = all && plain.has_value();
    }
    const CompiledExprs together(outputs, inputs);
    std::vector<std::int64_t> results(outputs.size());
    const bool done = attempt([&] { return together.evaluate(p, results, scratch), true; }).has_value();
    RC_ASSERT(done == all);
    for (std::size_t i = 0; done && i < outputs.size(); ++i) RC_ASSERT(results[i] == outputs[i].evaluate(values_of(p)));
  }
}

RC_GTEST_PROP(ExprProperty, LanesAgreeWithOneByOne, ()) {
  std::vector<Expr> outputs;
  while (outputs.size() < 6) {
    const Tree tree = *any_tree({.depth = 4, .large_constants = false});
    if (auto e = attempt([&] { return build(tree); })) outputs.push_back(*std::move(e));
  }
  const std::vector<Symbol> inputs = {Symbol("x"), Symbol("y"), Symbol("n"), Symbol("k")};
  const CompiledExprs code(outputs, inputs);
  std::vector<std::int64_t> scratch, one(outputs.size());
  // Points where all outputs have values, some of them large.
  std::vector<Point> points;
  const auto lanes = static_cast<std::size_t>(*rc::gen::inRange(1, 150));
  for (int tries = 0; points.size() < lanes && tries < 400; ++tries) {
    const Point p = *any_point(tries % 16 == 0);
    if (attempt([&] { return code.evaluate(p, one, scratch), true; })) points.push_back(p);
  }
  RC_PRE(!points.empty());
  std::vector<std::int64_t> in(4 * points.size()), out(outputs.size() * points.size());
  for (std::size_t l = 0; l < points.size(); ++l) {
    for (std::size_t i = 0; i < 4; ++i) in[i * points.size() + l] = points[l][i];
  }
  code.evaluate_lanes(in, out, points.size(), scratch);
  for (std::size_t l = 0; l < points.size(); ++l) {
    code.evaluate(points[l], one, scratch);
    for (std::size_t i = 0; i < outputs.size(); ++i) RC_ASSERT(out[i * points.size() + l] == one[i]);
  }
}

// Substituting and evaluating is evaluating at the substituted values.
RC_GTEST_PROP(ExprProperty, SubstitutionCommutesWithEvaluation, ()) {
  for (int i = 0; i < trees_per_case; ++i) {
    const Tree outer = *any_tree({.depth = 4, .large_constants = false});
    const Tree for_x = *any_tree({.depth = 2, .large_constants = false});
    const Tree for_n = *any_tree({.depth = 2, .large_constants = false});
    const auto e = attempt([&] { return build(outer); });
    const auto x = attempt([&] { return build(for_x); }), n = attempt([&] { return build(for_n); });
    if (!e || !x || !n) continue;
    const std::map<Symbol, Expr> by = {{Symbol("x"), *x}, {Symbol("n"), *n}};
    const auto replaced = attempt([&] { return e->substitute(by); });
    if (!replaced) continue;
    const Point p = *any_point(false);
    const Exact vx = exact(for_x, p), vn = exact(for_n, p);
    if (!vx.value || !vn.value || *vx.value != static_cast<std::int64_t>(*vx.value) ||
        *vn.value != static_cast<std::int64_t>(*vn.value)) {
      continue;
    }
    Point q = p;
    q[0] = static_cast<std::int64_t>(*vx.value);
    q[2] = static_cast<std::int64_t>(*vn.value);
    const Exact truth = exact(outer, q);
    const auto got = attempt([&] { return replaced->evaluate(values_of(p)); });
    if (truth.value && got) {
      if (*truth.value != static_cast<Int128>(*got)) show(text(outer) + " became " + replaced->str());
      RC_ASSERT(*truth.value == static_cast<Int128>(*got));
    }
  }
}

// e = k*x + rest with k and rest free of x; and where nothing is returned, e is not of that form (checked for
// polynomials by second differences).
RC_GTEST_PROP(ExprProperty, CoefficientSplitsLinearForms, ()) {
  const Symbol x("x");
  for (int i = 0; i < trees_per_case; ++i) {
    const bool operations = i % 2 == 0;
    const Tree tree = *any_tree({.depth = 4, .large_constants = false, .operations = operations});
    const auto e = attempt([&] { return build(tree); });
    if (!e) continue;
    const auto k = e->coefficient(x);
    if (k) {
      RC_ASSERT(!k->depends_on(x));
      const Expr rest = *e - *k * x;
      RC_ASSERT(!rest.depends_on(x));
      RC_ASSERT(e->depends_on(x) == !k->is_zero());
    } else if (!operations) {
      const auto at = [&](const Expr& v) { return e->substitute({{x, v}}); };
      const Expr here = Expr(x);
      RC_ASSERT(!(at(here + 1) - at(here) == at(here) - at(here - 1)));
    }
  }
}

// Polynomials that are equal as functions are equal as expressions: (a + b) * c against a*c + b*c in shuffled order,
// and an equal polynomial has the same text.
RC_GTEST_PROP(ExprProperty, EqualPolynomialsAreEqualExpressions, ()) {
  for (int i = 0; i < trees_per_case; ++i) {
    const TreeOptions options{.depth = 2, .large_constants = false};
    const Tree ta = *any_tree(options), tb = *any_tree(options), tc = *any_tree(options);
    const auto a = attempt([&] { return build(ta); }), b = attempt([&] { return build(tb); }),
               c = attempt([&] { return build(tc); });
    if (!a || !b || !c) continue;
    const auto factored = attempt([&] { return (*a + *b) * *c; });
    const auto expanded = attempt([&] { return *c * *b + *c * *a; });
    if (!factored || !expanded) continue;
    RC_ASSERT(*factored == *expanded);
    RC_ASSERT(factored->str() == expanded->str());
    RC_ASSERT(!(*factored < *expanded) && !(*expanded < *factored));
    RC_ASSERT(*a - *a == Expr(0));
  }
}

// Every value over a box lies in the range: all points of small boxes are tried.
RC_GTEST_PROP(ExprProperty, RangesContainEveryValue, ()) {
  for (int i = 0; i < trees_per_case; ++i) {
    const Tree tree = *any_tree({.depth = 4, .large_constants = i % 4 == 0});
    const auto e = attempt([&] { return build(tree); });
    if (!e) continue;
    SymbolRanges box;
    std::array<std::int64_t, 4> low{}, width{};
    for (std::size_t s = 0; s < 4; ++s) {
      low[s] = *rc::gen::inRange(-12, 12);
      width[s] = *rc::gen::inRange(0, 4);
      box.emplace(Symbol(names[s]), Interval{low[s], low[s] + width[s]});
    }
    const auto range = e->range(box);
    if (!range) continue;
    RC_ASSERT(range->lo <= range->hi);
    Point p{};
    std::function<void(std::size_t)> all = [&](std::size_t s) {
      if (s == 4) {
        const auto v = attempt([&] { return e->evaluate(values_of(p)); });
        if (!v) return;
        if (*v < range->lo || *v > range->hi) {
          show(e->str() + " is " + as_text(v) + ", range [" + as_text(range->lo) + ", " + as_text(range->hi) + "]");
        }
        RC_ASSERT(range->lo <= *v && *v <= range->hi);
        return;
      }
      for (std::int64_t v = low[s]; v <= low[s] + width[s]; ++v) {
        p[s] = v;
        all(s + 1);
      }
    };
    all(0);
  }
}

RC_GTEST_PROP(ExprProperty, SymbolsAreThoseThatMatterToTheText, ()) {
  for (int i = 0; i < trees_per_case; ++i) {
    const Tree tree = *any_tree({.depth = 4, .large_constants = false});
    const auto e = attempt([&] { return build(tree); });
    if (!e) continue;
    const std::set<Symbol> used = e->symbols();
    const std::string s = e->str();
    for (const char* name : names) {
      const bool depends = e->depends_on(Symbol(name));
      RC_ASSERT(depends == used.contains(Symbol(name)));
      if (!depends) RC_ASSERT(e->substitute({{Symbol(name), Expr(7)}}) == *e);
    }
    RC_ASSERT(e->constant().has_value() == used.empty() || s.find_first_not_of("0123456789-") != std::string::npos);
  }
}

}  // namespace
}  // namespace kernelcast::testing
