// Data that pass a cache more often than they had to.
#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "io/text.h"
#include "model/kernelcast.h"

namespace kernelcast::advice {
namespace {

constexpr double again = 1.5;  // bytes read from DRAM over distinct bytes, from which it is a finding

/// Reads of DRAM beyond one passage of data that the L2 cannot hold.
std::vector<Draft> repeated_sweeps(const Subject& s) {
  const Workload& w = s.workload();
  const double l2 = s.device().get(Field::memory_l2_bytes).value_or(0);
  if (!s.closed() || !w.reuse.known || l2 <= 0) return {};
  const forecast::Constants& c = forecast::fitted_constants();
  const forecast::KernelcastDevice m = forecast::machine_of(s.device(), c, false);
  const double resident = std::max(s.estimate().occupancy.blocks_per_unit, 1 / m.units_per_block);
  const double read = forecast::traffic_of(w, m, c, resident).dram_read;
  const double distinct = w.reuse.at(Reuse::read, Reuse::depths - 1, Reuse::windows - 1).footprint;
  if (distinct * m.sector_bytes <= l2 || read <= again * distinct) return {};
  const auto what_if = [distinct](Variant& v) {
    for (auto& depth : v.workload.reuse.level[Reuse::read])
      for (Reuse::Level& level : depth) {
        level.traffic = std::min(level.traffic, distinct);
        level.footprint = std::min(level.footprint, distinct / Reuse::windows);
      }
  };
  return {
      {{},
       "",
       fmt::format("{} of different data are read from DRAM {:.2g} times: {} of L2 do not hold them from one use to "
                   "the next",
                   format_bytes(distinct * m.sector_bytes), read / distinct, format_bytes(l2)),
       "use each element for all that needs it while it is there: loop over tiles outside and over their uses "
       "inside, or fuse the loops that sweep",
       what_if,
       {},
       {"uses can be reordered, and a tile's uses find it in the L2"}}};
}

}  // namespace

std::span<const Rule> cache_rules() {
  static const Rule list[] = {
      {{"repeated-sweep", "data larger than the L2 are read more than once"}, repeated_sweeps},
  };
  return list;
}

}  // namespace kernelcast::advice
