#include "tune/ranking.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "tune/ties.h"

namespace kernelcast::tune {
namespace {

/// Infinity where the configuration does not run.
constexpr double does_not_run = std::numeric_limits<double>::infinity();

/// The `top`-th smallest of the finite keys, or the largest where there are fewer. A heap of `top`: a list of all keys
/// would be as long as the space.
template <class Key>
double key_at(std::size_t count, std::size_t top, Key key) {
  std::priority_queue<double> smallest;
  for (std::size_t i = 0; i < count; ++i) {
    const double k = key(i);
    if (k == does_not_run) continue;
    if (smallest.size() == top) {
      if (k >= smallest.top()) continue;
      smallest.pop();
    }
    smallest.push(k);
  }
  return smallest.empty() ? -does_not_run : smallest.top();
}

/// Indices of the `top` smallest finite keys, ties broken by name; only the ties at the edge and inside are named.
template <class Key>
std::vector<std::size_t> smallest(std::size_t count, std::size_t top, Key key, const TieOrder& ties) {
  if (top == 0) return {};
  const double edge = key_at(count, top, key);
  const std::size_t most_at_edge = std::max(top, ties.most_named);
  std::size_t at_edge = 0;
  std::vector<std::pair<std::string, std::size_t>> named;
  for (std::size_t i = 0; i < count; ++i) {
    const double k = key(i);
    if (k < edge || (k == edge && at_edge++ < most_at_edge)) named.emplace_back(ties.name(i), i);
  }
  std::sort(named.begin(), named.end(), [&](const auto& a, const auto& b) {
    const double ka = key(a.second), kb = key(b.second);
    return ka != kb ? ka < kb : a.first < b.first;
  });
  if (named.size() > top) named.resize(top);
  std::vector<std::size_t> out;
  for (const auto& [text, i] : named) out.push_back(i);
  return out;
}

}  // namespace

std::vector<std::size_t> fastest(const std::vector<float>& times, std::size_t top, const TieOrder& ties) {
  const auto key = [&](std::size_t i) { return times[i] > 0 ? static_cast<double>(times[i]) : does_not_run; };
  return smallest(times.size(), top, key, ties);
}

std::vector<PortableIndex> smallest_worst_loss(const std::vector<std::vector<float>>& times, std::size_t top,
                                               const TieOrder& ties) {
  std::vector<double> best;
  for (const std::vector<float>& of_device : times) {
    double b = does_not_run;
    for (const float t : of_device) b = t > 0 ? std::min(b, static_cast<double>(t)) : b;
    best.push_back(b);
  }
  const auto loss = [&](std::size_t d, std::size_t i) {
    if (best[d] == does_not_run) return 0.0;
    return times[d][i] > 0 ? static_cast<double>(times[d][i]) / best[d] - 1 : does_not_run;
  };
  const std::size_t count = times.empty() ? 0 : times.front().size();
  std::vector<double> worst(count, 0);
  for (std::size_t d = 0; d < times.size(); ++d)
    for (std::size_t i = 0; i < count; ++i) worst[i] = std::max(worst[i], loss(d, i));
  std::vector<PortableIndex> all;
  for (const std::size_t i : smallest(count, top, [&](std::size_t k) { return worst[k]; }, ties)) {
    PortableIndex p{i, worst[i], {}};
    for (std::size_t d = 0; d < times.size(); ++d) p.loss.push_back(loss(d, i));
    all.push_back(std::move(p));
  }
  return all;
}

void mark_ties(DeviceTuning& device, const std::vector<float>& times, std::string_view model) {
  const std::optional<RatioError> error = ratio_error_of(model);
  double best = does_not_run;
  for (const float t : times) best = t > 0 ? std::min(best, static_cast<double>(t)) : best;
  // The chance falls with the time: it is asked for between the slowest that is tied and the fastest that is not.
  double tied = best, slower = does_not_run;
  for (const float t : times) {
    const double time = static_cast<double>(t);
    if (time <= 0) continue;
    ++device.evaluated;
    if (time > tied && time < slower) {
      (chance_of_being_faster(best, time, error) >= tie_chance ? tied : slower) = time;
    }
    if (time <= tied) ++device.tied;
  }
  for (Candidate& c : device.best) {
    c.chance = chance_of_being_faster(best, static_cast<double>(static_cast<float>(c.time_s)), error);
    c.tied = c.chance >= tie_chance;
  }
}

}  // namespace kernelcast::tune
