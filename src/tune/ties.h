// When two configurations cannot be told apart.
//
// A model's error on one kernel and one GPU is mostly common to all configurations; what decides between two of them is
// the error of the ratio of their times. Validation measures it: the median over pairs of configurations of |predicted
// ratio / measured ratio - 1| (docs/validate.md, "ratios: median error"). With normal errors of the logarithm that
// median is 0.6745 standard deviations.
#pragma once

#include <optional>
#include <string_view>

namespace kernelcast::tune {

/// Standard deviation of the logarithm of the ratio of two forecasts; nothing for models that were not validated.
std::optional<double> ratio_deviation(std::string_view model);

/// The probability that the second configuration is in truth at least as fast as the first, for forecasts
/// time_s >= best_s. Without a deviation: 0.5 for equal times, otherwise 0.
double chance_of_being_faster(double best_s, double time_s, std::optional<double> deviation);

/// Configurations with at least this chance are called tied with the best: those whose forecast is closer to the best
/// one than half of all pairs' errors.
inline constexpr double tie_chance = 0.25;

}  // namespace kernelcast::tune
