// The device "host": a CPU described by the operating system's tables. Every number names the table that it was read
// from; what no table says is unknown with the reason and never guessed.
#include "device/host.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace kernelcast {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

class Builder {
 public:
  explicit Builder(Device& device) : device_(device) {}

  /// Takes the value only if the table of fields allows it: tables of virtual machines hold zeros and worse.
  void set(Field f, double value, const std::string& source) {
    const FieldInfo& row = info(f);
    if (value >= row.minimum && value <= row.maximum) {
      at(f) = {value, source, "host"};
    } else {
      unknown(f, source + " gives a value out of range");
    }
  }
  void unknown(Field f, const std::string& reason) { at(f) = {std::nullopt, reason, "host"}; }

 private:
  FieldValue& at(Field f) { return device_.values[static_cast<std::size_t>(f)]; }
  Device& device_;
};

void all_unknown(Builder& out) {
  for (std::size_t i = 0; i < field_count; ++i) {
    auto f = static_cast<Field>(i);
    std::string_view section = info(f).section;
    bool gpu_only = section == "limits" || section == "opencl_quantitative" || section == "ske" ||
                    f == Field::compute_schedulers_per_unit || f == Field::memory_shared_banks ||
                    f == Field::memory_shared_bank_bytes || f == Field::memory_shared_bandwidth_bytes_per_unit ||
                    f == Field::memory_shared_latency_cycles;
    out.unknown(f, gpu_only ? "does not apply to a CPU" : "the operating system has no table of it");
  }
}

void clocks(Builder& out, const CpuInfo& cpu, const HostTables& tables) {
  auto path_of = [&](const char* name) { return tables.cpu_root + "/cpu0/cpufreq/" + name; };
  auto khz_of = [&](const char* name) {
    std::string text = contents(path_of(name));
    return parse_size(text.substr(0, text.find('\n')));
  };
  std::optional<double> base_khz = khz_of("base_frequency"), max_khz = khz_of("cpuinfo_max_freq");
  if (max_khz) {
    out.set(Field::clock_boost_clock_hz, *max_khz * 1e3, path_of("cpuinfo_max_freq"));
  } else {
    out.unknown(Field::clock_boost_clock_hz, path_of("cpuinfo_max_freq") + " cannot be read");
  }
  if (base_khz) {
    out.set(Field::clock_base_clock_hz, *base_khz * 1e3, path_of("base_frequency"));
  } else if (cpu.name_clock_hz) {
    out.set(Field::clock_base_clock_hz, *cpu.name_clock_hz, tables.cpuinfo + ", model name");
  } else if (cpu.clock_hz && !max_khz) {
    // With frequency scaling the current clock says little; without (virtual machines) it is all there is.
    out.set(Field::clock_base_clock_hz, *cpu.clock_hz, tables.cpuinfo + ", cpu MHz when it was read");
  } else {
    out.unknown(Field::clock_base_clock_hz,
                path_of("base_frequency") + " cannot be read and the model name has no clock");
  }
}

void caches(Builder& out, const HostTables& tables) {
  std::vector<CacheLevel> levels = read_caches(tables.cpu_root);
  for (Field f : {Field::memory_l1_bytes, Field::memory_l1_line_bytes, Field::memory_l2_bytes,
                  Field::memory_l2_line_bytes, Field::memory_l3_bytes, Field::memory_l1_ways, Field::memory_l2_ways,
                  Field::memory_l3_ways, Field::memory_sector_bytes, Field::memory_segment_bytes})
    out.unknown(f, "not in " + tables.cpu_root + "/cpu*/cache");
  for (const CacheLevel& c : levels) {
    std::string size = c.source + "/size", line = c.source + "/coherency_line_size";
    const Field ways = c.level == 1   ? Field::memory_l1_ways
                       : c.level == 2 ? Field::memory_l2_ways
                                      : Field::memory_l3_ways;
    if (c.level <= 3 && c.ways > 0) out.set(ways, c.ways, c.source + "/ways_of_associativity");
    if (c.level == 1) {
      out.set(Field::memory_l1_bytes, c.bytes_each, size);
      out.set(Field::memory_l1_line_bytes, c.line_bytes, line);
      // Cores load and store whole lines.
      out.set(Field::memory_sector_bytes, c.line_bytes, line);
      out.set(Field::memory_segment_bytes, c.line_bytes, line);
      out.set(Field::memory_l1_caches_global_loads, 1, size);
    }
    if (c.level == 2) {
      out.set(Field::memory_l2_bytes, c.bytes_each, size + ", one of " + std::to_string(c.instances));
      out.set(Field::memory_l2_line_bytes, c.line_bytes, line);
    }
    if (c.level == 3) out.set(Field::memory_l3_bytes, c.bytes_all, size + ", all " + std::to_string(c.instances));
  }
}

