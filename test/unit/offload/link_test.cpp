// LogGP: the formulas on paper, and the two ways of writing them against each other.
#include "kernelcast/offload.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "kernelcast/error.h"

namespace kernelcast::offload {
namespace {

TEST(OneWay, OneMessageIsLatencyOverheadAndBytes) {
  const LinkDirection d{.latency_s = 1e-6, .overhead_s = 9e-6, .gap_s = 5e-6, .s_per_byte = 1e-9};
  EXPECT_DOUBLE_EQ(one_way_s(d, std::vector<double>{1001}), 1e-5 + 1e-6);
}

TEST(OneWay, FurtherMessagesStartAGapApart) {
  const LinkDirection d{.latency_s = 1, .overhead_s = 2, .gap_s = 10, .s_per_byte = 0.5};
  EXPECT_DOUBLE_EQ(one_way_s(d, std::vector<double>{3, 5, 1}), 1 + 2 + (2 + 4 + 0) * 0.5 + 2 * 10);
}

TEST(OneWay, NothingToSendTakesNoTime) { EXPECT_EQ(one_way_s({1, 1, 1, 1}, {}), 0); }

TEST(OneWay, SmallMessagesMoveEagerly) {
  const LinkDirection d{.s_per_byte = 4, .eager_bytes = 100, .eager_s_per_byte = 1};
  EXPECT_DOUBLE_EQ(one_way_s(d, std::vector<double>{100}), 99);
  EXPECT_DOUBLE_EQ(one_way_s(d, std::vector<double>{101}), 400);
}

RC_GTEST_PROP(BothWays, IsTheSumOfBothDirections, ()) {
  const auto positive = [] { return *rc::gen::map(rc::gen::inRange(1, 1000), [](int n) { return n * 1e-7; }); };
  const auto direction = [&] { return LinkDirection{positive(), positive(), positive(), positive()}; };
  const auto messages = [] {
    return *rc::gen::nonEmpty(rc::gen::container<std::vector<double>>(
        rc::gen::map(rc::gen::inRange(1, 100000), [](int n) { return double(n); })));
  };
  Link link;
  link.to = direction();
  link.from = direction();
  const auto in = messages(), out = messages();
  const double sum = one_way_s(link.to, in) + one_way_s(link.from, out);
  RC_ASSERT(std::abs(both_ways_s(link, in, out) / sum - 1) < 1e-9);
}

Device device(const char* kind) {
  Device d;
  d.id = d.name = kind;
  d.kind = kind;
  return d;
}
void set(Device& d, Field f, double v) { d.values[static_cast<std::size_t>(f)] = {v, "test", "test"}; }

TEST(LinkOf, MeasuredTermsAreTakenAsTheyAre) {
  Device gpu = device("gpu"), cpu = device("cpu");
  set(gpu, Field::link_to_overhead_s, 3e-6);
  set(gpu, Field::link_from_overhead_s, 4e-6);
  set(gpu, Field::link_to_bandwidth_bytes_per_s, 1e10);
  set(gpu, Field::link_from_bandwidth_bytes_per_s, 8e9);
  set(gpu, Field::link_to_pageable_bandwidth_bytes_per_s, 5e9);
  set(gpu, Field::link_from_pageable_bandwidth_bytes_per_s, 4e9);
  const Link pageable = link_of(gpu, cpu, HostMemory::pageable), pinned = link_of(gpu, cpu, HostMemory::pinned);
  EXPECT_TRUE(pageable.assumptions.empty());
  EXPECT_DOUBLE_EQ(pageable.to.s_per_byte, 1 / 5e9);
  EXPECT_DOUBLE_EQ(pageable.from.s_per_byte, 1 / 4e9);
  EXPECT_DOUBLE_EQ(pinned.to.s_per_byte, 1 / 1e10);
  EXPECT_DOUBLE_EQ(pinned.from.overhead_s, 4e-6);
}

TEST(LinkOf, WhatIsNotKnownIsStated) {
  Device gpu = device("gpu"), cpu = device("cpu");
  set(gpu, Field::system_link_bandwidth_bytes_per_s, 15.2e9);
  set(cpu, Field::memory_dram_bandwidth_bytes_per_s, 3e10);
  const Link link = link_of(gpu, cpu, HostMemory::pageable);
  EXPECT_FALSE(link.assumptions.empty());
  // 128 bytes of a packet of 152 are data; then a copy at a third of the memory's bandwidth.
  EXPECT_DOUBLE_EQ(link.to.s_per_byte, 1 / 12.8e9 + 3 / 3e10);
  for (const Assumption& a : link.assumptions) EXPECT_NE(a.replace, "");
}

TEST(LinkOf, NoLinkIsAnErrorThatNamesTheField) {
  EXPECT_THROW(link_of(device("gpu"), device("cpu"), HostMemory::pinned), UserError);
}

}  // namespace
}  // namespace kernelcast::offload
