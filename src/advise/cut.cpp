#include "advise/cut.h"

#include <algorithm>

#include "kernelcast/error.h"

namespace kernelcast::advice {

bool cut_freely(const Subject& s, int axis) {
  const std::map<Symbol, Expr> moved{{group_id(axis), Expr(group_id(axis)) - 1},
                                     {local_id(axis), Expr(local_id(axis)) + Expr(local_size(axis))}};
  const std::map<Symbol, Expr> first{{group_id(axis), Expr(0)}};
  const auto free = [&](const Expr& e) {
    if (!(e.substitute(moved) == e)) return false;
    const Expr rest = e.substitute(first);
    return !rest.depends_on(local_size(axis)) || rest.depends_on(num_groups(axis));
  };
  const auto guard_free = [&](const Guard& g) {
    return std::all_of(g.paths.begin(), g.paths.end(), [&](const Path& p) { return free(p.condition); });
  };
  try {
    for (const Block& b : s.profile().blocks) {
      if (!guard_free(b.guard) || b.barriers > 0) return false;
      for (const Access& a : b.accesses)
        if (a.space == MemorySpace::shared || a.unknown >= 0 || !free(a.offset)) return false;
    }
    return std::all_of(s.profile().loops.begin(), s.profile().loops.end(),
                       [&](const Loop& l) { return l.unknown < 0 && guard_free(l.guard) && free(l.trips); });
  } catch (const LimitError&) {
    return false;
  }
}

std::string why_blocks_are_fixed(const Subject& s) {
  const Dim3 block = s.workload().block;
  const KernelProfile& p = s.profile();
  if (block.y != 1 || block.z != 1) return "blocks have more than one dimension";
  if (p.required_block.x > 0) return "the kernel requires this block size";
  if (p.static_shared_bytes > 0 || p.uses_dynamic_shared) return "shared memory is laid out for this block size";
  if (!s.closed()) return "counts rest on execution";
  if (!cut_freely(s)) return "threads are not numbered by blockIdx.x * blockDim.x + threadIdx.x alone";
  return {};
}

/// Whether the threads along an axis work on other data than each other. Where none does, each does the same again, and
/// no shape of the block is better for that.
bool tells_apart(const Subject& s, int axis) {
  return std::ranges::any_of(s.sites(), [axis](const Site& o) { return o.access->offset.depends_on(local_id(axis)); });
}

bool shape_is_free(const Subject& s) {
  const KernelProfile& p = s.profile();
  const Dim3 block = s.workload().block;
  return block.y > 1 && block.z == 1 && p.required_block.x == 0 && p.static_shared_bytes == 0 &&
         !p.uses_dynamic_shared && s.closed() && cut_freely(s, 0) && cut_freely(s, 1) && tells_apart(s, 1);
}

}  // namespace kernelcast::advice
