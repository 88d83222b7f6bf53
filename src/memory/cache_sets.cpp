// Idea: addresses modulo the period decide the set. The residues that k steps of a stride reach from a set of residues
// B are the union of B turned by 0, s, ..., (k - 1) s; half of them turned by the other half's distance give all, so a
// stride of k steps takes log2 k unions. Residues are kept in cells as wide as all strides and offsets allow.
//
// Sources: caches of x86-64 cores look up a line by the address bits above the line (Intel optimisation manual, "Cache
// hierarchy"; slices of the L3 are chosen by a hash of all bits, the set within a slice is not: Maurice et al.,
// "Reverse engineering Intel last-level cache complex addressing using performance counters", RAID 2015).
#include "memory/cache_sets.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace kernelcast::memory {
namespace {

constexpr double page_bytes = 4096;  // the smallest page of x86-64

/// Residues modulo the period, a cell each.
class Residues {
 public:
  Residues(std::int64_t period, std::int64_t cell) : cell_(cell), in_(static_cast<std::size_t>(period / cell), 0) {}

  void add(std::int64_t from, std::int64_t bytes) {
    const std::int64_t cells = std::min<std::int64_t>(size(), (bytes + cell_ - 1) / cell_);
    for (std::int64_t c = 0; c < cells; ++c) in_[at(from / cell_ + c)] = 1;
  }

  /// The residues behind 0 to `count - 1` steps as well.
  void walk(std::int64_t stride, std::int64_t count) {
    for (std::int64_t done = 1; done < count && !full();) {
      const std::int64_t more = std::min(done, count - done);
      turn(at(stride / cell_ % size() * (more % size())));
      done += more;
    }
  }

  /// Of all lines, those that a residue lies in.
  [[nodiscard]] double lines_share(std::int64_t line) const {
    const std::int64_t each = line / cell_, lines = size() / each;
    std::int64_t touched = 0;
    for (std::int64_t l = 0; l < lines; ++l)
      touched +=
          std::any_of(in_.begin() + l * each, in_.begin() + (l + 1) * each, [](auto c) { return c != 0; }) ? 1 : 0;
    return static_cast<double>(touched) / static_cast<double>(lines);
  }

 private:
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(in_.size()); }
  [[nodiscard]] std::size_t at(std::int64_t cell) const {
    return static_cast<std::size_t>((cell % size() + size()) % size());
  }
  [[nodiscard]] bool full() const {
    return std::ranges::all_of(in_, [](auto c) { return c != 0; });
  }

  void turn(std::size_t by) {
    const std::vector<unsigned char> before = in_;
    const std::size_t n = in_.size();
    for (std::size_t c = 0; c + by < n; ++c) in_[c + by] |= before[c];
    for (std::size_t c = n - by; c < n; ++c) in_[c + by - n] |= before[c];
  }

  std::int64_t cell_;
  std::vector<unsigned char> in_;
};

}  // namespace

std::int64_t set_period(double cache_bytes, double line_bytes, double ways) {
  if (ways < 1 || line_bytes < 1) return 0;
  const double way = std::min(cache_bytes / ways, page_bytes);
  return way >= line_bytes && std::fmod(way, line_bytes) == 0 ? static_cast<std::int64_t>(way) : 0;
}

double share_of_sets(const AccessStream& walk, int depth, std::int64_t line, std::int64_t period) {
  std::int64_t cell = std::gcd(line, static_cast<std::int64_t>(walk.bytes));
  for (const std::int64_t o : walk.offsets) cell = std::gcd(cell, o);
  for (const AccessStream::Step& s : walk.steps) cell = std::gcd(cell, s.stride);
  Residues reached(period, cell);
  for (const std::int64_t o : walk.offsets) reached.add(o, walk.bytes);
  for (const AccessStream::Step& s : walk.steps)
    if (s.depth <= depth) reached.walk(s.stride, s.count);
  return reached.lines_share(line);
}

}  // namespace kernelcast::memory
