// What the commands hand to the views: plain values, already computed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "count/mix.h"
#include "kernelcast/device.h"
#include "kernelcast/estimate.h"
#include "kernelcast/execute.h"
#include "kernelcast/profile.h"
#include "kernelcast/workload.h"

namespace kernelcast::report {

/// The head of every JSON output.
struct Head {
  std::string tool_version;
  std::vector<std::string> command;  // as the user typed it
};

/// What one model said, or why it could not say anything.
struct ModelResult {
  std::string model;
  std::optional<Estimate> estimate;
  std::string failure;
};

/// Everything that is known of one kernel on one device.
struct DeviceResult {
  Device device;
  Launch launch;
  std::shared_ptr<const KernelProfile> profile;  // null when there is none, see failure
  std::optional<Workload> workload;              // nothing when the launch could not be bound, see failure
  std::shared_ptr<const Execution> execution;    // null when nothing was executed
  CountOrigin origin;                            // by which road each part was counted; empty: closed forms
  std::vector<ModelResult> models;               // one for each model that was asked for
  std::vector<Assumption> assumptions;           // of profile, command line and workload, each once
  std::string failure;                           // why there is no workload; empty when there is one
};

/// Trouble that execution found, with the names that its numbers stand for. The same on several devices stands once.
struct FindingReport {
  Finding finding;
  std::string kernel, file;  // no file: the source line is not known
  /// "spmv.cu:14: out of bounds: ...", as compilers write warnings.
  [[nodiscard]] std::string text() const;
};

/// Adds what is not known yet: one of a kind for each source line.
void add_findings(std::vector<FindingReport>& known, const KernelProfile& profile, const Execution& execution);

/// The answer to `predict` and `explain`.
struct Forecast {
  Head head;
  std::string kernel;                 // as the user named it until an analysis names it
  std::string source;                 // path, "<stdin>" for standard input
  std::vector<DeviceResult> devices;  // in the order in which they were asked for
  std::vector<FindingReport> findings;
  std::map<std::string, std::vector<std::string>> sources;  // lines of the files that `explain` quotes, by path
};

/// The lists one after the other, each assumption once.
std::vector<Assumption> merged(const std::vector<const std::vector<Assumption>*>& lists);

}  // namespace kernelcast::report
