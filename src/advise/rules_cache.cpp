// Data that pass a cache more often than they had to.
#include <fmt/format.h>

#include <algorithm>

#include "advise/place.h"
#include "advise/rules.h"
#include "advise/text_edit.h"
#include "io/text.h"
#include "model/kernelcast.h"

namespace kernelcast::advice {
namespace {

constexpr double again = 1.5;  // bytes read from DRAM over distinct bytes, from which it is a finding

/// As if each of so many sectors came once.
Change read_once(double distinct) {
  return [distinct](Variant& v) {
    for (auto& depth : v.workload.reuse.level[Reuse::read])
      for (Reuse::Level& level : depth) {
        level.traffic = std::min(level.traffic, distinct);
        level.footprint = std::min(level.footprint, distinct / Reuse::windows);
      }
  };
}

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
  Draft d{{}, "", "", "", read_once(distinct), {}, {}};
  d.message = fmt::format(
      "{} of different data are read from DRAM {:.2g} times: {} of L2 do not hold them from one use to the next",
      format_bytes(distinct * m.sector_bytes), read / distinct, format_bytes(l2));
  d.change =
      "use each element for all that needs it while it is there: loop over tiles outside and over their uses inside, "
      "or fuse the loops that sweep";
  d.assumptions.emplace_back("uses can be reordered, and a tile's uses find it in the L2");
  return {std::move(d)};
}

/// The source with the ids of blocks in x and y exchanged; empty: it has not both, or reads the size of the grid.
std::string with_ids_exchanged(const std::string& text) {
  if (find_word(text, "gridDim") != std::string::npos || find_word(text, "blockIdx.z") != std::string::npos) return "";
  std::string changed;
  std::size_t from = 0, seen[2] = {0, 0};
  for (std::size_t at = text.find("blockIdx."); at != std::string::npos; at = text.find("blockIdx.", from)) {
    const std::size_t axis = at + 9;
    if (axis >= text.size() || (text[axis] != 'x' && text[axis] != 'y')) return "";
    ++seen[text[axis] == 'x' ? 0 : 1];
    changed += text.substr(from, axis - from) + (text[axis] == 'x' ? 'y' : 'x');
    from = axis + 1;
  }
  if (seen[0] == 0 || seen[1] == 0) return "";
  return changed + text.substr(from);
}

/// Blocks run in the order of x. Where those of a row of blocks read more than the L2 holds and those of a column share
/// it, the other order reads DRAM less.
std::vector<Draft> block_order(const Subject& s) {
  const Workload& w = s.workload();
  const double l2 = s.device().get(Field::memory_l2_bytes).value_or(0);
  if (w.grid.x < 2 || w.grid.y < 2 || w.grid.z != 1 || !s.closed() || !w.reuse.known || l2 <= 0) return {};
  const double distinct = w.reuse.at(Reuse::read, Reuse::depths - 1, Reuse::windows - 1).footprint;
  if (distinct * w.geometry.sector_bytes <= l2) return {};
  std::string text = with_ids_exchanged(s.question().source.text);
  if (text.empty() || !could_gain(s, read_once(distinct))) return {};
  ForecastQuestion q = s.question();
  q.source.text = text;
  q.global.reset();
  q.grid = Dim3{w.grid.y, w.grid.x, 1};
  auto now = s.ask(q);
  if (!now) return {};
  Draft d{{}, "", "", "", {}, std::move(now), {}};
  d.message = fmt::format(
      "blocks in the order of x read more from DRAM than in the order of y would: {} of different "
      "data, {} of L2",
      format_bytes(distinct * w.geometry.sector_bytes), format_bytes(l2));
  d.change = fmt::format("exchange blockIdx.x and blockIdx.y, and launch <<<dim3({}, {}), ...>>>", w.grid.y, w.grid.x);
  d.rewritten = std::move(text);
  d.grid = Dim3{w.grid.y, w.grid.x, 1};
  return {std::move(d)};
}

}  // namespace

std::span<const Rule> cache_rules() {
  static const Rule list[] = {
      {{"block-order", "blocks run in an order that loses the L2"}, block_order},
      {{"repeated-sweep", "data larger than the L2 are read more than once"}, repeated_sweeps},
  };
  return list;
}

}  // namespace kernelcast::advice
