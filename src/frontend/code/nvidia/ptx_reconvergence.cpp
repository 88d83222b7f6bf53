// Post-dominators by the iteration of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001), on the
// reversed graph with one virtual end behind all blocks without successors.
#include "frontend/code/nvidia/ptx_predication.h"

#include <cstddef>
#include <map>
#include <utility>

namespace kernelcast::frontend {
namespace {

class PostDominators {
 public:
  explicit PostDominators(const std::vector<std::vector<int>>& next)
      : next_(next), end_(static_cast<int>(next.size())) {
    order();
    parent_.assign(next.size() + 1, -1);
    parent_[static_cast<std::size_t>(end_)] = end_;
    for (bool changed = true; changed;) {
      changed = false;
      for (auto b = order_.rbegin(); b != order_.rend(); ++b) changed |= update(*b);
    }
  }
  /// -1: the end is never reached.
  [[nodiscard]] int of(int b) const { return parent_[static_cast<std::size_t>(b)]; }
  [[nodiscard]] int end() const { return end_; }

 private:
  /// Numbers in post-order of a walk from the end backwards: the end has the largest.
  void order() {
    std::vector<std::vector<int>> before(next_.size() + 1);
    for (std::size_t b = 0; b < next_.size(); ++b) {
      for (int s : next_[b]) before[static_cast<std::size_t>(s)].push_back(static_cast<int>(b));
      if (next_[b].empty()) before[static_cast<std::size_t>(end_)].push_back(static_cast<int>(b));
    }
    number_.assign(next_.size() + 1, -1);
    std::vector<bool> seen(next_.size() + 1, false);
    std::vector<std::pair<int, std::size_t>> open{{end_, 0}};
    seen[static_cast<std::size_t>(end_)] = true;
    while (!open.empty()) {
      auto& [b, k] = open.back();
      const auto& more = before[static_cast<std::size_t>(b)];
      if (k == more.size()) {
        number_[static_cast<std::size_t>(b)] = static_cast<int>(order_.size());
        order_.push_back(b);
        open.pop_back();
      } else if (const int to = more[k++]; !seen[static_cast<std::size_t>(to)]) {
        seen[static_cast<std::size_t>(to)] = true;
        open.emplace_back(to, 0);
      }
    }
  }

  bool update(int b) {
    if (b == end_) return false;
    int meet = -1;
    const auto& ways = next_[static_cast<std::size_t>(b)];
    if (ways.empty()) meet = end_;
    for (int s : ways)
      if (of(s) >= 0) meet = meet < 0 ? s : common(meet, s);
    return std::exchange(parent_[static_cast<std::size_t>(b)], meet) != meet;
  }

  [[nodiscard]] int common(int a, int b) const {
    const auto number = [&](int x) { return number_[static_cast<std::size_t>(x)]; };
    while (a != b) {
      while (number(a) < number(b)) a = of(a);
      while (number(b) < number(a)) b = of(b);
    }
    return a;
  }

  const std::vector<std::vector<int>>& next_;
  int end_;
  std::vector<int> number_, order_, parent_;
};

}  // namespace

std::vector<ReconvergencePoint> reconvergence_points(const std::vector<std::vector<int>>& next,
                                                     const std::vector<bool>& diverge) {
  const PostDominators after(next);
  std::map<int, int> points;
  for (int b = 0; b < static_cast<int>(next.size()); ++b)
    if (diverge[static_cast<std::size_t>(b)])
      if (const int meet = after.of(b); meet >= 0 && meet != after.end()) points.try_emplace(meet, b);
  std::vector<ReconvergencePoint> out;
  for (const auto& [at, from] : points) out.push_back({at, from});
  return out;
}

}  // namespace kernelcast::frontend
