#include "model/ratio_error.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace kernelcast {

double RatioError::half_width() const { return quartile * std::tan(0.45 * std::numbers::pi); }

double RatioError::ratio_seen(double probability) const {
  return std::exp(quartile * std::tan((probability - 0.5) * std::numbers::pi));
}

double RatioError::above(double ratio, double limit) const {
  if (quartile <= 0) return ratio > limit ? 1 : 0;
  return 0.5 + std::atan(std::log(ratio / limit) / quartile) / std::numbers::pi;
}

double change_of_bounds(const Estimate& base, const Estimate& changed) {
  std::map<std::string_view, double> change;
  const auto add = [&](const Estimate& e, double sign) {
    double sum = 0;
    for (const Bound& b : e.bounds)
      if (b.kind != BoundKind::floor) sum += b.time.value();
    for (const Bound& b : e.bounds)
      if (b.kind != BoundKind::floor && sum > 0) change[b.name] += sign * b.time.value() / sum;
  };
  add(base, -1);
  add(changed, 1);
  double largest = 0;
  for (const auto& [name, by] : change) largest = std::max(largest, std::abs(by));
  return largest;
}

RatioError kernelcast_ratio_error_of(const Estimate& base, const Estimate& changed, bool local_memory) {
  constexpr double other_bounds = 0.12;
  if (local_memory) return kernelcast_local_memory_ratio_error;
  const double different = std::min(1.0, change_of_bounds(base, changed) / other_bounds);
  return {std::lerp(kernelcast_same_bounds_ratio_error.quartile, kernelcast_ratio_error.quartile, different)};
}

}  // namespace kernelcast
