// Our stand-in for CUB under the interpreter, for warps of 32 and 64 lanes, against sums of the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>

#include "engines/execute/interpreter.h"

namespace kernelcast::agreement {
namespace {

constexpr int threads_of_block = 192, blocks = 3, valid = 130;

template <class T>
std::vector<T> read_as(const std::vector<unsigned char>& bytes) {
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

struct Pair {
  std::int64_t low_and_padding;
  double high;
  [[nodiscard]] int low() const { return static_cast<int>(low_and_padding & 0xffffffff); }
};

Analysis analyzed(const char* kernel, const char* target) {
  std::ifstream in(KERNELCAST_SOURCE_DIR "/test/engines/execute/kernels/blocks.cu");
  std::stringstream text;
  text << in.rdbuf();
  Source source;
  source.path = "blocks.cu";
  source.text = text.str();
  FrontendOptions options;
  options.kernel = kernel;
  options.target = target;
  options.program = true;
  return analyze(source, options);
}

void expect_sums(const char* target, int width) {
  const Analysis analysis = analyzed("blocks", target);
  restart_random();
  const Argument input = uniform<int>(threads_of_block * blocks, -1000, 1000);
  const std::vector<int> v = read_as<int>(input.bytes);
  const Case c{"blocks",
               {blocks, 1, 1},
               {48, 4, 1},
               {input, filled<int>(2 * blocks), filled<int>(2 * threads_of_block * blocks),
                filled<int>(threads_of_block * blocks / 8), filled<double>(2 * blocks), scalar<int>(valid)}};
  const auto buffers = interpret(c, analysis, width, false);
  const std::vector<int> sums = read_as<int>(buffers.at(1)), scans = read_as<int>(buffers.at(2)),
                         warps = read_as<int>(buffers.at(3));
  const std::vector<Pair> pairs = read_as<Pair>(buffers.at(4));
  for (int b = 0; b < blocks; ++b) {
    const auto begin = v.begin() + b * threads_of_block, end = begin + threads_of_block;
    const auto block = static_cast<std::size_t>(b);
    EXPECT_EQ(sums[2 * block], std::accumulate(begin, end, 0)) << target;
    EXPECT_EQ(sums[2 * block + 1], *std::max_element(begin, begin + valid)) << target;
    EXPECT_EQ(pairs[block].low(), *std::min_element(begin, end)) << target;
    EXPECT_DOUBLE_EQ(pairs[block].high, 0.5 * std::accumulate(begin, end, 0)) << target;
    for (auto at = begin; at != end; ++at) {
      const auto i = static_cast<std::size_t>(at - v.begin());
      ASSERT_EQ(scans[2 * i], std::accumulate(begin, at, 0)) << target << " " << i;
      ASSERT_EQ(scans[2 * i + 1], *std::max_element(begin, at + 1)) << target << " " << i;
      if (i % 8 == 0) {
        ASSERT_EQ(warps[i / 8], std::accumulate(at, at + 8, 0)) << target << " " << i;
      }
    }
  }
}

void expect_scans_of_items(const char* target, int width) {
  const Analysis analysis = analyzed("items", target);
  restart_random();
  constexpr int items_of_block = 2 * threads_of_block;
  const Argument input = uniform<int>(items_of_block * blocks, -1000, 1000);
  const std::vector<int> v = read_as<int>(input.bytes);
  const Case c{"items",
               {blocks, 1, 1},
               {48, 4, 1},
               {input, filled<int>(2 * items_of_block * blocks), filled<int>(threads_of_block * blocks),
                filled<int>(items_of_block * blocks)}};
  const auto buffers = interpret(c, analysis, width, false);
  const std::vector<int> scans = read_as<int>(buffers.at(1)), totals = read_as<int>(buffers.at(2)),
                         eights = read_as<int>(buffers.at(3));
  for (int i = 0; i < items_of_block * blocks; ++i) {
    const auto begin = v.begin() + i / items_of_block * items_of_block, at = v.begin() + i;
    ASSERT_EQ(scans.at(2 * i), std::accumulate(begin, at, 0)) << target << " " << i;
    ASSERT_EQ(scans.at(2 * i + 1), *std::max_element(begin, at + 1)) << target << " " << i;
    if (i % 2 == 0) {
      const auto first = v.begin() + i / 16 * 16;
      int before = 0, all = 0;
      for (auto lane = first; lane != first + 16; lane += 2) {
        if (lane < at) before += *lane;
        all += *lane;
      }
      ASSERT_EQ(eights.at(i), before) << target << " " << i;
      ASSERT_EQ(eights.at(i + 1), all) << target << " " << i;
    }
    ASSERT_EQ(totals.at(i / 2), std::accumulate(begin, begin + items_of_block, 0)) << target << " " << i;
  }
}

TEST(BlockFunctions, AddUpOnWarpsOf32) { expect_sums("sm_70", 32); }
TEST(BlockFunctions, AddUpOnWarpsOf64) { expect_sums("gfx90a", 64); }
TEST(BlockFunctions, ScanItemsOnWarpsOf32) { expect_scans_of_items("sm_70", 32); }
TEST(BlockFunctions, ScanItemsOnWarpsOf64) { expect_scans_of_items("gfx90a", 64); }

}  // namespace
}  // namespace kernelcast::agreement
