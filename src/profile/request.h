// What one memory instruction of a block costs the memory system, lane by lane.
#pragma once

#include <span>

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

/// Whether requests go in parts of the warp, each of which asks for its own segments.
constexpr bool in_parts(const RequestRule& rule) {
  return rule.space == MemorySpace::global || rule.space == MemorySpace::texture;
}

struct RequestCost {
  double sectors = 0, segments = 0, bank_passes = 0;
};

/// Sum over the warps of a block. `addresses[t]` of thread t is read for members of the set only; `probability` has one
/// entry a thread, or one for all.
RequestCost count_requests(const RequestRule& rule, const MemoryGeometry& geometry, const LaneSet& set,
                           std::span<const std::int64_t> addresses, std::int64_t shift,
                           std::span<const double> probability);

}  // namespace kernelcast
