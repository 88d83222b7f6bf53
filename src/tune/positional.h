// Arguments that a file lists by position, given to a kernel under its own names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernelcast/launch.h"
#include "kernelcast/profile.h"

namespace kernelcast::tune {

/// A kernel argument that is known by its position, not by its name.
struct PositionalArgument {
  std::string name;  // as the file calls it, for messages
  bool scalar = false, constant_memory = false;
  std::int64_t elements = 0, element_bytes = 4;
  double value = 0;  // of a scalar
};

/// Elements of what the parameter points to in a buffer that a file declares with another type.
std::int64_t elements_of(const Parameter& parameter, std::int64_t elements, std::int64_t element_bytes);

/// Sets scalars and buffers of `launch` that it does not have yet. Throws UserError when positions and parameters do
/// not agree.
void place_arguments(std::vector<PositionalArgument> arguments, const KernelProfile& profile, Launch& launch);

}  // namespace kernelcast::tune
