#include "tune/ties.h"

#include <array>
#include <cmath>

namespace kernelcast::tune {
namespace {

/// "ratios: median error" of validation/README.md, and for kernelcast of validation/fit.md.
struct MedianError {
  std::string_view model;
  double ratio;
};
constexpr std::array<MedianError, 4> median_errors{
    {{"opencl-quantitative", 0.437}, {"ske", 0.790}, {"roofline", 1.012}, {"kernelcast", 0.198}}};
constexpr double quartile = 0.6744897501960817;  // of the standard normal distribution

}  // namespace

std::optional<double> ratio_deviation(std::string_view model) {
  for (const MedianError& e : median_errors) {
    if (e.model == model) return std::log1p(e.ratio) / quartile;
  }
  return std::nullopt;
}

double chance_of_being_faster(double best_s, double time_s, std::optional<double> deviation) {
  if (time_s <= best_s) return 0.5;
  if (!deviation) return 0;
  return 0.5 * std::erfc(std::log(time_s / best_s) / *deviation / std::sqrt(2.0));
}

}  // namespace kernelcast::tune
