// The best schedule as a bound. Lanes that keep their order need a common supersequence of their paths, and a pass may
// serve every lane that wants it: serving more never hurts. So the search is breadth-first over the lanes' positions.
#include <algorithm>
#include <limits>
#include <unordered_set>

#include "kernelcast/converge.h"

namespace kernelcast {
namespace {

/// Positions of all lanes as one number, or nothing when they do not fit the limit.
class Positions {
 public:
  Positions(const BranchPattern& pattern, std::int64_t limit) : pattern_(pattern) {
    std::int64_t states = 1;
    for (const auto& lane : pattern.lanes) {
      const auto radix = static_cast<std::int64_t>(lane.size()) + 1;
      weight_.push_back(static_cast<std::uint64_t>(states));
      if (states > limit / radix) {
        fits_ = false;
        return;
      }
      states *= radix;
      end_ += weight_.back() * static_cast<std::uint64_t>(lane.size());
    }
  }
  [[nodiscard]] bool fits() const { return fits_; }
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] std::uint64_t after(std::uint64_t state, bool taken) const {
    std::uint64_t result = state;
    for (std::size_t lane = 0; lane < weight_.size(); ++lane) {
      const auto& path = pattern_.lanes[lane];
      const std::uint64_t at = state / weight_[lane] % (path.size() + 1);
      if (at < path.size() && (path[at] != 0) == taken) result += weight_[lane];
    }
    return result;
  }

 private:
  const BranchPattern& pattern_;
  std::vector<std::uint64_t> weight_;
  std::uint64_t end_ = 0;
  bool fits_ = true;
};

std::int64_t search(const Positions& positions) {
  std::unordered_set<std::uint64_t> seen{0};
  std::vector<std::uint64_t> level{0}, next;
  for (std::int64_t passes = 0;; ++passes) {
    next.clear();
    for (const std::uint64_t state : level) {
      if (state == positions.end()) return passes;
      for (const bool taken : {false, true}) {
        const std::uint64_t s = positions.after(state, taken);
        if (s != state && seen.insert(s).second) next.push_back(s);
      }
    }
    level.swap(next);
  }
}

}  // namespace

BestSchedule best_schedule(const BranchPattern& pattern, std::int64_t state_limit) {
  BestSchedule best;
  std::int64_t most[2] = {0, 0}, longest = 0;
  for (const auto& lane : pattern.lanes) {
    const std::int64_t taken = std::count_if(lane.begin(), lane.end(), [](std::uint8_t x) { return x != 0; });
    most[1] = std::max(most[1], taken);
    most[0] = std::max(most[0], static_cast<std::int64_t>(lane.size()) - taken);
    longest = std::max(longest, static_cast<std::int64_t>(lane.size()));
  }
  best.any_order = most[0] + most[1];
  best.in_order_bound = std::max(best.any_order, longest);
  const Positions positions(pattern, state_limit);
  if (positions.fits()) best.in_order = search(positions);
  return best;
}

}  // namespace kernelcast
