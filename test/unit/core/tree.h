// The slow, obvious twin of Expr: a plain tree evaluated in 128 bits, and random trees for property tests.
#pragma once

#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "kernelcast/expr.h"

namespace kernelcast::testing {

__extension__ using Int128 = __int128;

struct Tree {
  enum class Kind { constant, symbol, add, subtract, multiply, operation } kind = Kind::constant;
  Op op = Op::min;
  std::int64_t value = 0;  // of a constant; index into `names` of a symbol
  std::vector<Tree> children;
};

inline const std::array<const char*, 4> names = {"x", "y", "n", "k"};
using Point = std::array<std::int64_t, 4>;

/// The same formula as an Expr. Throws what Expr throws.
Expr build(const Tree& t);
std::string text(const Tree& t);
SymbolValues values_of(const Point& p);

/// What the formula is worth at a point.
struct Exact {
  std::optional<Int128> value;  // nothing: undefined, or so large (beyond 2^100) that the twin gives up
  bool huge = false;            // gave up
};
Exact exact(const Tree& t, const Point& p);

/// An upper bound of every number that any exact rewriting of the formula may pass through: absolute values summed and
/// multiplied instead of the values themselves. Where it stays below 2^62, no overflow is excusable.
long double reach(const Tree& t, const Point& p);

struct TreeOptions {
  int depth = 4;
  bool large_constants = true;
  bool operations = true;  // otherwise polynomials only
};
rc::Gen<Tree> any_tree(TreeOptions options);
rc::Gen<Point> any_point(bool large);

void showValue(const Tree& t, std::ostream& out);  // NOLINT: the name rapidcheck looks for

}  // namespace kernelcast::testing
