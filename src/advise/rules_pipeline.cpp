// Pipelines of asynchronous copies: what a stage more, or a stage less, does to waits and to occupancy.
//
// A wait for a group of cp.async stops a warp for what is left of the copies' time (profile.h, Stalls). A stage more
// puts one iteration's instructions between copy and wait, for its bytes of shared memory; a stage less takes them
// away.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise/rules.h"
#include "io/text.h"

namespace kernelcast::advice {
namespace {

constexpr auto of_global = static_cast<std::size_t>(Latency::global);

/// A loop that copies asynchronously, per iteration.
struct CopyLoop {
  std::vector<std::size_t> blocks;
  double stage_bytes = 0;   // of a block
  double instructions = 0;  // of a warp
  double unrolled = 1;      // at most: copies of one store
  SourceLine line;
  std::string tile;
};

std::optional<CopyLoop> copy_loop(const Subject& s, int loop) {
  CopyLoop found;
  const KernelProfile& p = s.profile();
  bool copies = false;
  for (std::size_t b = 0; b < p.blocks.size(); ++b) {
    if (p.blocks[b].loop != loop) continue;
    found.blocks.push_back(b);
    found.instructions += p.blocks[b].ops.total();
    copies = copies || p.blocks[b].ops[OpClass::async_copy] > 0;
  }
  if (!copies) return std::nullopt;
  for (const Site& site : s.sites()) {
    const Access& a = *site.access;
    if (p.blocks[site.block].loop != loop || a.space != MemorySpace::shared || a.kind != AccessKind::store) continue;
    if (p.blocks[site.block].ops[OpClass::async_copy] <= 0) continue;
    const BlockCount& runs = s.workload().block_counts.at(site.block);
    if (runs.warps <= 0 || a.bulk) continue;
    found.unrolled = std::max(found.unrolled, a.copies());
    found.stage_bytes += site.count.bytes / runs.warps * s.workload().warps_per_block;
    if (found.line.file < 0 && a.line.file >= 0) {
      found.line = a.line;
      found.tile = s.buffer_name(a);
    }
  }
  return found.stage_bytes > 0 ? std::optional(found) : std::nullopt;
}

/// So many iterations more between a copy and the wait for it.
Change with_stages(const CopyLoop& l, int more) {
  return [l, more](Variant& v) {
    for (const std::size_t b : l.blocks) {
      Stalls& stalls = v.profile.blocks[b].stalls;
      if (stalls.waits[of_global] <= 0) continue;
      stalls.hidden[of_global] =
          std::max(0.0, stalls.hidden[of_global] + more * stalls.waits[of_global] * l.instructions);
    }
    v.workload.shared_bytes_per_block += more * l.stage_bytes;
  };
}

std::vector<Draft> stages(const Subject& s) {
  std::vector<Draft> drafts;
  for (std::size_t k = 0; k < s.profile().loops.size(); ++k) {
    const auto trips = s.trips(static_cast<int>(k));
    auto loop = copy_loop(s, static_cast<int>(k));
    if (!loop || !trips || *trips < 4) continue;
    // More than shared memory holds is several iterations' in one.
    if (loop->stage_bytes > s.workload().shared_bytes_per_block) {
      loop->stage_bytes /= loop->unrolled;
      loop->instructions /= loop->unrolled;
    }
    const int now = static_cast<int>(std::floor(s.workload().shared_bytes_per_block / loop->stage_bytes + 1e-6));
    if (now < 1) continue;
    const std::string each = format_bytes(loop->stage_bytes);
    drafts.push_back({loop->line,
                      loop->tile,
                      fmt::format("copies of an iteration ({}) are waited for before they have ended: {} in flight",
                                  each, now == 1 ? "one stage" : fmt::format("{} stages", now)),
                      fmt::format("one stage more ({} of {}), and wait for the group one iteration later:\n"
                                  "cp.async.wait_group {}",
                                  now + 1, each, std::max(0, now - 1)),
                      with_stages(*loop, 1),
                      {},
                      {}});
    if (now > 2 && s.estimate().occupancy.limiter == "shared memory")
      drafts.push_back({loop->line,
                        loop->tile,
                        fmt::format("{} stages of {} each limit the occupancy to {}", now, each,
                                    format_percent(s.estimate().occupancy.fraction)),
                        fmt::format("one stage less: {} of {}", now - 1, each),
                        with_stages(*loop, -1),
                        {},
                        {}});
  }
  return drafts;
}

}  // namespace

std::span<const Rule> pipeline_rules() {
  static const Rule list[] = {
      {{"pipeline-stages", "stages of asynchronous copies, too few or too many"}, stages},
  };
  return list;
}

}  // namespace kernelcast::advice
