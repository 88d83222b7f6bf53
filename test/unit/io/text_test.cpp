#include "io/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace kernelcast {
namespace {

TEST(Text, Seconds) {
  EXPECT_EQ(format_seconds(0.0123), "12.3 ms");
  EXPECT_EQ(format_seconds(4.19e-6), "4.19 us");
  EXPECT_EQ(format_seconds(1), "1 s");
  EXPECT_EQ(format_seconds(59.94), "59.9 s");
  EXPECT_EQ(format_seconds(90), "1.5 min");
  EXPECT_EQ(format_seconds(5400), "1.5 h");
  EXPECT_EQ(format_seconds(1e7), "2780 h");
  EXPECT_EQ(format_seconds(0), "0 s");
  EXPECT_EQ(format_seconds(-0.002), "-2 ms");
}

TEST(Text, RoundingMovesToTheNextPrefix) {
  EXPECT_EQ(format_seconds(999.96e-6), "1 ms");
  EXPECT_EQ(format_seconds(999.4e-6), "999 us");
  EXPECT_EQ(format_bytes(999999), "1 MB");
}

TEST(Text, OtherUnits) {
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(4.194e9), "4.19 GB");
  EXPECT_EQ(format_bandwidth(141.7e9), "141.7 GB/s");
  EXPECT_EQ(format_hertz(1.296e9), "1.3 GHz");
  EXPECT_EQ(format_percent(0.7534), "75.3 %");
  EXPECT_EQ(format_percent(1), "100 %");
}

TEST(Plural, IsForAllButOne) {
  EXPECT_EQ(plural(1, "block"), "block");
  EXPECT_EQ(plural(0, "block"), "blocks");
  EXPECT_EQ(plural(1.5, "block"), "blocks");
  EXPECT_EQ(format_count_of(1, "thread"), "1 thread");
  EXPECT_EQ(format_count_of(65536, "thread"), "65,536 threads");
}

TEST(Text, Counts) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(65536), "65,536");
  EXPECT_EQ(format_count(-1234), "-1,234");
  EXPECT_EQ(format_count(4194304), "4.19 M");
  EXPECT_EQ(format_count(2.147e9), "2.15 G");
  EXPECT_EQ(format_count(1.5), "1.5");
  EXPECT_EQ(format_count(0.5), "500 m");
}

TEST(Text, WhatIsNoNumber) {
  EXPECT_EQ(format_seconds(std::nan("")), "unknown");
  EXPECT_EQ(format_percent(std::nan("")), "unknown");
  EXPECT_EQ(format_bytes(std::numeric_limits<double>::infinity()), "inf B");
  EXPECT_EQ(format_seconds(-std::numeric_limits<double>::infinity()), "-inf s");
}

TEST(Text, BeyondThePrefixes) {
  EXPECT_EQ(format_seconds(1e-21), "1e-21 s");
  EXPECT_EQ(format_bytes(1e22), "1e+22 B");
  EXPECT_EQ(format_bytes(5e20), "500 EB");
  EXPECT_EQ(format_bytes(std::numeric_limits<double>::max()), "1.8e+308 B");
  EXPECT_EQ(format_seconds(std::numeric_limits<double>::denorm_min()), "4.94e-324 s");
}

// The text is the number to the digits it promises.
RC_GTEST_PROP(TextProperty, ThreeDigitsAreRight, ()) {
  const double value = *rc::gen::inRange(1, 100000) * std::pow(10.0, *rc::gen::inRange(-15, 12));
  const std::string text = format_si(value, "s", 3);
  const std::size_t space = text.find(' ');
  RC_ASSERT(space != std::string::npos);
  double scale = 1;
  const std::string prefixes = "afpnum kMGTPE";
  if (text[space + 2] != '\0') scale = std::pow(10.0, (static_cast<double>(prefixes.find(text[space + 1])) - 6) * 3);
  const double shown = std::stod(text.substr(0, space));
  RC_ASSERT(std::abs(shown * scale - value) <= 0.00501 * value);
  RC_ASSERT(shown < 1000 && shown >= 1);
}

}  // namespace
}  // namespace kernelcast
