// Views of `converge`.
#pragma once

#include <string>
#include <vector>

#include "kernelcast/advice.h"
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

/// The divergent loops of a source.
struct ConvergeReport {
  Head head;
  std::string source;
  std::vector<LoopAdvice> loops;
  std::vector<UnevenAdvice> uneven;
  std::vector<Assumption> assumptions;
  std::vector<FindingReport> findings;  // trouble in what was executed
};
std::string converge_text(const ConvergeReport& report, const Style& style);
std::string converge_json(const ConvergeReport& report);

}  // namespace kernelcast::report
