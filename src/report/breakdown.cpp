// Shares by source line: warp instructions are a block's executions times its line's operations; sectors are those of
// the accesses on the line. Trip counts and strides are the profile's expressions with the launch put in.
// Limits: a stride is that of neighbouring work-items in x; blocks narrower than a warp wrap into y, which the
// sectors per request show.
#include "report/breakdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "io/text.h"
#include "kernelcast/error.h"
#include "profile/launch_check.h"
#include "profile/warp_request.h"

namespace kernelcast::report {
namespace {

using Known = std::map<Symbol, Expr>;

SymbolRanges id_ranges(const Workload& workload) {
  SymbolRanges box;
  const auto grid = workload.grid.array(), block = workload.block.array();
  for (int axis = 0; axis < 3; ++axis) {
    box[local_id(axis)] = {0, block[axis] - 1};
    box[group_id(axis)] = {0, grid[axis] - 1};
  }
  return box;
}

/// Trip counts from the outside in: an outer loop's range bounds what depends on its counter.
std::vector<LoopTrips> trips(const KernelProfile& profile, const Known& known, SymbolRanges box, const Launch& launch) {
  std::vector<LoopTrips> all;
  for (const Loop& loop : profile.loops) {
    LoopTrips t;
    if (loop.unknown >= 0) {
      const Unknown& u = profile.unknowns.at(static_cast<std::size_t>(loop.unknown));
      const auto given = launch.assume.find(u.key);
      t.assumed = given == launch.assume.end() ? u.default_value : given->second;
    } else {
      try {
        const Expr e = loop.trips.substitute(known);
        t.exact = e.constant();
        t.between = e.range(box);
        if (t.between && t.between->hi > 0) box[loop.counter] = {0, t.between->hi - 1};
      } catch (const ArithmeticError&) {
        t.exact.reset();  // leaves 64 bits: stays symbolic in the views
      }
    }
    all.push_back(t);
  }
  return all;
}

bool same_guard(const Guard& a, const Guard& b) {
  return std::equal(a.paths.begin(), a.paths.end(), b.paths.begin(), b.paths.end(),
                    [](const Path& x, const Path& y) { return x.condition == y.condition && x.factors == y.factors; });
}

/// How often lanes ran a block of code that belongs to `loop` under `guard`.
std::optional<double> lanes_of(const KernelProfile& profile, const Workload& workload, int loop, const Guard& guard) {
  for (std::size_t b = 0; b < profile.blocks.size(); ++b) {
    if (profile.blocks[b].loop == loop && same_guard(profile.blocks[b].guard, guard))
      return workload.block_counts[b].lanes;
  }
  return std::nullopt;
}

/// Mean trips: executions of what each iteration runs, over those of what stands where the loop is entered.
void measure_trips(const KernelProfile& profile, const Workload& workload, const CountOrigin& origin,
                   std::vector<LoopTrips>& trips) {
  for (std::size_t l = 0; l < profile.loops.size(); ++l) {
    const Loop& loop = profile.loops[l];
    if (loop.unknown < 0) continue;
    for (std::size_t b = 0; b < origin.blocks.size(); ++b)
      if (profile.blocks[b].loop == static_cast<int>(l) && origin.blocks[b] != Origin::closed) trips[l].executed = true;
    if (!trips[l].executed) continue;
    trips[l].assumed.reset();
    const auto inside = lanes_of(profile, workload, static_cast<int>(l), Guard{});
    const auto entered = lanes_of(profile, workload, loop.parent, loop.guard);
    if (inside && entered && *entered > 0) trips[l].measured = *inside / *entered;
  }
}

Origin joined(std::optional<Origin> a, Origin b) { return !a || *a == b ? b : Origin::both; }

std::optional<std::int64_t> stride_in_x(const Access& access, const Known& known) {
  if (access.unknown >= 0) return std::nullopt;
  try {
    const auto k = access.offset.substitute(known).coefficient(local_id(0));
    return k ? k->constant() : std::nullopt;
  } catch (const ArithmeticError&) {
    return std::nullopt;
  }
}

/// A request goes through the banks in parts (bind.h): as many passes are there without any conflict. Between the parts
/// that the active lanes fill at least and all parts, lanes that idle cannot be told from lanes that conflict.
std::string shared_words(const Access& access, const AccessPattern& p, const MemoryGeometry& g) {
  const double part = lanes_of_shared_part(access.bytes, g);
  const double parts = std::ceil(g.warp_size / part);
  if (p.passes_per_request <= std::ceil(p.count.lanes / p.count.requests / part)) return "no bank conflict";
  if (p.passes_per_request <= parts) return "few lanes, or bank conflicts";
  return fmt::format("{:.3g}-way bank conflicts", p.passes_per_request / parts);
}

std::string global_words(const Access& access, const AccessPattern& p) {
  if (access.unknown >= 0) return "data-dependent";
  if (!p.lane_stride) return "irregular";
  const std::int64_t stride = *p.lane_stride;
  if (stride == 0) return "broadcast along x";
  if (stride == access.bytes) return "coalesced";
  if (stride == -access.bytes) return "coalesced, backwards";
  return fmt::format("stride of {} {}", stride, plural(static_cast<double>(std::abs(stride)), "byte"));
}

AccessPattern pattern(const Access& access, const AccessCount& count, const Known& known,
                      const MemoryGeometry& geometry) {
  AccessPattern p;
  p.count = count;
  p.lane_stride = stride_in_x(access, known);
  if (count.requests > 0) {
    p.sectors_per_request = count.sectors / count.requests;
    p.passes_per_request = count.bank_passes / count.requests;
  }
  if (access.bulk && count.bytes > 0) {
    p.words = access.by_coordinates ? "in bulk, by tensor map" : "in bulk";
  } else if (count.requests <= 0) {
    p.words = "never executed";
  } else if (access.space == MemorySpace::shared) {
    p.words = shared_words(access, p, geometry);
  } else {
    p.words = global_words(access, p);
  }
  return p;
}

}  // namespace

Breakdown breakdown(const KernelProfile& profile, const Workload& workload, const Launch& launch,
                    const CountOrigin& origin) {
  const Known known = known_symbols(workload.grid, workload.block, launch);
  Breakdown result;
  result.loops = trips(profile, known, id_ranges(workload), launch);

  result.executed = !origin.all_closed();
  measure_trips(profile, workload, origin, result.loops);

  std::map<SourceLine, LineShare> lines;
  std::map<SourceLine, Origin> origins;
  const auto note = [&](SourceLine line, Origin o) {
    const auto [it, added] = origins.emplace(line, o);
    if (!added) it->second = joined(it->second, o);
  };
  std::size_t next_access = 0;
  if (workload.block_counts.size() != profile.blocks.size()) throw InternalError("workload of another profile");
  for (std::size_t b = 0; b < profile.blocks.size(); ++b) {
    const Block& block = profile.blocks[b];
    const Origin of_block = b < origin.blocks.size() ? origin.blocks[b] : Origin::closed;
    for (const LineOps& ops : block.lines) {
      const double n = ops.ops.total() * workload.block_counts[b].warps;
      lines[ops.line].instruction_share += n;
      lines[ops.line].active_lanes += ops.ops.total() * workload.block_counts[b].lanes;
      note(ops.line, of_block);
      result.instructions += n;
    }
    for (const Access& access : block.accesses) {
      if (next_access >= workload.access_counts.size()) throw InternalError("workload of another profile");
      const Origin of_access = next_access < origin.accesses.size() ? origin.accesses[next_access] : Origin::closed;
      const AccessCount& count = workload.access_counts[next_access++];
      note(access.line, of_access);
      lines[access.line].sector_share += count.sectors;
      result.sectors += count.sectors;
      result.accesses.push_back(pattern(access, count, known, workload.geometry));
      result.accesses.back().origin = of_access;
    }
  }
  for (auto& [line, share] : lines) {
    share.line = line;
    share.origin = origins.at(line);
    if (share.instruction_share > 0) share.active_lanes /= share.instruction_share;
    if (result.instructions > 0) share.instruction_share /= result.instructions;
    if (result.sectors > 0) share.sector_share /= result.sectors;
    if (share.instruction_share > 0 || share.sector_share > 0) result.lines.push_back(share);
  }
  std::sort(result.lines.begin(), result.lines.end(), [](const LineShare& a, const LineShare& b) {
    return std::pair(-a.instruction_share, a.line) < std::pair(-b.instruction_share, b.line);
  });
  return result;
}

std::string line_text(const KernelProfile& profile, SourceLine line) {
  if (line.file < 0 || static_cast<std::size_t>(line.file) >= profile.files.size()) return "unknown line";
  const std::string& path = profile.files[static_cast<std::size_t>(line.file)];
  const auto slash = path.find_last_of('/');
  return fmt::format("{}:{}", slash == std::string::npos ? path : path.substr(slash + 1), line.line);
}

}  // namespace kernelcast::report
