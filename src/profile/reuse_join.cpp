// What is left of an unrolled loop, or the next loop over the same array, touches what the loop before has touched.
// Groups of accesses that differ in their own loops and their constants only are counted as one wherever both run
// within a passage: the larger one's pattern once more, placed so that it covers the smaller one's, and never more than
// both.
#include <algorithm>

#include "profile/reuse.h"

namespace kernelcast {

/// Loops around both, from the outermost on.
int ReuseFinder::shared_loops(const Group& a, const Group& b) const {
  const std::vector<int>& of_a = chains_[static_cast<std::size_t>(a.chain)].loops;
  const std::vector<int>& of_b = chains_[static_cast<std::size_t>(b.chain)].loops;
  std::size_t n = 0;
  while (n < of_a.size() && n < of_b.size() && of_a[n] == of_b[n]) ++n;
  return static_cast<int>(n);
}

/// Bytes before and behind a group's offset that the loops inside the first `shared` reach.
std::pair<std::int64_t, std::int64_t> ReuseFinder::hull(const Group& group, int shared) const {
  const Chain& chain = chains_[static_cast<std::size_t>(group.chain)];
  std::pair<std::int64_t, std::int64_t> reached{0, 0};
  for (const Step& s : group.steps) {
    const int loop = s.variable - static_cast<int>(first_counter);
    if (loop < shared) continue;
    const std::int64_t trips = chain.now[static_cast<std::size_t>(loop)];
    const std::int64_t far = s.stride * (s.bit == 0 ? trips - 1 : trips > s.bit ? 1 : 0);
    (far < 0 ? reached.first : reached.second) += far;
  }
  return reached;
}

bool ReuseFinder::join(std::size_t host, std::size_t guest) {
  Group &h = groups_[host], &g = groups_[guest];
  if (h.buffer != g.buffer || h.chain == g.chain || h.direction != g.direction || h.bytes != g.bytes) return false;
  const int shared = shared_loops(h, g);
  const auto outer = [&](const Step& s) { return s.variable < static_cast<int>(first_counter) + shared; };
  // Steps come in the order of their variables: those of lanes, blocks and common loops first.
  const auto h_end = std::find_if_not(h.steps.begin(), h.steps.end(), outer);
  const auto g_end = std::find_if_not(g.steps.begin(), g.steps.end(), outer);
  if (!std::equal(h.steps.begin(), h_end, g.steps.begin(), g_end)) return false;
  const auto of_host = hull(h, shared), of_guest = hull(g, shared);
  if (of_host.second - of_host.first < of_guest.second - of_guest.first) return false;
  if (h.guests.empty()) h.reach = h.offsets;
  const std::int64_t lowest = *std::min_element(h.offsets.begin(), h.offsets.end()) + of_host.first;
  for (const std::int64_t o : g.offsets)
    h.reach.push_back(o + of_guest.first >= lowest ? o + of_guest.second - of_host.second
                                                   : o + of_guest.first - of_host.first);
  h.guests.push_back(static_cast<int>(guest));
  g.host = static_cast<int>(host);
  g.shared = shared;
  return true;
}

/// Makes guests of groups that lie where a larger one lies, the most asked for as hosts.
void ReuseFinder::join_groups() {
  bool apart = false;
  for (std::size_t guest = 0; guest < used_groups_; ++guest) {
    Group& g = groups_[guest];
    if (!g.shares || g.scattered || !g.guests.empty()) continue;
    for (std::size_t host = 0; host < used_groups_ && g.host < 0; ++host) {
      const Group& h = groups_[host];
      const bool larger = h.requested > g.requested || (h.requested == g.requested && host < guest);
      if (host != guest && larger && h.shares && h.host < 0 && !h.scattered && join(host, guest))
        apart = apart || g.shared == 0;
    }
  }
  if (apart && rows_ < Reuse::depths) whole_ = rows_;  // joined over the whole life, and not in a row before
  for (std::size_t i = 0; i < used_groups_; ++i) {
    std::vector<std::int64_t>& reach = groups_[i].reach;
    if (groups_[i].guests.empty()) continue;
    std::sort(reach.begin(), reach.end());
    reach.erase(std::unique(reach.begin(), reach.end()), reach.end());
  }
}

/// Whether a host's guests are counted with it: all of them run within its passage, and not one after the other but in
/// one phase or over the block's whole life.
bool ReuseFinder::joined(const Group& host, std::size_t depth) const {
  const int outside = outside_of(host, depth);
  return std::all_of(host.guests.begin(), host.guests.end(), [&](int i) {
    const int shared = groups_[static_cast<std::size_t>(i)].shared;
    return outside <= shared && (shared > 0 || depth == whole_);
  });
}

/// Loops that do not run within a passage of a depth; a guest's passages are not longer than what its host leaves it.
int ReuseFinder::outside_of(const Group& group, std::size_t depth) const {
  if (depth == Reuse::depths - 1) return 0;
  const int loops = static_cast<int>(chains_[static_cast<std::size_t>(group.chain)].loops.size());
  const int own = std::max(0, loops - std::max(0, static_cast<int>(depth) - 1));
  return group.host >= 0 ? std::max(own, std::min(loops, group.shared)) : own;
}

void ReuseFinder::distinct(const Group& group, std::span<const std::int64_t> offsets, const LaunchState& launch,
                           int outside, std::int64_t run, Row& sectors) {
  std::int64_t n[max_variables];
  sizes(chains_[static_cast<std::size_t>(group.chain)], launch, n);
  for (int l = 0; l < outside; ++l)
    if (first_counter + l < max_variables) n[first_counter + l] = l + 1 < outside ? 1 : run;
  footprints(group, offsets, n, sectors);
}

/// A host's and its guests' sectors: at least the most of one, at most the sum.
void ReuseFinder::distinct_together(const Group& host, const LaunchState& launch, int outside, std::int64_t run,
                                    Row& sectors) {
  Row least, sum, one;
  distinct(host, host.offsets, launch, outside, run, least);
  sum = least;
  for (const int i : host.guests) {
    const Group& guest = groups_[static_cast<std::size_t>(i)];
    distinct(guest, guest.offsets, launch, outside, run, one);
    for (std::size_t w = 0; w < columns_; ++w) {
      least[w] = std::max(least[w], one[w]);
      sum[w] += one[w];
    }
  }
  distinct(host, host.reach, launch, outside, run, sectors);
  for (std::size_t w = 0; w < columns_; ++w) sectors[w] = std::clamp(sectors[w], least[w], std::max(least[w], sum[w]));
}

}  // namespace kernelcast
