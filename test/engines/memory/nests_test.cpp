// The capacity rule, the stack distances and the simulated cache answer one question. Here they answer it for loop
// nests whose accesses are enumerated: each passage's lines are counted one by one, and a list in the order of use says
// what a cache misses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <set>
#include <vector>

#include "memory/capacity.h"
#include "memory/lru_cache.h"
#include "memory/stack_distances.h"

namespace kernelcast::memory::nests_test {
namespace {

using Lines = std::vector<std::uint64_t>;

struct NestLoop {
  std::uint64_t count, stride;  // in lines
};
/// Innermost loop first. Three loops at most: the last depths are the whole nest.
using Nest = std::vector<NestLoop>;

/// The lines of the `depth` innermost loops from `first` on, in the order of access.
void run(const Nest& nest, std::size_t depth, std::uint64_t first, Lines& out) {
  if (depth == 0) {
    out.push_back(first);
    return;
  }
  const NestLoop& loop = nest[depth - 1];
  for (std::uint64_t i = 0; i < loop.count; ++i) run(nest, depth - 1, first + i * loop.stride, out);
}

Lines accesses(const Nest& nest) {
  Lines out;
  run(nest, nest.size(), 0, out);
  return out;
}

/// Distinct lines of the largest passage of a depth, and of all passages together.
Reuse::Level enumerated(const Nest& nest, std::size_t depth) {
  const Lines all = accesses(nest);
  std::size_t length = 1;
  for (std::size_t l = 0; l < std::min(depth, nest.size()); ++l) length *= nest[l].count;
  Reuse::Level level;
  for (std::size_t at = 0; at < all.size(); at += length) {
    const std::set<std::uint64_t> lines(all.begin() + static_cast<std::ptrdiff_t>(at),
                                        all.begin() + static_cast<std::ptrdiff_t>(at + length));
    level.footprint = std::max(level.footprint, static_cast<double>(lines.size()));
    level.traffic += static_cast<double>(lines.size());
  }
  return level;
}

Workload bound(const Nest& nest) {
  Workload w;
  w.blocks = 1;
  w.reuse.known = true;
  for (std::size_t d = 0; d < Reuse::depths; ++d) w.reuse.level[Reuse::read][d].fill(enumerated(nest, d));
  return w;
}

/// Misses of the last of `times` runs in a cache of `capacity` lines that evicts in the order of use.
double misses(const Lines& lines, std::size_t capacity, int times) {
  std::list<std::uint64_t> cached;
  double missed = 0;
  for (int run = 0; run < times; ++run) {
    missed = 0;
    for (const std::uint64_t line : lines) {
      const auto at = std::find(cached.begin(), cached.end(), line);
      if (at != cached.end()) {
        cached.erase(at);
      } else {
        ++missed;
        if (cached.size() == capacity) cached.pop_back();
      }
      cached.push_front(line);
    }
  }
  return missed;
}

/// Every nest of up to three loops in which a loop repeats what is inside, or goes on to other lines. Loops have at
/// least `fewest` iterations.
std::vector<Nest> nests(std::uint64_t fewest) {
  std::vector<Nest> all{{}};
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (all[at].size() == 3) continue;
    std::uint64_t apart = 1;
    for (const NestLoop& l : all[at])
      if (l.stride > 0) apart = l.stride * l.count;
    for (const std::uint64_t count : {fewest, fewest + 1})
      for (const std::uint64_t stride : {std::uint64_t{0}, apart}) {
        Nest more = all[at];
        more.push_back({count, stride});
        all.push_back(more);
      }
  }
  return all;
}

TEST(Nests, StackDistancesSayWhatACacheOfAnySizeMisses) {
  for (const Nest& nest : nests(3)) {
    const Lines lines = accesses(nest);
    StackDistances distances;
    distances.touch(lines);
    const ReuseDistances found = distances.distances();
    for (const std::size_t capacity : {2, 4, 8, 16, 32, 64})
      EXPECT_NEAR(found.touches * (1 - found.hit_rate(static_cast<double>(capacity))), misses(lines, capacity, 1), 1e-9)
          << lines.size() << " accesses, " << capacity << " lines";
  }
}

TEST(Nests, TheSimulatedCacheMissesWhatStackDistancesSay) {
  constexpr int ways = 16, line = 128;
  for (const Nest& nest : nests(3)) {
    const Lines lines = accesses(nest);
    LruCache one_set(ways * line, line, 32);
    double missed = 0;
    for (const std::uint64_t l : lines) missed += one_set.touch(l * line) ? 0 : 1;
    EXPECT_EQ(missed, misses(lines, ways, 1));
  }
}

// Loops of eight iterations and more: of a passage eight times the cache, a random victim leaves exp(-8).
TEST(Nests, ACoreCacheThatHoldsAPassageServesTheLoopAroundIt) {
  int compared = 0;
  for (const Nest& nest : nests(8)) {
    const Lines lines = accesses(nest);
    const Workload w = bound(nest);
    for (int d = 0; d < Reuse::depths; ++d) {
      const double capacity = w.reuse.at(Reuse::read, d, 0).footprint;
      const double missed = misses(lines, static_cast<std::size_t>(capacity), 2);
      EXPECT_NEAR(lines_missed(w, {capacity * 64, 64}, 0), missed, 1e-3 * static_cast<double>(lines.size()))
          << lines.size() << " accesses, " << capacity << " lines";
      ++compared;
    }
  }
  EXPECT_GT(compared, 300);
}

// The same for a window of blocks, whose data are not there before.
TEST(Nests, AWindowThatHoldsAPassageServesTheLoopAroundIt) {
  for (const Nest& nest : nests(8)) {
    const Lines lines = accesses(nest);
    const Workload w = bound(nest);
    const auto all = static_cast<double>(lines.size());
    for (int d = 0; d < Reuse::depths; ++d) {
      const double capacity = w.reuse.at(Reuse::read, d, 0).footprint;
      const double past = past_window(w.reuse, Reuse::read, 0, all, {capacity * 32, 32}, 1);
      EXPECT_NEAR(past, misses(lines, static_cast<std::size_t>(capacity), 1), 1e-3 * all)
          << lines.size() << " accesses, " << capacity << " lines";
    }
    EXPECT_EQ(past_window(w.reuse, Reuse::read, 0, all, {0, 32}, 1), all);
  }
}

TEST(Nests, AGridThatFitsIsReadOnce) {
  for (const Nest& nest : nests(3)) {
    const Workload w = bound(nest);
    const double lines = w.reuse.at(Reuse::read, Reuse::depths - 1, 0).footprint;
    const double requested = w.reuse.at(Reuse::read, 0, 0).traffic;
    EXPECT_EQ(past_grid(w.reuse, Reuse::read, 1, 1, requested, {lines * 32, 32}), lines);
    EXPECT_GE(past_grid(w.reuse, Reuse::read, 1, 1, requested, {lines * 16, 32}), lines);
  }
}

}  // namespace
}  // namespace kernelcast::memory::nests_test
