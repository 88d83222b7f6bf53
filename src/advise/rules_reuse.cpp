// Data that is loaded more often than needed, and loads that wait for one another.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "advise/rules.h"
#include "advise/source_edit.h"

namespace kernelcast::advice {
namespace {

constexpr auto global_latency = static_cast<std::size_t>(Latency::global);

bool executed_load(const Site& s) {
  return s.access->space == MemorySpace::global && s.access->kind == AccessKind::load && s.count.requests > 0 &&
         s.access->line.file >= 0;
}

/// Removes a share of a load's executions from its block: the operation, the stop for its result, the counts.
void remove_share(Variant& v, std::size_t block, std::size_t index, double share) {
  Block& b = v.profile.blocks[block];
  const double loads = std::max(1.0, b.ops[OpClass::global_load]);
  double copies = 1;
  std::size_t k = 0;
  for (const Block& each : v.profile.blocks)
    for (const Access& a : each.accesses)
      if (k++ == index) copies = a.copies();
  const double gone = std::min(b.ops[OpClass::global_load], copies) * share;
  b.ops[OpClass::global_load] -= gone;
  b.stalls.loads = std::max(0.0, b.stalls.loads - gone);
  b.stalls.waits[global_latency] *= 1 - gone / loads;
  AccessCount& c = v.workload.access_counts[index];
  for (double* n : {&c.requests, &c.lanes, &c.sectors, &c.segments, &c.bank_passes, &c.bytes, &c.words})
    *n *= 1 - share;
}

/// The innermost loop does not move the address, and its trip count is known: one load before the loop would do. The
/// compiler leaves it inside where a store may change the value.
std::vector<Draft> invariant_loads(const Subject& s) {
  std::vector<Draft> drafts;
  std::set<std::pair<SourceLine, int>> seen;
  for (const Site& site : s.sites()) {
    const Access& a = *site.access;
    if (!executed_load(site) || a.unknown >= 0 || a.buffer < 0) continue;
    if (!std::all_of(a.also.begin(), a.also.end(), [](std::int64_t d) { return d == 0; })) continue;
    const int loop = s.profile().blocks[site.block].loop;
    const bool moves = loop >= 0 && a.offset.depends_on(s.profile().loops[static_cast<std::size_t>(loop)].counter);
    const std::optional<double> trips = loop >= 0 && !moves ? s.trips(loop) : 1;
    const double times = trips.value_or(0) * a.copies();  // copies: of an unrolled loop
    if (times < 2) continue;
    // A store of the same kernel to the same buffer may be what the load waits for.
    const bool stored = std::any_of(s.sites().begin(), s.sites().end(), [&](const Site& o) {
      return o.access->kind != AccessKind::load && (o.access->buffer == site.access->buffer || o.access->buffer < 0);
    });
    if (stored || !seen.insert({site.access->line, site.access->buffer}).second) continue;
    const std::string name = s.buffer_name(*site.access);
    const double share = 1 - 1 / times;
    const auto what_if = [block = site.block, index = site.index, share](Variant& v) {
      remove_share(v, block, index, share);
      v.workload.registers_per_thread += 1;
    };
    // What the compiler makes of the promise replaces the what-if, where it can be written into the source.
    const bool cuda = s.question().source.language == Language::cuda || s.question().source.language == Language::hip;
    Draft d{site.access->line,
            name,
            fmt::format("the same element of '{}' is loaded {:.6g} times: a store in between may change it, as far as "
                        "the compiler knows",
                        name, times),
            fmt::format("load it into a register before the loop, or declare '{}' const __restrict__", name),
            what_if,
            {},
            {}};
    if (cuda) {
      d.rewritten = with_restrict(s.question().source.text, s.profile().kernel);
      if (!d.rewritten.empty()) d.assumptions.emplace_back("no two pointers of the kernel overlap");
    }
    drafts.push_back(std::move(d));
  }
  return drafts;
}

/// Several instructions of one iteration that load one address, which stores or barriers in between keep apart.
std::vector<Draft> repeated_loads(const Subject& s) {
  using Place = std::tuple<int, int, std::int64_t, int, int>;  // buffer, shape, constant, bytes, loop
  std::map<Place, std::vector<const Site*>> by_place;
  for (const Site& site : s.sites()) {
    const Access& a = *site.access;
    if (executed_load(site) && a.unknown < 0 && a.buffer >= 0 && a.also.empty())
      by_place[{a.buffer, site.shape, site.constant, a.bytes, s.profile().blocks[site.block].loop}].push_back(&site);
  }
  std::vector<Draft> drafts;
  std::set<int> seen;
  for (auto& [place, sites] : by_place) {
    if (sites.size() < 2) continue;
    const int buffer = std::get<0>(place);
    const bool stored = std::any_of(s.sites().begin(), s.sites().end(), [&](const Site& o) {
      return o.access->kind != AccessKind::load && (o.access->buffer == buffer || o.access->buffer < 0);
    });
    // One of them runs whenever another does.
    const auto first =
        std::ranges::find_if(sites, [&](const Site* x) { return s.profile().blocks[x->block].guard.always(); });
    if (stored || first == sites.end() || !seen.insert(buffer).second) continue;
    std::vector<const Site*> others;
    for (const Site* x : sites)
      if (x != *first) others.push_back(x);
    const std::string name = s.buffer_name(*(*first)->access);
    Draft d{others.front()->access->line,
            name,
            fmt::format("the same element of '{}' is loaded by {} instructions", name, sites.size()),
            fmt::format("load it once and keep it in a register, or declare '{}' const __restrict__", name),
            [others](Variant& v) {
              for (const Site* x : others) remove_share(v, x->block, x->index, 1);
              v.workload.registers_per_thread += 1;
            },
            {},
            {"no other thread changes the element between the loads"}};
    drafts.push_back(std::move(d));
  }
  return drafts;
}

/// Threads of a block that differ only along `axis` load the same element, each with its own request.
bool same_along(const Subject& s, const Access& a, int axis) {
  const auto k = s.stride(a, local_id(axis));
  return k && *k == 0;
}

/// The arithmetic of `loads` addresses of a block: a wide multiply-add or a 64-bit sum each, and the sum of its index.
void drop_addresses(Block& b, double loads) {
  const auto take = [&b](OpClass c, double n) {
    const double taken = std::min(b.ops[c], n);
    b.ops[c] -= taken;
    return n - taken;
  };
  take(OpClass::int64_add, take(OpClass::int64_mad, take(OpClass::int_mad, loads)));
  take(OpClass::int_add, loads);
}

/// A product in the manner of matrices: one load is the same along x, another along y, both move with the loop.
std::vector<Draft> tiles(const Subject& s) {
  std::vector<Draft> drafts;
  const Dim3& shape = s.workload().block;
  if (s.profile().static_shared_bytes > 0 || s.profile().uses_dynamic_shared) return drafts;
  if (shape.x < 8 || shape.y < 8) return drafts;
  std::map<int, std::vector<const Site*>> by_loop;
  for (const Site& site : s.sites()) {
    const int loop = s.profile().blocks[site.block].loop;
    if (executed_load(site) && loop >= 0 && site.access->unknown < 0 &&
        site.access->offset.depends_on(s.profile().loops[static_cast<std::size_t>(loop)].counter))
      by_loop[loop].push_back(&site);
  }
  for (const auto& [loop, sites] : by_loop) {
    const auto trips = s.trips(loop);
    const bool rows = std::any_of(sites.begin(), sites.end(), [&](const Site* x) {
      return same_along(s, *x->access, 0) && !same_along(s, *x->access, 1);
    });
    const bool columns = std::any_of(sites.begin(), sites.end(), [&](const Site* x) {
      return same_along(s, *x->access, 1) && !same_along(s, *x->access, 0);
    });
    if (!rows || !columns || !trips || *trips < 8) continue;
    const double tile = static_cast<double>(std::min(shape.x, shape.y));
    std::set<const Site*> same_x;
    for (const Site* x : sites)
      if (same_along(s, *x->access, 0)) same_x.insert(x);
    const auto what_if = [sites, tile, same_x](Variant& v) {
      const auto along_x = [&](const Site* x) { return same_x.contains(x); };
      std::map<std::size_t, double> copies, loads;
      double requests = 0, stored = 0, passes = 0, lanes = 0;
      for (const Site* site : sites) {
        const AccessCount before = v.workload.access_counts[site->index];
        remove_share(v, site->block, site->index, 1 - 1 / tile);
        AccessCount& c = v.workload.access_counts[site->index];
        c = coalesced({c.requests, c.lanes, before.sectors, before.segments, before.bank_passes, c.bytes, c.words},
                      site->access->bytes, v.workload.geometry);
        // Rows of a tile are aligned, and what moves along them in an unrolled loop is loaded four words at a time.
        const double wide = site->access->bytes == 4 && along_x(site) ? 4 : 1;
        copies[site->block] += site->access->copies();
        // Where a tile's element lies is a constant; where one of another row lies was computed each time.
        if (!along_x(site)) drop_addresses(v.profile.blocks[site->block], site->access->copies() * (1 - 1 / tile));
        loads[site->block] += site->access->copies() / wide;
        requests += before.requests / wide;
        stored += before.requests / tile;
        // Its neighbours read the same words, two of which then return at a time (kernelcast/bind.h).
        passes += before.requests * (wide > 1 && v.workload.geometry.shared_pairs != 0 ? 0.5 : 1);
        lanes += before.lanes;
      }
      for (const auto& [block, n] : copies) {
        Block& b = v.profile.blocks[block];
        b.ops[OpClass::shared_load] += loads[block];
        b.ops[OpClass::shared_store] += n / tile;
        b.ops[OpClass::barrier] += n / tile;  // two for each tile of two arrays
        v.workload.barriers += n / tile * v.workload.block_counts[block].warps / v.workload.warps_per_block;
        // Values come from shared memory, as many in flight as before.
        b.stalls.waits[static_cast<std::size_t>(Latency::shared)] += 1;
      }
      for (const AccessKind kind : {AccessKind::load, AccessKind::store}) {
        const double share = kind == AccessKind::load ? 1 : 1 / tile;
        Access a;
        a.space = MemorySpace::shared;
        a.kind = kind;
        v.profile.blocks.back().accesses.push_back(a);
        AccessCount c;
        c.requests = kind == AccessKind::load ? requests : stored;
        c.bank_passes = kind == AccessKind::load ? passes : stored;
        c.lanes = lanes * share;
        c.bytes = c.lanes * 4;
        c.words = c.lanes;
        v.workload.access_counts.push_back(c);
      }
      v.workload.shared_bytes_per_block += 2 * tile * tile * 4;
    };
    const Access& a = *sites.front()->access;
    drafts.push_back(
        {a.line,
         s.buffer_name(a),
         fmt::format("each element of both arrays is loaded by several threads of a block: {} and {}", shape.x,
                     shape.y),
         fmt::format("load tiles of {0} x {0} into shared memory, and loop over the tiles:\n"
                     "tile[threadIdx.y][threadIdx.x] = ...; __syncthreads(); for (k < {0}) ... __syncthreads();",
                     tile),
         what_if,
         {},
         {"rows of both tiles are read without bank conflicts"}});
  }
  return drafts;
}

/// Whether the vendor's compiler has the loads of a loop in flight together already: several copies of one stand in an
/// unrolled body, and no store to another buffer may change what they load.
bool loads_together(const Subject& s, const Site& site) {
  constexpr double copies = 4;
  const int loop = s.profile().blocks[site.block].loop;
  double same = 0;
  bool held = false;
  for (const Site& o : s.sites()) {
    const Access& a = *o.access;
    if (a.space != MemorySpace::global || s.profile().blocks[o.block].loop != loop) continue;
    if (a.kind != AccessKind::load)
      held = held || a.unknown >= 0 || a.buffer != site.access->buffer;
    else if (o.block == site.block && a.line == site.access->line && a.buffer == site.access->buffer)
      same += a.copies();
  }
  return same >= copies && (site.access->read_only || !held);
}

/// Loops whose iterations wait for a load each, at addresses that are known beforehand: loads of several iterations can
/// be in flight together.
std::vector<Draft> one_at_a_time(const Subject& s) {
  std::vector<Draft> drafts;
  std::set<int> seen;
  for (const Site& site : s.sites()) {
    const Block& b = s.profile().blocks[site.block];
    if (!executed_load(site) || b.loop < 0 || site.access->unknown >= 0 || seen.contains(b.loop)) continue;
    const Loop& l = s.profile().loops[static_cast<std::size_t>(b.loop)];
    const auto trips = s.trips(b.loop);
    if (!trips || *trips < 8 || !site.access->offset.depends_on(l.counter) || b.barriers > 0) continue;
    const double waits = b.stalls.waits[global_latency];
    if (waits < 0.5 || b.stalls.loads / waits > 2.5) continue;
    // A load at an address that was loaded in this iteration cannot go ahead of it.
    const bool chained = std::any_of(s.sites().begin(), s.sites().end(), [&](const Site& o) {
      return o.block == site.block && o.access->space == MemorySpace::global && o.access->unknown >= 0;
    });
    if (chained || loads_together(s, site)) continue;
    seen.insert(b.loop);
    constexpr double unroll = 4;
    const double words = b.stalls.loads * words_of(site.access->bytes);
    const auto what_if = [at = b.loop, words](Variant& v) {
      for (Block& each : v.profile.blocks)
        if (each.loop == at) each.stalls.waits[global_latency] /= unroll;
      v.workload.registers_per_thread += (unroll - 1) * words;
    };
    drafts.push_back({site.access->line,
                      s.buffer_name(*site.access),
                      fmt::format("each of {:.6g} iterations waits for its load: {:.2g} loads of a warp are in flight",
                                  *trips, b.stalls.loads / waits),
                      "unroll the loop by 4 and load first, so that four loads are in flight:\n"
                      "#pragma unroll 4, with __restrict__ pointers or values in registers before they are used",
                      what_if,
                      {},
                      {fmt::format("{:.3g} more registers a thread", (unroll - 1) * words)}});
  }
  return drafts;
}

}  // namespace

std::span<const Rule> reuse_rules() {
  static const Rule list[] = {
      {{"invariant-load", "a loop loads the same element in each iteration"}, invariant_loads},
      {{"redundant-load", "several instructions load the same element"}, repeated_loads},
      {{"tile-in-shared-memory", "threads of a block load the same elements"}, tiles},
      {{"loads-in-flight", "iterations wait for their loads one after the other"}, one_at_a_time},
  };
  return list;
}

}  // namespace kernelcast::advice
