#include "execute/request_count.h"

#include <algorithm>
#include <bit>

#include "execute/for_lanes.h"

namespace kernelcast::interpreter {
namespace {

void count_lanes(std::uint64_t active, int bytes, AccessCount& out) {
  const double lanes = lane_count(active);
  out.requests += 1;
  out.lanes += lanes;
  out.bytes += lanes * bytes;
  out.words += lanes * words_of(bytes);
}

}  // namespace

RequestCounter::RequestCounter(const MemoryGeometry& geometry)
    : geometry_(geometry),
      sector_shift_(std::countr_zero(static_cast<unsigned>(geometry.sector_bytes))),
      segment_shift_(std::countr_zero(static_cast<unsigned>(geometry.segment_bytes))),
      bank_shift_(std::countr_zero(static_cast<unsigned>(geometry.bank_bytes))),
      banks_(static_cast<std::size_t>(geometry.shared_banks)) {}

void RequestCounter::add_distinct(AccessCount& out) {
  if (!std::is_sorted(sectors_.begin(), sectors_.end())) std::sort(sectors_.begin(), sectors_.end());
  sectors_.erase(std::unique(sectors_.begin(), sectors_.end()), sectors_.end());
  out.sectors += static_cast<double>(sectors_.size());
  // Segments are counted on the sectors when they are at least as large.
  const int shift = segment_shift_ - sector_shift_;
  std::uint64_t previous = ~std::uint64_t{0};
  double segments = 0;
  for (std::uint64_t s : sectors_) {
    if (s >> shift != previous) segments += 1;
    previous = s >> shift;
  }
  out.segments += segments;
}

double RequestCounter::segments_of_parts(const std::uint64_t* address, std::uint64_t active, int bytes) {
  const int part = lanes_of_part(geometry_.warp_size, bytes);
  double sum = 0;
  for (int begin = 0; begin < geometry_.warp_size; begin += part) {
    segments_.clear();
    for_lanes(active & ((std::uint64_t{1} << part) - 1) << begin, [&](int l) {
      const std::uint64_t last = (address[l] + static_cast<std::uint64_t>(bytes) - 1) >> segment_shift_;
      for (std::uint64_t s = address[l] >> segment_shift_; s <= last; ++s)
        if (std::find(segments_.begin(), segments_.end(), s) == segments_.end()) segments_.push_back(s);
    });
    sum += static_cast<double>(segments_.size());
  }
  return sum;
}

void RequestCounter::global(const std::uint64_t* address, std::uint64_t active, int bytes, AccessCount& out) {
  const double before = out.segments;
  distinct(address, active, bytes, out);
  out.bank_passes += bytes > 4 ? segments_of_parts(address, active, bytes) : out.segments - before;
}

void RequestCounter::distinct(const std::uint64_t* address, std::uint64_t active, int bytes, AccessCount& out) {
  count_lanes(active, bytes, out);
  sectors_.clear();
  std::uint64_t previous = ~std::uint64_t{0};
  for_lanes(active, [&](int l) {
    const std::uint64_t first = address[l] >> sector_shift_;
    const std::uint64_t last = (address[l] + static_cast<std::uint64_t>(bytes) - 1) >> sector_shift_;
    for (std::uint64_t s = first; s <= last; ++s) {
      if (s != previous) sectors_.push_back(s);
      previous = s;
    }
  });
  add_distinct(out);
}

void RequestCounter::constant(const std::uint64_t* address, std::uint64_t active, int bytes, AccessCount& out) {
  distinct(address, active, bytes, out);
  std::uint64_t seen[64];
  int n = 0;
  for_lanes(active, [&](int l) {
    if (std::find(seen, seen + n, address[l]) == seen + n) seen[n++] = address[l];
  });
  out.bank_passes += n;
}

void RequestCounter::local(const std::uint64_t* offset, std::uint64_t active, int bytes, AccessCount& out) {
  count_lanes(active, bytes, out);
  sectors_.clear();
  const auto warp = static_cast<std::uint64_t>(geometry_.warp_size);
  for_lanes(active, [&](int l) {
    const std::uint64_t last = (offset[l] + static_cast<std::uint64_t>(bytes) - 1) >> 2;
    for (std::uint64_t word = offset[l] >> 2; word <= last; ++word)
      sectors_.push_back(((word * warp + static_cast<std::uint64_t>(l)) * 4) >> sector_shift_);
  });
  add_distinct(out);
}

// The first word of each bank stands in a table, further ones in chains behind it: mostly there are none.
double RequestCounter::passes(const std::uint64_t* offset, std::uint64_t part, int bytes, bool atomic) {
  const std::uint64_t bank_mask = static_cast<std::uint64_t>(geometry_.shared_banks) - 1;
  const auto further = static_cast<std::uint64_t>(bytes) - 1;
  int most = 1;
  ++part_;
  chained_.clear();
  const auto add = [&](std::uint64_t word) {
    Bank& bank = banks_[word & bank_mask];
    if (bank.part != part_) {
      bank = {word, part_, 1, -1};
      return;
    }
    if (!atomic) {
      if (bank.first == word) return;
      for (int k = bank.chain; k >= 0; k = chained_[static_cast<std::size_t>(k)].next)
        if (chained_[static_cast<std::size_t>(k)].word == word) return;
    }
    chained_.push_back({word, bank.chain});
    bank.chain = static_cast<int>(chained_.size()) - 1;
    most = std::max(most, ++bank.words);
  };
  for (; part != 0; part &= part - 1) {
    const std::uint64_t at = offset[std::countr_zero(part)];
    const std::uint64_t last = (at + further) >> bank_shift_;
    for (std::uint64_t word = at >> bank_shift_; word <= last; ++word) add(word);
  }
  return most;
}

int RequestCounter::lanes_a_part(int bytes) const {
  const int lanes = std::min(geometry_.warp_size, geometry_.shared_banks);
  return bytes > geometry_.bank_bytes ? std::max(1, lanes * geometry_.bank_bytes / bytes) : lanes;
}

void RequestCounter::global_range(std::uint64_t first, std::uint64_t past, double lanes, int bytes, AccessCount& out) {
  out.requests += 1;
  out.lanes += lanes;
  out.bytes += lanes * bytes;
  out.words += lanes * words_of(bytes);
  sectors_.clear();
  for (std::uint64_t s = first >> sector_shift_; s <= (past - 1) >> sector_shift_; ++s) sectors_.push_back(s);
  out.sectors += static_cast<double>(sectors_.size());
  const auto segments = static_cast<double>(((past - 1) >> segment_shift_) - (first >> segment_shift_) + 1);
  out.segments += segments;
  out.bank_passes += segments;
}

void RequestCounter::shared_regular(std::uint64_t active, int bytes, AccessCount& out) {
  count_lanes(active, bytes, out);
  const int part = lanes_a_part(bytes);
  const std::uint64_t mask = part >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << part) - 1;
  for (int first = 0; first < geometry_.warp_size; first += part)
    if ((active >> first & mask) != 0) out.bank_passes += 1;
}

void RequestCounter::shared(const std::uint64_t* offset, std::uint64_t active, int bytes, bool atomic,
                            AccessCount& out) {
  count_lanes(active, bytes, out);
  const int part_lanes = lanes_a_part(bytes);
  const std::uint64_t part_mask = part_lanes >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << part_lanes) - 1;
  for (int first = 0; first < geometry_.warp_size; first += part_lanes) {
    const std::uint64_t part = active & part_mask << first;
    if (part != 0) out.bank_passes += passes(offset, part, bytes, atomic);
  }
}

}  // namespace kernelcast::interpreter
