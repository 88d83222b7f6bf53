// What a program takes its buffers for: bounds of loops (row pointers of sparse matrices, lengths of lists, first and
// last of a cell), indices with a bound, sizes, several small numbers in each element, and what is searched by halves.
#pragma once

#include <cstdint>
#include <set>
#include <string>
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

struct NumberRole {
  std::set<std::string> below;  // scalars that indices from the buffer are compared with
  bool size_of_launch = false;  // elements for all threads say which threads have work
};

/// For each of the profile's `buffers` (their number), what the program compares its integers with.
std::vector<NumberRole> number_roles(const Program& program, std::size_t buffers);

/// For each of the profile's `buffers` (their number): whether the program takes the integers that it loads from there
/// apart, by masks and shifts by constants, and does nothing else with them.
std::vector<bool> packed_buffers(const Program& program, std::size_t buffers);

/// For each of the profile's `buffers` (their number): whether the program searches it by halves.
std::vector<bool> searched_buffers(const Program& program, std::size_t buffers);

}  // namespace kernelcast::interpreter
