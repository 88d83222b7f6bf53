// Rules that hold between the numbers of one device.
#pragma once

#include <string>

#include "kernelcast/device.h"

namespace kernelcast {

/// A broken rule in words ("clock.base_clock_hz = 2e9 is above clock.boost_clock_hz = 1e9") and the two fields.
struct Contradiction {
  std::string what;
  Field first, second;
};

/// The first rule that the device breaks; rules with an unknown number do not apply.
std::optional<Contradiction> find_contradiction(const Device& device);

}  // namespace kernelcast
