// A loop moves an access through memory step by step, but requests depend on the position modulo the period M of
// segments only. So after M / gcd(step, M) iterations everything repeats, and the sum over any number of them is a
// multiple of the sum over one cycle plus a difference of two running sums: the same few additions for 10 iterations
// and for a million.
#include "profile/pattern.h"

#include <bit>

namespace kernelcast {
namespace {

// Up to so many terms are added one by one rather than summing up their whole cycle.
constexpr std::int64_t few_iterations = 8;

void add(RequestCost& sum, const RequestCost& c) {
  sum.sectors += c.sectors;
  sum.segments += c.segments;
  sum.bank_passes += c.bank_passes;
}

RequestCost difference(const RequestCost& a, const RequestCost& b) {
  return {a.sectors - b.sectors, a.segments - b.segments, a.bank_passes - b.bank_passes};
}

}  // namespace

Pattern::Pattern(const PatternKey& key, const MemoryGeometry& geometry)
    : key_(key),
      geometry_(geometry),
      costs_(static_cast<std::size_t>(shift_period(key.rule, geometry)), RequestCost{-1, 0, 0}) {}

const RequestCost& Pattern::evaluate(std::int64_t residue) {
  RequestCost& cost = costs_[static_cast<std::size_t>(residue)];
  if (!WarpRuns::apply(key_.rule, key_.probability) || goes_by_groups(key_.rule, geometry_))
    return cost = by_lanes(residue);
  const bool by_banks = in_parts(key_.rule) && geometry_.l1_banks > 0;
  const int bytes = key_.rule.bytes, part = lanes_of_part(geometry_.warp_size, bytes);
  if (!runs_) {
    const std::vector<std::int64_t> all = addresses();
    runs_.emplace(*key_.set, all, bytes, period(), geometry_.warp_size, by_banks ? &geometry_ : nullptr);
    if (part < geometry_.warp_size && in_parts(key_.rule) && !by_banks)
      parts_.emplace(*key_.set, all, bytes, period(), part);
  }
  cost = runs_->at(residue, geometry_);
  if (in_parts(key_.rule) && !by_banks)
    cost.bank_passes = parts_ ? parts_->at(residue, geometry_).segments : cost.segments;
  return cost;
}

std::vector<std::int64_t> Pattern::addresses() const {
  const BlockLanes& block = *key_.set->block;
  std::vector<std::int64_t> addresses(block.threads);
  for (std::size_t t = 0; t < block.threads; ++t)
    addresses[t] = key_.stride[0] * block.id[0][t] + key_.stride[1] * block.id[1][t] + key_.stride[2] * block.id[2][t];
  return addresses;
}

RequestCost Pattern::by_lanes(std::int64_t residue) const {
  return count_requests(key_.rule, geometry_, *key_.set, addresses(), residue, std::span(&key_.probability, 1));
}

Pattern::Cycle& Pattern::cycle_of(std::int64_t step) {
  for (Cycle& c : cycles_)
    if (c.step == step) return c;
  return cycles_.emplace_back(
      Cycle{step, period() / spacing_of(step, period()), std::vector<int>(costs_.size(), -1), {}});
}

void Pattern::sum_up(Cycle& cycle, std::int64_t residue) {
  RequestCost sum;
  for (std::int64_t i = 0; i < 2 * cycle.length; ++i) {
    if (i < cycle.length) cycle.place[static_cast<std::size_t>(residue)] = static_cast<int>(cycle.sums.size());
    cycle.sums.push_back(sum);
    add(sum, at(residue));
    residue = residue_of(residue + cycle.step, period());
  }
}

RequestCost Pattern::along(std::int64_t residue, Progression p) {
  RequestCost sum;
  if (p.count <= few_iterations) {
    for (std::int64_t i = 0; i < p.count; ++i, residue = residue_of(residue + p.step, period())) add(sum, at(residue));
    return sum;
  }
  Cycle& cycle = cycle_of(p.step);
  if (cycle.place[static_cast<std::size_t>(residue)] < 0) sum_up(cycle, residue);
  const RequestCost* here = &cycle.sums[static_cast<std::size_t>(cycle.place[static_cast<std::size_t>(residue)])];
  const std::int64_t whole = p.count / cycle.length, rest = p.count - whole * cycle.length;
  sum = difference(here[rest], here[0]);
  const RequestCost all = difference(here[cycle.length], here[0]);
  const auto times = static_cast<double>(whole);
  sum.sectors += times * all.sectors;
  sum.segments += times * all.segments;
  sum.bank_passes += times * all.bank_passes;
  return sum;
}

std::size_t PatternTable::Hash::operator()(const PatternKey& k) const {
  std::uint64_t h = reinterpret_cast<std::uintptr_t>(k.set);
  const auto mix = [&](std::uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
    h ^= h >> 32;
  };
  for (std::int64_t s : k.stride) mix(static_cast<std::uint64_t>(s));
  mix(std::bit_cast<std::uint64_t>(k.probability));
  mix(static_cast<std::uint64_t>(k.rule.bytes) << 8 | static_cast<std::uint64_t>(k.rule.space) << 2 |
      static_cast<std::uint64_t>(k.rule.atomic) << 1 | static_cast<std::uint64_t>(k.rule.physical));
  return h;
}

}  // namespace kernelcast
