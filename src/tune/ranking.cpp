#include "tune/ranking.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include "tune/ties.h"

namespace kernelcast::tune {
namespace {

/// Of a configuration that does not run.
template <class Number>
constexpr Number does_not_run = std::numeric_limits<Number>::infinity();

/// Those that may be among the `top` smallest, ties included: a list of all would be as long as the space.
template <class Number>
class Smallest {
 public:
  explicit Smallest(std::size_t top) : top_(top) {}

  [[nodiscard]] bool may_hold(Number key) const {
    return key != does_not_run<Number> && (largest_.size() < top_ || key <= largest_.top());
  }
  void add(Number key, std::size_t index) {
    if (largest_.size() == top_ && key < largest_.top()) largest_.pop();
    if (largest_.size() < top_) largest_.push(key);
    kept_.emplace_back(key, index);
    if (kept_.size() >= most_kept_) {
      drop();
      most_kept_ = std::max(most_kept_, 2 * kept_.size());
    }
  }
  /// Largest of the smallest, and all that are not above it in the order of their indices.
  std::pair<Number, std::vector<std::pair<Number, std::size_t>>> take() {
    drop();
    return {largest_.empty() ? Number{0} : largest_.top(), std::move(kept_)};
  }

 private:
  void drop() {
    std::erase_if(kept_, [&](const auto& k) { return k.first > largest_.top(); });
  }

  std::size_t top_, most_kept_ = 4096;
  std::priority_queue<Number> largest_;
  std::vector<std::pair<Number, std::size_t>> kept_;
};

/// Indices of the `top` smallest finite keys, ties broken by name; only the ties at the edge and inside are named.
template <class Key>
std::vector<std::size_t> smallest(std::size_t count, std::size_t top, Key key, const TieOrder& ties) {
  using Number = decltype(key(0));
  if (top == 0) return {};
  Smallest<Number> found(top);
  constexpr std::size_t step = 64;  // most hold nothing: a loop without branches says so
  for (std::size_t begin = 0; begin < count; begin += step) {
    const std::size_t end = std::min(begin + step, count);
    Number least = does_not_run<Number>;
    for (std::size_t i = begin; i < end; ++i) least = std::min(least, key(i));
    if (!found.may_hold(least)) continue;
    for (std::size_t i = begin; i < end; ++i)
      if (const Number k = key(i); found.may_hold(k)) found.add(k, i);
  }
  const auto [edge, kept] = found.take();
  const std::size_t most_at_edge = std::max(top, ties.most_named);
  std::size_t at_edge = 0;
  std::vector<std::tuple<Number, std::string, std::size_t>> named;
  for (const auto& [k, i] : kept)
    if (k < edge || at_edge++ < most_at_edge) named.emplace_back(k, ties.name(i), i);
  std::sort(named.begin(), named.end());
  if (named.size() > top) named.resize(top);
  std::vector<std::size_t> out;
  for (const auto& [k, text, i] : named) out.push_back(i);
  return out;
}

}  // namespace

std::vector<std::size_t> fastest(const std::vector<float>& times, std::size_t top, const TieOrder& ties) {
  const auto key = [&](std::size_t i) { return times[i] > 0 ? times[i] : does_not_run<float>; };
  return smallest(times.size(), top, key, ties);
}

std::vector<PortableIndex> smallest_worst_loss(const std::vector<std::vector<float>>& times, std::size_t top,
                                               const TieOrder& ties) {
  std::vector<double> best;
  for (const std::vector<float>& of_device : times) {
    double b = does_not_run<double>;
    for (const float t : of_device) b = t > 0 ? std::min(b, static_cast<double>(t)) : b;
    best.push_back(b);
  }
  const auto loss = [&](std::size_t d, std::size_t i) {
    if (best[d] == does_not_run<double>) return 0.0;
    return times[d][i] > 0 ? static_cast<double>(times[d][i]) / best[d] - 1 : does_not_run<double>;
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
  double best = does_not_run<double>;
  for (const float t : times) best = t > 0 ? std::min(best, static_cast<double>(t)) : best;
  // The chance falls with the time: it is asked for between the slowest that is tied and the fastest that is not.
  double tied = best, slower = does_not_run<double>;
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
