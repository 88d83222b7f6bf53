// Passes and sectors of random requests against a count by sets.
#include "execute/request_count.h"

#include <set>

namespace kernelcast::interpreter {
namespace {

struct LaneRequest {
  std::vector<std::uint64_t> at;
  std::uint64_t active = 0;
};

LaneRequest random_request(int width, std::uint64_t places, std::uint64_t unit) {
  LaneRequest r;
  r.active = *rc::gen::nonZero<std::uint64_t>();
  if (width < 64) r.active &= (std::uint64_t{1} << width) - 1;
  if (r.active == 0) r.active = 1;
  for (int l = 0; l < 64; ++l) r.at.push_back(*rc::gen::inRange<std::uint64_t>(0, places) * unit);
  return r;
}

// Lanes are served in parts that could at best be served at once; a bank serves one word after the other.
double passes_by_sets(const LaneRequest& r, const MemoryGeometry& g, int bytes, bool atomic) {
  const int lanes = std::min(g.warp_size, g.shared_banks);
  const int part = bytes > g.bank_bytes ? std::max(1, lanes * g.bank_bytes / bytes) : lanes;
  double passes = 0;
  for (int first = 0; first < g.warp_size; first += part) {
    std::map<std::int64_t, std::multiset<std::int64_t>> of_bank;
    for (int l = first; l < std::min(first + part, g.warp_size); ++l) {
      if ((r.active >> l & 1U) == 0) continue;
      const auto at = static_cast<std::int64_t>(r.at[static_cast<std::size_t>(l)]);
      for (std::int64_t w = at / g.bank_bytes; w <= (at + bytes - 1) / g.bank_bytes; ++w)
        of_bank[w % g.shared_banks].insert(w);
    }
    std::size_t most = 0;
    for (const auto& [bank, words] : of_bank)
      most = std::max(most, atomic ? words.size() : std::set(words.begin(), words.end()).size());
    passes += static_cast<double>(most);
  }
  return passes;
}

RC_GTEST_PROP(RequestCounter, SharedMemoryPassesAreWordsOfTheBusiestBank, ()) {
  MemoryGeometry g;
  g.warp_size = *rc::gen::element(16, 32, 64);
  g.shared_banks = *rc::gen::element(16, 32, 64);
  g.bank_bytes = *rc::gen::element(4, 8);
  const int bytes = *rc::gen::element(1, 2, 4, 8, 16);
  const auto places = static_cast<std::uint64_t>(*rc::gen::element(1, 7, 64, 4096));
  const bool atomic = *rc::gen::arbitrary<bool>();
  RequestCounter counter(g);
  for (int again = 0; again < 3; ++again) {
    const LaneRequest r = random_request(g.warp_size, places, static_cast<std::uint64_t>(bytes));
    AccessCount out;
    counter.shared(r.at.data(), r.active, bytes, atomic ? AccessKind::atomic : AccessKind::store, out);
    RC_ASSERT(out.bank_passes == passes_by_sets(r, g, bytes, atomic));
  }
}

TEST(RequestCounter, WideLoadsOfPairsTakeHalfThePasses) {
  MemoryGeometry g;
  g.shared_pairs = 1;
  const auto passes = [&g](int bytes, AccessKind kind, auto address) {
    RequestCounter counter(g);
    std::uint64_t at[64] = {};
    for (std::uint64_t lane = 0; lane < 32; ++lane) at[lane] = address(lane);
    AccessCount out;
    counter.shared(at, 0xffffffff, bytes, kind, out);
    return out.bank_passes;
  };
  const auto one = [](std::uint64_t) { return std::uint64_t{64}; };
  const auto neighbours = [](std::uint64_t lane) { return lane / 2 * 16; };
  const auto crossed = [](std::uint64_t lane) { return (lane & ~std::uint64_t{2}) * 16; };
  const auto modulo = [](std::uint64_t lane) { return lane % 4 * 16; };  // lanes n and n + 4
  for (const auto kind : {AccessKind::load, AccessKind::store}) {
    const double of_16 = kind == AccessKind::load ? 2 : 4, of_8 = kind == AccessKind::load ? 1 : 2;
    EXPECT_EQ(passes(16, kind, one), of_16);
    EXPECT_EQ(passes(16, kind, neighbours), of_16);
    EXPECT_EQ(passes(8, kind, one), of_8);
  }
  EXPECT_EQ(passes(16, AccessKind::load, crossed), 4) << "two words a bank in each half";
  EXPECT_EQ(passes(16, AccessKind::load, modulo), 4);
  EXPECT_EQ(passes(4, AccessKind::load, one), 1);
  g.shared_pairs = 0;
  EXPECT_EQ(passes(16, AccessKind::load, one), 4);
}

RC_GTEST_PROP(RequestCounter, GlobalSectorsAreDistinct, ()) {
  const MemoryGeometry g;
  const int bytes = *rc::gen::element(1, 4, 8, 16);
  const auto places = static_cast<std::uint64_t>(*rc::gen::element(1, 40, 100000));
  const LaneRequest r = random_request(g.warp_size, places, *rc::gen::element<std::uint64_t>(1, 4, 16));
  std::set<std::uint64_t> sectors, segments;
  std::set<std::pair<int, std::uint64_t>> in_parts;  // half-warps for 8 bytes, quarters for 16
  double lanes = 0;
  for (int l = 0; l < g.warp_size; ++l) {
    if ((r.active >> l & 1U) == 0) continue;
    lanes += 1;
    for (int b = 0; b < bytes; ++b) {
      const std::uint64_t at = r.at[static_cast<std::size_t>(l)] + static_cast<std::uint64_t>(b);
      sectors.insert(at / static_cast<std::uint64_t>(g.sector_bytes));
      segments.insert(at / static_cast<std::uint64_t>(g.segment_bytes));
      in_parts.emplace(bytes <= 4 ? 0 : l / (128 / bytes), at / static_cast<std::uint64_t>(g.segment_bytes));
    }
  }
  RequestCounter counter(g);
  AccessCount out;
  counter.global(r.at.data(), r.active, bytes, out);
  RC_ASSERT(out.lanes == lanes);
  RC_ASSERT(out.bytes == lanes * bytes);
  RC_ASSERT(out.words == lanes * (bytes < 4 ? 1 : bytes / 4));
  RC_ASSERT(out.sectors == static_cast<double>(sectors.size()));
  RC_ASSERT(out.segments == static_cast<double>(segments.size()));
  RC_ASSERT(out.bank_passes == static_cast<double>(in_parts.size()));
  RC_ASSERT(std::vector<std::uint64_t>(sectors.begin(), sectors.end()) == counter.sectors());
}

}  // namespace
}  // namespace kernelcast::interpreter
