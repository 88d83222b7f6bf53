// A tuning space from the flags of the command line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernelcast/launch.h"
#include "tune/space.h"

namespace kernelcast::tune {

/// The flags as typed; empty: not given.
struct SpaceFlags {
  std::string block, grid, global, problem, tile, shared;
  std::vector<std::string> parameters;        // NAME=VALUES
  std::vector<std::string> constraints;       // in C
  std::map<std::string, ArgValue> arguments;  // whole numbers among them can be named
};

/// Throws UsageError naming the flag. `mapped`: the kernel is a loop nest, whose loops give the grid where no flag
/// does. `block_of_file`: where no flag gives the block, the compiled code does.
Space space_of(const SpaceFlags& flags, bool mapped, bool block_of_file = false);

/// A T1 file's space with what flags say put in its place: --block, --problem, --tile, --shared; --param and
/// --constraint add.
void apply(const SpaceFlags& flags, Space& space);

}  // namespace kernelcast::tune
