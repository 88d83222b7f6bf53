// Neighbouring lanes mostly touch neighbouring bytes, so a warp is a few runs; and the warps of a block mostly differ
// by a multiple of a segment, so a block is a few kinds of warps. Runs are disjoint and ascending: two of them share at
// most the piece in which one ends and the next begins.
#include "profile/warp_runs.h"

#include <algorithm>
#include <bit>

#include "core/int_math.h"
#include "profile/residues.h"

namespace kernelcast {

WarpRuns::WarpRuns(const LaneSet& set, std::span<const std::int64_t> addresses, int bytes, std::int64_t period,
                   int part) {
  const int width = set.block->warp_size;
  const std::uint64_t lanes = part >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << part) - 1;
  for (std::size_t w = 0; w < set.warp_bits.size(); ++w)
    for (int lane = 0; lane < width; lane += part) {
      const std::uint64_t active = set.warp_bits[w] & lanes << lane;
      if (active == 0) continue;
      const std::size_t begin = runs_.size();
      add_lanes(active, w * static_cast<std::size_t>(width), addresses, bytes);
      add_kind(begin, period);
    }
}

void WarpRuns::add_lanes(std::uint64_t lanes, std::size_t first, std::span<const std::int64_t> addresses, int bytes) {
  const std::size_t begin = runs_.size();
  bool ascending = true;
  for (std::uint64_t m = lanes; m != 0; m &= m - 1) {
    const std::int64_t a = addresses[first + static_cast<std::size_t>(std::countr_zero(m))];
    if (runs_.size() > begin && a >= runs_.back().first && a <= runs_.back().last + 1) {
      runs_.back().last = std::max(runs_.back().last, a + bytes - 1);
      continue;
    }
    ascending = ascending && (runs_.size() == begin || a > runs_.back().last);
    runs_.push_back({a, a + bytes - 1});
  }
  if (ascending) return;
  std::sort(runs_.begin() + static_cast<std::ptrdiff_t>(begin), runs_.end(),
            [](const Run& a, const Run& b) { return a.first < b.first; });
  std::size_t last = begin;
  for (std::size_t i = begin + 1; i < runs_.size(); ++i) {
    if (runs_[i].first <= runs_[last].last + 1)
      runs_[last].last = std::max(runs_[last].last, runs_[i].last);
    else
      runs_[++last] = runs_[i];
  }
  runs_.resize(last + 1);
}

/// The runs from `begin` on are those of one more part of a warp.
void WarpRuns::add_kind(std::size_t begin, std::int64_t period) {
  const std::int64_t down = runs_[begin].first - residue_of(runs_[begin].first, period);
  for (std::size_t i = begin; i < runs_.size(); ++i) {
    runs_[i].first -= down;
    runs_[i].last -= down;
  }
  for (Kind& k : kinds_)
    if (std::equal(runs_.begin() + static_cast<std::ptrdiff_t>(k.begin),
                   runs_.begin() + static_cast<std::ptrdiff_t>(k.end),
                   runs_.begin() + static_cast<std::ptrdiff_t>(begin), runs_.end())) {
      k.parts += 1;
      runs_.resize(begin);
      return;
    }
  kinds_.push_back({begin, runs_.size(), 1});
}

RequestCost WarpRuns::at(std::int64_t shift, const MemoryGeometry& geometry) const {
  const auto pieces = [&](const Kind& k, std::int64_t size) {
    const bool power = is_power_of_two(size);
    const int bits = power ? log2_exact(size) : 0;
    // Every address is at least 0 here: shifts are residues.
    const auto piece = [&](std::int64_t at) { return power ? at >> bits : at / size; };
    std::int64_t sum = 0, before = -1;
    for (std::size_t i = k.begin; i < k.end; ++i) {
      const std::int64_t from = piece(runs_[i].first + shift), to = piece(runs_[i].last + shift);
      sum += to - from + (from == before ? 0 : 1);
      before = to;
    }
    return static_cast<double>(sum);
  };
  RequestCost cost;
  for (const Kind& k : kinds_) {
    cost.sectors += k.parts * pieces(k, geometry.sector_bytes);
    cost.segments += k.parts * pieces(k, geometry.segment_bytes);
  }
  return cost;
}

}  // namespace kernelcast
