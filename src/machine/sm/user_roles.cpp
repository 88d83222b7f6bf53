// Which warps execute a block of code follows from its guards and those of the loops around it, as far as they depend
// on nothing but the number of the thread and the sizes of block and grid. What else decides, counts as decided alike
// for all warps. Lane by lane, since "one lane of warp 0" is how a copy in bulk is written.
//
// Limits: at most eight roles; more are taken as one.
#include "machine/sm/user_roles.h"

#include <algorithm>
#include <cmath>

#include "kernelcast/error.h"

namespace kernelcast::sm {
namespace {

constexpr std::size_t most_roles = 8;

class Membership {
 public:
  Membership(const KernelProfile& profile, const Workload& work)
      : p_(profile), warps_(static_cast<int>(std::lround(work.warps_per_block))), width_(work.geometry.warp_size) {
    const std::array<std::int64_t, 3> block{work.block.x, work.block.y, work.block.z};
    const std::array<std::int64_t, 3> grid{work.grid.x, work.grid.y, work.grid.z};
    for (std::int64_t t = 0; t < work.block.count(); ++t) {
      SymbolValues v;
      std::int64_t rest = t;
      for (int axis = 0; axis < 3; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        v[local_id(axis)] = rest % block[a];
        rest /= block[a];
        v[local_size(axis)] = block[a];
        v[num_groups(axis)] = grid[a];
      }
      threads_.push_back(std::move(v));
    }
  }

  /// Of each warp, whether some lane gets there.
  [[nodiscard]] std::vector<bool> of(const kernelcast::Block& block) const {
    std::vector<bool> lanes(threads_.size(), true);
    apply(block.guard, lanes);
    for (int l = block.loop; l >= 0; l = p_.loops[static_cast<std::size_t>(l)].parent)
      apply(p_.loops[static_cast<std::size_t>(l)].guard, lanes);
    std::vector<bool> out(static_cast<std::size_t>(warps_), false);
    for (std::size_t t = 0; t < lanes.size(); ++t)
      if (lanes[t]) out[std::min(t / static_cast<std::size_t>(width_), out.size() - 1)] = true;
    return out;
  }

 private:
  void apply(const Guard& guard, std::vector<bool>& lanes) const {
    if (guard.always()) return;
    for (std::size_t t = 0; t < lanes.size(); ++t)
      if (lanes[t])
        lanes[t] = std::ranges::any_of(guard.paths, [&](const Path& p) { return may_take(p, threads_[t]); });
  }

  static bool may_take(const Path& path, const SymbolValues& values) {
    for (const Symbol s : path.condition.symbols())
      if (!values.contains(s)) return may_be_true(path.condition, values);
    try {
      return path.condition.evaluate(values) != 0;
    } catch (const Error&) {
      return true;
    }
  }

  /// The part of a condition that is known.
  static bool may_be_true(const Expr& condition, const SymbolValues& values) {
    SymbolRanges box;
    for (const Symbol s : condition.symbols()) {
      const auto known = values.find(s);
      box[s] = known != values.end() ? Interval{known->second, known->second} : Interval{0, std::int64_t{1} << 31};
    }
    const auto range = condition.range(box);
    return !range || range->lo != 0 || range->hi != 0;
  }

  const KernelProfile& p_;
  int warps_, width_;
  std::vector<SymbolValues> threads_;
};

double count(const kernelcast::Block& block, AsyncEvent::Kind kind) {
  double n = 0;
  for (const AsyncEvent& e : block.events)
    if (e.kind == kind) n += e.count;
  return n;
}

}  // namespace

std::vector<UserRole> roles_of(const KernelProfile& profile, const Workload& work) {
  using Kind = AsyncEvent::Kind;
  const std::vector<double> even(profile.blocks.size(), 1);
  const std::vector<UserRole> one{{1, even}};
  const auto warps = static_cast<std::size_t>(std::lround(work.warps_per_block));
  if (std::ranges::none_of(profile.blocks, [](const kernelcast::Block& b) { return count(b, Kind::bulk) > 0; }) ||
      warps == 0)
    return one;
  const Membership membership(profile, work);
  std::vector<std::vector<bool>> members;
  for (const kernelcast::Block& b : profile.blocks) members.push_back(membership.of(b));
  const auto same = [&](std::size_t a, std::size_t b) {
    for (std::size_t k = 0; k < members.size(); ++k)
      if (!profile.blocks[k].events.empty() && members[k][a] != members[k][b]) return false;
    return true;
  };
  std::vector<UserRole> roles;
  for (std::size_t w = 0; w < warps; ++w) {
    if (w > 0 && same(w - 1, w)) {
      ++roles.back().warps;
      continue;
    }
    if (roles.size() == most_roles) return one;
    UserRole role;
    for (std::size_t b = 0; b < profile.blocks.size(); ++b) {
      const auto all = static_cast<double>(std::ranges::count(members[b], true));
      role.share.push_back(members[b][w] ? static_cast<double>(warps) / std::max(all, 1.0) : 0);
      const double times = role.share[b] * work.block_counts[b].warps / std::max(1.0, work.warps);
      const kernelcast::Block& block = profile.blocks[b];
      role.fills += times * count(block, Kind::expect);
      role.products += times * block.ops[OpClass::tensor];
      role.waits += times * count(block, Kind::mbarrier_wait);
      role.arrivals += times * count(block, Kind::arrive);
      role.barriers += times * block.barriers;
    }
    roles.push_back(std::move(role));
  }
  return roles;
}

}  // namespace kernelcast::sm
