#include "profile/slowest_warp.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kernelcast {
namespace {

/// Cycles of one stop, by class of latency: what NVIDIA's GPUs since 2014 have in common (device files).
constexpr std::array<double, latency_count> usual_cycles{5, 10, 20, 25, 25, 400, 100};
/// Multiply-adds of asynchronous products in a cycle: 16-bit types on GH100.
constexpr double usual_products = 2048;

}  // namespace

double usual_length(const WarpPath& p) {
  return std::inner_product(usual_cycles.begin(), usual_cycles.end(), p.stalls.waits.begin(), p.instructions) +
         p.stalls.products / usual_products;
}

void WarpShares::clear() {
  each = 0;
  beyond.clear();
}

void WarpShares::add(const LanePart& part, double times, std::size_t warps) {
  const double n = times * part.weight;
  const LaneSet& set = *part.set;
  const auto width = static_cast<std::size_t>(set.block->warp_size);
  const bool certain = part.probability == 1;
  if (part.each == nullptr && set.warps == static_cast<double>(warps) &&
      (certain || set.lanes == set.warps * static_cast<double>(width))) {
    each += n * part.warps / set.warps;
    return;
  }
  if (beyond.empty()) beyond.assign(warps, 0);
  for (std::size_t w = 0; w < set.warp_bits.size(); ++w) {
    const std::uint64_t bits = set.warp_bits[w];
    if (bits == 0) continue;
    double none = 1;
    if (part.each == nullptr) {
      none = certain ? 0 : std::pow(1 - part.probability, std::popcount(bits));
    } else {
      for (std::uint64_t m = bits; m != 0; m &= m - 1)
        none *= 1 - (*part.each)[w * width + static_cast<std::size_t>(std::countr_zero(m))];
    }
    beyond[w] += n * (1 - none);
  }
}

void add_block(const Block& block, WarpPath& path) {
  path.instructions += block.ops.total();
  path.branches += block.ops[OpClass::control];
  path.stalls += block.stalls;
}

double BlockRange::count() const {
  double n = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) n *= static_cast<double>(last[axis] - first[axis] + 1);
  return empty() ? 0 : n;
}

bool BlockRange::contains(const std::array<std::int64_t, 3>& block) const {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (block[axis] < first[axis] || block[axis] > last[axis]) return false;
  return true;
}

void BlockRange::add(const Box& box, const Dim3& grid) {
  const bool none = empty();
  const std::array<std::int64_t, 3> blocks{grid.x, grid.y, grid.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const int v = first_outer + static_cast<int>(axis);
    const bool whole = box.sheared == v;
    const std::int64_t lo = whole ? 0 : box.lo[static_cast<std::size_t>(v)];
    const std::int64_t hi = whole ? blocks[axis] - 1 : box.hi[static_cast<std::size_t>(v)];
    first[axis] = none ? lo : std::min(first[axis], lo);
    last[axis] = none ? hi : std::max(last[axis], hi);
  }
}

namespace {

/// Which warp takes longest where piece c of the code counts times(c) times.
template <class Times>
std::size_t slowest_of(std::span<const SharedPath> code, std::size_t warps, const Times& times) {
  std::vector<double> cycles;  // of each warp, beyond what all have in common
  for (std::size_t c = 0; c < code.size(); ++c) {
    const std::vector<double>& beyond = code[c].shares->beyond;
    const double n = beyond.empty() ? 0 : code[c].cycles * times(c);
    if (n == 0) continue;
    cycles.resize(warps);
    for (std::size_t w = 0; w < warps; ++w) cycles[w] += beyond[w] * n;
  }
  return static_cast<std::size_t>(std::max_element(cycles.begin(), cycles.end()) - cycles.begin());
}

/// The path of one warp.
template <class Times>
WarpPath path_of(std::span<const SharedPath> code, std::size_t warp, const Times& times) {
  WarpPath path;
  for (std::size_t c = 0; c < code.size(); ++c) {
    const double n = code[c].shares->of(warp) * times(c);
    if (n == 0) continue;
    path.instructions += code[c].once->instructions * n;
    path.branches += code[c].once->branches * n;
    path.stalls.add(code[c].once->stalls, n);
  }
  return path;
}

}  // namespace

WarpPath longest_path(std::span<const SharedPath> code, std::size_t warps, const Dim3& grid) {
  const auto blocks = static_cast<double>(grid.count());
  const auto partial = [blocks](const SharedPath& c) { return !c.blocks->empty() && c.blocks->count() < blocks; };
  if (std::none_of(code.begin(), code.end(), partial)) return {};
  double most = 0;
  std::size_t warp = 0;
  std::array<std::int64_t, 3> longest{};
  const auto times_in = [&](const std::array<std::int64_t, 3>& block) {
    return [&code, &block, blocks](std::size_t c) {
      return code[c].blocks->contains(block) ? blocks / code[c].blocks->count() : 0;
    };
  };
  const auto consider = [&](const std::array<std::int64_t, 3>& block) {
    const std::size_t slowest = slowest_of(code, warps, times_in(block));
    double cycles = 0;
    for (std::size_t c = 0; c < code.size(); ++c)
      cycles += code[c].cycles * code[c].shares->of(slowest) * times_in(block)(c);
    if (!(cycles > most)) return;
    most = cycles;
    warp = slowest;
    longest = block;
  };
  for (const SharedPath& chosen : code) {
    if (!partial(chosen)) continue;
    consider(chosen.blocks->first);
    if (chosen.blocks->last != chosen.blocks->first) consider(chosen.blocks->last);
  }
  return most > 0 ? path_of(code, warp, times_in(longest)) : WarpPath{};
}

WarpPath slowest_path(std::span<const SharedPath> code, std::size_t warps) {
  if (std::all_of(code.begin(), code.end(), [](const SharedPath& c) { return c.shares->beyond.empty(); })) return {};
  const auto once = [](std::size_t) { return 1.0; };
  return path_of(code, slowest_of(code, warps, once), once);
}

}  // namespace kernelcast
