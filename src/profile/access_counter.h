// One memory access of a block of code over the leaves of its domain: requests, sectors, conflicts, extent.
#pragma once

#include "profile/domain.h"
#include "profile/request.h"
#include "profile/residues.h"

namespace kernelcast {

class AccessCounter {
 public:
  AccessCounter(const Access& access, const Scope& scope, const MemoryGeometry& geometry, ConstantPool& pool);

  void start(const LaunchState& launch);
  void add(const Leaf& leaf, PatternTable& patterns, AccessCount& out);

  /// False when a sample was taken since start().
  [[nodiscard]] bool exact() const { return exact_; }
  /// Bytes between the lowest and the highest byte touched, inclusive ends; empty() when nothing was touched.
  [[nodiscard]] bool empty() const { return lowest_ > highest_; }
  [[nodiscard]] std::int64_t lowest() const { return lowest_; }
  [[nodiscard]] std::int64_t highest() const { return highest_; }
  /// Bytes of all lanes that may be active: no fewer bytes than are touched.
  [[nodiscard]] double reach_bytes() const { return reach_bytes_; }
  [[nodiscard]] const Access& access() const { return access_; }

 private:
  void add_box(const Box& box, double weight, const Leaf& leaf, PatternTable& patterns, AccessCount& out);
  void add_affine(const Box& box, double weight, const Leaf& leaf, std::array<std::int64_t, 3> stride, Int128 base,
                  PatternTable& patterns, AccessCount& out);
  void add_lanes(const Box& box, double weight, const Leaf& leaf, AccessCount& out);
  static void add_cost(const RequestCost& c, double k, AccessCount& out);
  void add_addresses(const LanePart& part, double times, std::span<const ResidueCounts::Entry> shifts,
                     AccessCount& out);
  void unshear(const Box& box, Int128& base);
  double shift_residues(const Box& box, double weight, std::int64_t base);
  void extend(Int128 low, Int128 high);
  void sample(const Box& box, double weight, const Leaf& leaf, PatternTable& patterns, AccessCount& out);

  struct Recent {
    std::array<std::int64_t, 3> stride;
    PatternTable::Key key;
    PatternTable::Pattern* pattern;
  };
  const Recent& recent(const LanePart& part, const std::array<std::int64_t, 3>& stride, PatternTable& patterns);

  struct Outer {
    int variable;
    std::int64_t coefficient;
  };

  const Access& access_;
  const Scope& scope_;
  MemoryGeometry geometry_;
  RequestRule rule_;
  std::int64_t period_;
  std::vector<std::int64_t> shifts_;  // 0 and `also`
  std::int64_t least_shift_ = 0, most_shift_ = 0;
  Index offset_;
  LaneProgram program_;

  const LaunchState* launch_ = nullptr;
  double work_ = 0;
  bool exact_ = true;
  std::int64_t lowest_ = 0, highest_ = -1;
  double reach_bytes_ = 0;
  std::vector<Outer> outer_;
  std::vector<Progression> progressions_;
  ResidueCounts residues_;
  ResidueCounts::Entry one_shift_{};
  std::vector<Recent> recent_;
  std::size_t next_recent_ = 0;
  std::uint64_t recent_generation_ = 0;
  std::span<const ResidueCounts::Entry> shifts_of_box_;
  std::vector<std::int64_t> addresses_, lane_values_;
  std::vector<std::uint32_t> lanes_;
};

}  // namespace kernelcast
