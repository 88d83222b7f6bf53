// Every spec in devices/sm: the method must find in clock readings what the spec holds.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <map>
#include <set>

#include "kernelcast/probe.h"
#include "kernelcast/sm.h"

namespace {

using namespace kernelcast;

const std::string folder = std::string(KERNELCAST_SOURCE_DIR) + "/devices";

class Specs : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    static std::map<std::string, probe::Report> reports;  // a device is measured once
    device = load_device(folder + "/" + GetParam() + ".toml");
    spec = sm::spec_of(device, folder);
    probe::Report& known = reports[GetParam()];
    if (known.results.empty()) {
      probe::Options options;
      options.device_folder = folder;
      options.registers = registers;
      options.time_limit_s = 110;
      known = probe::probe_sim(device, options);
    }
    report = known;
  }
  static constexpr int registers = 12;
  [[nodiscard]] double value(const std::string& id) const {
    const probe::Result* r = report.find(id);
    return r != nullptr && r->value ? *r->value : -1;
  }
  /// A cache whose latency nobody measured has that of the next level in the spec, and does not show.
  [[nodiscard]] bool l1_shows() const { return spec.l1_bytes > 0 && spec.l1_latency < spec.l2_latency; }
  [[nodiscard]] bool l2_shows() const { return spec.l2_bytes > 0 && spec.l2_latency < spec.dram_latency; }
  /// Thread instructions a cycle that the units of the spec can take when each instruction keeps its lanes `longer`,
  /// and its schedulers can issue alone.
  [[nodiscard]] double rate(sm::Op op, int longer = 0) const {
    double lanes = 0;
    for (const sm::Unit& u : spec.units)
      if (std::ranges::find(u.ops, op) != u.ops.end())
        lanes +=
            static_cast<double>(spec.warp_size) * spec.schedulers / u.schedulers / (spec.interval_of(u, op) + longer);
    return std::min(lanes, static_cast<double>(spec.warp_size) * spec.schedulers / spec.turn_cycles);
  }
  Device device;
  sm::Spec spec;
  probe::Report report;
};

const std::map<std::string, sm::Op> ops = {
    {"ffma", sm::Op::ffma},   {"fadd", sm::Op::fadd}, {"fmul", sm::Op::fmul},    {"iadd", sm::Op::iadd},
    {"imad", sm::Op::imul},   {"dfma", sm::Op::dfma}, {"mufu", sm::Op::special}, {"ishift", sm::Op::shift},
    {"cvt", sm::Op::convert}, {"dadd", sm::Op::dadd}, {"dmul", sm::Op::dmul}};

TEST_P(Specs, LatenciesAreFoundExactly) {
  for (const auto& [name, op] : ops)
    EXPECT_EQ(value(name + ".latency_cycles"), spec.latency[static_cast<std::size_t>(op)]) << name;
}

TEST_P(Specs, ThroughputIsThatOfTheUnits) {
  for (const auto& [name, op] : ops)
    EXPECT_NEAR(value(name + ".throughput_per_cycle"), rate(op), 0.03 * rate(op)) << name;
}

TEST_P(Specs, SharedMemoryIsFoundExactly) {
  EXPECT_EQ(value("shared.latency_cycles"), spec.shared_latency);
  EXPECT_EQ(value("shared.banks"), spec.shared_banks);
  EXPECT_EQ(value("shared.bank_bytes"), spec.shared_bank_bytes);
}

TEST_P(Specs, LatenciesOfMemoryAreFoundExactly) {
  EXPECT_EQ(value("dram.latency_cycles"), spec.dram_latency);
  EXPECT_EQ(value("l1.latency_cycles"), l1_shows() ? spec.l1_latency : -1);
  EXPECT_EQ(value("l2.latency_cycles"), l2_shows() ? spec.l2_latency : -1);
}

