// Drafts of all rules to findings: what each gains, sorted, without those that the source or the caller switches off.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "advise/subject.h"
#include "kernelcast/advise.h"

namespace kernelcast::advice {

struct AdviceOptions {
  std::set<std::string> without;  // rules
  bool rewrite = false;           // also execute what can be rewritten, and show the difference
  AdviceLimits limits;            // of the subject
};

/// All rules by name, in the order of docs/reference/rules.md.
std::vector<AdviceRule> all_rules();

/// Findings by falling gain. A line with the comment "kernelcast: ignore RULE[, RULE]", or the line after one that
/// holds nothing else, has none of that rule; without a rule none at all.
/// The same rewritten source is one finding. Gains below the subject's least are left out.
std::vector<Advice> findings(const Subject& subject, const AdviceOptions& options);

}  // namespace kernelcast::advice
