// How far a forecast ratio of two times may be off.
#pragma once

#include <string_view>

#include "kernelcast/estimate.h"

namespace kernelcast {

/// Error of ln(ratio) as measured over pairs of launches of one kernel on one GPU: half of the pairs are within the
/// quartile, and the tails are as long as those of a Cauchy distribution with that quartile (validation/fit.md,
/// "Ratios").
struct RatioError {
  double quartile = 0;
  /// Half of the 90 % interval of ln(ratio).
  [[nodiscard]] double half_width() const;
  /// Probability that the true ratio is above `limit` when `ratio` is forecast.
  [[nodiscard]] double above(double ratio, double limit) const;
  /// The smallest forecast ratio of which above(ratio, 1) is `probability`.
  [[nodiscard]] double ratio_seen(double probability) const;
};

/// Of the model `kernelcast`; the models of the literature were not measured in pairs.
constexpr RatioError kernelcast_ratio_error{0.1};

/// Likewise of two launches whose bounds have the same shares.
constexpr RatioError kernelcast_same_bounds_ratio_error{0.03};

/// Likewise where one of the two or both probably keep private arrays or spilled registers in local memory: nine in ten
/// errors are as small as half_width() says.
constexpr RatioError kernelcast_local_memory_ratio_error{0.5};

/// The largest change of a bound's share of the sum of all bounds: 0 where shares are the same, at most 1.
double change_of_bounds(const Estimate& base, const Estimate& changed);

/// Of two forecasts of `kernelcast`: the less the shares of the bounds change, the more of their errors they share.
/// From that of the same bounds to that of any at a change of 0.12 (validation/fit.md, "Ratios").
RatioError kernelcast_ratio_error_of(const Estimate& base, const Estimate& changed, bool local_memory);

}  // namespace kernelcast
