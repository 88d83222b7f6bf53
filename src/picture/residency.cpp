#include "picture/residency.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "machine/occupancy.h"

namespace kernelcast::picture {
namespace {

ResidencyCurve curve(const std::string& of, double here, double first, double last, double step, const Workload& w,
                     const Device& d, const std::function<void(BlockDemand&, double)>& set) {
  ResidencyCurve c{of, here, {}, {}, {}};
  const UnitLimits unit = unit_limits(d);
  std::vector<double> sizes;
  for (double x = first; x <= last; x += step) sizes.push_back(x);
  if (here >= first && here <= last) sizes.push_back(here);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (const double x : sizes) {
    BlockDemand demand = block_demand(w);
    set(demand, x);
    const ResidentBlocks r = resident_blocks(unit, demand);
    const double warps = std::ceil(demand.threads / unit.warp_size);
    c.at.push_back(x);
    c.warps.push_back(std::isfinite(r.blocks) ? r.blocks * warps / unit.units : warps);
    c.limiters.emplace_back(name_of(r.limiter));
  }
  return c;
}

}  // namespace

Residency residency_of(const Workload& w, const Device& d) {
  Residency r;
  r.most_warps = d.get_or(Field::limits_max_warps_per_unit, 0);
  const double warp = d.get_or(Field::compute_warp_size, 32);
  const double threads = static_cast<double>(w.block.count());
  r.curves.push_back(curve("threads per block", threads, warp, d.get_or(Field::limits_max_threads_per_block, 1024),
                           warp, w, d, [](BlockDemand& b, double x) { b.threads = x; }));
  r.curves.push_back(curve("registers per thread", w.registers_per_thread, std::min(16.0, w.registers_per_thread),
                           d.get_or(Field::limits_max_registers_per_thread, 255), 1, w, d,
                           [](BlockDemand& b, double x) { b.registers_per_thread = x; }));
  const double most = d.get_or(Field::limits_shared_bytes_per_block, 49152);
  constexpr double points = 96;
  const double step = std::max(256.0, std::ceil(most / points / 256) * 256);
  r.curves.push_back(curve("shared memory per block, bytes", w.shared_bytes_per_block, 0, most, step, w, d,
                           [](BlockDemand& b, double x) { b.shared_bytes = x; }));
  return r;
}

}  // namespace kernelcast::picture
