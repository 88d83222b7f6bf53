// From profile and launch to workload: counts in closed form, exact to the lane.
//
// The table defines every count. The same definitions as an executable, lane by lane, are in
// test/engines/profile/twin.cpp.
//
// warp          `warp_size` consecutive threads of the linearized block (x fastest); the last one may be partly filled.
// active lane   A lane executes a profile block in an iteration iff the guards of all enclosing loops hold, each in the
//               iteration of its parent, and the block's own guard holds. A guard holds if one of its paths does. An
//               iteration is one counter value per enclosing loop, 0 .. trip count - 1 of that lane (negative: none).
// unknown       Data-dependent branches give expectations. Each lane takes a non-uniform unknown with probability p,
//               the whole warp a uniform one. Every execution of a guard draws again; one uniform unknown has one value
//               per iteration. So a lane is active with probability q (0 or 1 without unknowns), and a warp executes
//               with probability 1 - prod(1 - q) and has sum(q) lanes. Only the first 8 uniform unknowns of a block's
//               guards are uniform; further ones count as non-uniform.
// trip count    An unknown trip count holds for every lane; its fraction weighs one more iteration.
// branch        `warps`: executions of the branch's block. `divergent`: those with active lanes on both sides. With an
//               unknown probability p and n lanes: 1 - p^n - (1-p)^n; with a uniform one: never.
// barrier       Executions by a whole block: per iteration the largest execution probability among its warps.
// footprint     Bytes of global and texture memory. Per buffer the smaller of (a) the extent between lowest and highest
//               byte, clipped to the declared size, and (b) the sum over accesses of the smaller of extent and all
//               bytes of all lanes. Exact for dense accesses, else an upper bound. Unknown buffers count (b) only.
// request       Each access is, per warp execution, one request for `offset` and one for each entry of `also`. A lane
//               accesses [address, address + bytes). Buffers start at address 0: true bases are aligned at least to a
//               segment where the runtime allocates them, and less aligned arrays count as if they were. A
//               data-dependent offset (Access::unknown) is floor(lane in warp * value).
//
// Sectors, segments and `bank_passes` of a request, by memory space:
//
// global, texture     Sectors and segments: the distinct aligned ones that active lanes access. bank_passes: L1
//                     wavefronts.
//   without l1_banks  Segments, of each half-warp separately for accesses of 8 bytes, of each quarter for 16
//                     (lanes_of_part).
//   with l1_banks     The larger of data and tags. Data: each part of the warp (lanes_of_part) takes as many wavefronts
//                     as the largest number of distinct 4-byte words in one bank, word modulo l1_banks. Tags: the
//                     largest number of segments with one residue modulo l1_tag_banks; without l1_tag_banks 1 +
//                     (segments - 1) / l1_tags. With probabilities: those of the parts times the wavefronts of all
//                     lanes that may be active; that of the request times the segments of all for tag banks; otherwise
//                     expected segments.
//   with l1_group     Lanes form groups of this size. A group is coalesced if its accesses have at most 4 bytes and its
//                     words rise by one or are all the same, or, below 4 bytes, lie within two neighboring words.
//                     Coalesced groups are served up to l1_group per wavefront, in lane order, while they begin less
//                     than a segment from the first one. Another group takes as many wavefronts as the largest number
//                     of its distinct words in one bank, and at least two across segments. Above 4 bytes it takes the
//                     largest number of distinct pieces of the access size (rounded up to a power of two) at one place
//                     of a segment. With probabilities: those of the groups, times the wavefronts of all lanes that may
//                     be active.
// local               Word w (4 bytes) of lane l lies at (w * warp_size + l) * 4; sectors and segments as above.
// shared              bank_passes: shared-memory wavefronts. Parts of min(warp_size, shared_banks) lanes, divided by
//                     bytes / bank_bytes for wider accesses (128-bit: quarter-warps). A part with active lanes takes
//                     the largest number of distinct words of one bank. With shared_pairs the parts of a wide load are
//                     twice as large where all active lanes n and n ^ 1, or all n and n ^ 2, read one address: the
//                     return path then packs two lanes. Source: NVIDIA, forums.developer.nvidia.com, "Unexpected
//                     shared memory bank conflict" (77228), for compute capability 7.x. Lanes on one word are served together, atomics
//                     one by one. With probabilities: execution of the part times wavefronts of all lanes that may be
//                     active (an upper bound).
// constant            bank_passes: distinct addresses of a request, one at a time; expected with probabilities. Sectors
//                     and segments as for global.
#pragma once

#include <memory>
#include <span>

#include "kernelcast/profile.h"
#include "kernelcast/workload.h"

namespace kernelcast {

/// A profile prepared for many launches on devices of one memory geometry. Keeps memo tables, so use one per thread.
class Binder {
 public:
  /// Keeps a reference to the profile.
  Binder(const KernelProfile& profile, const MemoryGeometry& geometry);
  ~Binder();
  Binder(Binder&&) noexcept;
  /// Counts of one launch. Throws UserError when an argument is missing or misspelt (with the flag to give), sizes are
  /// not positive, or the kernel's required block size is violated. ArithmeticError when an index leaves 64 bits.
  [[nodiscard]] Workload bind(const Launch& launch);
  /// The same into an existing workload of the same profile: no allocation in steady state.
  void bind(const Launch& launch, Workload& out);

  /// Limit of work for what has no closed form, in lane evaluations of a whole bind (default 1e7).
  /// Beyond it a regular sample is taken, and Workload::assumptions says so.
  void set_work_limit(double lane_evaluations);

  /// Whether bind() finds Workload::reuse (default: yes). Without it a bind takes about half the time, and reuse is
  /// unknown with the reason: for callers none of whose models has Model::reads_reuse().
  void set_reuse(bool wanted);

  /// Whether bind() fills Workload::streams where it finds reuse (default: no).
  void set_streams(bool wanted);

  /// Whether bind() finds how many warps go both ways at branches (default: yes). Without it BranchCount::divergent is 0
  /// where a condition that is known varies among lanes: for callers whose models have Model::reads_divergence() false.
  void set_divergence(bool wanted);

  /// Windows of Workload::reuse between one block and window number `first` are not wanted (default: 1, all are): they
  /// get the numbers of window `first`. For callers whose models say so (DeviceTimes::first_window).
  void skip_windows(int first);

  /// Whether launches that come again are remembered (default: yes): callers that remember answers of their own need not.
  void set_memo(bool wanted);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelcast
