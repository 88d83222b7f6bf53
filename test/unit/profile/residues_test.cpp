// Residue counts and canonical strides against enumeration.
#include <gtest/gtest.h>
// rapidcheck/gtest.h needs gtest first
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "profile/residues.h"
#include "profile/warp_request.h"

namespace kernelcast {
namespace {

template <class T>
T pick(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}

template <class T = int>
T between(T low, T high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(low, high + 1));
}

RC_GTEST_PROP(ResidueCounts, AgreeWithEnumeration, ()) {
  const auto modulus = pick<std::int64_t>({1, 2, 4, 32, 128, 12, 96});
  const auto base = between<std::int64_t>(-300, 300);
  std::vector<Progression> progressions;
  const int n = between(0, 4);
  for (int i = 0; i < n; ++i)
    progressions.push_back(
        {between<std::int64_t>(-200, 200) * pick<std::int64_t>({1, 4, 16}), between<std::int64_t>(1, 40)});
  std::map<std::int64_t, double> want{{residue_of(base, modulus), 1.0}};
  for (const auto& p : progressions) {
    std::map<std::int64_t, double> next;
    for (const auto& [r, count] : want)
      for (std::int64_t k = 0; k < p.count; ++k) next[((r + p.step * k) % modulus + modulus) % modulus] += count;
    want = next;
  }
  ResidueCounts counts;
  std::map<std::int64_t, double> got;
  for (const auto& e : counts.count(base, modulus, progressions)) got[e.residue] += e.count;
  RC_ASSERT(got == want);
}

RC_GTEST_PROP(CanonicalStride, ChangesNoCount, ()) {
  const MemoryGeometry g{pick({32, 64}), pick({32, 64, 48}), pick({64, 128}), pick({16, 32}), pick({4, 8})};
  LaneTables tables(g.warp_size);
  const BlockLanes& block = tables.block(pick<Dim3>({{16, 16, 1}, {7, 5, 2}, {4, 4, 4}, {40, 1, 1}, {3, 1, 30}}));
  std::vector<std::uint64_t> bits(tables.full_bits(block).begin(), tables.full_bits(block).end());
  for (auto& w : bits) w &= *rc::gen::arbitrary<std::uint64_t>();
  const LaneSet& set = tables.intern(block, bits);
  const RequestRule rule{pick({MemorySpace::global, MemorySpace::shared, MemorySpace::local, MemorySpace::constant}),
                         pick({false, true}), pick({false, true}), pick({1, 4, 8, 16})};
  const auto any_stride = [] { return between<std::int64_t>(-40, 40) * pick<std::int64_t>({1, 4, 100, 512, 4096}); };
  const std::array<std::int64_t, 3> stride{any_stride(), any_stride(), any_stride()};
  const auto other = canonical_stride(rule, g, block, stride);
  const auto shift = between<std::int64_t>(0, 256);
  const auto cost = [&](const std::array<std::int64_t, 3>& s) {
    std::vector<std::int64_t> a(block.threads);
    for (std::size_t t = 0; t < a.size(); ++t)
      a[t] = s[0] * block.id[0][t] + s[1] * block.id[1][t] + s[2] * block.id[2][t];
    const double certain = 1;
    return count_requests(rule, g, set, a, shift, std::span(&certain, 1));
  };
  const RequestCost x = cost(stride), y = cost(other);
  RC_ASSERT(x.sectors == y.sectors);
  RC_ASSERT(x.segments == y.segments);
  RC_ASSERT(x.bank_passes == y.bank_passes);
}

}  // namespace
}  // namespace kernelcast
