// The files that a forecast quotes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernelcast/source.h"
#include "report/results.h"

namespace kernelcast::cli {

/// Lines by path of the source and of every file that some profile quotes; none of a file that is not on disk. Headers
/// that exist only inside the front end are left out.
std::map<std::string, std::vector<std::string>> quoted_sources(const Source& main,
                                                               const report::ForecastReport& forecast);

}  // namespace kernelcast::cli
