#include "io/nearest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace kernelcast {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Nearest, DistanceOfKnownPairs) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("sgemm", "segmm"), 1U);  // a swap
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);       // no piece is edited twice
}

// The definition, by recursion.
std::size_t slow_distance(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const std::string a1 = a.substr(1), b1 = b.substr(1);
  std::size_t best =
      std::min({slow_distance(a1, b) + 1, slow_distance(a, b1) + 1, slow_distance(a1, b1) + (a[0] == b[0] ? 0 : 1)});
  if (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0]) {
    best = std::min(best, slow_distance(a.substr(2), b.substr(2)) + 1);
  }
  return best;
}

RC_GTEST_PROP(NearestProperty, DistanceIsTheFewestEdits, ()) {
  const auto word = [] {
    std::string s(*rc::gen::inRange<std::size_t>(0, 6), 'a');
    for (char& c : s) c = static_cast<char>('a' + *rc::gen::inRange(0, 3));
    return s;
  };
  const std::string a = word(), b = word();
  RC_ASSERT(edit_distance(a, b) == slow_distance(a, b));
  RC_ASSERT(edit_distance(a, b) == edit_distance(b, a));
}

TEST(Nearest, KeysIgnoreCaseAndPunctuation) {
  EXPECT_EQ(name_key("NVIDIA GeForce GTX-280"), "nvidiageforcegtx280");
  EXPECT_EQ(name_key("--- "), "");
}

TEST(Nearest, BestFirstAndOnlyWhatIsNear) {
  const std::vector<std::string> kernels = {"MM_Global", "MM_Local", "prefix_sum", "stencil"};
  EXPECT_THAT(nearest_names("mm-globl", kernels), ElementsAre("MM_Global"));
  EXPECT_THAT(nearest_names("mmlocal", kernels), ElementsAre("MM_Local", "MM_Global"));
  EXPECT_THAT(nearest_names("zzz", kernels), IsEmpty());
  EXPECT_THAT(nearest_names("", kernels), IsEmpty());
  EXPECT_THAT(nearest_names("sum", kernels), ElementsAre("prefix_sum"));  // a part of the name
}

TEST(Nearest, LimitAndDuplicates) {
  const std::vector<std::string> names = {"gtx285", "gtx280", "gtx280", "gtx275", "gtx260"};
  EXPECT_THAT(nearest_names("gtx28O", names), ElementsAre("gtx280", "gtx285", "gtx260"));
  EXPECT_THAT(nearest_names("gtx28O", names, 1), ElementsAre("gtx280"));
  EXPECT_THAT(nearest_names("gtx28O", names, 0), IsEmpty());
}

TEST(Nearest, LongNonsenseIsFast) {
  const std::vector<std::string> names(100, "some_kernel_name");
  EXPECT_THAT(nearest_names(std::string(1000000, 'q'), names), IsEmpty());
}

}  // namespace
}  // namespace kernelcast
