// Which buffers hold the bounds of loops: row pointers of sparse matrices, lengths of lists, first and last of a cell.
#pragma once

#include <cstdint>
#include <vector>

#include "kernelcast/program.h"

namespace kernelcast::interpreter {

enum class BoundRole : std::uint8_t {
  none,
  offsets,       // a loop runs from one element to another one of the same buffer, or from an element here ...
  next_offsets,  // ... to one here
  length         // a loop runs as often as an element says
};

/// For each of the profile's `buffers` (their number), what the loops of the program take it for.
std::vector<BoundRole> bound_roles(const Program& program, std::size_t buffers);

}  // namespace kernelcast::interpreter
