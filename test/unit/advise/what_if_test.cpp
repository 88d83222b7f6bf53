// Changes of counts by hand: what they touch, and that the model answers to it.
#include "advise/what_if.h"

#include <gtest/gtest.h>

#include <set>

#include "advise/find_advice.h"
#include "kernelcast/bind.h"
#include "kernelcast/model.h"
#include "support/copy_profile.h"

namespace kernelcast::advice {
namespace {

AccessCount strided(double requests, double sectors) {
  AccessCount c;
  c.requests = requests;
  c.lanes = 32 * requests;
  c.sectors = c.segments = sectors * requests;
  c.bank_passes = 32 * requests;
  c.bytes = 4 * c.lanes;
  return c;
}

TEST(Coalesced, FullWarpsOfFourBytesTakeFourSectors) {
  const AccessCount c = coalesced(strided(10, 32), 4, MemoryGeometry{});
  EXPECT_DOUBLE_EQ(c.sectors, 40);
  EXPECT_DOUBLE_EQ(c.segments, 10);
  EXPECT_DOUBLE_EQ(c.requests, 10);
  EXPECT_DOUBLE_EQ(c.bytes, 10 * 32 * 4);
}

TEST(Coalesced, NothingGetsMore) {
  const AccessCount one = strided(10, 1);  // broadcast
  EXPECT_DOUBLE_EQ(coalesced(one, 4, MemoryGeometry{}).sectors, 10);
  EXPECT_EQ(coalesced(AccessCount{}, 4, MemoryGeometry{}), AccessCount{});
}

struct CopyOnV100 {
  Device device = DeviceCatalog(KERNELCAST_SOURCE_DIR "/devices").find("v100");
  ForecastQuestion question;
  DeviceResult base;
  Frontend frontend;
  SourceLines sources;
  CopyOnV100() {
    auto profile = std::make_shared<KernelProfile>(test::copy_profile());
    Launch launch;
    launch.grid = {4096, 1, 1};
    launch.block = {128, 1, 1};
    launch.args["n"] = std::int64_t{4096 * 128};
    launch.args["rounds"] = std::int64_t{3};
    question.models = {&model_named("kernelcast")};
    question.launch = launch;
    base.device = device;
    base.launch = launch;
    base.workload = Binder(*profile, device.geometry()).bind(launch);
    base.profile = profile;
    base.models.push_back({"kernelcast", question.models[0]->estimate(*profile, *base.workload, device), ""});
  }
  [[nodiscard]] Subject subject() const { return {question, frontend, base, sources}; }
};

TEST(VariantForecast, NoChangeIsTheForecast) {
  const CopyOnV100 c;
  const auto same = forecast_variant(c.subject(), [](Variant&) {});
  ASSERT_TRUE(same);
  EXPECT_NEAR(same->seconds / *c.base.models[0].estimate->time_s.value, 1, 1e-9);
}

TEST(VariantForecast, MoreSectorsTakeLongerAndABlockThatDoesNotFitHasNone) {
  const CopyOnV100 c;
  const auto scattered = forecast_variant(c.subject(), [](Variant& v) {
    for (AccessCount& a : v.workload.access_counts) a.sectors *= 8;
  });
  ASSERT_TRUE(scattered);
  EXPECT_GT(scattered->seconds, *c.base.models[0].estimate->time_s.value);
  EXPECT_FALSE(forecast_variant(c.subject(), [](Variant& v) { v.workload.shared_bytes_per_block = 1e9; }));
}

TEST(AddUp, TotalsAreSumsOfParts) {
  const CopyOnV100 c;
  Variant v{*c.base.profile, *c.base.workload, c.base.launch};
  add_up(v);
  EXPECT_EQ(v.workload.warp_ops, c.base.workload->warp_ops);
  EXPECT_EQ(v.workload.at(MemorySpace::global, AccessKind::load),
            c.base.workload->at(MemorySpace::global, AccessKind::load));
  for (AccessCount& a : v.workload.access_counts) a.sectors *= 2;
  add_up(v);
  EXPECT_DOUBLE_EQ(v.workload.at(MemorySpace::global, AccessKind::load).sectors,
                   2 * c.base.workload->at(MemorySpace::global, AccessKind::load).sectors);
}

TEST(SpreadOver, TheSameWorkInOtherBlocks) {
  const CopyOnV100 c;
  Variant v{*c.base.profile, *c.base.workload, c.base.launch};
  const double sectors = v.workload.at(MemorySpace::global, AccessKind::load).sectors;
  spread_over(v, 2048);
  EXPECT_DOUBLE_EQ(v.workload.blocks, 2048);
  EXPECT_DOUBLE_EQ(v.workload.at(MemorySpace::global, AccessKind::load).sectors, sectors);
}

TEST(Rules, NamesAreUniqueAndFindingsAreGains) {
  std::set<std::string_view> names;
  for (const AdviceRule& r : all_rules()) EXPECT_TRUE(names.insert(r.name).second) << r.name;
  const CopyOnV100 c;
  for (const Advice& a : findings(c.subject(), {})) {
    EXPECT_GT(a.gain, 0) << a.rule;
    EXPECT_LT(a.changed_time_s, a.time_s) << a.rule;
    EXPECT_GE(a.gain_high, a.gain) << a.rule;
    EXPECT_LE(a.gain_low, a.gain) << a.rule;
  }
}

}  // namespace
}  // namespace kernelcast::advice
