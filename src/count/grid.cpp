#include "count/count.h"

#include <map>

#include "kernelcast/error.h"
#include "kernelcast/setting.h"

namespace kernelcast {

Extents mapped_extents(const KernelProfile& profile, const Launch& launch) {
  std::map<Symbol, Expr> known;
  add_arguments(launch, known);
  if (profile.mapped_axes == 0 || profile.mapped_extent.empty() ||
      profile.mapped_extent.size() < static_cast<std::size_t>(profile.mapped_axes))
    throw UsageError("the number of blocks of '" + profile.kernel +
                     "' does not follow from its loops: give " KC_SETTING(grid));
  Extents extents{1, 1, 1};
  for (std::size_t i = 0; i < profile.mapped_extent.size() && i < 3; ++i) {
    const Expr e = profile.mapped_extent[i].substitute(known);
    const auto value = e.constant();
    if (!value)
      throw UsageError("the extent " + e.str() + " of a mapped loop of '" + profile.kernel +
                       "' is not known: give the values with " KC_SETTING(arg) ", or " KC_SETTING(grid));
    if (*value < 1)
      throw UsageError("a mapped loop of '" + profile.kernel + "' runs " + std::to_string(*value) +
                       " times: change " KC_SETTING(arg));
    extents[i] = *value;
  }
  return extents;
}

Dim3 grid_over(const Extents& extents, const Dim3& block) {
  const Extents size = block.array();
  Extents grid{};
  for (std::size_t i = 0; i < 3; ++i) grid[i] = extents[i] / size[i] + (extents[i] % size[i] != 0 ? 1 : 0);
  return {grid[0], grid[1], grid[2]};
}

}  // namespace kernelcast
