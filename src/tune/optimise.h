// The minimum of a function over a space that is too large to try every configuration.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>

#include "tune/space.h"

namespace kernelcast::tune {

inline constexpr double infinite_time = std::numeric_limits<double>::infinity();

struct SearchLimits {
  std::uint64_t budget = 4000;  // configurations to try
  std::uint64_t seed = 1;
  int jobs = 1;
};

struct Minimum {
  Configuration configuration = 0;
  double value = infinite_time;
  std::uint64_t tried = 0;  // distinct configurations that satisfy the constraints
};

/// NLopt's global optimisers on the unit cube of the parameters' positions (a division of rectangles, controlled random
/// search and an evolution strategy, which share what they have seen), then descent to a configuration that no change
/// of one or two parameters improves, from several of the best. Not certain to be the minimum. `objective` is called
/// from several threads, once for each configuration, and is infinite where it has no value.
Minimum minimise(const Space& space, const std::function<double(Configuration)>& objective, const SearchLimits& limits,
                 const std::atomic<bool>& stop);

}  // namespace kernelcast::tune
