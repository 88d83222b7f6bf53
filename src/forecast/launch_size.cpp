// OpenCL before 2.0 demands that the global size is a multiple of the group size (OpenCL 1.2, clEnqueueNDRangeKernel);
// 2.0 made the last group smaller instead. That group is counted as a full one, and the result says so. A loop nest's
// global size is the trip counts of the mapped loops: the front end has put the bounds check into the kernel.
#include "forecast/pipeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "count/count.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"

namespace kernelcast {
namespace {

using Sizes = Extents;

std::string text(const Sizes& s) { return fmt::format("{}", fmt::join(s, ",")); }

bool allows_smaller_groups(const Source& source) {
  static constexpr std::array<std::string_view, 8> names{"CL2.0", "cl2.0", "CL3.0",     "cl3.0",
                                                         "CLC++", "clc++", "CLC++2021", "clc++2021"};
  return source.language == Language::opencl && std::find(names.begin(), names.end(), source.standard) != names.end();
}

bool divisible(const Sizes& global, const Sizes& block) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (global[i] % block[i] != 0) return false;
  }
  return true;
}

}  // namespace

std::vector<Assumption> set_grid(const ForecastQuestion& request, const KernelProfile& profile, Launch& launch) {
  if (request.grid) {
    launch.grid = *request.grid;
    return {};
  }
  if (!request.global && profile.mapped_axes == 0) {
    throw UsageError("give the number of blocks with " KC_SETTING(grid) ", or of threads with " KC_SETTING(global));
  }
  const Sizes block = launch.block.array();
  if (!request.global) {
    launch.grid = grid_over(mapped_extents(profile, launch), launch.block);
    return {{"grid that covers the mapped loops", text(launch.grid.array()), KC_SETTING(grid) " X,Y,Z"}};
  }
  const Sizes global = request.global->array();
  launch.grid = grid_over(global, launch.block);
  if (divisible(global, block)) return {};
  if (profile.mapped_axes > 0) {
    return {{"the global size is rounded up to whole blocks, in blocks", text(launch.grid.array()),
             KC_SETTING(grid) " X,Y,Z"}};
  }
  if (!allows_smaller_groups(request.source)) {
    throw UsageError(fmt::format(
        KC_SETTING(global) " {} is not a multiple of " KC_SETTING(block) " {}{}", text(global), text(block),
        request.source.language == Language::opencl ? ": only OpenCL 2.0 allows that (" KC_SETTING(std) " CL2.0)"
                                                    : ": give " KC_SETTING(grid)));
  }
  return {{"smaller work-groups at the edge count as full ones; work-groups", text(launch.grid.array()),
           KC_SETTING(grid) " X,Y,Z"}};
}

}  // namespace kernelcast
