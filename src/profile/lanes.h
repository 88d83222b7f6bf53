// The threads of one block as lanes of warps, and sets of them.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "kernelcast/launch.h"
#include "profile/box.h"
#include "profile/constants.h"
#include "profile/index.h"

namespace kernelcast {

/// Local ids of all threads of a block of one size, in linear order.
struct BlockLanes {
  Dim3 size;
  int warp_size = 32;
  std::size_t threads = 0, warps = 0;
  std::array<std::vector<std::int64_t>, 3> id;
  const struct LaneSet* all = nullptr;  // every thread, once interned
};

/// A set of threads of a block: one word a warp (warps have at most 64 lanes). Interned: equal sets are one object.
struct LaneSet {
  const BlockLanes* block = nullptr;
  std::vector<std::uint64_t> warp_bits;
  double lanes = 0, warps = 0;                // threads in the set; warps with at least one
  std::array<std::int64_t, 3> low{}, high{};  // local ids of the set lie between
  bool rectangular = false;                   // and fill that box
  /// Lowest and highest of stride * local id over the set (which is not empty).
  [[nodiscard]] std::pair<Int128, Int128> reach(const std::array<std::int64_t, 3>& stride) const {
    if (!rectangular) return scattered_reach(stride);
    Int128 least = 0, most = 0;
    for (int axis = 0; axis < 3; ++axis) {
      if (stride[axis] == 0) continue;
      const Int128 a = static_cast<Int128>(stride[axis]) * low[axis],
                   b = static_cast<Int128>(stride[axis]) * high[axis];
      least += stride[axis] > 0 ? a : b;
      most += stride[axis] > 0 ? b : a;
    }
    return {least, most};
  }
  /// The same for sets that are not rectangular.
  [[nodiscard]] std::pair<Int128, Int128> scattered_reach(const std::array<std::int64_t, 3>& stride) const;
};

class LaneTables {
 public:
  explicit LaneTables(int warp_size) : warp_size_(warp_size) {}
  BlockLanes& block(const Dim3& size) {
    if (last_ == nullptr || !(last_->size == size)) last_ = &find_block(size);
    return *last_;
  }
  const LaneSet& all(BlockLanes& block) {
    if (block.all == nullptr) block.all = &intern(block, full_bits(block));
    return *block.all;
  }
  const LaneSet& intern(const BlockLanes& block, std::span<const std::uint64_t> warp_bits);
  [[nodiscard]] std::span<const std::uint64_t> full_bits(const BlockLanes& block);
  [[nodiscard]] std::size_t size() const { return sets_.size(); }
  void clear();

 private:
  struct SizeHash {
    std::size_t operator()(const Dim3& d) const {
      return (static_cast<std::size_t>(d.x) * 0x9e3779b97f4a7c15ULL + static_cast<std::size_t>(d.y)) *
                 0x9e3779b97f4a7c15ULL +
             static_cast<std::size_t>(d.z);
    }
  };
  BlockLanes& find_block(const Dim3& size);

  int warp_size_;
  std::unordered_map<Dim3, BlockLanes, SizeHash> blocks_;  // they stay where they are
  BlockLanes* last_ = nullptr;
  std::unordered_multimap<std::uint64_t, std::unique_ptr<LaneSet>> sets_;
  std::vector<std::uint64_t> full_;
  const BlockLanes* full_of_ = nullptr;
};

/// Evaluates an Index for chosen lanes at one point of the outer variables.
class LaneProgram {
 public:
  /// Compiles on first use. `parameters` are the launch parameters with their values.
  void evaluate(const Index& index, const Scope& scope, std::span<const Symbol> parameters,
                std::span<const std::int64_t> parameter_values, const Box& box, const BlockLanes& block,
                std::span<const std::uint32_t> lanes, std::vector<std::int64_t>& out);

 private:
  struct Source {
    bool variable;
    int index;
  };
  bool ready_ = false;
  CompiledExprs program_;
  std::vector<Source> sources_;
};

}  // namespace kernelcast
