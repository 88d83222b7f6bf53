// What `predict` and `explain` were asked: flags as typed, then checked.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/parser.h"
#include "forecast/pipeline.h"
#include "kernelcast/device.h"
#include "kernelcast/execute.h"
#include "kernelcast/frontend.h"
#include "kernelcast/launch.h"
#include "kernelcast/model.h"

namespace kernelcast::cli {

/// Flags as typed.
struct ForecastFlags {
  std::string file, kernel, device, grid, block, global, shared, standard, language, model, counts = "auto", sample,
                                                                                            map;
  std::string cache_state, launch_overhead, clock, power_limit, ptxas, nvrtc, format = "text", output, devices_dir;
  std::vector<std::string> args, buffers, defines, undefines, includes, readable, assume, lets, tensor_maps;
  std::string launch, argv, cluster;
  std::vector<std::string> with;
  std::string threads = "lockstep", seed, max_instructions, max_memory, max_seconds, jobs, compile_seconds;
  bool fast_math = false, no_checks = false;
  bool launches_beside = false;                     // no flag: see ForecastQuestion
  std::map<std::string, StructureSpec> structures;  // no flag: see Launch
  std::map<std::string, BufferSpec> globals;        // likewise
};

/// Those that say how the source is read: also of `tune`.
void declare_source(Flags command, ForecastFlags& flags);
/// The contents of the caches, by `cache_flag`, and --launch-overhead. `tune` and `validate` have a folder called
/// --cache.
void declare_launch_state(Flags command, ForecastFlags& flags, const std::string& cache_flag);
/// --clock and --power-limit.
void declare_operating_point(Flags command, ForecastFlags& flags);
/// --launch, --argv and --let.
void declare_launches(Flags command, ForecastFlags& flags);
void declare_compile_seconds(Flags command, ForecastFlags& flags);
/// --compile-seconds; nothing is the front end's own limit. Throws UsageError.
double compile_seconds_of(const ForecastFlags& flags);
/// Throws UsageError naming the flag.
Source source_of(const ForecastFlags& flags);
/// --launch-overhead; nothing is 0. Throws UsageError.
double launch_overhead_of(const std::string& text);
/// --arg, --buffer, --assume, --cache-state and --launch-overhead as a launch without sizes.
Launch arguments_of(const ForecastFlags& flags);

/// NVIDIA's run-time compiler: its path, and its name and version. Empty for an empty path.
struct NvrtcChoice {
  std::string path, version;
};
/// Throws UsageError naming --nvrtc where the library cannot be used.
NvrtcChoice nvrtc_choice(const std::string& path);
/// The same for one source, which must be CUDA C++.
NvrtcChoice nvrtc_choice(const std::string& path, const Source& source);
/// Declares --ptxas and --nvrtc.
void declare_vendor(Flags command, std::string& ptxas, std::string& nvrtc);

/// Declares them on a command. `flags` must outlive the parsing.
void declare(Flags command, ForecastFlags& flags, const std::string& file = "FILE",
             const std::string& what = "Kernel source, or - for standard input");

/// Whether it is C or C++, whose loops become work-items.
bool is_loop_nest(const Source& source);
/// --map. Throws UsageError for other sources and for a loop that is named twice.
std::vector<std::string> mapped_loops(const std::string& text, const Source& source);

/// Throws UsageError naming --counts.
Counting counts_of(const std::string& text);
/// Limits and choices of an execution, without locality. Throws UsageError naming the flag.
ExecuteOptions execute_options_of(const ForecastFlags& flags);

/// The same, checked. Everything that can be checked without reading the source has been.
struct Request : ForecastQuestion {  // the source's text is still empty
  std::vector<std::string> devices;
  bool all_devices = false, all_models = false;
  bool json = false;
  std::string output;  // empty: standard output
  std::string devices_dir;
  OperatingPoint point;
};

/// Throws UsageError naming the flag, LimitError for what this version does not have.
Request checked(const ForecastFlags& flags);

}  // namespace kernelcast::cli
