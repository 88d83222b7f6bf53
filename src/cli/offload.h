// Flags of `offload`, as typed.
#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/forecast.h"
#include "cli/request.h"
#include "kernelcast/offload_region.h"

namespace kernelcast::cli {

struct OffloadFlags {
  ForecastFlags source;  // file, kernel, grid, block, args, buffers, assume, map, format, output, devices_dir
  std::string cpu_source, cpu, gpu, devices;
  std::string weights = "time=1,energy=0", reps = "1", resident, scale, confidence = "0.5", memory = "pageable";
  std::string cpu_threads, cpu_simd = "on", cpu_opt, cpu_isa = "native", cpu_idle_w, gpu_idle_w;
  std::string busy_power = "tdp-times-0.6";
  std::string powercap = "/sys/class/powercap", nvml = "libnvidia-ml.so.1";
  bool measure_power = false;
  std::vector<std::string> roles;
  bool overlap = false;
  std::string model = "kernelcast", faults;
  std::string replay, examples;
};

/// --cpu-opt, checked.
int optimization_of(const OffloadFlags& flags, int without);

/// How the CPU's side is compiled.
struct CpuSettings {
  int optimization = 3;
  bool simd = true, baseline = false;
  std::string made_for;          // the CPU whose code runs, as LLVM names it; empty: the one that runs it
  double compile_seconds = 120;  // most processor time for each side of a kernel
  int threads = 0;               // one: code without a runtime library of threads; 0: as many as cores
};

/// The flags as values; UsageError for those that say nothing sensible.
offload::OffloadRequest question_of(const OffloadFlags& flags);
CpuSettings settings_of(const OffloadFlags& flags);
/// --role and --resident.
void roles_of(const OffloadFlags& flags, offload::Region& region);
/// The argument whose value is the size: as named, or the only integer one; empty: none.
std::string scale_of(const OffloadFlags& flags, const offload::OffloadRequest& question);

/// Reads and analyses kernels for both sides. `names` in the order in which they run; empty: all of the source.
/// Messages of the compiler go to `warnings`.
offload::Region analysed_region(const Source& gpu_source, const Source& cpu_source,
                                const std::vector<std::string>& names, const std::vector<std::string>& map,
                                const Device& cpu, const Device& gpu, const CpuSettings& settings,
                                std::vector<std::string>& warnings);

/// Reads the machine's meters for what no flag gives: idle power of both devices, and of the CPU when busy.
void measure_power(const OffloadFlags& flags, const Device& cpu, const Device& gpu, offload::OffloadRequest& question);

/// `offload --replay TABLE.csv`.
int offload_replay(const OffloadFlags& flags, const Environment& environment);

}  // namespace kernelcast::cli
