#include "tune/ranking.h"

#include <algorithm>
#include <limits>

#include "tune/ties.h"

namespace kernelcast::tune {
namespace {

/// The `top` smallest keys with ties broken by name; only the ties at the edge and inside are named.
template <class Key>
std::vector<std::size_t> smallest(std::vector<std::size_t> indices, std::size_t top, Key key,
                                  const std::function<std::string(std::size_t)>& name) {
  if (indices.empty() || top == 0) return {};
  const auto before = [&](std::size_t a, std::size_t b) { return key(a) < key(b); };
  if (indices.size() > top) {
    std::nth_element(indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(top - 1), indices.end(), before);
    const auto edge = key(indices[top - 1]);
    indices.erase(std::remove_if(indices.begin(), indices.end(), [&](std::size_t i) { return key(i) > edge; }),
                  indices.end());
  }
  std::vector<std::pair<std::string, std::size_t>> named;
  for (const std::size_t i : indices) named.emplace_back(name(i), i);
  std::sort(named.begin(), named.end(), [&](const auto& a, const auto& b) {
    return key(a.second) != key(b.second) ? key(a.second) < key(b.second) : a.first < b.first;
  });
  if (named.size() > top) named.resize(top);
  std::vector<std::size_t> out;
  for (const auto& [text, i] : named) out.push_back(i);
  return out;
}

}  // namespace

std::vector<std::size_t> fastest(const std::vector<float>& times, std::size_t top,
                                 const std::function<std::string(std::size_t)>& name) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] > 0) indices.push_back(i);
  }
  return smallest(std::move(indices), top, [&](std::size_t i) { return times[i]; }, name);
}

std::vector<PortableIndex> smallest_worst_loss(const std::vector<std::vector<float>>& times, std::size_t top,
                                               const std::function<std::string(std::size_t)>& name) {
  std::vector<double> best;
  for (const std::vector<float>& of_device : times) {
    double b = std::numeric_limits<double>::infinity();
    for (const float t : of_device) b = t > 0 ? std::min(b, static_cast<double>(t)) : b;
    best.push_back(b);
  }
  const auto runs = [&](std::size_t d) { return best[d] < std::numeric_limits<double>::infinity(); };
  const std::size_t count = times.empty() ? 0 : times.front().size();
  std::vector<double> worst(count, 0);
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < count; ++i) {
    bool everywhere = true;
    for (std::size_t d = 0; d < times.size(); ++d) {
      if (!runs(d)) continue;
      everywhere = everywhere && times[d][i] > 0;
      worst[i] = std::max(worst[i], static_cast<double>(times[d][i]) / best[d] - 1);
    }
    if (everywhere) indices.push_back(i);
  }
  std::vector<PortableIndex> all;
  for (const std::size_t i : smallest(std::move(indices), top, [&](std::size_t k) { return worst[k]; }, name)) {
    PortableIndex p{i, worst[i], {}};
    for (std::size_t d = 0; d < times.size(); ++d)
      p.loss.push_back(runs(d) ? static_cast<double>(times[d][i]) / best[d] - 1 : 0);
    all.push_back(std::move(p));
  }
  return all;
}

void mark_ties(DeviceTuning& device, const std::vector<float>& times, std::string_view model) {
  const std::optional<RatioError> error = ratio_error_of(model);
  const double best = static_cast<double>(*std::min_element(times.begin(), times.end(), [](float a, float b) {
    return (a > 0 ? a : std::numeric_limits<float>::infinity()) < (b > 0 ? b : std::numeric_limits<float>::infinity());
  }));
  for (const float t : times) {
    if (t <= 0) continue;
    ++device.evaluated;
    if (chance_of_being_faster(best, static_cast<double>(t), error) >= tie_chance) ++device.tied;
  }
  for (Candidate& c : device.best) {
    c.chance = chance_of_being_faster(best, static_cast<double>(static_cast<float>(c.time_s)), error);
    c.tied = c.chance >= tie_chance;
  }
}

}  // namespace kernelcast::tune
