// Clocks and power limits in place of a device file's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernelcast/device.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"

namespace kernelcast {
namespace {

using KField = kernelcast::Field;
using testing::HasSubstr;

Device named(const char* name, const OperatingPoint& point = {}) {
  DeviceCatalog catalog(std::string(KERNELCAST_SOURCE_DIR) + "/devices");
  catalog.run_at(point);
  return catalog.find(name);
}

std::string refusal(const char* clock, const char* watts) {
  try {
    static_cast<void>(operating_point(clock, watts));
  } catch (const UsageError& e) {
    return plain_text(e.what());
  }
  return "taken";
}

TEST(OperatingPoint, Spellings) {
  EXPECT_EQ(operating_point("1.41e9", "").clock_hz, 1.41e9);
  EXPECT_EQ(operating_point("1410MHz", "").clock_hz, 1.41e9);
  EXPECT_EQ(operating_point("1.5GHz", "").clock_hz, 1.5e9);
  EXPECT_EQ(operating_point("base", "").clock, OperatingPoint::Clock::base);
  EXPECT_EQ(operating_point("boost", "").clock, OperatingPoint::Clock::boost);
  EXPECT_EQ(operating_point("", "").clock, OperatingPoint::Clock::automatic);
  EXPECT_EQ(operating_point("", "350").power_limit_w, 350);
  EXPECT_EQ(operating_point("", "350W").power_limit_w, 350);
}

TEST(OperatingPoint, WhatIsNone) {
  for (const char* clock : {"1", "1e11", "fast", "1.4gHz", "1.4 GHz", "nan", "-1e9", "inf"})
    EXPECT_THAT(refusal(clock, ""), HasSubstr("clock " + std::string(clock) + ": expected base, boost or")) << clock;
  for (const char* watts : {"0", "-3", "much", "6000", "nan", "300mW"})
    EXPECT_THAT(refusal("", watts), HasSubstr("power_limit " + std::string(watts) + ": expected 1 to 5000 W")) << watts;
  EXPECT_THAT(refusal("base", "300"), HasSubstr("clock and power_limit both set the clock"));
}

TEST(OperatingPoint, AClockTakesUnitsAndL2AndLeavesDram) {
  const Device filed = named("a100"), slow = named("a100", operating_point("705MHz", ""));
  EXPECT_EQ(slow.get(KField::clock_boost_clock_hz), 7.05e8);
  EXPECT_EQ(slow.get(KField::clock_sustained_clock_hz), 7.05e8);
  EXPECT_EQ(slow.get(KField::clock_boosts_beyond_rating), 0);
  EXPECT_DOUBLE_EQ(*slow.get(KField::memory_l2_bandwidth_bytes_per_s),
                   *filed.get(KField::memory_l2_bandwidth_bytes_per_s) / 2);
  EXPECT_EQ(slow.get(KField::memory_dram_bandwidth_bytes_per_s), filed.get(KField::memory_dram_bandwidth_bytes_per_s));
  EXPECT_EQ(slow.get(KField::memory_l2_latency_cycles), filed.get(KField::memory_l2_latency_cycles));
  const double behind = *filed.get(KField::memory_dram_latency_cycles) - *filed.get(KField::memory_l2_latency_cycles);
  EXPECT_DOUBLE_EQ(*slow.get(KField::memory_dram_latency_cycles),
                   *filed.get(KField::memory_l2_latency_cycles) + behind / 2);
  EXPECT_EQ(named("a100", operating_point("base", "")).get(KField::clock_boost_clock_hz),
            filed.get(KField::clock_base_clock_hz));
}

TEST(OperatingPoint, APowerLimitNeedsWhatWorkDraws) {
  EXPECT_EQ(named("h100", operating_point("", "350")).get(KField::system_tdp_w), 350);
  EXPECT_THROW(named("a100", operating_point("", "250")), UsageError);  // nothing is known of it
  EXPECT_THROW(named("h100", operating_point("", "70")), UsageError);   // what it draws when idle
}

TEST(OperatingPoint, CpusStayAsTheyAre) {
  const Device filed = named("amd-epyc-7742"), other = named("amd-epyc-7742", operating_point("1e9", ""));
  EXPECT_EQ(other.get(KField::clock_boost_clock_hz), filed.get(KField::clock_boost_clock_hz));
}

}  // namespace
}  // namespace kernelcast
