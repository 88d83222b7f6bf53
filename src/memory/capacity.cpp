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

#include "memory/cache_sets.h"

namespace kernelcast::memory {
namespace {

/// With a random victim a line outlives the m F misses of a passage of F lines in a cache of C with probability
/// (1 - 1/C)^(m F) = exp(-m F/C), and that is 1 - m. `ratio` is F/C, above 1.
double random_survivors(double ratio) {
  double low = 0, high = 1;  // of m: 1 - m - exp(-m ratio) is positive between 0 and the root, negative behind it
  for (int i = 0; i < 60; ++i) {
    const double m = (low + high) / 2;
    (1 - m > std::exp(-m * ratio) ? low : high) = m;
  }
  return 1 - low;
}

double passage_bytes(const Reuse& reuse, int depth, int window, double sector_bytes) {
  return (reuse.at(Reuse::read, depth, window).footprint + reuse.at(Reuse::write, depth, window).footprint) *
         sector_bytes;
}

using Shares = std::array<double, Reuse::depths>;  // of a passage, by its depth

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
      own =
          std::min(own, retained_share(ratio[at] + lines / cache_lines * (1 / share - 1), 1, Eviction::random_victim));
    }
    missed += std::max(0.0, retained[at] - own) * std::max(0.0, before - after);
  }
  return missed * (stream.direction == Reuse::write ? 1 + write_only : 1);
}

}  // namespace

double retained_share(double bytes, double capacity, Eviction eviction) {
  if (bytes <= capacity) return 1;
  if (eviction == Eviction::random_victim) return random_survivors(bytes / capacity);
  const double fits = capacity / bytes;
  return fits * fits;
}

double past_window(const Reuse& reuse, Reuse::Direction direction, int window, double requested,
                   const BlockCache& cache, double sharers) {
  double traffic = requested;
  for (int depth = 0; depth < Reuse::depths; ++depth) {
    const double fitting = reuse.at(direction, depth, window).traffic;
    if (!(fitting < traffic)) continue;  // saves nothing, whatever fits
    const double bytes = passage_bytes(reuse, depth, window, cache.sector_bytes) * sharers;
    const double retained = retained_share(bytes, cache.capacity, Eviction::share_squared);
    traffic = retained >= 1 ? fitting : std::min(traffic, traffic + (fitting - traffic) * retained);
  }
  return traffic;
}

double past_grid(const Reuse& reuse, Reuse::Direction direction, double blocks, double together, double requested,
                 const BlockCache& cache) {
  const auto blocks_in = [blocks](int window) { return Reuse::blocks_in(window, blocks); };
  constexpr int whole_life = Reuse::depths - 1;
  int window = 0;
  while (window + 1 < Reuse::windows && blocks_in(window) < together) ++window;
  const double in_window = blocks_in(window);
  double best = std::min(
      requested, past_window(reuse, direction, window, requested / blocks * in_window, cache, 1) * blocks / in_window);
  for (int k = window + 1; k < Reuse::windows; ++k) {
    const double fitting = reuse.at(direction, whole_life, k).traffic * blocks / blocks_in(k);
    if (!(fitting < best)) continue;
    const double bytes = passage_bytes(reuse, whole_life, k, cache.sector_bytes);
    best += (fitting - best) * retained_share(bytes, cache.capacity, Eviction::share_squared);
  }
  return best;
}

double left_by_earlier_launch(const Workload& work, const BlockCache& cache) {
  if (work.cache != CacheState::warm) return 0;
  const double bytes = work.reuse.known
                           ? passage_bytes(work.reuse, Reuse::depths - 1, Reuse::windows - 1, cache.sector_bytes)
                           : work.footprint_bytes;
  return retained_share(bytes, cache.capacity, Eviction::share_squared);
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
    if (d == Reuse::depths) return 0.0;  // it holds everything, since whoever made the data
    return work.reuse.at(Reuse::read, d, all).traffic + work.reuse.at(Reuse::write, d, all).traffic * (1 + write_only);
  };
  double missed = traffic(0), share = 1;
  Shares ratio, retained;
  for (int d = 0; d < Reuse::depths; ++d) {
    const auto at = static_cast<std::size_t>(d);
    ratio[at] = footprint(d) * line / cache.bytes;
    share = std::min(share, retained_share(footprint(d) * line, cache.bytes, Eviction::random_victim));
    retained[at] = share;
    missed -= share * std::max(0.0, traffic(d) - traffic(d + 1));
  }
  missed = std::max(0.0, missed);
  const std::int64_t period = set_period(cache.bytes, line, cache.ways);
  if (period == 0) return missed;
  double more = 0;
  for (const AccessStream& stream : work.streams)
    more += conflict_misses(stream, write_only, cache, period, ratio, retained);
  return std::clamp(traffic(0), missed, missed + more);
}

}  // namespace kernelcast::memory
