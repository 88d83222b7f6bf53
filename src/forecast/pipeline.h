// The pipeline: source -> profile (once for each code generation target) -> workload -> estimates.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "count/count.h"
#include "forecast/results.h"
#include "kernelcast/frontend.h"
#include "kernelcast/launch.h"
#include "kernelcast/model.h"
#include "kernelcast/profile.h"

namespace kernelcast {

/// One kernel of one source under one launch.
struct ForecastQuestion {
  Source source;
  std::string kernel, ptxas, nvrtc;  // ptxas, nvrtc empty: not asked
  std::vector<std::string> map;      // loops that become work-items
  std::vector<const Model*> models;
  std::optional<Dim3> grid, global;  // at most one of them; neither: the extents of a mapped nest
  Launch launch;                     // all but the grid
  bool launches_beside = false;      // it is one of several of a program, which may have the same buffers
  Counting counts = Counting::automatic;
  double compile_seconds = 120;  // of processor time
  ExecuteOptions execute;
};

/// The front end as the pipeline sees it; tests put a fake in its place.
struct Frontend {
  std::function<Analysis(const Source&, const FrontendOptions&)> analyze;
  std::function<std::vector<std::string>(const Source&, const FrontendOptions&)> kernels_in;
};
Frontend real_frontend();

/// A kernel, or what the front end threw.
struct AnalysedKernel {
  Kernel kernel;
  std::exception_ptr trouble;              // instead
  std::vector<std::string> warnings = {};  // of the compiler
};

/// One source's kernel for each code generation target, analysed when first asked for and kept. The block helps the AMD
/// code generator, so that each block has an analysis of its own there. Thread-safe.
class AnalysedKernels {
 public:
  using Analyse = std::function<AnalysedKernel()>;
  std::shared_ptr<const AnalysedKernel> get(const std::string& target, const Dim3& block, const Analyse& analyse);

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::array<std::int64_t, 3>>, std::shared_ptr<const AnalysedKernel>> known_;
};

/// LimitError for a CPU: kernels are forecast on GPUs.
void require_gpu(const Device& device);

/// The question on one device after the other; analyses and executions are shared where devices allow. `question` and
/// `frontend` must outlive it. One thread at a time. `known` keeps analyses of the same source, kernel and options for
/// later questions.
class Forecaster {
 public:
  Forecaster(const ForecastQuestion& question, const Frontend& frontend,
             std::shared_ptr<AnalysedKernels> known = nullptr);
  ~Forecaster();
  Forecaster(const Forecaster&) = delete;
  Forecaster& operator=(const Forecaster&) = delete;

  /// Never throws an Error: a failure of device or model is in the result.
  DeviceResult on(const Device& device);
  [[nodiscard]] const std::vector<std::string>& warnings() const;  // of the compiler, each once
  [[nodiscard]] const std::vector<FindingReport>& findings() const;
  /// The first failure of any device or model as it was thrown; returns where there was none.
  void rethrow_first_failure() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Where names are missing in a file that another file near it includes, behind what declares them: a note that names
/// that file. Else empty.
std::string includers_note(const Source& source, const std::string& errors);

/// Sets launch.grid; returns what had to be assumed. Throws UsageError naming the flag when a global size cannot be
/// divided: only OpenCL 2.0 and later allow work-groups that are smaller at the edge.
std::vector<Assumption> set_grid(const ForecastQuestion& request, const KernelProfile& profile, Launch& launch);

}  // namespace kernelcast
