// All configurations of a space that satisfy its constraints.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "tune/space.h"

namespace kernelcast::tune {

struct Enumeration {
  std::vector<Configuration> kept;      // ascending
  std::uint64_t combinations = 0;       // before constraints
  std::vector<std::uint64_t> excluded;  // parallel to the space's constraints: by the first that fails
  std::vector<std::pair<Configuration, std::size_t>>
      examples;  // excluded configurations and the constraint that did it
};

/// A constraint is checked as soon as the parameters that it names have values, so whole subtrees are left out at once.
/// At most `most` configurations are kept; LimitError beyond. Up to `examples` excluded ones are listed.
Enumeration enumerate(const Space& space, std::uint64_t most, std::size_t examples, const std::atomic<bool>& stop);

}  // namespace kernelcast::tune
