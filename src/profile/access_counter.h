// One memory access of a block of code over the leaves of its domain: requests, sectors, conflicts, extent.
#pragma once

#include "profile/domain.h"
#include "profile/pattern.h"

namespace kernelcast {

class AccessCounter {
 public:
  AccessCounter(const Access& access, const Scope& scope, const MemoryGeometry& geometry, ConstantPool& pool);

  void start(const LaunchState& launch);
  /// Adds what the requests of a leaf cost. Their number is that of the domain's executions times repeats().
  void add(const Leaf& leaf, PatternTable& patterns);
  /// Summed since start().
  [[nodiscard]] const RequestCost& cost() const { return cost_; }
  /// Lane evaluations since start().
  [[nodiscard]] double work() const { return work_; }
  /// Requests of one execution: the offset and all of `also`.
  [[nodiscard]] double repeats() const { return repeats_; }

  /// False when a sample was taken since start().
  [[nodiscard]] bool exact() const { return exact_; }
  /// Bytes between the lowest and the highest byte touched, inclusive ends; empty() when nothing was touched.
  [[nodiscard]] bool empty() const { return lowest_ > highest_; }
  [[nodiscard]] std::int64_t lowest() const { return lowest_; }
  [[nodiscard]] std::int64_t highest() const { return highest_; }
  [[nodiscard]] const Access& access() const { return access_; }

 private:
  // What one variable adds to an address, and a repeated shift of a request modulo the period.
  struct Term {
    int variable;
    int slot;
  };
  struct Outer {
    int variable;
    std::int64_t coefficient;
  };
  struct Shift {
    std::int64_t residue;
    double times;
  };
  // The addresses of one lane over a box: where they start, between which bounds they lie, and how they move modulo the
  // period.
  struct LaneAddresses {
    Int128 start, low, high;
    int count = 0;
    std::array<Progression, max_variables> progressions;
    explicit LaneAddresses(Int128 base) : start(base), low(base), high(base) {}
    /// A variable from lo to hi. Returns whether it moves the address modulo the period.
    bool add(std::int64_t lo, std::int64_t hi, std::int64_t coefficient, std::int64_t period);
    [[nodiscard]] std::span<const Progression> moves() const {
      return {progressions.data(), static_cast<std::size_t>(count)};
    }
  };
  struct Recent {
    const LaneSet* set;
    double probability;
    std::array<std::int64_t, 3> stride, canonical;
    Pattern* pattern;
  };

  /// Addresses of the lanes of add_lanes() from that of the first, and what they cost by residue of the first.
  struct Relative {
    const LaneSet* set = nullptr;
    double probability = 0;
    std::int64_t first = 0;
    std::vector<std::int64_t> values;
    std::vector<std::pair<std::int64_t, RequestCost>> costs;
  };

  void add_box(const Box& box, double weight, const Leaf& leaf, PatternTable& patterns);
  void add_outer(const Box& box, double weight, const Leaf& leaf, const std::array<std::int64_t, 3>& stride,
                 Int128 base, PatternTable& patterns);
  void add_affine(const Leaf& leaf, double times, std::array<std::int64_t, 3> stride, const LaneAddresses& addresses,
                  PatternTable& patterns);
  void add_pattern(Pattern& pattern, const LaneAddresses& addresses, double times);
  void add_each(const LanePart& part, const std::array<std::int64_t, 3>& stride, const LaneAddresses& addresses,
                double times);
  void add_lanes(const Box& box, double weight, const Leaf& leaf);
  void add_addresses(const LanePart& part, double times, std::span<const ResidueCounts::Entry> starts);
  void remember_lanes(const LanePart& part);
  RequestCost cost_at(const LanePart& part, std::int64_t shift, std::span<const double> probability);
  bool add_classes(const Box& box, VariableMask spoiled, const Shape& shape, double weight, const Leaf& leaf,
                   PatternTable& patterns);
  double add_classes(LaneAddresses& addresses) const;
  void unshear(const Box& box, Int128& base);
  static double unmoved(const Box& box, VariableMask moved);
  void extend(Int128 low, Int128 high);
  void sample(const Box& box, double weight, const Leaf& leaf, PatternTable& patterns);
  Pattern& pattern_of(const LanePart& part, const std::array<std::int64_t, 3>& stride, PatternTable& patterns);

  const Access& access_;
  const Scope& scope_;
  MemoryGeometry geometry_;
  RequestRule rule_;
  std::int64_t period_;
  std::vector<Shift> shifts_;  // 0 and `also`
  double repeats_ = 1;
  std::int64_t least_shift_ = 0, most_shift_ = 0;
  Index offset_;
  std::vector<Term> lane_terms_, outer_terms_;  // of an offset that is affine
  LaneProgram program_;

  const LaunchState* launch_ = nullptr;
  RequestCost cost_;
  double work_ = 0;
  bool exact_ = true;
  std::int64_t lowest_ = 0, highest_ = -1;
  std::vector<Outer> outer_;
  std::vector<Progression> classes_;  // of variables that the box holds one residue class of
  ResidueCounts residues_;
  std::vector<Recent> recent_;
  std::size_t next_recent_ = 0;
  std::uint64_t recent_generation_ = 0;
  std::vector<std::int64_t> addresses_, lane_values_;
  Relative relative_;
  std::vector<std::uint32_t> lanes_;
};

}  // namespace kernelcast
