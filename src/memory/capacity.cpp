// Idea: a passage of depth d is the run of the d innermost loops around an access. A cache that holds the lines of one
// passage serves what the next passage touches again; one that is too small holds a share of them.
//
// Sources: reuse by loops, Wolf and Lam, "A data locality optimizing algorithm", PLDI 1991. Caches of several ways do
// not evict in the order of use (Abel and Reineke, "Measurement-based modeling of the cache replacement policy",
// RTAS 2013), or a loop over one line too many would leave nothing.
//
// Limits: lines that streams of several buffers touch in one set are told apart for CPUs only (cache_sets.h).
#include "memory/capacity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "memory/cache_sets.h"

namespace kernelcast::memory {
namespace {

/// How much sooner a cache loses what a launch sweeps through in order than by replacing lines at random. Fitted:
/// docs/lab/kernelcast.md.
constexpr double sweep_power = 1.7;

/// With a random victim a line outlives the m F misses of a passage of F lines in a cache of C with probability
/// (1 - 1/C)^(m F) = exp(-m F/C), and that is 1 - m. `ratio` is F/C, above 1.
double random_survivors(double ratio) {
  if (ratio > 40) return 0;  // exp(-40) is below the resolution of a double
  // 1 - m - exp(-m ratio) is concave in m and falls from the root on: Newton's steps from above it do not pass it.
  double m = std::min(1.0, 2 * (ratio - 1));
  for (int i = 0; i < 20; ++i) {
    const double lost = std::exp(-m * ratio), slope = ratio * lost - 1;
    if (!(slope < 0)) break;  // above 1 by rounding alone
    const double next = m + (1 - m - lost) / -slope;
    if (!(next < m)) break;
    m = next;
  }
  return 1 - m;
}

double passage_bytes(const Reuse& reuse, int depth, int window, double sector_bytes) {
  return (reuse.at(Reuse::read, depth, window).footprint + reuse.at(Reuse::write, depth, window).footprint) *
         sector_bytes;
}

/// Of what follows a power of the number of blocks, the value part of the `way` from `a` to `b`, in logarithms.
double between(double a, double b, double way) { return a > 0 && b > 0 ? a * std::pow(b / a, way) : a + (b - a) * way; }

using Shares = std::array<double, Reuse::depths>;  // of a passage, by its depth

/// Nested passages, the innermost first. `bytes`: what one touches; `lines`: what all of them move if each finds all
/// that it touched itself, so that only the first touch within it goes past the cache.
struct Passage {
  double bytes = 0, lines = 0;
};

/// Lines that go past a cache of `capacity` bytes, of `requested`. A cache that holds a passage serves what the next
/// one touches again, which is what the passage around both saves; of one that it does not hold it serves the share
/// that it retains. No passage touches more than the one around it (`nest` is cut to that), and none leaves more than
/// one within it. `beyond`: what goes past if all is held. `retained`, if wanted: the share of each passage.
double past(double requested, std::span<Passage> nest, double beyond, double capacity, Shares* retained = nullptr) {
  for (std::size_t d = nest.size(); d-- > 1;) nest[d - 1].bytes = std::min(nest[d - 1].bytes, nest[d].bytes);
  double before = std::min(requested, nest[0].lines), past = before;
  for (std::size_t d = 0; d < nest.size(); ++d) {
    const double after = d + 1 < nest.size() ? nest[d + 1].lines : beyond;
    const bool saves = after < before;
    if (!saves && !retained) continue;
    const double share = retained_share(nest[d].bytes, capacity);
    if (retained) (*retained)[d] = share;
    if (!saves) continue;
    past -= share * (before - after);
    before = after;
  }
  return std::max(0.0, past);
}

/// Lines of one stream that miss although as many lines would find room in a cache with one set. In the sets that a
/// passage touches lie its own lines, as densely as the sets are few, beside an even share of everybody else's.
double conflict_misses(const AccessStream& stream, double write_only, const CoreCache& cache, std::int64_t period,
                       const Shares& ratio, const Shares& retained) {
  const double cache_lines = cache.bytes / cache.line_bytes;
  double missed = 0, own = 1;
  for (int d = 0; d < Reuse::depths; ++d) {
    const auto at = static_cast<std::size_t>(d);
    const double before = stream.level[at].traffic, after = d + 1 < Reuse::depths ? stream.level[at + 1].traffic : 0;
    const double lines = stream.level[at].footprint;
    if (lines > 1 && retained[at] > 0) {
      const double share = share_of_sets(stream, d, static_cast<std::int64_t>(cache.line_bytes), period);
      own = std::min(own, retained_share(ratio[at] + lines / cache_lines * (1 / share - 1), 1));
    }
    missed += std::max(0.0, retained[at] - own) * std::max(0.0, before - after);
  }
  return missed * (stream.direction == Reuse::write ? 1 + write_only : 1);
}

}  // namespace

double retained_share(double bytes, double capacity) {
  return bytes <= capacity ? 1 : random_survivors(bytes / capacity);
}

double past_window(const Reuse& reuse, Reuse::Direction direction, int window, double requested,
                   const BlockCache& cache, double sharers) {
  std::array<Passage, Reuse::depths> nest;
  for (int d = 0; d < Reuse::depths; ++d)
    nest[static_cast<std::size_t>(d)] = {passage_bytes(reuse, d, window, cache.sector_bytes) * sharers,
                                         reuse.at(direction, d, window).traffic};
  return past(requested, nest, nest.back().lines, cache.capacity);
}

double past_grid(const Reuse& reuse, Reuse::Direction direction, double blocks, double together, double requested,
                 const BlockCache& cache) {
  constexpr int whole_life = Reuse::depths - 1, last = Reuse::windows - 1;
  const auto life = [&](int window) { return passage_bytes(reuse, whole_life, window, cache.sector_bytes); };
  const auto alone_in = [&](int window) {
    const double at_a_time = blocks / Reuse::blocks_in(window, blocks);
    return past_window(reuse, direction, window, requested / at_a_time, cache, 1) * at_a_time;
  };
  int next = 0;  // the smallest window that holds all that run together
  while (next < last && Reuse::blocks_in(next, blocks) < together) ++next;
  Passage first{life(next), alone_in(next)};
  if (next > 0) {
    const double fewer = Reuse::blocks_in(next - 1, blocks), more = Reuse::blocks_in(next, blocks);
    const double way = std::log(std::max(1.0, together / fewer)) / std::log(more / fewer);
    first.bytes = between(life(next - 1), first.bytes, way);
    first.lines = between(alone_in(next - 1), first.lines, way);
  }
  std::array<Passage, Reuse::windows + 1> nest{first};
  std::size_t size = 1;
  for (int window = next; window <= last; ++window) {
    const double n = Reuse::blocks_in(window, blocks);
    if (n > together) nest[size++] = {life(window), reuse.at(direction, whole_life, window).traffic * blocks / n};
    if (n == blocks) break;
  }
  const double all = reuse.at(direction, whole_life, last).traffic;  // what the window of all blocks moves
  return past(std::min(requested, first.lines), std::span(nest).first(size), all, cache.capacity);
}

double left_by_earlier_launch(const Workload& work, const BlockCache& cache) {
  if (work.cache != CacheState::warm) return 0;
  // What a load and a store both touch counts for each of them in a passage, and once in the footprint.
  double bytes = work.footprint_bytes > 0 ? work.footprint_bytes : INFINITY;
  if (work.reuse.known)
    bytes = std::min(bytes, passage_bytes(work.reuse, Reuse::depths - 1, Reuse::windows - 1, cache.sector_bytes));
  return bytes <= cache.capacity ? 1 : std::pow(random_survivors(bytes / cache.capacity), sweep_power);
}

double lines_missed(const Workload& work, const CoreCache& cache, double write_only) {
  const double line = cache.line_bytes;
  if (!work.reuse.known) return work.footprint_bytes / line;
  constexpr int all = Reuse::windows - 1;
  // What accesses of different strides, or a load and a store, both touch counts for each of them; buffers have no
  // more.
  const double most = work.footprint_bytes > 0 ? work.footprint_bytes / line : INFINITY;
  const auto footprint = [&](int d) { return std::min(most, passage_bytes(work.reuse, d, all, 1)); };
  const auto traffic = [&](int d) {
    return work.reuse.at(Reuse::read, d, all).traffic + work.reuse.at(Reuse::write, d, all).traffic * (1 + write_only);
  };
  std::array<Passage, Reuse::depths> nest;
  Shares ratio, retained;
  for (int d = 0; d < Reuse::depths; ++d) {
    const auto at = static_cast<std::size_t>(d);
    nest[at] = {footprint(d) * line, traffic(d)};
    ratio[at] = footprint(d) * line / cache.bytes;
  }
  const double missed = past(traffic(0), nest, 0, cache.bytes, &retained);
  const std::int64_t period = set_period(cache.bytes, line, cache.ways);
  if (period == 0) return missed;
  double more = 0;
  for (const AccessStream& stream : work.streams)
    more += conflict_misses(stream, write_only, cache, period, ratio, retained);
  return std::clamp(traffic(0), missed, missed + more);
}

}  // namespace kernelcast::memory
