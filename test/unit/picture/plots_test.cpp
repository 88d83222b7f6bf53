// What-if grid, roofline and residency on one real device file.
#include <gtest/gtest.h>

#include <cmath>

#include "kernelcast/bind.h"
#include "kernelcast/model.h"
#include "picture/residency.h"
#include "picture/roofline_points.h"
#include "picture/what_if_grid.h"
#include "support/copy_profile.h"

namespace kernelcast::picture {
namespace {

struct OnV100 {
  Device device = DeviceCatalog(KERNELCAST_SOURCE_DIR "/devices").find("v100");
  const Model& model = model_named("kernelcast");
  KernelProfile profile = test::copy_profile();
  Launch launch = [] {
    Launch l;
    l.grid = {4096, 1, 1};
    l.block = {128, 1, 1};
    l.args["n"] = std::int64_t{4096 * 128};
    l.args["rounds"] = std::int64_t{3};
    return l;
  }();
  Workload workload = Binder(profile, device.geometry()).bind(launch);
};

std::size_t point(const WhatIfGrid& g, const std::vector<std::size_t>& at) {
  std::size_t k = 0;
  for (std::size_t i = 0; i < g.axes.size(); ++i) k = k * g.axes[i].values.size() + at[i];
  return k;
}

TEST(WhatIf, EveryPointIsTheModelsAnswer) {
  const OnV100 c;
  const WhatIfGrid g = what_if_grid(c.profile, c.workload, c.launch, c.device, c.model, true, "");
  std::vector<std::size_t> base;
  std::size_t points = 1;
  for (const Axis& a : g.axes) {
    base.push_back(a.base);
    points *= a.values.size();
  }
  ASSERT_EQ(g.seconds.size(), points);
  ASSERT_EQ(g.limiter.size(), points);
  const double now = c.model.seconds(c.workload, c.device);
  EXPECT_FLOAT_EQ(g.seconds[point(g, base)], static_cast<float>(now));
  // Twice the bandwidth, by hand.
  std::vector<std::size_t> fast = base;
  fast[3] = g.axes[3].values.size() - 1;
  ASSERT_EQ(g.axes[3].name, "bandwidth");
  Device faster = c.device;
  for (const Field f : {Field::memory_dram_bandwidth_bytes_per_s, Field::memory_sustained_dram_bandwidth_bytes_per_s})
    if (auto& v = faster.values[static_cast<std::size_t>(f)].value) *v *= g.axes[3].values.back();
  EXPECT_FLOAT_EQ(g.seconds[point(g, fast)], static_cast<float>(c.model.seconds(c.workload, faster)));
  // Another block size: the launch bound again.
  std::vector<std::size_t> wide = base;
  wide[0] = g.axes[0].values.size() - 1;
  ASSERT_EQ(g.axes[0].values.back(), 1024);
  Launch other = c.launch;
  other.block.x = 1024;
  other.grid.x = 512;
  EXPECT_FLOAT_EQ(g.seconds[point(g, wide)],
                  static_cast<float>(c.model.seconds(Binder(c.profile, c.device.geometry()).bind(other), c.device)));
}

TEST(WhatIf, AFixedBlockHasOneValueAndTheReason) {
  const OnV100 c;
  const WhatIfGrid g = what_if_grid(c.profile, c.workload, c.launch, c.device, c.model, false, "why");
  EXPECT_EQ(g.axes[0].values, std::vector<double>{128});
  EXPECT_EQ(g.axes[0].note, "why");
}

TEST(Roofline, LevelsMoveNoMoreThanTheOneAbove) {
  const OnV100 c;
  const Roofline r = roofline_of(c.workload, c.device, 16);
  ASSERT_GE(r.memory.size(), 3U);
  for (std::size_t i = 1; i < r.memory.size() && r.memory[i].name != "shared memory"; ++i)
    EXPECT_LE(r.memory[i].amount, r.memory[i - 1].amount * (1 + 1e-9)) << r.memory[i].name;
  for (const Use& u : r.memory) EXPECT_GT(u.peak, 0);
  double total = 0;
  for (const Use& u : r.compute) total += u.amount;
  EXPECT_DOUBLE_EQ(total, r.total);
}

TEST(Residency, TheCurvesGoThroughTheKernelsPlace) {
  const OnV100 c;
  const Residency r = residency_of(c.workload, c.device);
  ASSERT_EQ(r.curves.size(), 3U);
  EXPECT_EQ(r.most_warps, 64);
  for (const ResidencyCurve& curve : r.curves) {
    ASSERT_EQ(curve.at.size(), curve.warps.size());
    ASSERT_EQ(curve.at.size(), curve.limiters.size());
    const auto here = std::find(curve.at.begin(), curve.at.end(), curve.here);
    ASSERT_NE(here, curve.at.end()) << curve.of;
    // The grid fills the device, so that the curve is what the launch has.
    EXPECT_DOUBLE_EQ(curve.warps[static_cast<std::size_t>(here - curve.at.begin())],
                     occupancy(c.workload, c.device).warps_per_unit)
        << curve.of;
    for (const double w : curve.warps) EXPECT_LE(w, r.most_warps);
  }
  // More registers or shared memory never let more warps in.
  for (const std::size_t k : {1U, 2U})
    for (std::size_t i = 1; i < r.curves[k].warps.size(); ++i)
      EXPECT_LE(r.curves[k].warps[i], r.curves[k].warps[i - 1]);
}

}  // namespace
}  // namespace kernelcast::picture
