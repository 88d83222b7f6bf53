// Energy of an estimate, and busy power in both readings of equation (19).
#include "model/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "kernelcast/busy_power.h"
#include "kernelcast/device.h"

namespace kernelcast {
namespace {

using ::testing::HasSubstr;

const DeviceCatalog& all_devices() {
  static const DeviceCatalog catalog(std::string(KERNELCAST_SOURCE_DIR) + "/devices");
  return catalog;
}

TEST(BusyPower, BothReadingsByHand) {
  const Device a100 = all_devices().find("a100-sxm4-40gb");  // 400 W
  EXPECT_DOUBLE_EQ(busy_watts(a100, 50, BusyPower::tdp_times).watts.value(), 50 + 0.6 * 400);
  EXPECT_DOUBLE_EQ(busy_watts(a100, 50, BusyPower::tdp_over).watts.value(), 50 + 400 / 0.6);
  EXPECT_EQ(busy_power_named("tdp-over-0.6"), BusyPower::tdp_over);
  EXPECT_EQ(busy_power_named("tdp-times-0.6"), BusyPower::tdp_times);
  EXPECT_FALSE(busy_power_named("tdp"));
}

// Why the first reading is the default.
TEST(BusyPower, ByTheOtherReadingEveryDeviceExceedsItsDesignPower) {
  int devices = 0, more_by_times = 0;
  for (const std::string& id : all_devices().ids()) {
    const Device d = all_devices().find(id);
    const auto tdp = d.get(Field::system_tdp_w), idle = d.get(Field::system_idle_w);
    if (!tdp || !idle || d.get(Field::system_busy_w)) continue;
    ++devices;
    EXPECT_GT(busy_watts(d, *idle, BusyPower::tdp_over).watts.value(), *tdp) << d.id;
    more_by_times += busy_watts(d, *idle, BusyPower::tdp_times).watts.value() > *tdp ? 1 : 0;
  }
  EXPECT_GE(devices, 33);
  EXPECT_EQ(more_by_times, 0);
}

Estimate of_a_second() {
  Estimate e;
  e.time_s.value = 1;
  e.interval_lo_s = 0.5;
  e.interval_hi_s = 2;
  return e;
}

TEST(Energy, IsTimeAtBusyPowerWithinWhatIsSure) {
  const Device a100 = all_devices().find("a100-sxm4-40gb");
  const double idle = a100.get(Field::system_idle_w).value();
  Estimate e = of_a_second();
  put_energy(a100, {}, e);
  EXPECT_DOUBLE_EQ(e.energy_j.value.value(), idle + 0.6 * 400);
  EXPECT_DOUBLE_EQ(e.energy_lo_j.value(), 0.5 * idle);
  EXPECT_DOUBLE_EQ(e.energy_hi_j.value(), 2 * 400);
  ASSERT_EQ(e.assumptions.size(), 1U);
  EXPECT_THAT(e.assumptions[0].value, HasSubstr("idle + 0.6 of the thermal design power"));
}

TEST(Energy, WithoutIdlePowerTakesTheShareOfTheDesignPower) {
  const Device gtx280 = all_devices().find("gtx280");  // 236 W, no reading
  Estimate e = of_a_second();
  put_energy(gtx280, {}, e);
  EXPECT_DOUBLE_EQ(e.energy_j.value.value(), 0.097 * 236 + 0.6 * 236);
  EXPECT_DOUBLE_EQ(e.energy_lo_j.value(), 0.5 * 0.016 * 236);
  ASSERT_EQ(e.assumptions.size(), 2U);
  EXPECT_THAT(e.assumptions[0].what, HasSubstr("idle power"));
  EXPECT_THAT(e.assumptions[0].replace, HasSubstr("system.idle_w"));
}

TEST(Energy, WithoutDesignPowerSaysWhatToSet) {
  Device d = all_devices().find("gtx280");
  d.values[static_cast<std::size_t>(Field::system_tdp_w)].value.reset();
  Estimate e = of_a_second();
  put_energy(d, {}, e);
  EXPECT_FALSE(e.energy_j.value);
  EXPECT_THAT(e.energy_j.reason, HasSubstr("system.idle_w"));
}

// (20): a second of 1e12 instructions and 1e11 bytes, with energies of this test's own; no file of ours has any.
TEST(Energy, ByInstructionsWhereTheFileHasTheirEnergy) {
  Device d = all_devices().find("nvidia-geforce-gtx-titan");
  const auto set = [&d](Field f, double value) { d.values[static_cast<std::size_t>(f)].value = value; };
  set(Field::energy_constant_w, 100);
  set(Field::energy_instruction_j, 5e-11);
  set(Field::energy_dram_byte_j, 2e-10);
  Estimate e = of_a_second();
  put_energy(d, {1e12, 1e11}, e);
  EXPECT_NEAR(e.energy_j.value.value(), 100 + 50 + 20, 1e-9);
  ASSERT_EQ(e.assumptions.size(), 2U);
  EXPECT_THAT(e.assumptions[1].value, HasSubstr("at their energy"));
}

double median_of(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return (v[(v.size() - 1) / 2] + v[v.size() / 2]) / 2;
}

// The assumed shares are what the device files say.
TEST(IdlePower, ShareOfTheDesignPowerIsTheMedianOfTheFiles) {
  std::map<std::string, std::vector<double>> shares;
  for (const std::string& id : all_devices().ids()) {
    const Device d = all_devices().find(id);
    const auto tdp = d.get(Field::system_tdp_w), idle = d.get(Field::system_idle_w);
    if (tdp && idle) shares[d.kind].push_back(*idle / *tdp);
  }
  EXPECT_GE(shares["gpu"].size(), 20U);
  EXPECT_GE(shares["cpu"].size(), 8U);
  for (const auto& [kind, values] : shares) {
    Device d;
    d.kind = kind;
    d.values[static_cast<std::size_t>(Field::system_tdp_w)].value = 1.0;
    EXPECT_NEAR(idle_watts(d).watts.value(), median_of(values), 6e-4) << kind;
    EXPECT_NEAR(idle_watts(d).least, *std::min_element(values.begin(), values.end()), 6e-4) << kind;
  }
}

// Idle and busy power of servers' processors: medians over the published results.
TEST(IdlePower, DeviceFilesOfServersHaveTheMediansOfTheResults) {
  std::ifstream file(std::string(KERNELCAST_SOURCE_DIR) + "/validation/power/specpower.csv");
  ASSERT_TRUE(file);
  std::map<std::string, std::vector<double>> idle, busy;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream row(line);
    std::string id, at_idle, at_load, processors;
    std::getline(std::getline(std::getline(std::getline(row, id, ','), at_idle, ','), at_load, ','), processors, ',');
    idle[id].push_back(std::stod(at_idle) / std::stod(processors));
    busy[id].push_back(std::stod(at_load) / std::stod(processors));
  }
  EXPECT_GE(idle.size(), 7U);
  for (const auto& [id, watts] : idle) {
    const Device d = all_devices().find(id);
    EXPECT_NEAR(d.get(Field::system_idle_w).value(), median_of(watts), 0.051) << id;
    EXPECT_NEAR(d.get(Field::system_busy_w).value(), median_of(busy[id]), 0.051) << id;
  }
}

// The idle power of a device file is the median of the readings that the rule of the source keeps.
TEST(IdlePower, DeviceFilesHaveTheMedianOfTheReadings) {
  std::ifstream file(std::string(KERNELCAST_SOURCE_DIR) + "/validation/power/idle_nvidia_smi.csv");
  ASSERT_TRUE(file);
  std::map<std::string, std::map<int, std::vector<double>>> watts;  // by device and performance state
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream row(line);
    std::vector<std::string> cells;
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    ASSERT_EQ(cells.size(), 6U) << line;
    if (std::stoi(cells[4]) <= 512 && std::stoi(cells[5]) <= 5)
      watts[cells[0]][std::stoi(cells[1].substr(1))].push_back(std::stod(cells[2]));
  }
  EXPECT_GE(watts.size(), 26U);
  for (auto& [id, by_state] : watts) {
    std::vector<double>& w = by_state.rbegin()->second;
    std::sort(w.begin(), w.end());
    ASSERT_GE(w.size(), 2U) << id;
    const double median = (w[(w.size() - 1) / 2] + w[w.size() / 2]) / 2;
    EXPECT_EQ(all_devices().find(id).get(Field::system_idle_w), median) << id;
  }
}

// Those of AMD, where the memory is empty or not told.
TEST(IdlePower, DeviceFilesOfAmdHaveTheMedianOfTheReadings) {
  std::ifstream file(std::string(KERNELCAST_SOURCE_DIR) + "/validation/power/idle_rocm_smi.csv");
  ASSERT_TRUE(file);
  std::map<std::string, std::vector<double>> watts;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream row(line);
    std::string id, power, clocks, memory;
    std::getline(std::getline(std::getline(std::getline(row, id, ','), power, ','), clocks, ','), memory, ',');
    if (memory.empty() || memory == "0") watts[id].push_back(std::stod(power));
  }
  EXPECT_GE(watts.size(), 6U);
  for (auto& [id, w] : watts) {
    std::sort(w.begin(), w.end());
    EXPECT_EQ(all_devices().find(id).get(Field::system_idle_w), w[w.size() / 2]) << id;
  }
}

}  // namespace
}  // namespace kernelcast
