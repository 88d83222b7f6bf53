// Neighbouring lanes mostly touch neighbouring bytes, so a warp is a few runs; and the warps of a block mostly differ
// by a multiple of a segment, so a block is a few kinds of warps. Runs are disjoint and ascending: two of them share at
// most the piece in which one ends and the next begins.
#include "profile/warp_runs.h"

#include <algorithm>
#include <bit>

#include "core/int_math.h"
#include "profile/residues.h"

namespace kernelcast {

namespace {

/// Whether the lanes' accesses are whole words that start where words do.
bool whole_words(std::uint64_t active, std::size_t first, std::span<const std::int64_t> addresses, int bytes) {
  std::int64_t any = bytes;
  for (std::uint64_t m = active; m != 0; m &= m - 1)
    any |= addresses[first + static_cast<std::size_t>(std::countr_zero(m))];
  return any % 4 == 0;
}

/// By shift modulo 4. Whole words start inside a word at each shift but 0 and end inside the next, always the same two.
std::array<int, 4> data_passes(std::uint64_t active, std::size_t first, std::span<const std::int64_t> addresses,
                               int bytes, const MemoryGeometry& l1) {
  const int part = lanes_of_part(l1.warp_size, bytes);
  const std::uint64_t lanes = part >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << part) - 1;
  std::array<int, 4> passes{};
  const int different = whole_words(active, first, addresses, bytes) ? 2 : 4;
  for (int shift = 0; shift < different; ++shift)
    for (int lane = 0; lane < l1.warp_size; lane += part)
      if (const std::uint64_t mine = active & lanes << lane; mine != 0)
        passes[static_cast<std::size_t>(shift)] +=
            pieces_in_one_bank(mine, first, addresses, shift, bytes, 4, l1.l1_banks);
  if (different == 2) passes[2] = passes[3] = passes[1];
  return passes;
}

}  // namespace

WarpRuns::WarpRuns(const LaneSet& set, std::span<const std::int64_t> addresses, int bytes, std::int64_t period,
                   int part, const MemoryGeometry* l1)
    : passes_(l1 != nullptr) {
  const int width = set.block->warp_size;
  const std::uint64_t lanes = part >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << part) - 1;
  for (std::size_t w = 0; w < set.warp_bits.size(); ++w)
    for (int lane = 0; lane < width; lane += part) {
      const std::uint64_t active = set.warp_bits[w] & lanes << lane;
      if (active == 0) continue;
      const std::size_t begin = runs_.size();
      const std::size_t thread = w * static_cast<std::size_t>(width);
      add_lanes(active, thread, addresses, bytes);
      add_kind(begin, period, passes_ ? data_passes(active, thread, addresses, bytes, *l1) : std::array<int, 4>{});
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
void WarpRuns::add_kind(std::size_t begin, std::int64_t period, const std::array<int, 4>& data) {
  const std::int64_t down = runs_[begin].first - residue_of(runs_[begin].first, period);
  for (std::size_t i = begin; i < runs_.size(); ++i) {
    runs_[i].first -= down;
    runs_[i].last -= down;
  }
  for (Kind& k : kinds_)
    if (k.data == data && std::equal(runs_.begin() + static_cast<std::ptrdiff_t>(k.begin),
                                     runs_.begin() + static_cast<std::ptrdiff_t>(k.end),
                                     runs_.begin() + static_cast<std::ptrdiff_t>(begin), runs_.end())) {
      k.parts += 1;
      runs_.resize(begin);
      return;
    }
  kinds_.push_back({begin, runs_.size(), 1, data});
}

/// The most segments of one kind in one tag bank.
double WarpRuns::in_one_tag_bank(const Kind& k, std::int64_t shift, const MemoryGeometry& g) const {
  if (g.l1_tag_banks <= 0) return 0;
  std::vector<int> together(static_cast<std::size_t>(g.l1_tag_banks));
  std::int64_t before = -1;
  for (std::size_t i = k.begin; i < k.end; ++i) {
    const std::int64_t from = (runs_[i].first + shift) / g.segment_bytes,
                       to = (runs_[i].last + shift) / g.segment_bytes;
    for (std::int64_t s = from == before ? from + 1 : from; s <= to; ++s)
      ++together[static_cast<std::size_t>(s % g.l1_tag_banks)];
    before = to;
  }
  return *std::max_element(together.begin(), together.end());
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
    const double segments = pieces(k, geometry.segment_bytes);
    cost.segments += k.parts * segments;
    if (passes_)
      cost.bank_passes +=
          k.parts * std::max<double>(k.data[static_cast<std::size_t>(shift & 3)],
                                     l1_tag_passes(geometry, segments, in_one_tag_bank(k, shift, geometry)));
  }
  return cost;
}

}  // namespace kernelcast