TEST_P(Specs, SizesOfCachesAreFoundToTheStepOfTheWalk) {
  const auto expect = [&](const std::string& id, double bytes) {
    SCOPED_TRACE(id);
    const probe::Result* r = report.find(id);
    ASSERT_NE(r, nullptr);
    if (bytes <= 0 || bytes > (8 << 20)) {
      EXPECT_FALSE(r->value);
      EXPECT_FALSE(r->reason.empty());
      return;
    }
    ASSERT_TRUE(r->value) << r->reason;
    EXPECT_LE(*r->value, bytes);
    EXPECT_GE(*r->value * 2, bytes);
  };
  expect("l1.size_bytes", l1_shows() ? spec.l1_bytes : 0);
  expect("l2.size_bytes", l2_shows() ? spec.l2_bytes : 0);
}

TEST_P(Specs, AStreamReachesTheBandwidth) {
  const double under_way = std::min(spec.max_requests, 8 * 4 * spec.schedulers);  // eight loads a warp
  const double requests = under_way * 4 * spec.warp_size;
  const double expected = std::min({spec.dram_bytes_per_cycle, spec.l2_bytes_per_cycle, requests / spec.dram_latency});
  EXPECT_NEAR(value("dram.read_bytes_per_cycle"), expected, 0.03 * expected);
  // By access width: wider loads have more bytes under way.
  for (const int bytes : {4, 8, 16}) {
    const double wide = std::min(
        {spec.dram_bytes_per_cycle, spec.l2_bytes_per_cycle, under_way * bytes * spec.warp_size / spec.dram_latency});
    EXPECT_NEAR(value("dram.read_bytes_per_cycle." + std::to_string(8 * bytes) + "bit"), wide, 0.06 * wide) << bytes;
  }
}

TEST_P(Specs, LinesAreFoundExactly) {
  // Where the L1 serves groups of lanes, the step between lanes does not show them, and the figure says so.
  const bool by_groups = spec.l1.l1_group > 0;
  EXPECT_EQ(value("l1.line_bytes"), l1_shows() && !by_groups ? spec.line_bytes_l1 : -1);
  EXPECT_EQ(by_groups, report.find("l1.line_bytes")->reason.find("groups of lanes") != std::string::npos);
  EXPECT_EQ(value("memory.fill_bytes"), l1_shows() || l2_shows() ? spec.sector_bytes : -1);
}

TEST_P(Specs, BandwidthIsThatOfTheNarrowest) {
  const double shared = std::min(spec.shared_bytes_per_cycle, 4 * rate(sm::Op::load_shared));
  EXPECT_NEAR(value("shared.read_bytes_per_cycle"), shared, 0.06 * shared);
  for (const int bytes : {4, 8, 16}) {
    const double wide = std::min(spec.shared_bytes_per_cycle, bytes * rate(sm::Op::load_shared));
    EXPECT_NEAR(value("shared.read_bytes_per_cycle." + std::to_string(8 * bytes) + "bit"), wide, 0.06 * wide) << bytes;
  }
  const double lanes = 4 * rate(sm::Op::load_global);
  if (l1_shows()) {
    const double port = spec.l1_bytes_per_cycle > 0 ? spec.l1_bytes_per_cycle : spec.line_bytes_l1;
    const double l1 = std::min(port, lanes);
    EXPECT_NEAR(value("l1.read_bytes_per_cycle"), l1, 0.03 * l1);
  }
  if (!report.find("l2.read_bytes_per_cycle")->value) return;
  const double requests = std::min(spec.max_requests, 8 * 4 * spec.schedulers) * 4.0 * spec.warp_size;
  const double l2 = std::min({spec.l2_bytes_per_cycle, lanes, requests / spec.l2_latency});
  EXPECT_NEAR(value("l2.read_bytes_per_cycle"), l2, 0.03 * l2);
}

TEST_P(Specs, BarriersAreFoundExactly) {
  EXPECT_EQ(value("barrier.latency_cycles"), spec.latency[static_cast<std::size_t>(sm::Op::barrier)]);
  const bool has_unit = std::ranges::any_of(
      spec.units, [](const sm::Unit& u) { return std::ranges::find(u.ops, sm::Op::barrier) != u.ops.end(); });
  EXPECT_EQ(value("barrier.threads_per_cycle"), has_unit ? rate(sm::Op::barrier) : -1);
}

TEST_P(Specs, AtomicOperationsAreFoundExactly) {
  EXPECT_EQ(value("atomic.shared_latency_cycles"), spec.latency_of_shared_atomic());
  EXPECT_EQ(value("atomic.global_latency_cycles"), spec.latency_of_global_atomic());
  // The banks may be slower than the operation: one update of a word in a pass.
  const double pass = spec.shared_banks * spec.shared_bank_bytes / spec.shared_bytes_per_cycle;
  EXPECT_NEAR(value("atomic.shared_same_word_cycles"), std::max<double>(spec.atomic_shared_cycles, pass), 1e-9);
  EXPECT_NEAR(value("atomic.global_same_word_cycles"), spec.atomic_global_cycles, 1e-9);
  for (const std::string name : {"atomic.shared", "atomic.global"})
    EXPECT_GT(value(name + "_apart_per_cycle"), 2 * value(name + "_same_word_per_cycle")) << name;
}

TEST_P(Specs, WhatIsNotSimulatedSaysSo) {
  for (const char* id : {"launch.wall_s", "transfer.to_latency_s", "transfer.to_overhead_s", "transfer.to_gap_s",
                         "transfer.from_bandwidth_bytes_per_s"}) {
    const probe::Result* r = report.find(id);
    ASSERT_NE(r, nullptr) << id;
    EXPECT_FALSE(r->value) << id;
    EXPECT_TRUE(r->reason.starts_with("not simulated")) << id;
  }
}

TEST_P(Specs, BanksAreFoundExactly) {
  const probe::Result* banks = report.find("register.banks");
  ASSERT_NE(banks, nullptr);
  if (spec.ports_per_bank == 0) {
    EXPECT_EQ(banks->confidence, "none");
    EXPECT_TRUE(banks->lists.empty());
    return;
  }
  std::map<int, std::vector<double>> expected;
  for (int r = 0; r < registers; ++r) expected[spec.bank_of(r)].push_back(r);
  EXPECT_EQ(banks->confidence, "exact");
  EXPECT_EQ(banks->lists.size(), expected.size());
  for (const auto& [bank, members] : expected)
    EXPECT_TRUE(std::ranges::find(banks->lists, members) != banks->lists.end()) << bank;
}

TEST_P(Specs, TheStallFieldIsFound) {
  if (spec.control == sm::ControlKind::none) {
    EXPECT_FALSE(report.find("control.stall_slope")->value);
    return;
  }
  EXPECT_EQ(value("control.stall_slope"), 1);
  if (spec.control != sm::ControlKind::twenty_one_bit) return;
  // A warp cannot issue faster than its unit takes instructions.
  const double own = spec.warp_size * spec.schedulers / rate(sm::Op::ffma);
  const std::vector<double>& intervals = report.find("control.intervals")->lists.at(0);
  ASSERT_EQ(intervals.size(), 16u);
  for (std::size_t stall = 0; stall < 16; ++stall)
    EXPECT_EQ(intervals[stall], std::max({1.0, own, static_cast<double>(stall)})) << stall;
}

TEST_P(Specs, DualIssueToAnotherUnitIsFoundWhereTheSpecHasIt) {
  if (spec.control != sm::ControlKind::twenty_one_bit) return;
  const bool pairs = spec.dual == sm::DualIssue::by_control_code && spec.dual_needs_other_unit;
  EXPECT_EQ(value("control.dual_other_unit_stall"), pairs ? 0 : -1);
}

