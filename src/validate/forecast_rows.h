// Every row through the pipeline: source -> profile -> workload -> every model.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernelcast/device.h"
#include "kernelcast/frontend.h"
#include "kernelcast/model.h"
#include "kernelcast/profile.h"
#include "tune/analysis_memory.h"
#include "validate/measurement.h"
#include "validate/results.h"

namespace kernelcast::validate {

using tune::Analyzer;

struct ForecastOptions {
  std::string sources;         // folder of sources, also the include path
  std::string kernels_folder;  // of KERNELS.csv: where else wrappers and fills are looked for
  std::vector<const Model*> models;
  int jobs = 1;
  Analyzer analyze;
  /// Parts of a kernel that data decide are executed on a sample of blocks, with the buffers' contents as the files
  /// give them; false: closed forms and their defaults throughout.
  bool execute = true;
  double launch_overhead_s = 0;  // of the host, in the measured times: added to every forecast
  /// Told after every row how many are done; calls do not overlap.
  std::function<void(std::size_t done, std::size_t all)> progress;
  /// Sees every bound row with all counts, before they are cut down to totals; calls overlap. May be empty.
  std::function<void(std::size_t row, const KernelProfile&, const Workload&, const Device&)> observe;
};

/// Forecasts `rows`; a row that fails holds the reason. A source is analysed once for each set of defines, code
/// generation target, kernel and block, and a launch is bound once for each memory geometry. The order is that of
/// `rows` whatever the number of jobs. Report::analyses and the rows are filled, the scores are not.
Report forecast_rows(std::vector<Measurement> rows, const std::map<std::string, KernelEntry>& kernels,
                     const DeviceCatalog& catalog, const ForecastOptions& options);

/// Buffers in elements of what the kernel's pointers point to, with their fills ("file:" relative to `folder`),
/// arguments by position under the kernel's own names, and the block that the kernel demands where the row gives none.
/// Throws UserError when positions and parameters do not agree.
Launch launch_for(const Measurement& row, const KernelEntry& kernel, const KernelProfile& profile,
                  const std::string& folder);

}  // namespace kernelcast::validate
