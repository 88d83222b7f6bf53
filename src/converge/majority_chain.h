// Majority first as a Markov chain.
#pragma once

#include "kernelcast/converge.h"

namespace kernelcast {

/// Passes per iteration of a lane in the stationary state; `x` and `y` are the probabilities to go from T to F and from
/// F to T, both above 0.
StepRates majority_rates(int width, double x, double y, const PolicyOptions& options);

}  // namespace kernelcast
