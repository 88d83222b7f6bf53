#include "execute/request_count.h"

#include <algorithm>
#include <bit>
#include <cmath>

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
    find_segments(address, active & ((std::uint64_t{1} << part) - 1) << begin, bytes);
    sum += static_cast<double>(segments_.size());
  }
  return sum;
}

void RequestCounter::find_segments(const std::uint64_t* address, std::uint64_t lanes, int bytes) {
  segments_.clear();
  for_lanes(lanes, [&](int l) {
    const std::uint64_t last = (address[l] + static_cast<std::uint64_t>(bytes) - 1) >> segment_shift_;
    for (std::uint64_t s = address[l] >> segment_shift_; s <= last; ++s)
      if (std::find(segments_.begin(), segments_.end(), s) == segments_.end()) segments_.push_back(s);
  });
}

int RequestCounter::pieces_of_one_bank(const std::uint64_t* address, std::uint64_t lanes, int bytes, int shift,
                                       std::uint64_t banks) {
  words_.clear();
  for_lanes(lanes, [&](int l) {
    const std::uint64_t last = (address[l] + static_cast<std::uint64_t>(bytes) - 1) >> shift;
    for (std::uint64_t w = address[l] >> shift; w <= last; ++w)
      if (words_.empty() || w != words_.back()) words_.push_back(w);
  });
  std::sort(words_.begin(), words_.end());
  words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
  if (words_.back() - words_.front() < banks) return 1;
  int in_bank[128] = {};
  int most = 0;
  for (const std::uint64_t w : words_) most = std::max(most, ++in_bank[w % banks]);
  return most;
}

double RequestCounter::l1_passes(const std::uint64_t* address, std::uint64_t active, int bytes, double segments) {
  const int part = lanes_of_part(geometry_.warp_size, bytes);
  const std::uint64_t lanes = part >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << part) - 1;
  const auto banks = static_cast<std::uint64_t>(geometry_.l1_banks);
  double data = 0;
  for (int begin = 0; begin < geometry_.warp_size; begin += part)
    if (const std::uint64_t mine = active & lanes << begin; mine != 0)
      data += pieces_of_one_bank(address, mine, bytes, 2, banks);
  if (geometry_.l1_tag_banks == 0)
    return std::max(data, geometry_.l1_tags > 0 ? 1 + (segments - 1) / geometry_.l1_tags : segments);
  find_segments(address, active, bytes);
  tag_banks_.assign(static_cast<std::size_t>(geometry_.l1_tag_banks), 0);
  for (const std::uint64_t s : segments_) ++tag_banks_[s % tag_banks_.size()];
  return std::max<double>(data, *std::max_element(tag_banks_.begin(), tag_banks_.end()));
}

bool RequestCounter::side_by_side(const std::uint64_t* address, std::uint64_t group, int bytes) const {
  if (bytes > 4) return false;
  const int leader = std::countr_zero(group);
  std::uint64_t low = address[leader] >> 2, high = low;
  bool rising = true, same = true;
  for_lanes(group, [&](int l) {
    const std::uint64_t word = address[l] >> 2, last = (address[l] + static_cast<std::uint64_t>(bytes) - 1) >> 2;
    rising = rising && word == (address[leader] >> 2) + static_cast<std::uint64_t>(l - leader);
    same = same && address[l] >> 2 == address[leader] >> 2;
    low = std::min(low, word);
    high = std::max(high, last);
  });
  return bytes == 4 ? rising || same : high - low <= 1;
}

int RequestCounter::split_passes(const std::uint64_t* address, std::uint64_t group, int bytes) {
  if (bytes > 4) {
    const int shift = std::bit_width(static_cast<unsigned>(bytes - 1));
    return pieces_of_one_bank(address, group, bytes, shift,
                              std::max<std::uint64_t>(1, geometry_.segment_bytes >> shift));
  }
  const int words = pieces_of_one_bank(address, group, bytes, 2, static_cast<std::uint64_t>(geometry_.l1_banks));
  find_segments(address, group, bytes);
  return segments_.size() > 1 ? std::max(words, 2) : words;
}

