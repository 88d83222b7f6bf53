// Lanes and warps that wait for others: branches, uneven work, atomics on one word.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>

#include "advise/rules.h"
#include "io/text.h"

namespace kernelcast::advice {
namespace {

bool has_factor(const Guard& g, int unknown) {
  return std::any_of(g.paths.begin(), g.paths.end(), [&](const Path& p) {
    return std::any_of(p.factors.begin(), p.factors.end(), [&](const Path::Factor& f) { return f.unknown == unknown; });
  });
}

/// Blocks that run on one side of a branch: their guards, or those of loops around them, name its condition, or what
/// data decide there.
std::vector<std::size_t> sides_of(const Subject& s, const Branch& branch) {
  std::vector<std::size_t> sides;
  const KernelProfile& p = s.profile();
  const int outside = branch.block < 0 ? -1 : p.blocks[static_cast<std::size_t>(branch.block)].loop;
  const Expr no = logical_not(branch.condition);
  const auto decided = [&](const Guard& g) {
    if (branch.unknown >= 0) return has_factor(g, branch.unknown);
    return g.paths.size() == 1 && (g.paths[0].condition == branch.condition || g.paths[0].condition == no);
  };
  for (std::size_t b = 0; b < p.blocks.size(); ++b) {
    bool inside = p.blocks[b].loop == outside && static_cast<int>(b) != branch.block && decided(p.blocks[b].guard);
    for (int l = p.blocks[b].loop; l >= 0 && l != outside && !inside; l = p.loops[static_cast<std::size_t>(l)].parent)
      inside =
          p.loops[static_cast<std::size_t>(l)].parent == outside && decided(p.loops[static_cast<std::size_t>(l)].guard);
    if (inside) sides.push_back(b);
  }
  return sides;
}

std::vector<Draft> divergence(const Subject& s) {
  std::vector<Draft> drafts;
  std::set<SourceLine> seen;
  const Workload& w = s.workload();
  const double lanes = w.geometry.warp_size;
  for (std::size_t i = 0; i < s.profile().branches.size(); ++i) {
    const Branch& branch = s.profile().branches[i];
    const BranchCount& n = w.branch_counts.at(i);
    if (branch.loop_exit || branch.predicated || branch.block < 0 || n.warps <= 0 || n.divergent / n.warps < 0.05)
      continue;
    if (branch.line.file < 0 || !seen.insert(branch.line).second) continue;
    // Elements can be sorted by a condition that each thread decides once, on what it loads; not where lanes search,
    // exchange or decide anew in each iteration.
    const bool data = branch.verdict == Branch::Verdict::unknown;
    if (data && (!s.knows_data() || s.profile().blocks[static_cast<std::size_t>(branch.block)].loop >= 0)) continue;
    std::vector<std::pair<std::size_t, double>> fewer;  // block, warps where each takes one side only
    for (const std::size_t b : sides_of(s, branch)) {
      const BlockCount& c = w.block_counts[b];
      // Lanes of the warps of a block that diverge fill at least one warp.
      const double merged = std::max(1.0, n.divergent / n.warps * w.warps_per_block);
      const double least = std::max(c.lanes / lanes, c.warps / merged);
      if (least < 0.95 * c.warps) fewer.emplace_back(b, least);
    }
    if (fewer.empty()) continue;
    const auto what_if = [fewer](Variant& v) {
      for (const auto& [b, warps] : fewer)
        v.workload.block_counts[b].warps = std::min(v.workload.block_counts[b].warps, warps);
    };
    drafts.push_back(
        {branch.line,
         "if",
         fmt::format("lanes of {} of the warps go both ways ({})", format_percent(n.divergent / n.warps),
                     branch.reason),
         data ? "sort or compact the elements by the condition first, so that whole warps go one way"
              : "let the condition depend on the warp, not on the lane: number the threads so that those of one side "
                "are neighbors",
         what_if,
         {},
         {data ? "what sorting or compacting costs is not in the gain" : "accesses stay as coalesced as they are"}});
  }
  return drafts;
}

/// The slowest warp of a block holds its place until it ends.
std::vector<Draft> imbalance(const Subject& s) {
  if (s.estimate().limiter == "launch") return {};
  const Workload& w = s.workload();
  const double mean = w.warp_ops.total() / w.warps_per_block;
  const double slowest = w.slowest.instructions > 0 && mean > 0 ? w.slowest.instructions / mean : w.warp_imbalance;
  // One warp that adds up what the others did is no uneven work.
  if (slowest < (w.slowest.instructions > 0 ? 1.5 : 1.15) || (w.slowest.instructions <= 0 && !s.knows_data()))
    return {};
  const auto what_if = [](Variant& v) {
    v.workload.slowest = {};
    v.workload.warp_imbalance = 1;
  };
  return {{{},
           "",
           fmt::format("the slowest warp of a block issues {:.3g} times the instructions of the mean one, and the "
                       "block waits for it",
                       slowest),
           "spread long work over the warps: several warps for a long row, or rows of similar length in one block; or "
           "smaller blocks, where some warps have nothing to do",
           what_if,
           {},
           {"the work can be spread evenly over the warps of a block"}}};
}

/// The launch ends with its longest block.
std::vector<Draft> uneven_blocks(const Subject& s) {
  if (s.estimate().limiter == "launch") return {};
  const Workload& w = s.workload();
  const double all = w.slowest.instructions > 0 ? w.slowest.instructions : w.warp_ops.total() / w.warps_per_block;
  if (!s.closed() || all <= 0 || w.longest.instructions < 1.5 * all) return {};
  // As many blocks of that length as SMs keep all of them busy; the others have nothing to do.
  if (w.blocks * all / w.longest.instructions >= s.unit_count()) return {};
  return {{{},
           "",
           fmt::format("the longest block issues {:.3g} times the instructions of the mean one, and the launch ends "
                       "with it",
                       w.longest.instructions / all),
           "divide the work of long blocks among more of them, or let blocks take work from a queue",
           [](Variant& v) { v.workload.longest = {}; },
           {},
           {"the work can be spread evenly over the blocks"}}};
}

bool within(const KernelProfile& p, int loop, int around) {
  while (loop >= 0 && loop != around) loop = p.loops[static_cast<std::size_t>(loop)].parent;
  return loop == around;
}

/// Loops that some lanes of a warp leave long before others.
std::vector<Draft> uneven_loops(const Subject& s) {
  std::vector<Draft> drafts;
  const KernelProfile& p = s.profile();
  const double warp = s.workload().geometry.warp_size;
  for (std::size_t l = 0; l < p.loops.size(); ++l) {
    const Loop& loop = p.loops[l];
    const int at = static_cast<int>(l);
    if (loop.line.file < 0 || loop.wait != Loop::Wait::none || s.trips(at)) continue;
    if (loop.unknown >= 0 ? !s.knows_data() : !s.known(loop.trips).depends_on(local_id(0))) continue;
    double warps = 0, lanes = 0, longest = 0;
    for (std::size_t b = 0; b < p.blocks.size(); ++b) {
      if (!within(p, p.blocks[b].loop, at)) continue;
      longest = std::max(longest, s.workload().block_counts.at(b).warps);
      warps += p.blocks[b].ops.total() * s.workload().block_counts.at(b).warps;
      lanes += p.blocks[b].ops.total() * s.workload().block_counts.at(b).lanes;
    }
    const double idle = warps > 0 ? 1 - lanes / (warps * warp) : 0;
    // Lanes without an iteration beside those of one: too few elements, no unequal rows.
    if (idle < 0.2 || longest < 2 * s.workload().warps) continue;
    const auto what_if = [at, warp, &p](Variant& v) {
      std::size_t k = 0;
      for (std::size_t b = 0; b < p.blocks.size(); ++b) {
        BlockCount& c = v.workload.block_counts[b];
        const bool inside = within(p, p.blocks[b].loop, at) && c.warps > 0;
        const double share = inside ? std::min(1.0, c.lanes / (c.warps * warp)) : 1;
        if (inside) c.warps *= share;
        for (std::size_t a = 0; a < p.blocks[b].accesses.size(); ++a) v.workload.access_counts[k++].requests *= share;
      }
    };
    drafts.push_back({loop.line,
                      "for",
                      fmt::format("lanes of a warp iterate unequally often: {} of them are idle", format_percent(idle)),
                      "give the lanes of a warp work of equal length (sort it by length), or a whole warp to each row; "
                      "`kernelcast converge` has what letting lanes meet again gains",
                      what_if,
                      {},
                      {"work of equal length can be brought together, at no cost"}});
  }
  return drafts;
}

/// How a warp's updates of one word become one.
enum class Combined { no, sum, last };

Combined combined_form(const Subject& s, const Site& o) {
  const int at = s.profile().blocks[o.block].loop;
  const Loop* loop = at < 0 ? nullptr : &s.profile().loops[static_cast<std::size_t>(at)];
  const bool retried = loop != nullptr && loop->unknown >= 0;
  if (loop != nullptr && loop->wait != Loop::Wait::none) return Combined::no;  // a lock
  switch (o.access->atomic) {
    case AtomicKind::compare:  // retried, it emulates an update that has no instruction
      return retried ? Combined::sum : Combined::no;
    case AtomicKind::exchange:
      return retried ? Combined::no : Combined::last;
    default: {
      // Counters that wrap take every step.
      static const std::regex wraps(R"(\batomic(Inc|Dec)|\batom\w*\.[\w.]*\b(inc|dec)\b)");
      return std::regex_search(s.text(o.access->line), wraps) ? Combined::no : Combined::sum;
    }
  }
}

std::vector<Draft> contended_atomics(const Subject& s) {
  std::vector<Draft> drafts;
  std::set<SourceLine> seen;
  for (const Site& o : s.sites()) {
    const Access& a = *o.access;
    if (a.space != MemorySpace::global || a.kind != AccessKind::atomic || o.count.requests <= 0 || a.line.file < 0)
      continue;
    if (a.joined || a.unknown >= 0 || s.stride(a, local_id(0)) != 0 || o.lanes_per_request() < 2) continue;
    const Combined form = combined_form(s, o);
    if (form == Combined::no) continue;
    if (!seen.insert(a.line).second) continue;
    const std::string name = s.buffer_name(a);
    const double steps = form == Combined::sum ? 5 * a.copies() : 0;  // sums of 32 lanes
    const auto what_if = [index = o.index, block = o.block, steps](Variant& v) {
      AccessCount& c = v.workload.access_counts[index];
      const double share = c.requests / c.lanes;  // one lane of each warp
      c.lanes *= share;
      c.bytes *= share;
      c.words *= share;
      Block& b = v.profile.blocks[block];
      b.ops[OpClass::shuffle] += steps;
      b.ops[OpClass::int_add] += steps;
      b.stalls.waits[static_cast<std::size_t>(Latency::shared)] += steps;
    };
    drafts.push_back(
        {a.line,
         name,
         fmt::format("{:.3g} lanes of a warp update the same word of '{}', one after the other", o.lanes_per_request(),
                     name),
         form == Combined::last
             ? "let one lane of the warp write: the value of the others is overwritten\n"
               "if (lane == 0) atomicExch(p, v);"
             : "add within the warp first, then one lane updates:\n"
               "for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(~0u, v, d);  if (lane == 0) atomicAdd(p, v);",
         what_if,
         {},
         {form == Combined::last ? "no lane uses the value that it found"
                                 : "the operation may be done in another order"}});
  }
  return drafts;
}

}  // namespace

std::span<const Rule> control_rules() {
  static const Rule list[] = {
      {{"divergent-branch", "lanes of a warp take both sides of a branch"}, divergence},
      {{"divergent-loop", "lanes of a warp iterate unequally often"}, uneven_loops},
      {{"imbalance", "warps of a block have unequal work"}, imbalance},
      {{"block-imbalance", "blocks have unequal work"}, uneven_blocks},
      {{"contended-atomic", "lanes of a warp update one word of global memory"}, contended_atomics},
  };
  return list;
}

}  // namespace kernelcast::advice
