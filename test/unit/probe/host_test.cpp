// What the host back end is made of: walks that meet every line once, cache sizes from a curve, threads that start
// together, loops of every instruction set.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "kernelcast/error.h"
#include "kernelcast/probe.h"
#include "probe/host/host_memory.h"
#include "probe/host/team.h"
#include "probe/native/native.h"
#include "probe/plateaus.h"

namespace {

using namespace kernelcast;
using namespace kernelcast::probe;

TEST(Walk, MeetsEveryLineOnceOnAnySizeThatIsUsed) {
  for (std::size_t n : {64u, 96u, 128u, 192u, 1024u, 1536u, 49152u, 65536u}) {
    std::vector<bool> seen(n);
    std::size_t at = 0, count = 0;
    for (; !seen[at]; ++count) {
      seen[at] = true;
      at = host::next_line(at, n);
    }
    EXPECT_EQ(count, n);
    EXPECT_EQ(at, 0u);
  }
}

TEST(Walk, OfSeveralSizesShareTheMemory) {
  const host::Pages pages(1 << 16);
  host::link(pages.data(), 1 << 16, 0);
  host::link(pages.data(), 1 << 14, 3);
  // 1024 lines and 256 lines: back where it began after as many steps, and not half way.
  EXPECT_EQ(native::chase(pages.data(), 1024), pages.data());
  EXPECT_NE(native::chase(pages.data(), 512), pages.data());
  char* const other = pages.data() + 3 * sizeof(void*);
  EXPECT_EQ(native::chase(other, 256), other);
  EXPECT_NE(native::chase(other, 128), other);
}

TEST(Walk, SizesArePowersOfTwoAndHalfWaySteps) {
  // Between the levels, but near the L2 where the L3 is far larger.
  EXPECT_DOUBLE_EQ(host::block_of_l3(262144, 4194304), 1048576);
  EXPECT_DOUBLE_EQ(host::block_of_l3(1048576, 33554432), 4194304);
  EXPECT_DOUBLE_EQ(host::block_of_l3(1048576, 4194304), 2097152);
  EXPECT_EQ(host::walk_sizes(4096, 32768, 12288), (std::vector<std::size_t>{4096, 6144, 8192, 12288, 16384, 32768}));
}

/// Latency of a random walk through caches of these sizes: a share C / S of the steps hits a cache of C bytes.
std::vector<CurvePoint> curve_of(const std::vector<double>& caches, const std::vector<double>& latencies,
                                 double noise) {
  std::vector<CurvePoint> out;
  int i = 0;
  for (std::size_t size : host::walk_sizes(4096, std::size_t{1} << 30, std::size_t{1} << 30)) {
    const auto bytes = static_cast<double>(size);
    double latency = latencies.back(), rest = 1;
    std::vector<double> inside;
    for (double c : caches) inside.push_back(std::min(1.0, c / bytes));
    latency = 0;
    double before = 0;
    for (std::size_t k = 0; k < caches.size(); ++k) {
      latency += (inside[k] - before) * latencies[k];
      before = inside[k];
    }
    rest = 1 - before;
    latency += rest * latencies.back();
    out.push_back({bytes, latency * (1 + noise * std::sin(7.0 * ++i))});
  }
  return out;
}

TEST(Plateaus, FindsCachesToTheStepOfTheCurve) {
  for (double noise : {0.0, 0.03}) {
    const std::vector<Plateau> p = plateaus(curve_of({48 << 10, 2 << 20, 32 << 20}, {5, 14, 70, 350}, noise));
    ASSERT_EQ(p.size(), 4u) << noise;
    EXPECT_EQ(p[0].last_bytes, 48 << 10);
    EXPECT_EQ(p[1].last_bytes, 2 << 20);
    EXPECT_EQ(p[2].last_bytes, 32 << 20);
    EXPECT_NEAR(p[0].latency, 5, 0.3);
    EXPECT_NEAR(p[1].latency, 14, 3);
    EXPECT_NEAR(p[3].latency, 350, 0.12 * 350);  // a plateau begins on the last 12 % of the climb
  }
}

TEST(Plateaus, AFlatCurveIsOneLevel) {
  std::vector<CurvePoint> curve;
  for (double bytes = 4096; bytes < 1e9; bytes *= 2) curve.push_back({bytes, 5});
  EXPECT_EQ(plateaus(curve).size(), 1u);
  EXPECT_TRUE(plateaus({}).empty());
}

TEST(Team, EachThreadWorksOnce) {
  host::Team team(3);
  for (int threads = 1; threads <= 3; ++threads) {
    std::array<std::atomic<int>, 3> calls{};
    const double seconds = team.run(threads, [&](int i) { ++calls[static_cast<std::size_t>(i)]; });
    for (int i = 0; i < 3; ++i) EXPECT_EQ(calls[static_cast<std::size_t>(i)], i < threads ? 1 : 0);
    EXPECT_GE(seconds, 0);
  }
  EXPECT_GT(team.region(), 0);
}

TEST(Native, EveryLoopOfEverySetRuns) {
  const native::Sets sets = native::available();
  if (sets.count == 0) GTEST_SKIP() << "the loops are not written for this architecture";
  for (int s = 0; s < sets.count; ++s) {
    const native::Kernels& k = *sets.sets[s];
    bool wide = false;
    for (int i = 0; i < k.count; ++i) {
      k.loops[i].chain(3);
      k.loops[i].parallel(3);
      EXPECT_GT(k.loops[i].parallel_ops, k.loops[i].lanes == 1 ? 1 : 0);
      wide |= k.loops[i].lanes * 32 == k.bits;
    }
    EXPECT_TRUE(wide) << k.name;
    alignas(64) char from[2 * native::stream_block], to[2 * native::stream_block];
    std::fill(std::begin(from), std::end(from), 'a');
    k.streams.write(to, sizeof to);
    for (char c : to) EXPECT_EQ(c, 0);
    k.streams.copy(to, from, sizeof to);
    for (char c : to) EXPECT_EQ(c, 'a');
    k.streams.read(from, sizeof from);
  }
}

TEST(DeviceFile, TakesWhatIsStableAndInRange) {
  Report report;
  report.backend = "host";
  report.device = host_device();
  const auto add = [&](double value, const char* confidence, std::vector<Field> fields) {
    Result r;
    r.id = "x";
    r.value = value;
    r.method = "method";
    r.confidence = confidence;
    r.fields = std::move(fields);
    report.results.push_back(r);
  };
  add(3.25e9, "high", {Field::clock_sustained_clock_hz});
  add(4, "high", {Field::latency_fp32_cycles, Field::latency_fp64_cycles});
  add(123, "unstable", {Field::memory_dram_latency_cycles});
  add(2e9, "unstable", {Field::clock_sustained_clock_hz});  // a steady number stands
  add(3e5, "unstable", {Field::memory_l1_bytes});           // the base knows
  add(7, "unstable", {Field::cpu_scalar_fma_per_core});
  report.results.back().spread = 0.51;            // says nothing
  add(1e6, "high", {Field::latency_int_cycles});  // above the field's maximum
  const auto file = std::filesystem::path(testing::TempDir()) / "measured-host.toml";
  std::ofstream(file) << device_file(report, "measured-host");
  const Device back = load_device(file.string());
  EXPECT_EQ(back.kind, "cpu");
  EXPECT_EQ(back.get(Field::clock_sustained_clock_hz), 3.25e9);
  EXPECT_EQ(back.get(Field::latency_fp32_cycles), 4);
  EXPECT_EQ(back.get(Field::latency_fp64_cycles), 4);
  EXPECT_EQ(back.get(Field::memory_dram_latency_cycles), 123);  // nothing else is known of it
  EXPECT_TRUE(back.unsteady(Field::memory_dram_latency_cycles));
  EXPECT_FALSE(back.unsteady(Field::clock_sustained_clock_hz));
  EXPECT_EQ(back.get(Field::memory_l1_bytes), report.device.get(Field::memory_l1_bytes));
  EXPECT_FALSE(back.get(Field::cpu_scalar_fma_per_core));
  EXPECT_FALSE(back.get(Field::latency_int_cycles));
  EXPECT_EQ(back.get(Field::compute_units), report.device.get(Field::compute_units));
  EXPECT_TRUE(back.values[static_cast<std::size_t>(Field::clock_sustained_clock_hz)].source.starts_with("measured"));
}

TEST(DeviceFile, ADriversNameAndNumbersAreWhateverTheyAre) {
  Report report;
  report.backend = "cuda";
  report.device = host_device();
  report.device.name = "GPU \xff\x7f \"X\"";
  Result r;
  r.id = "x";
  r.value = std::nan("");
  r.confidence = "high";
  r.fields = {Field::memory_dram_latency_cycles};
  report.results.push_back(r);
  const auto file = std::filesystem::path(testing::TempDir()) / "odd-name.toml";
  std::ofstream(file) << device_file(report, "odd-name");
  const Device back = load_device(file.string());
  EXPECT_EQ(back.name, "GPU \\xff\\x7f \"X\", measured");
  EXPECT_EQ(back.get(Field::memory_dram_latency_cycles), report.device.get(Field::memory_dram_latency_cycles));
}

TEST(DeviceFile, OfAGpuHasSteadyNumbersOnly) {
  Report report;
  report.backend = "cuda";
  Result r;
  r.id = "x";
  r.value = 400;
  r.confidence = "unstable";
  r.fields = {Field::memory_dram_latency_cycles};
  report.results.push_back(r);
  report.device.kind = "gpu";
  EXPECT_EQ(device_file(report, "measured").find("400"), std::string::npos);
}

TEST(Native, RegionsOfThreadsThatWatchEnd) {
  EXPECT_GT(host::watched_region(2), 0);
  EXPECT_GE(host::watched_region(1), 0);
}

TEST(Host, RefusesADeviceThatIsNoCpu) {
  Device gpu;
  gpu.id = "some-gpu";
  gpu.kind = "gpu";
  EXPECT_THROW(probe_host(gpu, {}), UsageError);
}

}  // namespace
