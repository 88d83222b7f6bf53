// The bytes that each warp of a block touches in one request, as runs: what the request costs at any shift follows from
// the ends of the runs, without looking at lanes again.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "profile/warp_request.h"

namespace kernelcast {

class WarpRuns {
 public:
  /// Whether runs say all that counts: plain global memory, lanes that are active for certain.
  static bool apply(const RequestRule& rule, double probability) {
    return (rule.space == MemorySpace::global || (rule.space == MemorySpace::local && rule.physical)) &&
           probability == 1;
  }
  /// `addresses[t]` of thread t is read for members of the set only. `period`: a multiple of sectors and segments.
  /// Each `part` lanes of a warp are looked at alone. `l1`: passes by its banks and tags are counted, too, of whole
  /// warps; l1_group must be 0.
  WarpRuns(const LaneSet& set, std::span<const std::int64_t> addresses, int bytes, std::int64_t period, int part,
           const MemoryGeometry* l1 = nullptr);
  /// Sectors and segments of all parts, and passes with `l1`, when every address is `shift` higher.
  [[nodiscard]] RequestCost at(std::int64_t shift, const MemoryGeometry& geometry) const;

 private:
  /// Bytes first .. last, touched without a gap.
  struct Run {
    std::int64_t first, last;
    friend bool operator==(const Run&, const Run&) = default;
  };
  /// Parts of warps with the same runs up to a multiple of the period.
  struct Kind {
    std::size_t begin, end;  // in runs_
    double parts;
    std::array<int, 4> data;  // passes of the L1's data, by shift modulo the 4 bytes of a word
  };
  void add_lanes(std::uint64_t lanes, std::size_t first, std::span<const std::int64_t> addresses, int bytes);
  void add_kind(std::size_t begin, std::int64_t period, const std::array<int, 4>& data);

  [[nodiscard]] double in_one_tag_bank(const Kind& k, std::int64_t shift, const MemoryGeometry& geometry) const;

  std::vector<Run> runs_;
  std::vector<Kind> kinds_;
  bool passes_;
};

}  // namespace kernelcast
