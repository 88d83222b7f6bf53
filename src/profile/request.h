// What one memory instruction of a block costs the memory system, lane by lane.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "kernelcast/workload.h"
#include "profile/lanes.h"

namespace kernelcast {

/// How addresses of an access become pieces of memory.
struct RequestRule {
  MemorySpace space = MemorySpace::global;
  bool atomic = false;
  bool physical = false;  // local memory: addresses are where they are, not per-thread offsets
  int bytes = 4;
  friend bool operator==(const RequestRule&, const RequestRule&) = default;
};

/// Shifting all addresses of a block by a multiple of this changes no count.
std::int64_t shift_period(const RequestRule& rule, const MemoryGeometry& geometry);

/// Strides that give every block of this size the same counts as `stride`: where neighbours along an axis are so far
/// apart that they never meet in one piece of memory, only the residue of the stride matters, and one representative
/// stands for all.
std::array<std::int64_t, 3> canonical_stride(const RequestRule& rule, const MemoryGeometry& geometry,
                                             const BlockLanes& block, const std::array<std::int64_t, 3>& stride);

struct RequestCost {
  double sectors = 0, segments = 0, bank_passes = 0;
};

/// Sum over the warps of a block. `addresses[t]` of thread t is read for members of the set only; `probability` has one
/// entry a thread, or one for all.
RequestCost count_requests(const RequestRule& rule, const MemoryGeometry& geometry, const LaneSet& set,
                           std::span<const std::int64_t> addresses, std::int64_t shift,
                           std::span<const double> probability);

/// Memo of count_requests for addresses that are linear in the local ids.
class PatternTable {
 public:
  struct Key {
    const LaneSet* set;
    std::array<std::int64_t, 3> stride;
    double probability;
    RequestRule rule;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Pattern {
    std::vector<std::pair<std::int64_t, RequestCost>> by_shift;
  };
  explicit PatternTable(const MemoryGeometry& geometry) : geometry_(geometry) {}
  Pattern& find(const Key& key) { return patterns_[key]; }
  const RequestCost& cost(const Key& key, Pattern& pattern, std::int64_t shift);
  [[nodiscard]] std::size_t size() const { return patterns_.size(); }
  void clear() {
    patterns_.clear();
    ++generation_;
  }
  /// Patterns stay where they are while this does not change.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

 private:
  void fill_addresses(const Key& key);
  struct Hash {
    std::size_t operator()(const Key& k) const;
  };
  MemoryGeometry geometry_;
  std::uint64_t generation_ = 1;
  std::unordered_map<Key, Pattern, Hash> patterns_;
  std::vector<std::int64_t> addresses_;
};

}  // namespace kernelcast
