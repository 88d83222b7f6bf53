#include "picture/line_costs.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/kernelcast.h"
#include "profile/warp_request.h"

namespace kernelcast::picture {
namespace {

using Cycles = std::array<double, latency_count>;

/// Instructions whose results are waited for at the latency of this class.
double instructions_of(Latency l, const OpCounts& n) {
  switch (l) {
    case Latency::fp64:
      return n[OpClass::fp64_add] + n[OpClass::fp64_mul] + n[OpClass::fp64_fma] + n[OpClass::fp64_div] +
             n[OpClass::fp64_special] + n[OpClass::fp64_compare];
    case Latency::special:
      return n[OpClass::fp32_special] + n[OpClass::fp32_div] + n[OpClass::convert] + n[OpClass::bit_special];
    case Latency::shared:
      return n[OpClass::shared_load] + n[OpClass::shared_atomic] + n[OpClass::shuffle];
    case Latency::constant:
      return n[OpClass::constant_load];
    case Latency::global:
      return n[OpClass::global_load] + n[OpClass::texture_load] + n[OpClass::global_atomic];
    case Latency::local:
      return n[OpClass::local_load];
    case Latency::tensor:
      return n[OpClass::tensor];
    case Latency::alu:
    case Latency::count_:
      break;
  }
  double others = 0;
  for (std::size_t c = 0; c < latency_count; ++c)
    if (static_cast<Latency>(c) != Latency::alu) others += instructions_of(static_cast<Latency>(c), n);
  return std::max(0.0, n.total() - others);
}

Cycles stops_of(const Stalls& s, const Cycles& latency, double cycles_per_issue) {
  Cycles stops{};
  for (std::size_t c = 0; c < latency_count; ++c)
    stops[c] = std::max(0.0, s.waits[c] * latency[c] - s.hidden[c] * cycles_per_issue);
  return stops;
}

}  // namespace

std::map<SourceLine, LineCost> line_costs(const KernelProfile& p, const Workload& w, const Device& d,
                                          double resident_blocks) {
  const forecast::Constants& c = forecast::fitted_constants();
  const forecast::KernelcastDevice m = forecast::machine_of(d, c, false);
  const double global_latency =
      forecast::forecast(w, m, c, std::max(resident_blocks, 1 / m.units_per_block)).global_latency;
  Cycles latency = m.latency;
  latency[static_cast<std::size_t>(Latency::global)] = global_latency;
  std::map<SourceLine, LineCost> costs;
  std::size_t k = 0;
  for (std::size_t b = 0; b < p.blocks.size(); ++b) {
    const Block& block = p.blocks[b];
    for (const Access& a : block.accesses) {
      const AccessCount& count = w.access_counts.at(k++);
      if (a.space != MemorySpace::shared) continue;
      costs[a.line].conflicts += std::max(0.0, count.bank_passes - least_shared_passes(count, a.bytes, w.geometry));
    }
    const Cycles stops = stops_of(block.stalls, latency, m.issue_interval);
    for (std::size_t l = 0; l < latency_count; ++l) {
      if (!(stops[l] > 0)) continue;
      const auto of = [l](const OpCounts& n) { return instructions_of(static_cast<Latency>(l), n); };
      const double all = of(block.ops);
      const double cycles = stops[l] * w.block_counts.at(b).warps;
      if (all <= 0) {  // waits for what another block began
        costs[block.line].stall_cycles += cycles;
        continue;
      }
      for (const LineOps& part : block.lines)
        if (const double n = of(part.ops); n > 0) costs[part.line].stall_cycles += cycles * n / all;
    }
  }
  return costs;
}

}  // namespace kernelcast::picture
