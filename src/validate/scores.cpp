// The error of a ratio is taken on the logarithm, so that it is the same whichever of the two points is above; a plain
// |a/b - 1| would never charge more than 100 % for a ratio that is too small.
#include "validate/scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kernelcast::validate {
namespace {

constexpr double differing_ratio = 1.05;  // repeated campaigns agree within 3 to 5 %: smaller differences have no sign

double pearson(std::span<const double> x, std::span<const double> y) {
  const double n = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / n;
  const double mean_y = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  return xy / std::sqrt(xx * yy);
}

bool all_equal(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [&](double v) { return v == values.front(); });
}

class RatioCount {
 public:
  void add(const Point& a, const Point& b) {
    const bool in_order = a.measured_s >= b.measured_s;
    const Point& slow = in_order ? a : b;
    const Point& fast = in_order ? b : a;
    const double measured = slow.measured_s / fast.measured_s;
    const double predicted = slow.predicted_s / fast.predicted_s;
    errors_.push_back(std::exp(std::abs(std::log(predicted / measured))) - 1);
    if (measured <= differing_ratio) return;
    ++differing_;
    if (predicted > 1) ++right_;
  }

  RatioScores scores() {
    RatioScores s;
    s.pairs = errors_.size();
    s.differing = differing_;
    s.median_error = median(std::move(errors_));
    if (differing_ > 0) s.sign_accuracy = static_cast<double>(right_) / static_cast<double>(differing_);
    return s;
  }

 private:
  std::vector<double> errors_;
  std::size_t differing_ = 0, right_ = 0;
};

}  // namespace

double absolute_error(const Point& p) { return std::abs(signed_error(p)); }
double signed_error(const Point& p) { return (p.predicted_s - p.measured_s) / p.measured_s; }
double log_error(const Point& p) { return std::abs(std::log(p.predicted_s / p.measured_s)); }

std::optional<ErrorScores> errors_of(std::span<const Point> points) {
  if (points.empty()) return std::nullopt;
  ErrorScores s;
  s.n = points.size();
  std::vector<double> ape;
  for (const Point& p : points) {
    ape.push_back(absolute_error(p));
    s.mape += ape.back();
    s.bias += signed_error(p);
    s.log_error += log_error(p);
    const double ratio = p.predicted_s / p.measured_s;
    if (ratio >= 0.5 && ratio <= 2) s.within_2x += 1;
  }
  const double n = static_cast<double>(s.n);
  for (double* sum : {&s.mape, &s.bias, &s.log_error, &s.within_2x}) *sum /= n;
  s.p90_ape = quantile(ape, 0.9);
  s.median_ape = median(std::move(ape));
  return s;
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

std::optional<double> mean(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    const double shared = static_cast<double>(first + last) / 2 + 1;
    for (std::size_t i = first; i <= last; ++i) rank[order[i]] = shared;
    first = last + 1;
  }
  return rank;
}

std::optional<double> spearman(std::span<const Point> points) {
  std::vector<double> measured, predicted;
  for (const Point& p : points) {
    measured.push_back(p.measured_s);
    predicted.push_back(p.predicted_s);
  }
  if (points.size() < 2 || all_equal(measured)) return std::nullopt;
  if (all_equal(predicted)) return 0;
  return pearson(ranks(measured), ranks(predicted));
}

std::optional<double> top1_regret(std::span<const Point> points) {
  if (points.empty()) return std::nullopt;
  double best = points.front().measured_s, first = points.front().predicted_s;
  for (const Point& p : points) {
    best = std::min(best, p.measured_s);
    first = std::min(first, p.predicted_s);
  }
  std::vector<double> chosen;
  for (const Point& p : points) {
    if (p.predicted_s == first) chosen.push_back(p.measured_s);
  }
  return *mean(chosen) / best - 1;
}

std::optional<RatioScores> ratios_of(std::span<const Point> points, std::size_t most_pairs) {
  const std::size_t n = points.size();
  if (n < 2) return std::nullopt;
  RatioCount count;
  if (n * (n - 1) / 2 <= most_pairs) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 1; j < n; ++j) count.add(points[i], points[j]);
    }
    return count.scores();
  }
  const std::size_t strides = std::max<std::size_t>(most_pairs / n, 1);
  for (std::size_t k = 0; k < strides; ++k) {
    const std::size_t stride = 1 + (2 * k + 1) * ((n - 1) / 2) / (2 * strides);
    for (std::size_t i = 0; i < n; ++i) count.add(points[i], points[(i + stride) % n]);
  }
  return count.scores();
}

}  // namespace kernelcast::validate
