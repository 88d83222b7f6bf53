// The model of 2017 on numbers that fit on paper.
#include <gtest/gtest.h>

#include "kernelcast/error.h"
#include "kernelcast/offload.h"

namespace kernelcast::offload {
namespace {

const Node2017 node{1e9, 4, 8e9};

TEST(Performance2017, IsTheSmallerRoof) {
  // 2 operations for each 8 bytes: 2 GFLOP/s from memory, below the computation roof of 4.
  EXPECT_DOUBLE_EQ(performance_2017(node, {2, 1, 8, {}, {}}, {}), 2e9);
  EXPECT_DOUBLE_EQ(performance_2017(node, {80, 1, 8, {}, {}}, {}), 4e9);
}

TEST(Performance2017, PrintsTheLargerRoof) {
  EXPECT_DOUBLE_EQ(performance_2017(node, {2, 1, 8, {}, {}}, {.larger_roof = true}), 4e9);
}

TEST(Performance2017, PrintsIntensityPerInstruction) {
  EXPECT_DOUBLE_EQ(performance_2017(node, {0.4, 1, 8, {}, {}}, {.intensity_by_instruction = true}), 3.2e9);
}

TEST(Offload2017, ATenthOfTheBandwidthCountsForTheCpuOnly) {
  Link link;
  const Workload2017 work{2, 1, 8, {}, {}};
  const Times2017 right = offload_2017(node, node, link, work, {});
  const Times2017 printed = offload_2017(node, node, link, work, {.cpu_bandwidth_tenth = true});
  EXPECT_DOUBLE_EQ(printed.cpu_s, 10 * right.cpu_s);
  EXPECT_DOUBLE_EQ(printed.execution_s, right.execution_s);
  EXPECT_TRUE(printed.gpu());
  EXPECT_FALSE(right.gpu());
}

TEST(Offload2017, TransfersCountForTheGpu) {
  Link link;
  link.to.overhead_s = 1;
  link.from.overhead_s = 2;
  EXPECT_DOUBLE_EQ(offload_2017(node, node, link, {2, 1, 8, {1}, {1}}, {}).transfer_s, 3);
  EXPECT_DOUBLE_EQ(offload_2017(node, node, link, {2, 1, 8, {1}, {}}, {}).transfer_s, 1);
}

// (14) as printed: L + o of both directions + g to the device - g from it; (12) and (13) give - g for both.
TEST(Offload2017, PrintsTheGapToTheDeviceWithTheWrongSign) {
  Link link;
  link.to = {1, 2, 10, 0};
  link.from = {4, 8, 100, 0};
  const std::vector<double> in{1, 1}, out{1, 1, 1};
  EXPECT_DOUBLE_EQ(offload_2017(node, node, link, {2, 1, 8, in, out}, {}).transfer_s, 15 + 10 + 200);
  // n g of both directions, and the printed overhead
  EXPECT_DOUBLE_EQ(offload_2017(node, node, link, {2, 1, 8, in, out}, {.gap_added = true}).transfer_s,
                   2 * 10 + 3 * 100 + (15 + 10 - 100));
}

Faults2017 faults_named(const std::vector<std::string>& names) { return faults_2017(names); }

TEST(Faults2017Names, AreEachFaultAlone) {
  for (const FaultName2017& f : fault_names_2017()) {
    const Faults2017 faults = faults_named({std::string(f.name)});
    for (const FaultName2017& g : fault_names_2017()) EXPECT_EQ(faults.*g.fault, f.name == g.name) << g.name;
    EXPECT_EQ(names_of(faults), std::vector<std::string>{std::string(f.name)});
  }
}

TEST(Faults2017Names, AreAllOfThemAsPrinted) {
  EXPECT_EQ(names_of(faults_named({"as-printed"})), names_of(as_printed));
  EXPECT_EQ(names_of(as_printed).size(), fault_names_2017().size());
  EXPECT_TRUE(names_of(faults_named({"none"})).empty());
  EXPECT_TRUE(names_of(faults_named({})).empty());
}

TEST(Faults2017Names, UnknownOnesNameTheNearest) {
  const auto message = [](const std::vector<std::string>& names) -> std::string {
    try {
      faults_2017(names);
    } catch (const UsageError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message({"large-roof"}).find("the nearest is \"larger-roof\""), std::string::npos);
  EXPECT_NE(message({"none", "larger-roof"}).find("stands alone"), std::string::npos);
  EXPECT_NE(message({"larger-roof", "larger-roof"}).find("twice"), std::string::npos);
}

}  // namespace
}  // namespace kernelcast::offload
