#include "frontend/host/sample.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <numbers>

namespace kernelcast::frontend::host {
namespace {

using Numbers = std::vector<double>;

std::string printed(double number) {
  char text[32];
  if (number == std::floor(number) && std::abs(number) < 0x1p62)
    return std::to_string(static_cast<std::int64_t>(number));
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

/// first + k step, as far as the type's digits go; whole numbers may be those of a rising stair (i / 16).
bool is_row(const Numbers& v, Sample& s) {
  const std::size_t last = v.size() - 1;
  std::size_t change = last;  // to the last value
  while (change > 0 && v[change - 1] == v[last]) --change;
  if (change == 0) return false;
  s.first = v[0];
  s.step = (v[change] - v[0]) / static_cast<double>(change);
  const bool stair = s.whole && std::abs(s.step) < 1;
  if (stair && (s.step <= 0 || !std::ranges::is_sorted(v))) return false;
  const double off = stair ? 1 : s.whole ? 0 : 1e-6 * std::max(std::abs(v[0]), std::abs(v[last]));
  if (!s.whole && std::abs(v[last] - v[0]) < 1000 * off) return false;  // what rounding leaves of numbers that are near
  for (std::size_t k = 0; k < v.size(); ++k)
    if (std::abs(v[k] - s.first - s.step * static_cast<double>(k)) > off) return false;
  return true;
}

struct Moments {
  double mean = 0, variance = 0;
};

Moments moments_of(const Numbers& v, std::size_t begin, std::size_t end) {
  Moments m;
  const auto n = static_cast<double>(end - begin);
  for (std::size_t k = begin; k < end; ++k) m.mean += v[k] / n;
  for (std::size_t k = begin; k < end; ++k) m.variance += (v[k] - m.mean) * (v[k] - m.mean) / n;
  return m;
}

/// The means of the two halves are as near as those of independent numbers of one distribution.
bool is_steady(const Numbers& v) {
  constexpr double kDeviations = 4;
  const std::size_t half = v.size() / 2;
  const Moments a = moments_of(v, 0, half), b = moments_of(v, half, 2 * half);
  const double error = std::sqrt((a.variance + b.variance) / static_cast<double>(half));
  return std::abs(a.mean - b.mean) <= kDeviations * error;
}

/// Whole numbers from about 0 on that never fall, whose steps do not drift: where rows of a sparse matrix start.
bool is_offsets(const Numbers& v, Sample& s) {
  if (!s.whole || v[0] < 0) return false;
  Numbers steps(v.size() - 1);
  for (std::size_t k = 0; k < steps.size(); ++k) steps[k] = v[k + 1] - v[k];
  if (*std::ranges::min_element(steps) < 0 || !is_steady(steps)) return false;
  s.first = v[0];
  s.step = (v.back() - v[0]) / static_cast<double>(steps.size());
  return s.step > 0 && s.first <= 4 * s.step;
}

/// Neighbors do not tell of each other.
bool is_independent(const Numbers& v, const Moments& m) {
  double together = 0;
  for (std::size_t k = 1; k < v.size(); ++k) together += (v[k] - m.mean) * (v[k - 1] - m.mean);
  const auto n = static_cast<double>(v.size());
  return m.variance > 0 && std::abs(together / n / m.variance) <= 4 / std::sqrt(n);
}

/// Kolmogorov's and Smirnov's test at one in a hundred; `ascending` against the share of numbers up to x.
bool follows(const Numbers& ascending, const std::function<double(double)>& share) {
  const auto n = static_cast<double>(ascending.size());
  const double most = 1.63 / std::sqrt(n);
  for (std::size_t k = 0; k < ascending.size(); ++k) {
    if (k + 1 < ascending.size() && ascending[k + 1] == ascending[k]) continue;
    if (std::abs(static_cast<double>(k + 1) / n - share(ascending[k])) > most) return false;
  }
  return true;
}

void find_distribution(const Numbers& v, Sample& s) {
  const Moments m = moments_of(v, 0, v.size());
  if (!is_independent(v, m)) return;
  Numbers ascending = v;
  std::ranges::sort(ascending);
  const double up_to = s.whole ? 1 : 0;  // whole numbers: the range ends one above the last
  s.low = ascending.front();
  s.high = ascending.back() + up_to;
  s.mean = m.mean;
  s.deviation = std::sqrt(m.variance);
  if (follows(ascending, [&](double x) { return (x + up_to - s.low) / (s.high - s.low); }))
    s.kind = Sample::Kind::uniform;
  else if (!s.whole && follows(ascending, [&](double x) {
             return std::erfc((s.mean - x) / s.deviation / std::numbers::sqrt2) / 2;
           }))
    s.kind = Sample::Kind::normal;
}

}  // namespace

std::string Sample::fill(std::int64_t key) const {
  const auto k = static_cast<double>(key);
  switch (kind) {
    case Kind::repeated:
      return "";
    case Kind::uniform:
      return "uniform(" + printed(low) + "," + printed(high) + ")";
    case Kind::normal:
      return "normal(" + printed(mean) + "," + printed(deviation) + ")";
    case Kind::row:
      return "iota(" + printed(first + k * step) + "," + printed(step) + ")";
    case Kind::offsets:
      return "offsets(" + printed(step) + "," + printed(std::round(k + first / step)) + ")";
  }
  return "";
}

std::shared_ptr<const Sample> sample_of(const Memory& memory, int line, std::int64_t loop, bool flat) {
  constexpr std::size_t kLeast = 256, kMost = 1 << 16;
  auto sample = std::make_shared<Sample>();
  Numbers v;
  sample->whole = true;
  for (const auto& [key, value] : memory.slots) {
    const bool next = key == static_cast<std::int64_t>(v.size());
    if (!next || !value.is_number() || v.size() == kMost) break;
    if (!std::isfinite(value.number())) return nullptr;
    sample->values.push_back(value);
    sample->whole = sample->whole && value.is_integer();
    v.push_back(value.number());
  }
  if (v.size() < kLeast) return nullptr;
  sample->line = line;
  sample->loop = loop;
  if (flat && is_row(v, *sample))
    sample->kind = Sample::Kind::row;
  else if (flat && is_offsets(v, *sample))
    sample->kind = Sample::Kind::offsets;
  else if (!is_steady(v))
    return nullptr;
  else
    find_distribution(v, *sample);
  return sample;
}

}  // namespace kernelcast::frontend::host
