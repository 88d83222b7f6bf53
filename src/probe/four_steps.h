// The steps of the method that a back end cannot see, as figures without a value that say why.
#pragma once

#include <string>
#include <vector>

#include "kernelcast/probe.h"

namespace kernelcast::probe {

/// Why steps 2 to 4 cannot be seen. Step 1, latency and throughput, every back end can.
struct UnseenSteps {
  std::string banks, codes, orders;
};
std::vector<Result> unseen_figures(const UnseenSteps& why);

}  // namespace kernelcast::probe
