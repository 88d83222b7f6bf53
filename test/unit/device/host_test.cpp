// Parsers of the operating system's tables on fixture texts and folders, and the machine that runs the test.
#include "device/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace kernelcast {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const FieldValue& value(const Device& d, Field f) { return d.values[static_cast<std::size_t>(f)]; }

// Two cores with two threads each, as Linux prints a Core i7-4710MQ cut in half.
std::string haswell_cpuinfo() {
  std::string text;
  for (int i = 0; i < 4; ++i)
    text += "processor\t: " + std::to_string(i) +
            "\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 60\n"
            "model name\t: Intel(R) Core(TM) i7-4710MQ CPU @ 2.50GHz\ncpu MHz\t\t: 798.123\nphysical id\t: 0\ncore "
            "id\t\t: " +
            std::to_string(i % 2) + "\nflags\t\t: fpu sse sse2 avx fma avx2\n\n";
  return text;
}

/// A folder of tables that goes away with the test.
class Tables {
 public:
  explicit Tables(const std::string& name) : root_(fs::path(testing::TempDir()) / ("kernelcast_host_" + name)) {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~Tables() { fs::remove_all(root_); }
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;
  void write(const std::string& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  void cache(int cpu, int index, int level, const char* type, const char* size, const char* shared) {
    std::string folder = "cpu/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index) + "/";
    write(folder + "level", std::to_string(level) + "\n");
    write(folder + "type", std::string(type) + "\n");
    write(folder + "size", std::string(size) + "\n");
    write(folder + "coherency_line_size", "64\n");
    if (level < 3) write(folder + "ways_of_associativity", std::to_string(4 << level) + "\n");
    write(folder + "shared_cpu_list", std::string(shared) + "\n");
  }
  [[nodiscard]] HostTables tables() const {
    return {(root_ / "cpuinfo").string(), (root_ / "meminfo").string(), (root_ / "cpu").string()};
  }

 private:
  fs::path root_;
};

TEST(CpuInfo, ReadsNamesFlagsCoresAndThreads) {
  CpuInfo cpu = parse_cpuinfo(haswell_cpuinfo());
  EXPECT_EQ(cpu.model_name, "Intel(R) Core(TM) i7-4710MQ CPU @ 2.50GHz");
  EXPECT_EQ(cpu.threads, 4);
  EXPECT_EQ(cpu.cores, 2);
  EXPECT_EQ(cpu.family, 6);
  EXPECT_EQ(cpu.model, 60);
  EXPECT_EQ(cpu.name_clock_hz, 2.5e9);
  EXPECT_DOUBLE_EQ(cpu.clock_hz.value(), 798.123e6);
  EXPECT_TRUE(cpu.has("avx2"));
  EXPECT_FALSE(cpu.has("avx5"));
}

TEST(CpuInfo, TwoSocketsWithTheSameCoreIdsAreFourCores) {
  std::string text;
  for (int socket = 0; socket < 2; ++socket)
    for (int core = 0; core < 2; ++core)
      text += "processor : " + std::to_string(2 * socket + core) + "\nphysical id : " + std::to_string(socket) +
              "\ncore id : " + std::to_string(core) + "\n\n";
  EXPECT_EQ(parse_cpuinfo(text).cores, 4);
}

TEST(CpuInfo, ArmHasNoModelName) {
  CpuInfo cpu = parse_cpuinfo(
      "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd crc32\nCPU implementer\t: 0x41\n"
      "CPU part\t: 0xd0c\n\nprocessor\t: 1\nFeatures\t: fp asimd crc32\n");
  EXPECT_EQ(cpu.model_name, "Arm implementer 0x41 part 0xd0c");
  EXPECT_EQ(cpu.cores, 2);
  EXPECT_EQ(simd_width(cpu)->bits, 128);
  EXPECT_FALSE(vector_units(cpu));
}

TEST(CpuInfo, NonsenseIsEmpty) {
  for (const char* text : {"", "\n\n", ":", "processor", "processor : x\nmodel : y\ncpu MHz : \n", "@ GHz"}) {
    CpuInfo cpu = parse_cpuinfo(text);
    EXPECT_EQ(cpu.threads, 0) << text;
    EXPECT_EQ(cpu.clock_hz, std::nullopt);
  }
}

TEST(HostTables, SizesAndMemory) {
  EXPECT_EQ(parse_size("48K"), 49152.0);
  EXPECT_EQ(parse_size("32M"), 33554432.0);
  EXPECT_EQ(parse_size("1G"), 1073741824.0);
  EXPECT_EQ(parse_size("2600000"), 2600000.0);
  for (const char* bad : {"", "K", "x", "12Q", "-"}) EXPECT_EQ(parse_size(bad), std::nullopt) << bad;
  EXPECT_EQ(parse_memory_total("MemTotal:        1024 kB\nMemFree: 1 kB\n"), 1048576.0);
  EXPECT_EQ(parse_memory_total("MemFree: 1 kB\n"), std::nullopt);
}

TEST(HostTables, CachesThatProcessorsShareCountOnce) {
  Tables t("caches");
  for (int cpu = 0; cpu < 4; ++cpu) {
    std::string pair = cpu % 2 == 0 ? "0,2" : "1,3";
    t.cache(cpu, 0, 1, "Data", "32K", pair.c_str());
    t.cache(cpu, 1, 1, "Instruction", "64K", pair.c_str());
    t.cache(cpu, 2, 2, "Unified", "256K", pair.c_str());
    t.cache(cpu, 3, 3, "Unified", "6144K", "0-3");
  }
  t.write("cpu/cpufreq/level", "not a processor");
  std::vector<CacheLevel> levels = read_caches(t.tables().cpu_root);
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_EQ(levels[0].bytes_each, 32768);
  EXPECT_EQ(levels[0].instances, 2);
  EXPECT_EQ(levels[1].bytes_all, 2 * 262144);
  EXPECT_EQ(levels[2].instances, 1);
  EXPECT_EQ(levels[2].bytes_all, 6291456);
  EXPECT_EQ(levels[2].line_bytes, 64);
  EXPECT_EQ(levels[0].ways, 8);
  EXPECT_EQ(levels[1].ways, 16);
  EXPECT_EQ(levels[2].ways, 0);  // no file says
}

TEST(HostDevice, IsMadeFromTheTables) {
  Tables t("full");
  t.write("cpuinfo", haswell_cpuinfo());
  t.write("meminfo", "MemTotal: 16777216 kB\n");
  t.write("cpu/cpu0/cpufreq/cpuinfo_max_freq", "3500000\n");
  for (int cpu = 0; cpu < 4; ++cpu) {
    t.cache(cpu, 0, 1, "Data", "32K", cpu % 2 == 0 ? "0,2" : "1,3");
    t.cache(cpu, 2, 2, "Unified", "256K", cpu % 2 == 0 ? "0,2" : "1,3");
    t.cache(cpu, 3, 3, "Unified", "6144K", "0-3");
  }
  Device d = host_device(t.tables());
  EXPECT_EQ(d.kind, "cpu");
  EXPECT_EQ(d.vendor, "Intel");
  EXPECT_EQ(d.codegen_target, "host");
  EXPECT_EQ(d.get(Field::compute_units), 2);
  EXPECT_EQ(d.get(Field::cpu_threads_per_core), 2);
  EXPECT_EQ(d.get(Field::clock_base_clock_hz), 2.5e9);
  EXPECT_EQ(d.get(Field::clock_boost_clock_hz), 3.5e9);
  EXPECT_EQ(d.get(Field::cpu_simd_bits), 256);
  EXPECT_EQ(d.get(Field::cpu_fma_per_core), 2);
  EXPECT_EQ(d.get(Field::compute_fp32_lanes_per_unit), 16);  // two FMA of eight floats
  EXPECT_EQ(d.get(Field::compute_fp64_lanes_per_unit), 8);
  EXPECT_EQ(d.get(Field::memory_l1_bytes), 32768);
  EXPECT_EQ(d.get(Field::memory_l2_bytes), 262144);
  EXPECT_EQ(d.get(Field::memory_l3_bytes), 6291456);
  EXPECT_EQ(d.get(Field::memory_dram_bytes), 16777216.0 * 1024);
  EXPECT_EQ(d.geometry().sector_bytes, 64);
  EXPECT_EQ(d.geometry().warp_size, 1);
  EXPECT_THAT(value(d, Field::compute_units).source, HasSubstr("cpuinfo"));
  EXPECT_THAT(value(d, Field::memory_dram_bandwidth_bytes_per_s).source, HasSubstr("no table"));
  EXPECT_EQ(value(d, Field::limits_max_grid_x).source, "does not apply to a CPU");
}

TEST(HostDevice, WithoutTablesEverythingIsUnknownWithAReason) {
  Device d = host_device(HostTables{"no/cpuinfo", "no/meminfo", "no/cpu"});
  EXPECT_EQ(d.id, "host");
  for (std::size_t i = 0; i < field_count; ++i) {
    auto f = static_cast<Field>(i);
    EXPECT_FALSE(value(d, f).source.empty()) << info(f).key;
    EXPECT_EQ(d.get(f).has_value(), f == Field::compute_warp_size) << info(f).key;
  }
}

TEST(HostDevice, TheCurrentClockIsTakenOnlyWithoutFrequencyScaling) {
  Tables t("clock");
  std::string text = haswell_cpuinfo();
  for (std::size_t at; (at = text.find(" @ 2.50GHz")) != std::string::npos;) text.erase(at, 10);
  t.write("cpuinfo", text);
  EXPECT_DOUBLE_EQ(host_device(t.tables()).require(Field::clock_base_clock_hz), 798.123e6);
  t.write("cpu/cpu0/cpufreq/cpuinfo_max_freq", "3500000\n");
  EXPECT_EQ(host_device(t.tables()).get(Field::clock_base_clock_hz), std::nullopt);
  t.write("cpu/cpu0/cpufreq/base_frequency", "2500000\n");
  EXPECT_EQ(host_device(t.tables()).get(Field::clock_base_clock_hz), 2.5e9);
}

TEST(HostDevice, ThisMachineHasAtLeastACore) {
  if (!fs::exists("/proc/cpuinfo")) GTEST_SKIP() << "no /proc/cpuinfo";
  Device d = host_device();
  EXPECT_GE(d.require(Field::compute_units), 1);
  EXPECT_FALSE(d.name.empty());
  for (const FieldValue& v : d.values) EXPECT_FALSE(v.source.empty());
}

CpuInfo core(const char* vendor, int family, int model, std::set<std::string, std::less<>> flags) {
  CpuInfo cpu;
  cpu.vendor_id = vendor;
  cpu.family = family;
  cpu.model = model;
  cpu.flags = std::move(flags);
  return cpu;
}

TEST(VectorUnits, WidthFollowsTheFlagsAndTheCompilersDefault) {
  EXPECT_EQ(simd_width(core("GenuineIntel", 6, 42, {"sse2", "avx"}))->bits, 256);
  EXPECT_EQ(simd_width(core("GenuineIntel", 6, 23, {"sse2"}))->bits, 128);
  EXPECT_EQ(simd_width(core("GenuineIntel", 6, 85, {"sse2", "avx", "avx2", "fma", "avx512f"}))->bits, 256);
  EXPECT_EQ(simd_width(core("AuthenticAMD", 25, 97, {"sse2", "avx", "avx2", "fma", "avx512f"}))->bits, 512);
  EXPECT_FALSE(simd_width(core("", 0, 0, {"asimd", "sve"})));
}

TEST(VectorUnits, CoresOutsideTheTableAreUnknown) {
  EXPECT_EQ(vector_units(core("GenuineIntel", 6, 60, {"avx2", "fma"}))->fma_per_core, 2);
  EXPECT_EQ(vector_units(core("AuthenticAMD", 23, 0x31, {"avx2", "fma"}))->fma_per_core, 2);
  EXPECT_EQ(vector_units(core("AuthenticAMD", 25, 0x61, {"avx2", "fma", "avx512f"}))->fma_per_core, 1);
  EXPECT_FALSE(vector_units(core("AuthenticAMD", 23, 1, {"avx2", "fma"})));
  EXPECT_FALSE(vector_units(core("GenuineIntel", 6, 0xbe, {"avx2", "fma"})));
  EXPECT_FALSE(vector_units(core("GenuineIntel", 6, 42, {"avx"})));
  EXPECT_FALSE(vector_units(core("Somebody", 6, 60, {"avx2", "fma"})));
}

}  // namespace
}  // namespace kernelcast
