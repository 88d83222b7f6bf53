// The space in which a block of code is counted: lanes, groups and loop counters as integer variables.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernelcast/expr.h"

namespace kernelcast {

/// Variables of one chain of loops: 0..2 local ids, 3..5 group ids, 6.. counters from the outermost loop inwards.
inline constexpr int max_variables = 16;
inline constexpr int first_outer = 3;
inline constexpr int first_counter = 6;
using VariableMask = std::uint32_t;
inline constexpr VariableMask lane_variables = 7;

/// Inclusive ranges of all variables. Local ids always span the whole block. One variable may be sheared along another:
/// it has the value lo[sheared] + slope * (x - lo[along]) where `along` has the value x, and is not free by itself.
/// Thus the diagonal of a triangle is a few boxes, not one a point.
struct Box {
  int variables = first_counter;
  int sheared = -1, along = -1;
  std::int64_t slope = 0;
  std::array<std::int64_t, max_variables> lo{}, hi{};
  [[nodiscard]] bool is_free(int v) const { return lo[v] < hi[v]; }
  /// Outer variables with more than one value.
  [[nodiscard]] VariableMask free_outer() const {
    VariableMask m = 0;
    for (int v = first_outer; v < variables; ++v) m |= static_cast<VariableMask>(is_free(v)) << v;
    return m;
  }
  /// Keeps first .. last of the range of an outer variable.
  void restrict_to(int v, std::int64_t first, std::int64_t last) {
    if (v == along) {
      lo[sheared] += slope * (first - lo[v]);
      hi[sheared] = lo[sheared];
    }
    lo[v] = first;
    hi[v] = last;
  }
  /// Points of the outer variables. A double: exact below 2^53.
  [[nodiscard]] double volume() const {
    double n = 1;
    for (int v = first_outer; v < variables; ++v) n *= static_cast<double>(hi[v] - lo[v] + 1);
    return n;
  }
};

/// Steps of the sequence by which samples are taken from a box: fractional parts of square roots, by variable (Weyl
/// 1916: the multiples of independent irrationals are equidistributed).
inline constexpr double weyl_steps[max_variables] = {0,
                                                     0,
                                                     0,
                                                     0.41421356237309505,
                                                     0.73205080756887729,
                                                     0.23606797749978969,
                                                     0.64575131106459059,
                                                     0.31662479035539985,
                                                     0.60555127546398929,
                                                     0.12310562561766059,
                                                     0.35889894354067355,
                                                     0.79583152331271954,
                                                     0.38516480713450403,
                                                     0.56776436283002192,
                                                     0.40312423743284865,
                                                     0.55743852430200065};

/// Points of a sample once `work` has passed `limit`: fewer and fewer, so that what is left stays cheap.
inline int sample_points(double work, double limit) { return work < 2 * limit ? 256 : work < 4 * limit ? 32 : 4; }

/// The i-th sample of a box: each outer variable at one value.
inline Box sample_of(const Box& box, int i) {
  Box point = box;
  for (int v = first_outer; v < box.variables; ++v) {
    const double x = (i + 0.5) * weyl_steps[v], n = static_cast<double>(box.hi[v] - box.lo[v] + 1);
    if (v == box.sheared) continue;
    const std::int64_t at = std::min(box.hi[v], box.lo[v] + static_cast<std::int64_t>((x - std::floor(x)) * n));
    point.restrict_to(v, at, at);
  }
  return point;
}

/// Which symbol is which variable, for one chain of loops.
struct Scope {
  std::vector<Symbol> symbols;  // by variable
  [[nodiscard]] int find(Symbol s) const {
    for (std::size_t i = 0; i < symbols.size(); ++i)
      if (symbols[i] == s) return static_cast<int>(i);
    return -1;
  }
};

}  // namespace kernelcast
