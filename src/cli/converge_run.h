// Kernels of one source executed with one launch: what `converge` learns from runs.
#pragma once

#include "cli/converge.h"
#include "kernelcast/advice.h"
#include "kernelcast/device.h"
#include "kernelcast/execute.h"
#include "report/converge_views.h"

namespace kernelcast::cli {

/// What the flags ask for, checked.
struct ConvergeRequest {
  Request request;
  Device device;
  FrontendOptions options;
  bool launched = false;                        // sizes of a launch are given
  std::optional<double> p, f, iterations, rho;  // --assume
};
/// Throws UsageError naming the flag.
ConvergeRequest converge_request(const ConvergeFlags& flags, const Environment& environment);

struct KernelRun {
  Analysis analysis;
  Launch launch;
  Execution execution;
};
/// Lines of findings are those of the source, with regions too. Throws LimitError where the kernel cannot be executed,
/// UsageError where an argument or buffer of the command line does not fit it.
KernelRun run_kernel(const ConvergeRequest& r, const Source& source, const std::string& kernel,
                     const ExecuteOptions& options, const std::vector<CodeRegion>& regions = {});

/// Warp instructions of the whole launch.
double warp_instructions(const Execution& e);

/// "line 7", or where that is no line of the source itself, "k.cuh:7".
std::string line_text(const ConvergeRequest& r, const std::string& file, int line);

/// Pattern, costs and executed gains of a loop: executed where there is a launch, else assumed. `report` gets what was
/// assumed, and the trouble that execution found in the kernel.
LoopFacts facts_of(const ConvergeRequest& r, const DivergentLoop& loop, report::ConvergeReport& report);
/// Mean share of active lanes in a loop; without a launch not known.
std::optional<double> active_lanes(const ConvergeRequest& r, const UnevenLoop& loop, report::ConvergeReport& report);

/// Executes source and `rewritten` whole on the same inputs, of a template each instance. Throws UserError where they
/// leave other results, LimitError where they cannot be compared. Returns warp instructions before over after.
double check_same_results(const ConvergeRequest& r, const Source& rewritten, const DivergentLoop& loop);

}  // namespace kernelcast::cli
