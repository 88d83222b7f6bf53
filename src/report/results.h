// What the commands hand to the views: plain values, already computed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "forecast/results.h"

namespace kernelcast::report {

using kernelcast::DeviceResult;
using kernelcast::FindingReport;
using kernelcast::ModelResult;

/// The head of every JSON output.
struct Head {
  std::string tool_version;
  std::vector<std::string> command;  // as the user typed it
};

/// The answer to `predict` and `explain`.
struct ForecastReport {
  Head head;
  std::string kernel;                 // as the user named it until an analysis names it
  std::string source;                 // path, "<stdin>" for standard input
  std::vector<DeviceResult> devices;  // in the order in which they were asked for
  std::vector<FindingReport> findings;
  std::map<std::string, std::vector<std::string>> sources;  // lines of the files that `explain` quotes, by path
};

}  // namespace kernelcast::report
