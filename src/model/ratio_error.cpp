#include "model/ratio_error.h"

#include <cmath>
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

}  // namespace kernelcast
