// Which buffers hold several small numbers in each element.
#pragma once

#include <vector>

#include "kernelcast/program.h"

namespace kernelcast::interpreter {

/// For each of the profile's `buffers` (their number): whether the program takes the integers that it loads from there
/// apart, by masks and shifts by constants, and does nothing else with them.
std::vector<bool> packed_buffers(const Program& program, std::size_t buffers);

}  // namespace kernelcast::interpreter
