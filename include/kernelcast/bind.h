// From profile and launch to workload, in closed form and exact to the lane.
//
// What is counted (test/engines/profile/twin.cpp is the same text as an executable, lane by lane):
//
// - A warp is `warp_size` consecutive threads of the linearised block (x fastest); the last may be partly filled.
// - A lane executes a profile block in an iteration (one counter value for each enclosing loop, 0 .. trips - 1 of that
//   lane, negative trips count as 0) iff the guards of all enclosing loops hold, each seen from the iteration of its
//   parent, and the block's own guard holds. A guard holds if one of its paths does.
// - Data-decided branches give expectations. A non-uniform unknown is taken by each lane on its own with probability p;
//   a uniform one by the whole warp. Every execution of a guard draws anew, except that one uniform unknown has one
//   value in an iteration. So a lane is active with probability q (0 or 1 without unknowns), a warp executes with
//   probability 1 - prod(1 - q) and has sum(q) lanes. Only the first 8 uniform unknowns of a block's chain of guards
//   are treated as uniform, further ones as non-uniform.
// - A loop whose trip count is Unknown runs that many times in every lane; the fraction of a fractional count weighs
//   one more iteration.
// - Memory: each access is, in each warp execution, one request for `offset` and one for each entry of `also`. A lane
// touches
//   [address, address + bytes); buffers start at address 0. (True bases are aligned at least to a segment for what the
//   runtime allocates; arrays that are less aligned are counted as if they were.) An offset that data decide
//   (Access::unknown) is floor(lane in warp * value).
//     global, texture: distinct aligned sectors and segments that the active lanes touch; bank_passes: passes of the L1.
//       Without l1_banks: segments again, but of each half-warp alone for accesses of 8 bytes, of each quarter for 16
//       (lanes_of_part).
//       With l1_banks: the larger of what its data and its tags take. Data: each part of the warp (lanes_of_part) takes
//       as many passes as the largest number of distinct words of 4 bytes that lie in one bank, word modulo l1_banks.
//       Tags: the largest number of segments with the same residue modulo l1_tag_banks; without l1_tag_banks
//       1 + (segments - 1) / l1_tags. With probabilities: those of the parts times the passes of all lanes that may be
//       active; that of the request times the segments of all for tag banks; expected segments otherwise.
//       With l1_group, too: lanes go in groups of so many. A group is together if its accesses have at most 4 bytes and
//       its words rise by one from lane to lane or are all the same, or, for accesses of less than 4 bytes, lie within
//       two neighbouring words. Groups that are together go up to l1_group a pass, in the order of lanes, as long as
//       they begin less than a segment before or after the first of the pass. Each other one takes as many passes as the
//       largest number of its distinct words in one bank, and at least two where it touches several segments; with
//       accesses of more than 4 bytes, as the largest number of distinct pieces of an access's size, rounded up to a
//       power of two, with the same place in a segment. With probabilities: those of the groups of a pass, or of the
//       group, times the passes of all lanes that may be active.
//     local: word w (4 bytes) of lane l's private memory lies at (w * warp_size + l) * 4; sectors and segments as
//     above. shared: bank passes. The warp goes in parts of min(warp_size, shared_banks) lanes, divided by bytes /
//     bank_bytes for
//       accesses wider than a bank (so 128-bit accesses go by quarter-warps). A part with active lanes takes as many
//       passes as the largest number of distinct words that one bank must serve; lanes in the same word are served
//       together, except that atomics serve one lane at a time. With probabilities: probability that the part executes
//       * passes of all lanes that may be active (an upper bound of the expectation).
//     constant: bank_passes holds the number of distinct addresses of a request (the constant port serves one at a
//     time),
//       sectors and segments as for global. With probabilities: the expected number.
// - Branches: `warps` executions of the branch's block, `divergent` those with active lanes on both sides. A branch on
// an
//   Unknown probability p with n lanes diverges with 1 - p^n - (1-p)^n, on a uniform one never.
// - Barriers: executions by a whole group: in each iteration the largest execution probability among its warps.
// - Footprint: distinct bytes of global and texture memory. For each buffer the smaller of (a) the extent between
// lowest and
//   highest byte touched, clipped to the declared size, and (b) the sum over accesses of the smaller of extent and all
//   bytes of all lanes. Exact for dense accesses, otherwise an upper bound. Buffers that are not known count (b) only.
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

  /// Whether bind() fills Workload::walks where it finds reuse (default: no).
  void set_walks(bool wanted);

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
