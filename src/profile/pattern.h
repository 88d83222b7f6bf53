// What requests of one shape cost wherever they lie: the memo behind every address that is linear in the local ids.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "profile/residues.h"
#include "profile/warp_request.h"
#include "profile/warp_runs.h"

namespace kernelcast {

/// Largest period (shift_period) that tables by residue are made for; real segments have at most a few hundred bytes.
inline constexpr std::int64_t most_period = 65536;

struct PatternKey {
  const LaneSet* set;
  std::array<std::int64_t, 3> stride;
  double probability;
  RequestRule rule;
  friend bool operator==(const PatternKey&, const PatternKey&) = default;
};

/// Lanes and strides fixed; the position modulo shift_period() varies. Positions are evaluated when first asked for.
class Pattern {
 public:
  Pattern(const PatternKey& key, const MemoryGeometry& geometry);
  [[nodiscard]] std::int64_t period() const { return static_cast<std::int64_t>(costs_.size()); }
  /// The lanes' requests at `residue`, 0 <= residue < period().
  const RequestCost& at(std::int64_t residue) {
    const RequestCost& c = costs_[static_cast<std::size_t>(residue)];
    return c.sectors >= 0 ? c : evaluate(residue);
  }
  /// Sum of at() over residue + step * n for 0 <= n < count. 0 < step < period().
  RequestCost along(std::int64_t residue, Progression p);

 private:
  // The residues that a step leads through, with running sums.
  struct Cycle {
    std::int64_t step, length;
    std::vector<int> place;         // of a residue in `sums`, -1: not summed yet
    std::vector<RequestCost> sums;  // for each cycle, of the first n residues, 0 <= n < 2 * length
  };
  const RequestCost& evaluate(std::int64_t residue);
  [[nodiscard]] std::vector<std::int64_t> addresses() const;  // by thread, at residue 0
  [[nodiscard]] RequestCost by_lanes(std::int64_t residue) const;
  Cycle& cycle_of(std::int64_t step);
  void sum_up(Cycle& cycle, std::int64_t residue);

  PatternKey key_;
  MemoryGeometry geometry_;
  std::optional<WarpRuns> runs_;    // of whole warps; made when first needed
  std::optional<WarpRuns> parts_;   // of the lanes that go at once, where these are fewer
  std::vector<RequestCost> costs_;  // sectors < 0: not known yet
  std::vector<Cycle> cycles_;
};

class PatternTable {
 public:
  explicit PatternTable(const MemoryGeometry& geometry) : geometry_(geometry) {}
  Pattern& find(const PatternKey& key) { return patterns_.try_emplace(key, key, geometry_).first->second; }
  [[nodiscard]] std::size_t size() const { return patterns_.size(); }
  void clear() {
    patterns_.clear();
    ++generation_;
  }
  /// Patterns stay where they are while this does not change.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

 private:
  struct Hash {
    std::size_t operator()(const PatternKey& k) const;
  };
  MemoryGeometry geometry_;
  std::uint64_t generation_ = 1;
  std::unordered_map<PatternKey, Pattern, Hash> patterns_;
};

}  // namespace kernelcast
