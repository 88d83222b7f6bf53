// Scores of forecasts against measurements: pure functions of small lists. What each score means is defined here and
// explained in docs/reference/validate.md.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace kernelcast::validate {

/// One forecast and its measurement, in seconds; both positive and finite.
struct Point {
  double measured_s = 0, predicted_s = 0;
};

/// |predicted - measured| / measured.
double absolute_error(const Point& p);
/// (predicted - measured) / measured.
double signed_error(const Point& p);
/// |ln(predicted / measured)|.
double log_error(const Point& p);

/// Errors over one list of points, as fractions (0.2 is 20 %).
struct ErrorScores {
  std::size_t n = 0;
  double mape = 0;        // mean absolute error
  double median_ape = 0;  // median absolute error
  double p90_ape = 0;     // 90th percentile of the absolute error
  double bias = 0;        // mean signed error
  double log_error = 0;   // mean of |ln(predicted / measured)|; its exponential is gMAE
  double within_2x = 0;   // share of points with predicted / measured from 1/2 to 2
};
/// Nothing for an empty list.
std::optional<ErrorScores> errors_of(std::span<const Point> points);

/// The q-quantile (0 to 1), linear between the two order statistics around it (Hyndman and Fan 1996, type 7).
/// `values` must not be empty.
double quantile(std::vector<double> values, double q);
double median(std::vector<double> values);
/// Nothing for an empty list.
std::optional<double> mean(std::span<const double> values);

/// Ranks from 1; equal values share the mean of their ranks.
std::vector<double> ranks(std::span<const double> values);
/// Spearman's rank correlation: Pearson's of the ranks. Forecasts that are all equal rank nothing and score 0. Nothing
/// for fewer than two points or measurements that are all equal.
std::optional<double> spearman(std::span<const Point> points);
/// Time of the configuration that the forecast ranks first, over the best measured one, minus 1. Where several share
/// the first rank, the mean of their times: which of them a user tries is chance. Nothing for an empty list.
std::optional<double> top1_regret(std::span<const Point> points);

/// Paired ratios: every two points, slower measured one over the faster.
struct RatioScores {
  std::size_t pairs = 0, differing = 0;  // differing: measured ratio above 1.05
  double median_error = 0;               // median of exp(|ln(predicted ratio / measured ratio)|) - 1
  std::optional<double> sign_accuracy;   // share of differing pairs with the right order; a tie is not right
};
/// Nothing for fewer than two points. With more than `most_pairs` pairs those at evenly spread distances in the list
/// are taken, so that the result is the same in every run.
std::optional<RatioScores> ratios_of(std::span<const Point> points, std::size_t most_pairs = 1000000);

}  // namespace kernelcast::validate
