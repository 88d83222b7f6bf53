// The grid from --grid, --global, or the extents of a loop nest.
#include "forecast/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernelcast/error.h"

namespace kernelcast {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

struct Case {
  ForecastQuestion request;
  KernelProfile profile;
  Launch launch;

  Case() {
    request.source.language = Language::opencl;
    launch.block = {16, 4, 1};
  }
  std::vector<Assumption> run() { return set_grid(request, profile, launch); }
};

TEST(SetGrid, TakesTheGridAsItIs) {
  Case c;
  c.request.grid = Dim3{3, 5, 7};
  EXPECT_THAT(c.run(), IsEmpty());
  EXPECT_EQ(c.launch.grid, (Dim3{3, 5, 7}));
}

TEST(SetGrid, DividesTheGlobalSize) {
  Case c;
  c.request.global = Dim3{64, 8, 1};
  EXPECT_THAT(c.run(), IsEmpty());
  EXPECT_EQ(c.launch.grid, (Dim3{4, 2, 1}));
}

TEST(SetGrid, OldOpenClNeedsMultiples) {
  Case c;
  c.request.global = Dim3{65, 8, 1};
  EXPECT_THROW(c.run(), UsageError);
  c.request.source.standard = "CL1.2";
  EXPECT_THROW(c.run(), UsageError);
  c.request.source.language = Language::cuda;
  c.request.source.standard = "c++17";
  EXPECT_THROW(c.run(), UsageError);
}

TEST(SetGrid, OpenCl2RoundsUpAndSaysSo) {
  Case c;
  c.request.global = Dim3{65, 8, 1};
  c.request.source.standard = "CL2.0";
  EXPECT_THAT(c.run(), SizeIs(1));
  EXPECT_EQ(c.launch.grid, (Dim3{5, 2, 1}));
}

TEST(SetGrid, ALoopNestBringsItsExtents) {
  Case c;
  c.request.source.language = Language::c;
  c.profile.mapped_axes = 2;
  EXPECT_THROW(c.run(), UsageError);  // extents that the front end does not know
  c.profile.mapped_extent = {Expr(argument("columns")), Expr(argument("rows"))};
  EXPECT_THROW(c.run(), UsageError);  // values are missing
  c.launch.args["columns"] = std::int64_t{100};
  c.launch.args["rows"] = std::int64_t{8};
  EXPECT_THAT(c.run(), SizeIs(1));
  EXPECT_EQ(c.launch.grid, (Dim3{7, 2, 1}));
}

TEST(SetGrid, AKernelNeedsOneOrTheOther) {
  Case c;
  EXPECT_THROW(c.run(), UsageError);
}

}  // namespace
}  // namespace kernelcast
