// Views of `converge`.
#pragma once

#include <string>

#include "kernelcast/converge.h"
#include "report/results.h"
#include "report/style.h"

namespace kernelcast::report {

/// One pattern replayed under one policy.
struct ReplayReport {
  Head head;
  std::string pattern;  // as the user named it
  Policy policy{};
  PolicyOptions options;
  PatternStatistics statistics;
  std::int64_t iterations = 0;  // of the longest lane
  StepCounts plain, counts;
  BestSchedule best;
};
std::string replay_text(const ReplayReport& report, const Style& style);
std::string replay_json(const ReplayReport& report);

}  // namespace kernelcast::report
