// Asks Binder and its twin the same question and compares every number.
#pragma once

#include <algorithm>
#include <cmath>
#include <sstream>

#include "engines/profile/twin.h"
#include "kernelcast/bind.h"
#include "profile/slowest_warp.h"

namespace kernelcast::compare {

/// The usual length of the slowest warp's path, and of the quickest one's; see profile/slowest_warp.h.
inline std::pair<double, double> longest_and_shortest(const KernelProfile& profile, const twin::Counts& counts) {
  std::vector<double> length(counts.by_warp[0].size(), 0.0);
  for (std::size_t b = 0; b < profile.blocks.size(); ++b) {
    WarpPath once;
    add_block(profile.blocks[b], once);
    for (std::size_t w = 0; w < length.size(); ++w) length[w] += usual_length(once) * counts.by_warp[b][w];
  }
  const auto [low, high] = std::minmax_element(length.begin(), length.end());
  return {*high, *low};
}

/// All differences, as text; empty: none. Whole numbers must be equal, expectations and sums of fractions agree to 1e-9
/// relative.
inline std::string differences(const KernelProfile& profile, const Workload& got, const twin::Counts& want) {
  std::ostringstream out;
  out.precision(17);
  const auto check = [&](const std::string& what, double a, double b, bool of_whole = true) {
    const bool whole = of_whole && b == std::floor(b) && profile.unknowns.empty();
    if (whole ? a != b : std::abs(a - b) > 1e-9 * std::max(std::abs(b), 1e-3))
      out << what << ": " << a << ", twin " << b << "\n";
  };
  std::size_t access = 0;
  for (std::size_t b = 0; b < profile.blocks.size(); ++b) {
    const std::string name = "block " + std::to_string(b);
    check(name + " warps", got.block_counts[b].warps, want.block_counts[b].warps);
    check(name + " lanes", got.block_counts[b].lanes, want.block_counts[b].lanes);
    for (std::size_t i = 0; i < profile.blocks[b].accesses.size(); ++i, ++access) {
      const std::string at =
          name + " access " + std::to_string(i) + " [" + profile.blocks[b].accesses[i].offset.str() + "] ";
      const AccessCount &g = got.access_counts[access], &w = want.access_counts[access];
      check(at + "requests", g.requests, w.requests);
      check(at + "lanes", g.lanes, w.lanes);
      check(at + "sectors", g.sectors, w.sectors);
      check(at + "segments", g.segments, w.segments);
      check(at + "bank passes", g.bank_passes, w.bank_passes);
      check(at + "bytes", g.bytes, w.bytes);
      check(at + "words", g.words, w.words);
    }
  }
  for (std::size_t b = 0; b < profile.branches.size(); ++b) {
    check("branch " + std::to_string(b) + " warps", got.branch_counts[b].warps, want.branch_counts[b].warps);
    check("branch " + std::to_string(b) + " divergent", got.branch_counts[b].divergent,
          want.branch_counts[b].divergent);
  }
  for (std::size_t c = 0; c < op_class_count; ++c) {
    // A loop that the device's compiler unrolls by four holds a quarter of its control a trip: sums of such shares
    // round.
    const bool of_whole = std::all_of(profile.blocks.begin(), profile.blocks.end(),
                                      [&](const Block& b) { return b.ops.n[c] == std::floor(b.ops.n[c]); });
    check("warp ops", got.warp_ops.n[c], want.warp_ops.n[c], of_whole);
    check("thread ops", got.thread_ops.n[c], want.thread_ops.n[c], of_whole);
  }
  check("barriers", got.barriers, want.barriers);
  check("flat barriers", got.flat_barriers, want.flat_barriers);
  if (!want.by_warp.empty()) {  // execution has no such counts
    const auto [longest, shortest] = longest_and_shortest(profile, want);
    check("slowest warp", got.slowest.instructions > 0 ? usual_length(got.slowest) : shortest, longest, false);
  }
  const auto at_least = [&](const char* what, double a, double b) {
    if (a < b) out << what << ": " << a << " is less than what the twin touches, " << b << "\n";
  };
  at_least("footprint", got.footprint_bytes, want.footprint_bytes);
  at_least("footprint read", got.footprint_read_bytes, want.footprint_read_bytes);
  at_least("footprint written", got.footprint_write_bytes, want.footprint_write_bytes);
  return out.str();
}

}  // namespace kernelcast::compare
