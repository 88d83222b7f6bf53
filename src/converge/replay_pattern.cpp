// Replay: the warp step by step, each lane with the number of its next iteration.
#include <algorithm>

#include "kernelcast/converge.h"

namespace kernelcast {
namespace {

class Warp {
 public:
  explicit Warp(const BranchPattern& pattern) : pattern_(pattern), next_(pattern.lanes.size(), 0) {
    for (std::size_t lane = 0; lane < next_.size(); ++lane) count(lane);
  }
  [[nodiscard]] std::int64_t want(bool taken) const { return wants_[taken ? 1 : 0]; }
  [[nodiscard]] bool done() const { return want(true) + want(false) == 0; }

  /// One pass: every lane that wants this path goes on to its next iteration.
  void pass(bool taken) {
    for (std::size_t lane = 0; lane < next_.size(); ++lane) {
      if (left(lane) > 0 && at(lane, 0) == taken) move(lane, 1);
    }
  }

  /// One trip of advance; adds the passes that it needs.
  void trip(bool out_of_order, StepCounts& counts) {
    bool ran[2] = {false, false};
    for (std::size_t lane = 0; lane < next_.size(); ++lane) {
      if (left(lane) == 0) continue;
      const bool now = at(lane, 0);
      ran[now ? 1 : 0] = true;
      const bool pair = left(lane) > 1 && at(lane, 1) != now && (now || out_of_order);
      if (pair) ran[now ? 0 : 1] = true;
      move(lane, pair ? 2 : 1);
    }
    counts.other += ran[0] ? 1 : 0;
    counts.taken += ran[1] ? 1 : 0;
    ++counts.trips;
  }

  /// All lanes go on by one iteration.
  void together(StepCounts& counts) {
    counts.taken += want(true) > 0 ? 1 : 0;
    counts.other += want(false) > 0 ? 1 : 0;
    ++counts.trips;
    for (std::size_t lane = 0; lane < next_.size(); ++lane) {
      if (left(lane) > 0) move(lane, 1);
    }
  }

 private:
  [[nodiscard]] std::size_t left(std::size_t lane) const { return pattern_.lanes[lane].size() - next_[lane]; }
  [[nodiscard]] bool at(std::size_t lane, std::size_t ahead) const {
    return pattern_.lanes[lane][next_[lane] + ahead] != 0;
  }
  void count(std::size_t lane) {
    if (left(lane) > 0) ++wants_[at(lane, 0) ? 1 : 0];
  }
  void move(std::size_t lane, std::size_t by) {
    --wants_[at(lane, 0) ? 1 : 0];
    next_[lane] += by;
    count(lane);
  }

  const BranchPattern& pattern_;
  std::vector<std::size_t> next_;
  std::int64_t wants_[2] = {0, 0};
};

void postponed_pass(Warp& warp, bool taken, StepCounts& counts) {
  warp.pass(taken);
  ++(taken ? counts.taken : counts.other);
  ++counts.trips;
}

StepCounts replay_majority(Warp warp, const PolicyOptions& options) {
  StepCounts counts;
  while (!warp.done()) {
    const std::int64_t taken = warp.want(true), other = warp.want(false);
    bool choice = taken == other ? options.tie_taken : taken > other;
    if (options.flush_period > 0 && (counts.trips + 1) % options.flush_period == 0) choice = !choice;
    if (warp.want(choice) == 0) choice = !choice;
    postponed_pass(warp, choice, counts);
  }
  return counts;
}

StepCounts replay_round_robin(Warp warp, const PolicyOptions& options) {
  StepCounts counts;
  bool turn = options.first_taken;
  while (!warp.done()) {
    if (warp.want(turn) == 0) turn = !turn;
    postponed_pass(warp, turn, counts);
    turn = !turn;
  }
  return counts;
}

}  // namespace

StepCounts replay(const BranchPattern& pattern, Policy policy, const PolicyOptions& options) {
  Warp warp(pattern);
  StepCounts counts;
  switch (policy) {
    case Policy::majority:
      return replay_majority(warp, options);
    case Policy::round_robin:
      return replay_round_robin(warp, options);
    case Policy::plain:
      while (!warp.done()) warp.together(counts);
      break;
    case Policy::advance:
    case Policy::advance_in_order:
      while (!warp.done()) warp.trip(policy == Policy::advance, counts);
      break;
  }
  return counts;
}

}  // namespace kernelcast