TEST_P(Specs, WaitMaskAndReuseFlagsAreFound) {
  if (spec.control != sm::ControlKind::twenty_one_bit) {
    EXPECT_EQ(report.find("control.write_barrier_bits"), nullptr);
    return;
  }
  // Bit 11 + k of a code waits for barrier k (sm::encode_control).
  std::vector<std::vector<double>> mask;
  for (int k = 0; k < 6; ++k) mask.push_back({static_cast<double>(k), static_cast<double>(11 + k)});
  EXPECT_EQ(report.find("control.write_barrier_bits")->lists, mask);
  EXPECT_EQ(report.find("control.read_barrier_bits")->lists, mask);
  const std::vector<double>& fractions = report.find("reuse.fraction_of_peak")->lists.at(1);
  ASSERT_EQ(fractions.size(), 8u);
  // Operands that are kept are not read: with as many as the ports lack, nothing is lost.
  for (unsigned flags = 0; flags < 8; ++flags) {
    const int read = 3 - std::popcount(flags),
              cycles = std::max(1, (read + spec.ports_per_bank - 1) / spec.ports_per_bank);
    const double lanes = device.require(Field::compute_fp32_lanes_per_unit);
    EXPECT_NEAR(fractions[flags], rate(sm::Op::ffma, cycles - 1) / lanes, 0.02) << flags;
  }
}

TEST_P(Specs, TheCostTableIsInTheDeviceFile) {
  for (const probe::Result& r : report.results)
    if (r.id == "cost.add_cycles") {
      EXPECT_EQ(r.value, spec.latency[static_cast<std::size_t>(sm::Op::fadd)]);
      EXPECT_EQ(r.fields, std::vector<Field>{Field::opencl_quantitative_add_cycles});
    }
  EXPECT_EQ(value("cost.mul_cycles"), spec.latency[static_cast<std::size_t>(sm::Op::fmul)]);
  EXPECT_EQ(value("cost.special_cycles"), spec.latency[static_cast<std::size_t>(sm::Op::special)]);
}

// By hand from the spec: what a quotient waits for.
TEST_P(Specs, DivisionIsItsInstructionsOneAfterAnother) {
  const auto latency = [&](sm::Op op) { return spec.latency[static_cast<std::size_t>(op)]; };
  const auto has = [&](sm::Op op) {
    return std::ranges::any_of(spec.units, [&](const sm::Unit& u) { return std::ranges::count(u.ops, op) > 0; });
  };
  const double single = latency(sm::Op::special) + 5 * latency(sm::Op::ffma);
  EXPECT_NEAR(value("fdiv.latency_cycles"), single, 0.05 * single);
  EXPECT_EQ(value("cost.div_cycles"), value("fdiv.latency_cycles"));
  EXPECT_LT(value("fdiv.throughput_per_cycle"), value("ffma.throughput_per_cycle") / 5);
  if (has(sm::Op::dfma)) {
    const double twice = latency(sm::Op::special) + 7 * latency(sm::Op::dfma) + latency(sm::Op::dmul);
    EXPECT_NEAR(value("ddiv.latency_cycles"), twice, 0.05 * twice);
  } else {
    EXPECT_FALSE(report.find("ddiv.latency_cycles")->value);
  }
}

// At least one of each spec.
constexpr const char* measured_devices[] = {
    "nvidia-geforce-gtx-280",     "nvidia-geforce-gtx-480",  "nvidia-tesla-k20",
    "nvidia-geforce-gtx-980",     "nvidia-geforce-gtx-850m", "nvidia-tesla-v100-pcie-16gb",
    "nvidia-a100-pcie-40gb",      "nvidia-geforce-rtx-3080", "nvidia-geforce-gtx-680",
    "nvidia-geforce-rtx-2080-ti", "nvidia-geforce-gtx-1650", "nvidia-h100-sxm",
    "nvidia-geforce-rtx-4090",    "nvidia-geforce-rtx-5090", "nvidia-b200",
    "amd-radeon-hd-7970",         "amd-radeon-r9-290x",      "amd-radeon-rx-480",
    "amd-instinct-mi50"};

INSTANTIATE_TEST_SUITE_P(All, Specs, testing::ValuesIn(measured_devices), [](const auto& i) {
  std::string name = i.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(SpecFiles, AllAreMeasuredAbove) {
  std::set<std::string> measured;
  for (const char* id : measured_devices)
    measured.insert(sm::spec_of(load_device(folder + "/" + id + ".toml"), folder).id);
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/sm"))
    EXPECT_TRUE(measured.contains(entry.path().stem().string())) << entry.path();
}

}  // namespace
