// Reading the machine we run on. Every function takes a text or a folder, so that tests bring their own.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernelcast/device.h"

namespace kernelcast {

/// What /proc/cpuinfo says. Numbers are nothing where the text does not have them.
struct CpuInfo {
  std::string model_name, vendor_id;
  std::optional<int> family, model;
  std::optional<double> clock_hz;       // "cpu MHz" of the first processor: the clock at the time of reading
  std::optional<double> name_clock_hz;  // "@ 2.60GHz" in the model name: the base clock
  int threads = 0;                      // processors
  int cores = 0;                        // distinct (physical id, core id); = threads where these are missing
  std::set<std::string, std::less<>> flags;
  [[nodiscard]] bool has(std::string_view flag) const { return flags.contains(flag); }
};
CpuInfo parse_cpuinfo(std::string_view text);

/// Data and unified caches of the whole machine, by level.
struct CacheLevel {
  int level = 0;
  double bytes_each = 0;  // the first instance
  double bytes_all = 0;   // all instances
  int instances = 0;
  int line_bytes = 0;
  int ways = 0;        // of a set; 0: not said
  std::string source;  // the folder of the first instance
};
/// From CPU_ROOT/cpu*/cache/index*; caches that several processors share count once.
std::vector<CacheLevel> read_caches(const std::string& cpu_root);

/// "48K", "2048K", "32M" as bytes; nothing for other texts.
std::optional<double> parse_size(std::string_view text);
/// MemTotal of /proc/meminfo in bytes.
std::optional<double> parse_memory_total(std::string_view text);

/// Widest vector register that compilers use by default, with the reason; nothing when no flag says it.
struct SimdWidth {
  int bits;
  std::string source;
};
std::optional<SimdWidth> simd_width(const CpuInfo& cpu);

/// Vector arithmetic of a core at simd_width, from published descriptions of its microarchitecture; nothing for cores
/// that are not in the table.
struct VectorUnits {
  int fma_per_core;       // FMA instructions per cycle
  int fp_issue_per_core;  // floating-point instructions per cycle
  std::string source;
};
std::optional<VectorUnits> vector_units(const CpuInfo& cpu);

/// Where the operating system keeps its tables.
struct HostTables {
  std::string cpuinfo = "/proc/cpuinfo";
  std::string meminfo = "/proc/meminfo";
  std::string cpu_root = "/sys/devices/system/cpu";
};
Device host_device(const HostTables& tables);

}  // namespace kernelcast
