// Joining the assumptions of several stages: order is kept, repeats are dropped.
#include "report/results.h"

#include <algorithm>

namespace kernelcast::report {

std::vector<Assumption> merged(const std::vector<const std::vector<Assumption>*>& lists) {
  std::vector<Assumption> all;
  for (const auto* list : lists) {
    for (const Assumption& a : *list) {
      if (std::find(all.begin(), all.end(), a) == all.end()) all.push_back(a);
    }
  }
  return all;
}

}  // namespace kernelcast::report