void vectors(Builder& out, const CpuInfo& cpu, const HostTables& tables) {
  std::optional<SimdWidth> simd = simd_width(cpu);
  if (!simd) {
    out.unknown(Field::cpu_simd_bits, "no flag in " + tables.cpuinfo + " says the width");
    return;
  }
  out.set(Field::cpu_simd_bits, simd->bits, tables.cpuinfo + ", " + simd->source);
  bool x86 = cpu.has("sse2");
  if (x86 && !cpu.has("fma")) out.set(Field::cpu_fma_per_core, 0, tables.cpuinfo + ", no flag fma");
  std::string reason = "this core is not among those whose vector units are known here";
  std::optional<VectorUnits> units = vector_units(cpu);
  if (!units) {
    if (!x86 || cpu.has("fma")) out.unknown(Field::cpu_fma_per_core, reason);
    for (Field f :
         {Field::cpu_fp_issue_per_core, Field::compute_fp32_lanes_per_unit, Field::compute_fp64_lanes_per_unit})
      out.unknown(f, reason);
    return;
  }
  out.set(Field::cpu_fma_per_core, units->fma_per_core, units->source);
  out.set(Field::cpu_fp_issue_per_core, units->fp_issue_per_core, units->source);
  std::string product = "cpu.fma_per_core times lanes of cpu.simd_bits";
  out.set(Field::compute_fp32_lanes_per_unit, units->fma_per_core * simd->bits / 32.0, product);
  out.set(Field::compute_fp64_lanes_per_unit, units->fma_per_core * simd->bits / 64.0, product);
}

}  // namespace

Device host_device(const HostTables& tables) {
  CpuInfo cpu = parse_cpuinfo(contents(tables.cpuinfo));
  Device device;
  device.id = "host";
  device.name = cpu.model_name.empty() ? "this machine's CPU" : cpu.model_name;
  device.vendor = cpu.vendor_id == "GenuineIntel" ? "Intel" : cpu.vendor_id == "AuthenticAMD" ? "AMD" : cpu.vendor_id;
  device.kind = "cpu";
  device.codegen_target = "host";
  device.notes = {
      "Numbers of the compute section are per core; l1_bytes and l2_bytes are one core's caches, l3_bytes is the "
      "machine's."};
  Builder out(device);
  all_unknown(out);
  out.set(Field::compute_warp_size, 1, "by definition: SIMD is not a warp");
  if (cpu.cores > 0) {
    out.set(Field::compute_units, cpu.cores, tables.cpuinfo + ", distinct physical id and core id");
    int threads_per_core = cpu.threads / cpu.cores;
    out.set(Field::cpu_threads_per_core, threads_per_core, tables.cpuinfo + ", processors per core");
  } else {
    out.unknown(Field::compute_units, tables.cpuinfo + " lists no processor");
    out.unknown(Field::cpu_threads_per_core, tables.cpuinfo + " lists no processor");
  }
  clocks(out, cpu, tables);
  vectors(out, cpu, tables);
  caches(out, tables);
  if (std::optional<double> bytes = parse_memory_total(contents(tables.meminfo))) {
    out.set(Field::memory_dram_bytes, *bytes, tables.meminfo + ", MemTotal");
  } else {
    out.unknown(Field::memory_dram_bytes, tables.meminfo + " cannot be read");
  }
  return device;
}

Device host_device() { return host_device(HostTables{}); }

}  // namespace kernelcast
