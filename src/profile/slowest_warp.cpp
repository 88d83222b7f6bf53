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

WarpPath slowest_path(std::span<const SharedPath> code, std::size_t warps) {
  if (std::all_of(code.begin(), code.end(), [](const SharedPath& c) { return c.shares->beyond.empty(); })) return {};
  std::vector<double> weight(warps, 0.0);
  for (const SharedPath& c : code)
    for (std::size_t w = 0; w < warps; ++w) weight[w] += usual_length(*c.once) * c.shares->of(w);
  const auto slowest = static_cast<std::size_t>(std::max_element(weight.begin(), weight.end()) - weight.begin());
  WarpPath path;
  for (const SharedPath& c : code) {
    const double n = c.shares->of(slowest);
    path.instructions += c.once->instructions * n;
    path.branches += c.once->branches * n;
    path.stalls.add(c.once->stalls, n);
  }
  return path;
}

}  // namespace kernelcast
