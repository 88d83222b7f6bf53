// How the lanes of a warp reach global memory: sectors asked for against sectors that hold what the lanes use.
//
// What-if: the access asks for as many sectors as its lanes' bytes fill, and as many wavefronts of the L1 as that
// takes. Where the order of an array cannot change because both orders are needed, the way through shared memory is
// charged: a store, a load, a barrier.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "advise/place.h"
#include "advise/rules.h"
#include "advise/text_edit.h"
#include "io/text.h"

namespace kernelcast::advice {
namespace {

/// Accesses of one source line to one buffer, in one direction: an unrolled loop makes several of one.
using Group = std::vector<const Site*>;

std::vector<Group> groups_of(const Subject& s) {
  std::map<std::tuple<SourceLine, int, AccessKind, int>, Group> by_line;
  for (const Site& site : s.sites()) {
    const Access& a = *site.access;
    if (a.space != MemorySpace::global || a.kind == AccessKind::atomic || a.buffer < 0 || a.unknown >= 0) continue;
    if (site.count.requests <= 0 || a.line.file < 0) continue;
    by_line[{a.line, a.buffer, a.kind, a.bytes}].push_back(&site);
  }
  std::vector<Group> groups;
  for (auto& [key, group] : by_line) groups.push_back(std::move(group));
  return groups;
}

struct Sums {
  double requests = 0, sectors = 0, ideal = 0;
};

Sums sums_of(const Subject& s, const Group& group) {
  Sums t;
  for (const Site* site : group) {
    t.requests += site->count.requests;
    t.sectors += site->count.sectors;
    t.ideal += coalesced(site->count, site->access->bytes, s.device().geometry()).sectors;
  }
  return t;
}

Change make_coalesced(const Subject& s, const Group& group) {
  const MemoryGeometry g = s.device().geometry();
  std::vector<std::pair<std::size_t, int>> sites;
  for (const Site* site : group) sites.emplace_back(site->index, site->access->bytes);
  return [g, sites](Variant& v) {
    for (const auto& [index, bytes] : sites)
      v.workload.access_counts[index] = coalesced(v.workload.access_counts[index], bytes, g);
  };
}

/// A store to shared memory and a load from it in place of each request's long way, and a barrier between them.
Change through_shared(const Subject& s, const Group& group) {
  const Change direct = make_coalesced(s, group);
  std::vector<std::tuple<std::size_t, std::size_t, double>> sites;
  for (const Site* site : group) sites.emplace_back(site->block, site->index, site->access->copies());
  return [direct, sites](Variant& v) {
    direct(v);
    double requests = 0;
    std::set<std::size_t> blocks;
    for (const auto& [block, index, copies] : sites) {
      OpCounts& ops = v.profile.blocks[block].ops;
      ops[OpClass::shared_store] += copies;
      ops[OpClass::shared_load] += copies;
      requests += v.workload.access_counts[index].requests;
      if (!blocks.insert(block).second) continue;
      ops[OpClass::barrier] += 1;
      v.workload.barriers += v.workload.block_counts[block].warps / v.workload.warps_per_block;
      v.profile.blocks[block].stalls.waits[static_cast<std::size_t>(Latency::shared)] += 1;
    }
    // The added accesses have no place in the profile; one wavefront each is charged to an access of shared memory, as
    // requests of an access that the profile appends to the last block.
    for (const AccessKind kind : {AccessKind::store, AccessKind::load}) {
      Access a;
      a.space = MemorySpace::shared;
      a.kind = kind;
      v.profile.blocks.back().accesses.push_back(a);
      AccessCount c;
      c.requests = c.bank_passes = requests;
      c.lanes = requests * v.workload.geometry.warp_size;
      c.bytes = 4 * c.lanes;
      c.words = c.lanes;
      v.workload.access_counts.push_back(c);
    }
    const double tile = 4.0 * static_cast<double>(v.workload.block.count() + 32);
    v.workload.shared_bytes_per_block += tile;
  };
}

std::string pattern(const Subject& s, const Group& group, std::int64_t stride) {
  const Sums t = sums_of(s, group);
  return fmt::format("neighboring threads {} {} bytes apart: {:.3g} sectors per request where {:.3g} hold the data",
                     group.front()->access->kind == AccessKind::store ? "store" : "load", std::abs(stride),
                     t.sectors / t.requests, t.ideal / t.requests);
}

/// Constant distances in bytes from a site at which the same buffer is accessed with the same stride and the same
/// direction.
std::set<std::int64_t> neighbors_of(const Subject& s, const Site& site) {
  const Access& a = *site.access;
  std::set<std::int64_t> found(a.also.begin(), a.also.end());
  for (const Site& other : s.sites()) {
    const Access& b = *other.access;
    if (other.shape != site.shape || b.buffer != a.buffer || b.space != a.space || b.kind != a.kind ||
        other.count.requests <= 0)
      continue;
    const std::int64_t distance = other.constant - site.constant;
    found.insert(distance);
    for (const std::int64_t d : b.also) found.insert(distance + d);
  }
  return found;
}

/// Fields of a structure of `stride` bytes that the kernel uses, by their distance from the first of them.
std::size_t fields_within(const std::set<std::int64_t>& at, std::int64_t stride) {
  if (at.empty()) return 0;
  const std::int64_t first = *at.begin();
  std::set<std::int64_t> fields;
  for (const std::int64_t d : at) fields.insert(((d - first) % stride + stride) % stride);
  return fields.size();
}

constexpr const char* triples[] = {"char3", "uchar3", "short3", "ushort3", "int3",
                                   "uint3", "long3",  "ulong3", "float3",  "double3"};

enum class Cause { none, wide, structure, loop, chunk, transposed, sparse };

/// A loop around the access whose counter moves it by one element, or unrolled copies side by side.
bool runs_along(const Subject& s, const Site& site, const std::set<std::int64_t>& near) {
  const Access& a = *site.access;
  for (int l = s.profile().blocks[site.block].loop; l >= 0; l = s.profile().loops[static_cast<std::size_t>(l)].parent) {
    const auto step = s.stride(a, s.profile().loops[static_cast<std::size_t>(l)].counter);
    if (!step || *step == 0) continue;
    const std::int64_t copies = static_cast<std::int64_t>(near.size());
    if (std::abs(*step) == a.bytes || std::abs(*step) == a.bytes * copies) return true;
  }
  return false;
}

/// Whether the elements of the buffer are vectors of three (float3), which no thread can load at once.
bool holds_triples(const Subject& s, const Access& a) {
  if (a.buffer < 0) return false;
  const int parameter = s.profile().buffers[static_cast<std::size_t>(a.buffer)].parameter;
  if (parameter < 0) return false;
  const std::string& type = s.profile().parameters[static_cast<std::size_t>(parameter)].type;
  return std::ranges::any_of(triples, [&](const char* name) { return find_word(type, name) != std::string::npos; });
}

Cause cause_of(const Subject& s, const Site& site, std::int64_t stride) {
  const Access& a = *site.access;
  const std::int64_t size = std::abs(stride);
  const auto near = neighbors_of(s, site);
  const auto fields = static_cast<std::int64_t>(fields_within(near, size));
  const auto y = s.stride(a, local_id(1));
  if (y && std::abs(*y) == a.bytes && s.workload().block.y > 1) return Cause::transposed;
  if (runs_along(s, site, near)) return Cause::loop;
  if (size <= 16 && fields >= 2 && std::has_single_bit(static_cast<std::uint64_t>(size))) return Cause::wide;
  if (fields * a.bytes == size) return holds_triples(s, a) ? Cause::structure : Cause::chunk;
  if (size <= 128 && fields >= 2) return Cause::structure;
  // What lies between may be what another access of the thread uses, at a distance that is not constant.
  const bool filled = std::any_of(s.sites().begin(), s.sites().end(), [&](const Site& o) {
    return o.access->buffer == a.buffer && o.count.requests > 0 && o.access->space == a.space && o.shape != site.shape;
  });
  return filled ? Cause::none : Cause::sparse;
}

struct Found {
  const Group* group = nullptr;
  std::int64_t stride = 0;
  Cause cause = Cause::none;
};

std::vector<Found> strided(const Subject& s, const std::vector<Group>& groups) {
  std::vector<Found> found;
  for (const Group& group : groups) {
    const Site& first = *group.front();
    const auto stride = s.stride(*first.access, local_id(0));
    if (!stride || std::abs(*stride) <= first.access->bytes || s.workload().block.x < 8) continue;
    const Sums t = sums_of(s, group);
    if (t.sectors < 1.3 * t.ideal) continue;
    found.push_back({&group, *stride, cause_of(s, first, *stride)});
  }
  return found;
}

/// Some other access of the kernel is coalesced along x, so that exchanging the roles of x and y would hurt it.
bool others_are_coalesced(const Subject& s, const Site& but) {
  return std::any_of(s.sites().begin(), s.sites().end(), [&](const Site& o) {
    return o.access->space == MemorySpace::global && o.access->buffer != but.access->buffer && o.count.requests > 0 &&
           s.stride(*o.access, local_id(0)) == o.access->bytes;
  });
}

/// The first line of the group that names the array: the optimizer gives some accesses the line of their loop.
SourceLine line_of(const Subject& s, const Group& group, const std::string& name) {
  for (const Site* site : group)
    if (find_word(s.text(site->access->line), name) != std::string::npos) return site->access->line;
  return group.front()->access->line;
}

/// Other threads go through the same buffer in another order, which a transposed array would spoil.
bool used_in_other_order(const Subject& s, int buffer, std::int64_t stride) {
  return std::ranges::any_of(s.sites(), [&](const Site& o) {
    if (o.access->space != MemorySpace::global || o.access->buffer != buffer || o.count.requests <= 0) return false;
    const auto other = s.stride(*o.access, local_id(0));
    return other && *other != 0 && std::abs(*other) != std::abs(stride);
  });
}

/// What to do about it; empty: nothing that would be known to help.
std::string remedy(Cause cause, const std::string& name, bool through_tile, bool fixed_order) {
  switch (cause) {
    case Cause::transposed:
      return through_tile
                 ? "go through a tile of shared memory, so that threadIdx.x runs along the rows of both arrays:\n"
                   "__shared__ T tile[N][N + 1];  // the padding keeps its columns free of bank conflicts"
                 : fmt::format(
                       "exchange the roles of threadIdx.x and threadIdx.y, so that x runs along the last "
                       "index of '{}'",
                       name);
    case Cause::loop:
      if (fixed_order) return fmt::format("let the threads of a warp go through one row of '{}' together", name);
      return fmt::format(
          "store '{}' transposed ([k][thread] in place of [thread][k]), or let the threads of a warp read one "
          "row together",
          name);
    case Cause::chunk:
      return fmt::format(
          "let neighboring threads take neighboring elements of '{0}', in place of a chunk for each thread:\n"
          "{0}[thread * chunk + k]  ->  {0}[k * threads + thread]",
          name);
    case Cause::sparse:
      return fmt::format(
          "pack the elements of '{}' that the kernel uses, so that neighboring threads use neighboring "
          "elements",
          name);
    default:
      return "";
  }
}

/// One finding for each array, cause and stride: a change of the array or its index is one for all its lines.
std::vector<Draft> uncoalesced(const Subject& s, AccessKind kind) {
  std::map<std::tuple<int, Cause, std::int64_t>, Group> by_array;
  const std::vector<Group> groups = groups_of(s);
  for (const Found& f : strided(s, groups)) {
    if (f.group->front()->access->kind != kind) continue;
    Group& all = by_array[{f.group->front()->access->buffer, f.cause, f.stride}];
    all.insert(all.end(), f.group->begin(), f.group->end());
  }
  std::vector<Draft> drafts;
  for (const auto& [key, group] : by_array) {
    const auto& [buffer, cause, stride] = key;
    const Site& first = *group.front();
    const std::string name = s.buffer_name(*first.access);
    const bool through_tile = cause == Cause::transposed && others_are_coalesced(s, first);
    const bool fixed_order = cause == Cause::loop && used_in_other_order(s, buffer, stride);
    const std::string change = remedy(cause, name, through_tile, fixed_order);
    if (change.empty()) continue;
    Draft d{line_of(s, group, name),
            name,
            "",
            change,
            through_tile ? through_shared(s, group) : make_coalesced(s, group),
            {},
            {}};
    d.message = fmt::format("uncoalesced {} of '{}': {}", name_of(kind), name, pattern(s, group, stride));
    if (cause == Cause::loop)
      d.assumptions.emplace_back(fixed_order ? "a warp can share a row"
                                             : "the array can be stored in the other order, or a warp can share a row");
    if (cause == Cause::sparse) d.assumptions.emplace_back("the array can be packed");
    drafts.push_back(std::move(d));
  }
  return drafts;
}

std::vector<Draft> uncoalesced_loads(const Subject& s) { return uncoalesced(s, AccessKind::load); }
std::vector<Draft> uncoalesced_stores(const Subject& s) { return uncoalesced(s, AccessKind::store); }

/// One finding for each buffer: its fields are rearranged together.
std::vector<Draft> structures(const Subject& s) {
  std::map<std::pair<int, std::int64_t>, Group> by_buffer;
  const std::vector<Group> groups = groups_of(s);
  for (const Found& f : strided(s, groups))
    if (f.cause == Cause::structure) {
      Group& all = by_buffer[{f.group->front()->access->buffer, std::abs(f.stride)}];
      all.insert(all.end(), f.group->begin(), f.group->end());
    }
  std::vector<Draft> drafts;
  for (const auto& [key, group] : by_buffer) {
    const Access& a = *group.front()->access;
    const std::string name = s.buffer_name(a);
    drafts.push_back({a.line,
                      name,
                      fmt::format("array of structures: {}", pattern(s, group, key.second)),
                      fmt::format("store '{0}' as a structure of arrays, one array for each field:\n"
                                  "{0}[i].x  ->  {0}_x[i]",
                                  name),
                      make_coalesced(s, group),
                      {},
                      {"the layout of the array can change"}});
  }
  return drafts;
}

/// The source with vectors of `elements` in place of the loads of `name`; empty: no such vector, or not written so.
std::string vectorized(const Subject& s, const std::string& name, int elements) {
  const Language language = s.question().source.language;
  const auto& all = s.profile().parameters;
  const auto p = std::ranges::find_if(all, [&](const Parameter& x) { return x.name == name && x.pointer; });
  if (p == all.end() || (language != Language::cuda && language != Language::hip)) return "";
  for (const char* type : {"float", "int", "double"})
    if (find_word(p->type, type) != std::string::npos && find_word(p->type, "unsigned") == std::string::npos)
      return with_vector_loads(s.question().source.text, name, elements, fmt::format("{}{}", type, elements));
  return "";
}

/// Vectors that are loaded or stored element by element: one request in place of two, three or four.
std::vector<Draft> vectors(const Subject& s) {
  std::map<std::tuple<int, AccessKind, std::size_t, std::int64_t>, Group> by_vector;
  const std::vector<Group> groups = groups_of(s);
  for (const Found& f : strided(s, groups))
    if (f.cause == Cause::wide)
      for (const Site* site : *f.group)
        by_vector[{site->access->buffer, site->access->kind, site->block, std::abs(f.stride)}].push_back(site);
  std::vector<Draft> drafts;
  for (const auto& [key, group] : by_vector) {
    const Access& a = *group.front()->access;
    const auto [buffer, kind, block, stride] = key;
    double copies = 0;
    for (const Site* site : group) copies += site->access->copies();
    if (copies * a.bytes != static_cast<double>(stride) || copies < 2) continue;  // all of the vector, in one block
    if (copies == 3) continue;                                                    // there is no access of 12 bytes
    const double share = 1 / copies;
    const Group sites = group;
    const std::string name = s.buffer_name(a);
    const auto what_if = [sites, share, copies, wide = static_cast<int>(stride), at = block, k = kind,
                          g = s.device().geometry()](Variant& v) {
      const OpClass c = k == AccessKind::store ? OpClass::global_store : OpClass::global_load;
      Block& b = v.profile.blocks[at];
      const double gone = std::min(b.ops[c], copies) * (1 - share);
      b.ops[c] -= gone;
      if (k == AccessKind::load) b.stalls.loads = std::max(0.0, b.stalls.loads - gone);
      for (const Site* site : sites) {
        AccessCount& count = v.workload.access_counts[site->index];
        AccessCount whole = count;
        whole.requests *= share;
        whole.lanes *= share;
        count = coalesced(whole, wide, g);
        count.bytes = whole.bytes;
      }
    };
    drafts.push_back({a.line,
                      name,
                      fmt::format("{} {}s of {} {} side by side where one of {} would do", copies, name_of(kind),
                                  a.bytes, plural(a.bytes, "byte"), stride),
                      fmt::format("access '{0}' as vectors of {1} bytes:\n"
                                  "{2} v = reinterpret_cast<const {2}*>({0})[i];",
                                  name, stride,
                                  stride == 2   ? "ushort"
                                  : stride == 4 ? "uchar4"
                                  : stride == 8 ? "float2"
                                                : "float4"),
                      what_if,
                      {},
                      {fmt::format("the array begins at a multiple of {} bytes", stride)}});
    if (kind == AccessKind::load && stride <= 16)
      drafts.back().rewritten = vectorized(s, name, static_cast<int>(copies));
  }
  return drafts;
}

/// Whether a thread uses several elements of the same row, as in a stencil: neighbors of what other lanes use.
bool has_window(const Subject& s, const Site& site) {
  const std::int64_t row = s.device().geometry().warp_size * std::int64_t{site.access->bytes};
  return std::ranges::any_of(neighbors_of(s, site), [row](std::int64_t d) { return d != 0 && std::abs(d) < row; });
}

/// Elements of 1 or 2 bytes, one a thread, neighbors side by side: four bytes a thread ask for as many sectors with
/// fewer requests.
std::vector<Draft> narrow(const Subject& s) {
  constexpr double part = 0.05;  // of all sectors, below which an array is no matter
  std::vector<Draft> drafts;
  double all_sectors = 0;
  for (const Site& o : s.sites())
    if (o.access->space == MemorySpace::global) all_sectors += o.count.sectors;
  for (const Group& group : groups_of(s)) {
    const Site& first = *group.front();
    const Access& a = *first.access;
    if (a.bytes > 2 || s.stride(a, local_id(0)) != a.bytes || first.lanes_per_request() < 24) continue;
    if (sums_of(s, group).sectors < part * all_sectors) continue;
    if (has_window(s, first)) continue;  // wider pieces would overlap
    const double share = a.bytes / 4.0;
    const std::string name = s.buffer_name(a);
    const bool looped = s.profile().blocks[first.block].loop >= 0;
    // Fewer blocks do the work where all of it becomes wider.
    const bool alone = std::ranges::all_of(s.sites(), [](const Site& o) {
      return o.access->space != MemorySpace::global || o.access->bytes <= 2 || o.count.requests <= 0;
    });
    const double fewer = alone && s.workload().blocks * share >= s.unit_count() ? s.workload().blocks * share : 0;
    const auto what_if = [group, share, looped, fewer](Variant& v) {
      // A thread waits once for all the elements of a word.
      std::map<std::size_t, double> loads;
      for (const Site* site : group)
        if (site->access->kind == AccessKind::load) loads[site->block] += site->access->copies();
      for (const auto& [b, n] : loads) {
        const double of_all = std::min(1.0, n / std::max(1.0, v.profile.blocks[b].ops[OpClass::global_load]));
        v.profile.blocks[b].stalls.waits[static_cast<std::size_t>(Latency::global)] *= 1 - of_all * (1 - share);
      }
      if (!looped && fewer > 0) spread_over(v, fewer);
      for (const Site* site : group) {
        AccessCount& c = v.workload.access_counts[site->index];
        const OpClass op = site->access->kind == AccessKind::store ? OpClass::global_store : OpClass::global_load;
        Block& b = v.profile.blocks[site->block];
        b.ops[op] -= std::min(b.ops[op], site->access->copies()) * (1 - share);
        // Taking words apart or putting them together: one permutation of bytes for each element.
        b.ops[OpClass::bit_special] += site->access->copies();
        c.requests *= share;
        c.lanes *= share;
        c.words *= share;
        c.bank_passes *= share;
        c.segments *= share;
      }
    };
    drafts.push_back(
        {a.line,
         name,
         fmt::format("narrow {}: a thread moves {} of '{}' at a time", name_of(a.kind),
                     a.bytes == 1 ? "one byte" : "two bytes", name),
         fmt::format("let a thread process {} neighbors and move them as one word (uchar4, half2, int)", 4 / a.bytes),
         what_if,
         {},
         {"the array begins at a multiple of 4 bytes, and rows do too"}});
  }
  return drafts;
}

/// Rows that begin between two sectors: one more sector a request.
std::vector<Draft> misaligned(const Subject& s) {
  std::vector<Draft> drafts;
  for (const Group& group : groups_of(s)) {
    const Site& first = *group.front();
    const Access& a = *first.access;
    if (s.stride(a, local_id(0)) != a.bytes || first.lanes_per_request() < 24) continue;
    const Sums t = sums_of(s, group);
    if (t.sectors < 1.1 * t.ideal || neighbors_of(s, first).size() > 1) continue;
    // A block narrower than a warp reads several rows: those are not misaligned.
    if (s.workload().block.x % s.device().geometry().warp_size != 0) continue;
    const std::string name = s.buffer_name(a);
    drafts.push_back(
        {a.line,
         name,
         fmt::format("misaligned rows of '{}': {:.3g} sectors per request where {:.3g} hold the data", name,
                     t.sectors / t.requests, t.ideal / t.requests),
         fmt::format("pad the rows of '{}' to a multiple of 32 bytes (cudaMallocPitch), or begin them at one", name),
         make_coalesced(s, group),
         {},
         {"rows can be padded"}});
  }
  return drafts;
}

}  // namespace

std::span<const Rule> global_memory_rules() {
  static const Rule list[] = {
      {{"uncoalesced-load", "lanes of a warp load from far apart"}, uncoalesced_loads},
      {{"uncoalesced-store", "lanes of a warp store far apart"}, uncoalesced_stores},
      {{"array-of-structures", "fields of structures that lie side by side"}, structures},
      {{"vector-access", "a vector accessed element by element"}, vectors},
      {{"narrow-access", "elements of one or two bytes, one a thread"}, narrow},
      {{"misaligned-rows", "rows that begin between two sectors"}, misaligned},
  };
  return list;
}

}  // namespace kernelcast::advice
