// Slowdowns that were accepted: a file of launches and the times up to which they pass. It is kept with the sources,
// and a reader sees what was accepted in a change of its own.
#pragma once

#include <string>
#include <vector>

#include "report/check_views.h"

namespace kernelcast::cli {

struct AcceptedTime {
  std::string device, launch, kernel;
  double time_s = 0;
};

/// Lines "TIME_S DEVICE LAUNCH KERNEL"; # begins a comment. A file that does not exist holds nothing. Throws UserError
/// naming file and line.
std::vector<AcceptedTime> read_accepted(const std::string& path);
/// Broken rows whose new time is at most the accepted one pass.
void apply_accepted(const std::vector<AcceptedTime>& accepted, report::CheckReport& report);
/// Puts the times of rows that are slower than the gate allows in place of those of the same launches.
void write_accepted(const std::string& path, std::vector<AcceptedTime> accepted, const report::CheckReport& report);

}  // namespace kernelcast::cli