double RequestCounter::grouped_passes(const std::uint64_t* address, std::uint64_t active, int bytes) {
  const int width = geometry_.l1_group;
  const std::uint64_t lanes = (std::uint64_t{1} << width) - 1;
  double passes = 0;
  std::int64_t leader = 0;
  int groups = width;  // of the pass at hand; it is full before the first
  for (int begin = 0; begin < geometry_.warp_size; begin += width) {
    const std::uint64_t group = active & lanes << begin;
    if (group == 0) continue;
    if (!side_by_side(address, group, bytes)) {
      passes += split_passes(address, group, bytes);
      continue;
    }
    const auto start = static_cast<std::int64_t>(address[std::countr_zero(group)]);
    if (groups == width || std::abs(start - leader) >= geometry_.segment_bytes) {
      passes += 1;
      leader = start;
      groups = 0;
    }
    ++groups;
  }
  return passes;
}

void RequestCounter::global(const std::uint64_t* address, std::uint64_t active, int bytes, AccessCount& out) {
  const double before = out.segments;
  distinct(address, active, bytes, out);
  if (geometry_.l1_banks == 0)
    out.bank_passes += bytes > 4 ? segments_of_parts(address, active, bytes) : out.segments - before;
  else if (geometry_.l1_group > 0)
    out.bank_passes += grouped_passes(address, active, bytes);
  else
    out.bank_passes += l1_passes(address, active, bytes, out.segments - before);
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
  if (geometry_.l1_banks == 0) {
    out.bank_passes += segments;
    return;
  }
  const auto banks = static_cast<std::uint64_t>(geometry_.l1_banks);
  const std::uint64_t rounds = (((past - 1) >> 2) - (first >> 2)) / banks + 1;
  const double tags = geometry_.l1_tag_banks > 0 ? std::ceil(segments / geometry_.l1_tag_banks)
                      : geometry_.l1_tags > 0    ? 1 + (segments - 1) / geometry_.l1_tags
                                                 : segments;
  out.bank_passes += std::max(static_cast<double>(rounds), tags);
}

void RequestCounter::bulk_global(std::uint64_t first, std::int64_t bytes, AccessCount& out) {
  const std::uint64_t last = first + static_cast<std::uint64_t>(bytes) - 1;
  sectors_.clear();
  for (std::uint64_t s = first >> sector_shift_; s <= last >> sector_shift_; ++s) sectors_.push_back(s);
  add_distinct(out);
}

void RequestCounter::bulk_shared(std::int64_t bytes, AccessCount& out) const {
  const std::int64_t row = std::int64_t{geometry_.shared_banks} * geometry_.bank_bytes;
  out.bank_passes += static_cast<double>((bytes + row - 1) / row);
}

void RequestCounter::shared_regular(std::uint64_t active, int bytes, AccessCount& out) {
  count_lanes(active, bytes, out);
  const int part = lanes_a_part(bytes);
  const std::uint64_t mask = part >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << part) - 1;
  for (int first = 0; first < geometry_.warp_size; first += part)
    if ((active >> first & mask) != 0) out.bank_passes += 1;
}

void RequestCounter::shared(const std::uint64_t* offset, std::uint64_t active, int bytes, AccessKind kind,
                            AccessCount& out) {
  count_lanes(active, bytes, out);
  const bool atomic = kind == AccessKind::atomic;
  int part_lanes = lanes_a_part(bytes);
  if (returns_pairs(bytes, kind) && lanes_are_pairs(active, [offset](int lane) { return offset[lane]; }))
    part_lanes *= 2;
  const std::uint64_t part_mask = part_lanes >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << part_lanes) - 1;
  for (int first = 0; first < geometry_.warp_size; first += part_lanes) {
    const std::uint64_t part = active & part_mask << first;
    if (part != 0) out.bank_passes += passes(offset, part, bytes, atomic);
  }
}

}  // namespace kernelcast::interpreter
