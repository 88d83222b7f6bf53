// What is fitted: the constants, and the error that they are chosen by.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "facts_file.h"
#include "model/kernelcast.h"

namespace kernelcast::fit {

struct Parameter {
  std::string_view name;
  double forecast::Constants::* value;
  double low = 0, high = 0;  // where a fit may take it
};
/// Those that are fitted come first.
std::span<const Parameter> all_parameters();
std::span<const Parameter> parameters();

/// One row's forecast in seconds; NaN when there is none.
double predicted(const Row& row, const forecast::Constants& c);

/// Mean over families, then over (kernel, GPU), of the mean of |ln(predicted / measured)|: the logarithm of gMAE.
/// Excluded rows and those for which `use` says no are left out. `pairs_share` of it is the mean over all pairs of kernel
/// and GPU alike instead.
double objective(const std::vector<Row>& rows, const forecast::Constants& c, const std::function<bool(const Row&)>& use,
                 double pairs_share = 0);

/// What a fit minimises: mostly the logarithm of gMAE, in which a pair of a small family weighs several times one of a
/// large family, and partly the mean over all pairs.
inline constexpr double fit_pairs_share = 0.3;

/// Coordinate search from `start`: steps in the logarithm that shrink until they are below a thousandth.
forecast::Constants fit(const std::vector<Row>& rows, forecast::Constants start, const std::function<bool(const Row&)>& use);

}  // namespace kernelcast::fit
