// The chart of a run on the cycle-level SM: a row for each warp, a letter for each cycle.
#include "report/sm_views.h"

#include <gtest/gtest.h>

namespace {

using namespace kernelcast;

sm::Views two_warps() {
  sm::Views v;
  v.launch.warps_per_block = 2;
  v.result.cycles = 12;
  v.result.warp_instructions = 2;
  v.by_warp.resize(2);
  v.timeline.push_back({4, 0, 0, 0, -1, false, 1, 0});
  v.spans = {{0, 4, 0, sm::Stall::fetch},  {0, 5, 1, sm::Stall::fetch},      {4, 1, 0, sm::Stall::issued},
             {5, 1, 1, sm::Stall::issued}, {5, 3, 0, sm::Stall::dependency}, {6, 6, 1, sm::Stall::barrier}};
  return v;
}

TEST(SmViewsText, DrawsEachWarpFromTheFirstIssueOn) {
  Device device;
  device.name = "a device";
  const std::string text = report::sm_views_text(device, two_warps(), report::Style(false));
  EXPECT_NE(text.find("a device: 1 block of 2 warps on one SM\n"), std::string::npos) << text;
  EXPECT_NE(text.find("warp  cycles from 4 on\n   0  #ddd\n   1  f#bbbbbb\n"), std::string::npos) << text;
  EXPECT_NE(text.find("# issued, f fetch, c control, d dependency"), std::string::npos) << text;
}

TEST(SmViewsText, SaysWhatItLeavesOut) {
  sm::Views v = two_warps();
  v.by_warp.resize(64);
  const std::string text = report::sm_views_text(Device{}, v, report::Style(false));
  EXPECT_NE(text.find("the first 32 of 64 warps"), std::string::npos) << text;
}

}  // namespace
