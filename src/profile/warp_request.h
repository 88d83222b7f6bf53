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
  bool load = false;
  friend bool operator==(const RequestRule&, const RequestRule&) = default;
};

/// Wavefronts of shared memory that as many requests take without any conflict: the parts of a warp (kernelcast/bind.h)
/// that their active lanes need.
double least_shared_passes(const AccessCount& count, int bytes, const MemoryGeometry& geometry);
/// Lanes of such a part.
double lanes_of_shared_part(int bytes, const MemoryGeometry& geometry);

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

/// Whether positions of lanes within a segment are not all that decides a request's passes through the L1.
constexpr bool goes_by_groups(const RequestRule& rule, const MemoryGeometry& geometry) {
  return in_parts(rule) && geometry.l1_banks > 0 && geometry.l1_group > 0;
}

struct RequestCost {
  double sectors = 0, segments = 0, bank_passes = 0;
};

/// Sum over the warps of a block. `addresses[t]` of thread t is read for members of the set only; `probability` has one
/// entry a thread, or one for all.
RequestCost count_requests(const RequestRule& rule, const MemoryGeometry& geometry, const LaneSet& set,
                           std::span<const std::int64_t> addresses, std::int64_t shift,
                           std::span<const double> probability);

/// The most distinct pieces of so many bytes that these lanes of one warp, whose thread 0 is `first`, touch in one of
/// `banks`.
int pieces_in_one_bank(std::uint64_t lanes, std::size_t first, std::span<const std::int64_t> addresses,
                       std::int64_t shift, int bytes, int piece, int banks);
/// Passes of the L1's tags for `segments` of one request; `together`: the most in one tag bank.
inline double l1_tag_passes(const MemoryGeometry& g, double segments, double together) {
  if (g.l1_tag_banks > 0) return together;
  return g.l1_tags > 0 ? 1 + (segments - 1) / g.l1_tags : segments;
}

}  // namespace kernelcast
