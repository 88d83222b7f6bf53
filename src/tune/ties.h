// When two configurations cannot be told apart.
//
// A model's error on one kernel and one GPU is mostly common to all configurations; what decides between two of them is
// the error of the ratio of their times (model/ratio_error.h), which validation measures on pairs of configurations.
#pragma once

#include <optional>
#include <string_view>

#include "model/ratio_error.h"

namespace kernelcast::tune {

/// Error of the ratio of two forecasts; nothing for models that were not validated.
std::optional<RatioError> ratio_error_of(std::string_view model);

/// The probability that the second configuration is in truth at least as fast as the first, for forecasts
/// time_s >= best_s. Without an error: 0.5 for equal times, otherwise 0.
double chance_of_being_faster(double best_s, double time_s, const std::optional<RatioError>& error);

/// Configurations with at least this chance are called tied with the best: those whose forecast is closer to the best
/// one than half of all pairs' errors.
inline constexpr double tie_chance = 0.25;

}  // namespace kernelcast::tune
