// Launches that the host code makes, and the forecast of each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "forecast/program_buffers.h"
#include "kernelcast/host.h"
#include "report/results.h"
#include "report/style.h"

namespace kernelcast::report {

struct LaunchForecast {
  int number = 0;  // from 1, as --launch takes it
  HostLaunch launch;
  std::optional<ForecastReport> forecast;
  std::string failure;  // why there is none; empty and no forecast: none was asked for
  std::vector<BufferFinding> findings = {};
};

struct ProgramForecast {
  Head head;
  std::string source;
  std::vector<LaunchForecast> launches;
  std::vector<std::string> notes;    // of evaluation
  std::vector<std::string> assumed;  // HostProgram::assumed
  bool whole = true;                 // no launch that was found is left out
};

/// "4096 x 1 x 1" with "?name" for what is not known.
std::string launch_sizes(const std::array<HostNumber, 3>& sizes);
std::string launches_text(const ProgramForecast& program, const Style& style);
/// The JSON of `predict` with `launches`, `program` and, in each prediction, the number of its launch.
std::string launches_json(const ProgramForecast& program);

}  // namespace kernelcast::report
