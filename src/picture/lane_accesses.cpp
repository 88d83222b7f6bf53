// Addresses and conditions are evaluated lane by lane: the slow, obvious way of what the binder counts in closed form.
#include "picture/lane_accesses.h"

#include <algorithm>

#include "kernelcast/error.h"

namespace kernelcast::picture {
namespace {

constexpr std::size_t most_pictures = 400;

SymbolValues launch_values(const KernelProfile& p, const Workload& w, const Launch& launch) {
  SymbolValues v;
  const auto grid = w.grid.array(), block = w.block.array();
  for (int axis = 0; axis < 3; ++axis) {
    v[local_size(axis)] = block[static_cast<std::size_t>(axis)];
    v[num_groups(axis)] = grid[static_cast<std::size_t>(axis)];
  }
  v[dynamic_shared()] = launch.dynamic_shared_bytes;
  for (const Parameter& a : p.parameters) v[argument(a.name)] = 0;  // one that is not given only moves addresses
  for (const auto& [name, value] : launch.args)
    if (const auto* integer = std::get_if<std::int64_t>(&value)) v[argument(name)] = *integer;
  for (const Loop& l : p.loops) v[l.counter] = 0;
  return v;
}

/// Whether some path's known condition holds.
bool reached(const Guard& g, const SymbolValues& v) {
  return std::any_of(g.paths.begin(), g.paths.end(), [&](const Path& p) { return p.condition.evaluate(v) != 0; });
}

bool active(const KernelProfile& p, const Block& b, const SymbolValues& v) {
  if (!reached(b.guard, v)) return false;
  for (int l = b.loop; l >= 0; l = p.loops[static_cast<std::size_t>(l)].parent) {
    const Loop& loop = p.loops[static_cast<std::size_t>(l)];
    if (!reached(loop.guard, v) || (loop.unknown < 0 && loop.trips.evaluate(v) <= 0)) return false;
  }
  return true;
}

class Painter {
 public:
  Painter(const KernelProfile& p, const Workload& w, const Launch& launch)
      : p_(p), w_(w), values_(launch_values(p, w, launch)) {}

  LanePicture paint(const Block& b, const Access& a) {
    LanePicture none;
    if (a.unknown >= 0) {
      none.reason = p_.unknowns.at(static_cast<std::size_t>(a.unknown)).reason;
      return none;
    }
    try {
      const std::int64_t middle[3] = {w_.grid.x / 2, w_.grid.y / 2, w_.grid.z / 2}, first[3] = {0, 0, 0};
      for (const auto* block : {&middle, &first})
        for (std::int64_t warp = 0; warp < most_warps(); ++warp) {
          LanePicture picture = of_warp(b, a, *block, warp);
          if (std::any_of(picture.offset.begin(), picture.offset.end(), [](const auto& o) { return o.has_value(); }))
            return picture;
        }
      none.reason = "no lane is active in the first iteration of its loops, in the block in the middle or the first";
    } catch (const Error& e) {
      none.reason = std::string("the address cannot be computed: ") + message_of(e);
    }
    return none;
  }

 private:
  [[nodiscard]] std::int64_t most_warps() const {
    return std::min<std::int64_t>(64, (w_.block.count() + w_.geometry.warp_size - 1) / w_.geometry.warp_size);
  }

  LanePicture of_warp(const Block& b, const Access& a, const std::int64_t (&block)[3], std::int64_t warp) {
    LanePicture picture;
    picture.warp = warp;
    for (int axis = 0; axis < 3; ++axis) {
      picture.block[axis] = block[axis];
      values_[group_id(axis)] = block[axis];
    }
    for (int lane = 0; lane < w_.geometry.warp_size; ++lane) {
      const std::int64_t thread = warp * w_.geometry.warp_size + lane;
      values_[local_id(0)] = thread % w_.block.x;
      values_[local_id(1)] = thread / w_.block.x % w_.block.y;
      values_[local_id(2)] = thread / w_.block.x / w_.block.y;
      const bool on = thread < w_.block.count() && active(p_, b, values_);
      picture.offset.push_back(on ? std::optional(a.offset.evaluate(values_)) : std::nullopt);
    }
    return picture;
  }

  const KernelProfile& p_;
  const Workload& w_;
  SymbolValues values_;
};

}  // namespace

std::vector<LanePicture> lane_pictures(const KernelProfile& p, const Workload& w, const Launch& launch) {
  std::vector<LanePicture> all;
  Painter painter(p, w, launch);
  for (const Block& b : p.blocks)
    for (const Access& a : b.accesses) {
      LanePicture picture;
      if (a.space != MemorySpace::global && a.space != MemorySpace::shared) {
        picture.reason = std::string(name_of(a.space)) + " memory: no sectors or banks of its own";
      } else if (all.size() >= most_pictures) {
        picture.reason = "the kernel has more accesses than are drawn";
      } else {
        picture = painter.paint(b, a);
      }
      all.push_back(std::move(picture));
    }
  return all;
}

}  // namespace kernelcast::picture
