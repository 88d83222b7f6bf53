#include "kernelcast/workload.h"

#include <algorithm>
#include <cmath>

namespace kernelcast {

double ReuseDistances::hit_rate(double sectors) const {
  if (!(touches > 0)) return 0;
  double hits = 0;
  for (std::size_t k = 0; k < nearer.size(); ++k) {
    const double low = k == 0 ? 0 : std::ldexp(1.0, static_cast<int>(k));
    const double high = std::ldexp(1.0, static_cast<int>(k) + 1);
    if (!(sectors > low)) break;
    hits += nearer[k] * std::min(1.0, (sectors - low) / (high - low));
  }
  return std::min(1.0, hits / touches);
}

void add_other_ways(const Access& access, const AccessCount& count, Workload& work) {
  if (access.read_only) work.read_only_sectors += count.sectors;
  if (access.in_cluster) {
    (access.kind == AccessKind::store ? work.in_cluster.written_bytes : work.in_cluster.read_bytes) += count.bytes;
    if (access.kind != AccessKind::store) work.in_cluster.read_requests += count.requests;
  }
  if (access.space == MemorySpace::global && access.kind == AccessKind::load) {
    if (access.bulk) work.bulk_sectors += count.sectors;
    if (access.past_l1) work.past_l1_sectors += count.sectors;
  }
  if (access.bulk && access.space == MemorySpace::shared && access.kind == AccessKind::store)
    work.bulk_bytes += count.bytes;
}

void clear_other_ways(Workload& work) {
  work.read_only_sectors = work.bulk_sectors = work.past_l1_sectors = work.bulk_bytes = 0;
  work.in_cluster = {};
}

}  // namespace kernelcast
