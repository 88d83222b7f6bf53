// From the module as Clang or the reader of PTX leaves it to the one kernel that a device compiler would generate code
// from.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/lower/loop_nest.h"
#include "frontend/source/compile.h"
#include "kernelcast/frontend.h"

namespace kernelcast::frontend {

/// Functions that the kernel calls and whose bodies are in another file, with the first place of a call.
struct MissingBodies {
  std::set<std::string> names;  // plain
  std::string first;            // "f(float)' (a.cu:12)"
};

struct LoweredKernel {
  MappedNest nest;                          // of a loop nest in C or C++
  std::optional<std::string> library_note;  // OpenCL's library was needed and is not installed
  MissingBodies missing;
};

/// Maps a loop nest to work-items (`map`: counters of its loops), brings built-in functions, asm statements and image
/// accesses to the forms that analysis and code generation read, and optimizes the kernel `symbol` for the target.
/// `cluster` and `capability`: as FrontendOptions.
LoweredKernel lower_kernel(CompiledUnit& unit, const std::string& symbol, const std::string& target, bool fast_math,
                           const std::vector<std::string>& map, const Dim3& cluster = {0, 0, 0},
                           const std::string& capability = "");

}  // namespace kernelcast::frontend
