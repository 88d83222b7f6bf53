#include "tune/ties.h"

#include <array>
#include <cmath>

namespace kernelcast::tune {
namespace {

/// Of the models of the literature: "ratios: median error" of validation/README.md, the median over pairs of
/// |predicted ratio / measured ratio - 1|. As of errors of `kernelcast`, ln(1 + median) is taken for the quartile.
struct MedianError {
  std::string_view model;
  double ratio;
};
constexpr std::array<MedianError, 4> median_errors{
    {{"opencl-quantitative", 0.347}, {"ske", 0.649}, {"roofline", 1.288}, {"mwp-cwp", 0.921}}};

}  // namespace

std::optional<RatioError> ratio_error_of(std::string_view model) {
  if (model == "kernelcast") return kernelcast_ratio_error;
  for (const MedianError& e : median_errors) {
    if (e.model == model) return RatioError{std::log1p(e.ratio)};
  }
  return std::nullopt;
}

double chance_of_being_faster(double best_s, double time_s, const std::optional<RatioError>& error) {
  if (time_s <= best_s) return 0.5;
  if (!error) return 0;
  return 1 - error->above(time_s / best_s, 1);
}

}  // namespace kernelcast::tune
