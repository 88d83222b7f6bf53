// Runs of bytes against the count by definition, lane by lane.
#include "profile/warp_runs.h"

#include <gtest/gtest.h>
// rapidcheck/gtest.h needs gtest first
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace kernelcast::warp_runs_test {
namespace {

const double certain = 1;

/// Both counts at every shift within a period.
void compare(const LaneSet& set, const std::vector<std::int64_t>& addresses, int bytes, const MemoryGeometry& g) {
  const RequestRule rule{MemorySpace::global, false, false, bytes};
  const std::int64_t period = shift_period(rule, g);
  const WarpRuns runs(set, addresses, bytes, period, g.warp_size, g.l1_banks > 0 ? &g : nullptr);
  const WarpRuns parts(set, addresses, bytes, period, lanes_of_part(g.warp_size, bytes));
  for (std::int64_t shift = 0; shift < period; ++shift) {
    const RequestCost quick = runs.at(shift, g);
    const RequestCost slow = count_requests(rule, g, set, addresses, shift, std::span(&certain, 1));
    RC_ASSERT(quick.sectors == slow.sectors);
    RC_ASSERT(quick.segments == slow.segments);
    RC_ASSERT((g.l1_banks > 0 ? quick.bank_passes : parts.at(shift, g).segments) == slow.bank_passes);
  }
}

MemoryGeometry geometry() {
  MemoryGeometry g;
  g.warp_size = *rc::gen::element(4, 32, 64);
  g.sector_bytes = *rc::gen::element(8, 24, 32);
  g.segment_bytes = *rc::gen::element(24, 32, 128);
  g.l1_banks = *rc::gen::element(0, 0, 8, 32);
  g.l1_tags = *rc::gen::element(0, 4);
  g.l1_tag_banks = *rc::gen::element(0, 4);
  return g;
}

std::vector<std::uint64_t> some_of(std::vector<std::uint64_t> bits) {
  for (std::uint64_t& w : bits)
    w &= *rc::gen::element<std::uint64_t>(~0ULL, 0xaaaaaaaaaaaaaaaaULL, 0xf0ULL, 0ULL, 1ULL);
  return bits;
}

RC_GTEST_PROP(WarpRuns, CountWhatLanesCount, ()) {
  const MemoryGeometry g = geometry();
  LaneTables tables(g.warp_size);
  const Dim3 size{*rc::gen::inRange(1, 20), *rc::gen::inRange(1, 6), *rc::gen::inRange(1, 3)};
  const BlockLanes& block = tables.block(size);
  const auto full = tables.full_bits(block);
  const LaneSet& set = tables.intern(block, some_of({full.begin(), full.end()}));
  RC_PRE(set.lanes > 0);
  const std::array<std::int64_t, 3> stride{*rc::gen::inRange(-40, 40), *rc::gen::inRange(-300, 300),
                                           *rc::gen::inRange(-300, 300)};
  std::vector<std::int64_t> addresses;
  for (std::size_t t = 0; t < block.threads; ++t)
    addresses.push_back(stride[0] * block.id[0][t] + stride[1] * block.id[1][t] + stride[2] * block.id[2][t]);
  compare(set, addresses, *rc::gen::element(1, 4, 8, 16), g);
}

RC_GTEST_PROP(WarpRuns, AddressesMayBeInAnyOrder, ()) {
  const MemoryGeometry g = geometry();
  LaneTables tables(g.warp_size);
  const BlockLanes& block = tables.block({*rc::gen::inRange(1, 100), 1, 1});
  const auto full = tables.full_bits(block);
  const LaneSet& set = tables.intern(block, full);
  const auto addresses =
      *rc::gen::container<std::vector<std::int64_t>>(block.threads, rc::gen::inRange<std::int64_t>(-500, 500));
  compare(set, addresses, *rc::gen::element(1, 3, 4, 16), g);
}

}  // namespace
}  // namespace kernelcast::warp_runs_test
