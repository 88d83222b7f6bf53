// Views of `advise`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernelcast/advise.h"
#include "report/results.h"
#include "report/style.h"

namespace kernelcast::report {

/// One device's findings, or why there are none.
struct DeviceAdvice {
  std::string device, name;  // id, name for people
  std::string kernel;
  std::optional<double> time_s, floor_s;
  std::string limiter, failure;
  std::vector<Advice> findings;
  int not_asked = 0;                     // changed sources that were not compiled
  std::vector<std::string> assumptions;  // of the forecast
};

struct AdviceReport {
  Head head;
  std::string source;
  std::vector<DeviceAdvice> devices;
  std::vector<AdviceRule> rules;                            // all that there are
  std::map<std::string, std::vector<std::string>> sources;  // lines by path
  double least_gain = 0.02;
};

std::string advice_text(const AdviceReport& report, const Style& style);
std::string advice_json(const AdviceReport& report);
/// SARIF 2.1.0 (OASIS), as code hosts read it.
std::string advice_sarif(const AdviceReport& report);

}  // namespace kernelcast::report
