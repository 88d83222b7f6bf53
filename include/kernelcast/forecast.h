// The facade of the library: from source text to forecasts in one call. What `kernelcast predict` does, without its files and flags.
//
//   Source source{.path = "saxpy.cu", .text = text};
//   ForecastOptions options;
//   options.devices = {"v100", "a100"};
//   options.grid = Dim3{4096, 1, 1};
//   options.launch.block = {256, 1, 1};
//   options.launch.args["n"] = std::int64_t{1048576};
//   for (const DeviceForecast& f : forecast(source, options).devices)
//     if (f.time_s()) std::printf("%s %g s\n", f.device.c_str(), *f.time_s());
//
// Thread safety: any number of calls may run at once; there is no global state that a caller sees. The kernel is never run natively.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernelcast/estimate.h"
#include "kernelcast/launch.h"
#include "kernelcast/source.h"

namespace kernelcast {

struct ForecastOptions {
  std::vector<std::string> devices;  // ids, aliases ("a100") or paths of device files
  std::string device_folder;         // empty: the installed one, or that of the source tree
  std::string kernel;                // plain, demangled or mangled name; empty: the only kernel
  std::vector<std::string> models{"kernelcast"};
  std::optional<Dim3> grid;    // blocks
  std::optional<Dim3> global;  // threads, in place of the grid; neither: the extents of a nest whose loops are mapped
  Launch launch;               // block (threads), dynamic shared memory (bytes), arguments, buffers, answers; not the grid
  std::vector<std::string> map;  // loop counters of a C or C++ nest that become work-items, outermost first
  bool execute = true;           // execute a sample of blocks where data decide; false: closed forms and defaults
  double compile_seconds = 120;  // processor time of the front end
  std::string clock, power_limit;  // as operating_point() takes them; empty: the device file's
};

/// What a launch executes, all threads together.
struct LaunchSums {
  double warp_instructions = 0;
  double flop32 = 0, flop64 = 0, tensor_flop = 0;              // operations; a multiply-add is two
  double footprint_read_bytes = 0, footprint_write_bytes = 0;  // distinct bytes of global memory
};

/// One kernel on one device. Times are seconds, energies joules, sizes bytes.
struct DeviceForecast {
  std::string device;  // id of the device file
  std::string name;    // "NVIDIA A100 PCIe 40GB"
  std::string kernel;  // demangled
  Dim3 grid, block;
  std::vector<Estimate> estimates;        // one for each model that could answer, in the order asked for
  std::optional<LaunchSums> counts;       // nothing: see failures
  std::vector<Assumption> assumptions;    // of source, launch and counts; each estimate has its own beside
  std::vector<std::string> failures;      // why a model, or the device as a whole, has no answer
  /// Of the first model; nothing where it has none.
  [[nodiscard]] std::optional<double> time_s() const {
    return estimates.empty() ? std::nullopt : estimates.front().time_s.value;
  }
};

struct ForecastResult {
  std::vector<DeviceForecast> devices;  // in the order of ForecastOptions::devices
  std::vector<std::string> warnings;    // of the compiler, as it renders them
  std::vector<std::string> findings;    // races, accesses out of bounds: "spmv.cu:14: out of bounds: ..."
};

struct DeviceEntry {
  std::string id, name, kind;  // kind: "gpu", "cpu"
};
/// The devices of a folder (empty: the installed one, or that of the source tree), sorted by id. Throws UsageError when there is no such
/// folder.
std::vector<DeviceEntry> devices_in(const std::string& device_folder = {});

/// Throws UserError for a source that does not compile, an unknown device, model or argument, LimitError for what kernelcast cannot
/// analyze, when no device has an answer; where at least one has, the others' reasons are in DeviceForecast::failures. Messages name
/// settings by the fields above ("give a smaller block").
ForecastResult forecast(const Source& source, const ForecastOptions& options);

/// A source that is analysed once, for many launches: what a search over grids and arguments wants. An analysis takes some 50 ms, a
/// launch counted in closed form some 20 us. Thread safety: on() may run in any number of threads at once.
class KernelForecaster {
 public:
  /// Reads the device files; the source is analysed when first needed. Throws as forecast() does for devices and models.
  KernelForecaster(Source source, ForecastOptions options);
  ~KernelForecaster();
  KernelForecaster(KernelForecaster&&) noexcept;
  KernelForecaster& operator=(KernelForecaster&&) noexcept;
  /// forecast() with this grid (blocks) and launch in place of those of the options.
  [[nodiscard]] ForecastResult on(const Dim3& grid, const Launch& launch) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelcast
