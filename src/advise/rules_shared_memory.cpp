// Shared memory: banks, barriers, copies into it.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <regex>
#include <set>

#include "advise/place.h"
#include "advise/rules.h"
#include "kernelcast/error.h"
#include "profile/warp_request.h"

namespace kernelcast::advice {
namespace {

bool in_shared(const Site& s) {
  return s.access->space == MemorySpace::shared && s.count.requests > 0 && s.access->line.file >= 0;
}

/// Accesses of one buffer that conflict, those with most wavefronts too many first: one change of its layout is for
/// all.
struct Conflict {
  std::vector<const Site*> sites;
  double passes = 0, least = 0, requests = 0;
};

/// The instruction or function at an access that moves 8x8 matrices, whose rows of 16 bytes the lanes address; empty:
/// another access.
std::string matrix_move(const Subject& s, const Site& site) {
  for (int below = 0; below < 2; ++below) {
    const std::string text = s.text({site.access->line.file, site.access->line.line + below});
    for (const char* name : {"load_matrix_sync", "store_matrix_sync", "ldmatrix", "stmatrix"})
      if (text.find(name) != std::string::npos) return name;
    if (text.find("LDMATRIX") != std::string::npos) return "ldmatrix";
  }
  return "";
}

std::vector<Conflict> conflicts_of(const Subject& s, bool matrices) {
  const auto least_of = [&](const Site& o) {
    return least_shared_passes(o.count, o.access->bytes, s.device().geometry());
  };
  std::map<int, Conflict> by_buffer;
  for (const Site& site : s.sites()) {
    if (!in_shared(site) || site.access->unknown >= 0 || site.access->kind == AccessKind::atomic) continue;
    if (site.count.bank_passes <= 1.3 * least_of(site) || matrix_move(s, site).empty() == matrices) continue;
    Conflict& c = by_buffer[site.access->buffer];
    c.sites.push_back(&site);
    c.passes += site.count.bank_passes;
    c.least += least_of(site);
    c.requests += site.count.requests;
  }
  std::vector<Conflict> found;
  for (auto& [buffer, c] : by_buffer) {
    std::stable_sort(c.sites.begin(), c.sites.end(), [&](const Site* a, const Site* b) {
      return a->count.bank_passes - least_of(*a) > b->count.bank_passes - least_of(*b);
    });
    found.push_back(std::move(c));
  }
  return found;
}

/// As many wavefronts as without conflicts.
Change without_conflicts(const Conflict& c, const MemoryGeometry& g) {
  std::vector<std::pair<std::size_t, double>> least;
  for (const Site* site : c.sites)
    least.emplace_back(site->index, least_shared_passes(site->count, site->access->bytes, g));
  return [least](Variant& v) {
    for (const auto& [index, passes] : least) v.workload.access_counts[index].bank_passes = passes;
  };
}

std::string wavefronts_of(const Conflict& c) {
  return fmt::format("{:.3g} wavefronts per request where {:.3g} would do", c.passes / c.requests,
                     c.least / c.requests);
}

/// Rows of matrices that lie a multiple of 128 bytes apart begin in the same banks.
std::vector<Draft> matrix_conflicts(const Subject& s) {
  std::vector<Draft> drafts;
  for (const Conflict& c : conflicts_of(s, true)) {
    const Access& a = *c.sites.front()->access;
    const std::string move = matrix_move(s, *c.sites.front());
    const bool wmma = move.ends_with("_sync");
    drafts.push_back(
        {a.line,
         s.buffer_name(a),
         fmt::format("{} accesses rows of '{}' that begin in the same banks: {}", move, s.buffer_name(a),
                     wavefronts_of(c)),
         wmma ? "pad its rows by 16 bytes, or by an odd multiple of them; where load_matrix_sync needs rows of a "
                "multiple "
                "of 32 bytes, load the fragments by ldmatrix for mma.sync, from a swizzled tile"
              : "swizzle the tile where it is written and read, in units of 16 bytes, or pad its rows by 16 bytes:\n"
                "tile[row][column]  ->  tile[row][column ^ (row % 8)]",
         without_conflicts(c, s.device().geometry()),
         {},
         {"the copies that fill the tile can write the same order"}});
  }
  return drafts;
}

/// Widens rows of `pitch` bytes by `pad`, in every access to the buffer.
void pad_rows(Variant& v, int buffer, std::int64_t pitch, std::int64_t pad) {
  const auto moved = [&](std::int64_t at) { return at / pitch * pad; };
  for (Block& b : v.profile.blocks)
    for (Access& a : b.accesses) {
      if (a.space != MemorySpace::shared || a.buffer != buffer || a.unknown >= 0) continue;
      a.offset = a.offset + Expr(pad) * floor_div(a.offset, Expr(pitch));
      for (std::int64_t& d : a.also) d += moved(d);
    }
  Buffer& tile = v.profile.buffers.at(static_cast<std::size_t>(buffer));
  if (tile.bytes > 0) {
    const std::int64_t more = tile.bytes / pitch * pad;
    tile.bytes += more;
    v.profile.static_shared_bytes += more;
  }
}

/// Accesses of an unrolled loop share an offset and differ by constants, which padding moves by whole rows only where
/// these are multiples of the row.
bool can_be_padded(const Subject& s, int buffer, std::int64_t pitch) {
  return std::all_of(s.sites().begin(), s.sites().end(),
                     [&](const Site& o) {
                       if (o.access->space != MemorySpace::shared || o.access->buffer != buffer) return true;
                       return o.access->unknown < 0;
                     }) &&
         pitch > 0;
}

/// The unrolled copies as accesses of their own, so that each is padded at its own address.
std::optional<double> passes_when_padded(const Subject& s, const Conflict& c, std::int64_t pitch, std::int64_t pad) {
  Variant v{s.profile(), s.workload(), s.launch()};
  pad_rows(v, c.sites.front()->access->buffer, pitch, pad);
  try {
    bind_again(v, s);
  } catch (const Error&) {
    return std::nullopt;
  }
  double passes = 0;
  for (const Site* site : c.sites) passes += v.workload.access_counts[site->index].bank_passes;
  return passes;
}

/// Bytes of a row of `name` as its declaration says it, "tile[64][40]"; 0: not known. A macro is not known.
std::int64_t declared_pitch(const Subject& s, const std::string& name, int bytes) {
  if (name.empty() ||
      !std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; }))
    return 0;
  const std::regex declaration(R"((__shared__|__local|\blocal\b).*\b(\w+)\s+(?:\w+\[.*,\s*)?)" + name +
                               R"(\s*\[[^\]]*\]\s*\[\s*(\d+)\s*\])");
  static const std::map<std::string, int> sizes{{"half", 2},   {"__half", 2}, {"short", 2}, {"char", 1},
                                                {"double", 8}, {"float", 4},  {"int", 4},   {"unsigned", 4}};
  for (const SourceLine line : s.lines()) {
    std::smatch found;
    const std::string text = s.text(line);
    if (find_word(text, name) == std::string::npos || !std::regex_search(text, found, declaration)) continue;
    const auto size = sizes.find(found[2].str());
    return std::stoll(found[3].str()) * (size == sizes.end() ? bytes : size->second);
  }
  return 0;
}

/// The source with `elements` more in each row of `name`, where its declaration is one line of the file that was given.
std::string with_padding(const Subject& s, const std::string& name, std::int64_t elements) {
  const std::string& text = s.question().source.text;
  if (name.empty() || find_word(text, name) == std::string::npos) return "";
  const std::regex declaration(R"((?:__shared__|__local|\blocal)\s.*\b)" + name + R"(\s*\[[^\]]*\]\s*\[([^\]]*)\])");
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    std::smatch found;
    if (line.size() <= longest_read && find_word(line, name) != std::string::npos &&
        std::regex_search(line, found, declaration)) {
      const std::size_t at = begin + static_cast<std::size_t>(found.position(1) + found.length(1));
      return text.substr(0, at) + fmt::format(" + {}", elements) + text.substr(at);
    }
    begin = end + 1;
  }
  return "";
}

std::vector<Draft> bank_conflicts(const Subject& s) {
  std::vector<Draft> drafts;
  const MemoryGeometry g = s.device().geometry();
  for (const Conflict& c : conflicts_of(s, false)) {
    const Site& first = *c.sites.front();
    const Access& a = *first.access;
    const std::string name = s.buffer_name(a);
    const double ways = c.passes / c.least;
    Draft d{a.line, name, "", "", {}, {}, {}};
    d.message = fmt::format("bank conflicts on '{}': {}", name, wavefronts_of(c));
    std::set<std::int64_t> pitches;
    for (const int axis : {0, 1, 2})
      if (const auto k = s.stride(a, local_id(axis)); k && std::abs(*k) >= 2 * g.bank_bytes * 4)
        pitches.insert(std::abs(*k));
    const std::int64_t declared_row = declared_pitch(s, name, a.bytes);
    if (declared_row > 0) pitches.insert(declared_row);
    // Wide accesses stay aligned only if rows grow by as much.
    std::int64_t widest = g.bank_bytes;
    for (const Site& o : s.sites())
      if (o.access->space == MemorySpace::shared && o.access->buffer == a.buffer)
        widest = std::max<std::int64_t>(widest, o.access->bytes);
    double best = 0.8 * c.passes;
    for (const std::int64_t pitch : pitches)
      for (const std::int64_t pad : {widest, 2 * widest}) {
        if (a.buffer < 0 || !can_be_padded(s, a.buffer, pitch)) continue;
        const auto passes = passes_when_padded(s, c, pitch, pad);
        if (!passes || *passes >= 0.999 * best) continue;
        best = *passes;
        const bool declared = pitch == declared_row || !with_padding(s, name, 1).empty();
        d.change = declared ? fmt::format(
                                  "pad the rows of '{}' by {} bytes, so that rows of {} bytes begin in "
                                  "different banks",
                                  name, pad, pitch)
                            : fmt::format(
                                  "lengthen the rows of '{}' by {} bytes: neighboring threads, {} bytes apart, "
                                  "then use different banks",
                                  name, pad, pitch);
        if (declared && pitch % a.bytes == 0 && widest == a.bytes)
          d.change += fmt::format(":\n{0}[...][{1}]  ->  {0}[...][{1} + {2}]", name, pitch / a.bytes, pad / a.bytes);
        d.rewritten = widest == a.bytes ? with_padding(s, name, pad / a.bytes) : std::string();
        d.what_if = [buffer = a.buffer, pitch, pad, &s](Variant& v) {
          pad_rows(v, buffer, pitch, pad);
          bind_again(v, s);
        };
      }
    if (!d.what_if) {
      if (ways < 1.8) continue;
      d.change =
          "let neighboring threads use neighboring words: index by threadIdx.x in place of a multiple of it, or "
          "swizzle "
          "(column ^ row)";
      d.what_if = without_conflicts(c, g);
      d.assumptions.emplace_back("the order of the words can change");
    }
    drafts.push_back(std::move(d));
  }
  return drafts;
}

bool any_shared(const Subject& s) {
  return s.profile().static_shared_bytes > 0 || s.profile().uses_dynamic_shared ||
         std::any_of(s.sites().begin(), s.sites().end(),
                     [](const Site& o) { return o.access->space == MemorySpace::shared; });
}

/// Barriers in a kernel whose threads have nothing in common: no shared memory, and no buffer that is both read and
/// written.
std::vector<Draft> needless_barriers(const Subject& s) {
  if (any_shared(s) || s.workload().barriers <= 0) return {};
  std::set<int> read, written;
  for (const Site& o : s.sites()) {
    if (o.access->space != MemorySpace::global) continue;
    if (o.access->buffer < 0) return {};
    if (o.access->kind != AccessKind::store) read.insert(o.access->buffer);
    if (o.access->kind != AccessKind::load) written.insert(o.access->buffer);
  }
  for (const int b : read)
    if (written.contains(b)) return {};
  SourceLine line;
  for (const Block& b : s.profile().blocks)
    for (const LineOps& l : b.lines)
      if (l.ops[OpClass::barrier] > 0 && line.file < 0) line = l.line;
  // __syncthreads_and and its like carry a value.
  static const std::regex plain(R"(\b(__syncthreads|barrier|sync)\s*\()");
  if (line.file < 0 || !std::regex_search(s.text(line), plain)) return {};
  const auto what_if = [](Variant& v) {
    for (Block& b : v.profile.blocks) {
      b.ops[OpClass::barrier] = 0;
      b.barriers = 0;
      b.phases.clear();
    }
    v.workload.barriers = v.workload.flat_barriers = 0;
  };
  return {{line,
           "__syncthreads",
           "a barrier that nobody needs: the threads of a block share no data",
           "remove the barrier",
           what_if,
           {},
           {"pointers of different arguments do not overlap"}}};
}

/// Devices that copy from global to shared memory by themselves: sm_80 and later.
bool has_async_copies(const Device& d) {
  int version = 0;
  const std::string& t = d.codegen_target;
  return t.starts_with("sm_") && std::from_chars(t.data() + 3, t.data() + t.size(), version).ec == std::errc() &&
         version >= 80;
}

/// Loops that fill a tile and use it, with a barrier before and behind: two tiles in turn need one.
std::vector<Draft> double_buffers(const Subject& s) {
  std::vector<Draft> drafts;
  if (has_async_copies(s.device())) return drafts;  // rule async-copy says more
  std::map<int, double> barriers;
  std::map<int, SourceLine> lines;
  for (const Block& b : s.profile().blocks) {
    if (b.loop < 0 || b.barriers <= 0) continue;
    barriers[b.loop] += b.barriers;
    for (const LineOps& l : b.lines)
      if (l.ops[OpClass::barrier] > 0) lines[b.loop] = l.line;
  }
  for (const auto& [loop, n] : barriers) {
    const auto trips = s.trips(loop);
    const auto line = lines.find(loop);
    if (n != 2 || !trips || *trips < 4 || line == lines.end()) continue;
    double stores = 0, loads = 0;
    for (const Site& o : s.sites())
      if (o.access->space == MemorySpace::shared) {
        if (o.access->kind == AccessKind::store && s.profile().blocks[o.block].loop == loop) stores += 1;
        if (o.access->kind == AccessKind::load) loads += 1;
      }
    if (stores == 0 || loads == 0) continue;
    const auto what_if = [at = loop](Variant& v) {
      for (std::size_t b = 0; b < v.profile.blocks.size(); ++b) {
        Block& each = v.profile.blocks[b];
        if (each.loop != at || each.barriers <= 0) continue;
        const double gone = each.barriers / 2.0;
        each.ops[OpClass::barrier] -= std::min(each.ops[OpClass::barrier], gone);
        v.workload.barriers -= gone * v.workload.block_counts[b].warps / v.workload.warps_per_block;
        // The next tile's loads are issued before this one is used: their latency is hidden behind an iteration.
        each.stalls.waits[static_cast<std::size_t>(Latency::global)] = 0;
        each.phases.clear();  // loads, stores and use of the tiles stand between the same barriers
      }
      v.workload.barriers = std::max(0.0, v.workload.barriers);
      v.workload.shared_bytes_per_block += static_cast<double>(v.profile.static_shared_bytes);
    };
    drafts.push_back(
        {line->second,
         "__syncthreads",
         fmt::format("two barriers in each of {:.6g} iterations, and the loads of a tile are waited for", *trips),
         "use two tiles in turn: load the next one while this one is used, one barrier an iteration:\n"
         "__shared__ T tile[2][...];  ... tile[t & 1] ... tile[t + 1 & 1]",
         what_if,
         {},
         {"the loads of the next tile end within one iteration"}});
  }
  return drafts;
}

/// Whether a line of the block computes with values, or adds to what shared memory holds: no mere copy.
bool computes(const Block& b, SourceLine line) {
  static constexpr OpClass arithmetic[] = {
      OpClass::fp32_add, OpClass::fp32_mul,    OpClass::fp32_fma,   OpClass::fp32_div, OpClass::fp32_special,
      OpClass::fp64_add, OpClass::fp64_mul,    OpClass::fp64_fma,   OpClass::fp64_div, OpClass::fp64_special,
      OpClass::fp16_add, OpClass::fp16_mul,    OpClass::fp16_fma,   OpClass::convert,  OpClass::convert64,
      OpClass::shuffle,  OpClass::convert_alu, OpClass::shared_load};
  return std::ranges::any_of(b.lines, [&](const LineOps& l) {
    return l.line == line && std::ranges::any_of(arithmetic, [&](OpClass c) { return l.ops[c] > 0; });
  });
}

/// Values that go from global to shared memory by registers.
std::vector<Draft> synchronous_copies(const Subject& s) {
  std::vector<Draft> drafts;
  if (!has_async_copies(s.device())) return drafts;
  struct Line {
    std::vector<const Site*> stores;
    double loaded = 0, stored = 0;  // requests
  };
  std::map<std::pair<std::size_t, SourceLine>, Line> lines;
  for (const Site& o : s.sites()) {
    const Block& b = s.profile().blocks[o.block];
    if (b.loop < 0 || o.count.requests <= 0 || o.access->bytes < 4 || computes(b, o.access->line)) continue;
    Line& line = lines[{o.block, o.access->line}];
    if (o.access->space == MemorySpace::global && o.access->kind == AccessKind::load) line.loaded += o.count.requests;
    if (o.access->space != MemorySpace::shared || o.access->kind != AccessKind::store) continue;
    line.stored += o.count.requests;
    line.stores.push_back(&o);
  }
  std::map<int, std::vector<const Site*>> by_loop;
  for (const auto& [key, line] : lines)
    if (line.stored > 0 && line.loaded == line.stored) {
      auto& all = by_loop[s.profile().blocks[key.first].loop];
      all.insert(all.end(), line.stores.begin(), line.stores.end());
    }
  for (const auto& [loop, stores] : by_loop) {
    const auto trips = s.trips(loop);
    if (!trips || *trips < 4) continue;
    const auto what_if = [copies = stores](Variant& v) {
      for (const Site* store : copies) {
        Block& b = v.profile.blocks[store->block];
        const double n = store->access->copies();
        // One instruction in place of two; the values pass no register.
        b.ops[OpClass::shared_store] -= std::min(b.ops[OpClass::shared_store], n);
        b.stalls.waits[static_cast<std::size_t>(Latency::global)] = 0;
      }
      v.workload.shared_bytes_per_block += static_cast<double>(v.profile.static_shared_bytes);
    };
    const Access& a = *stores.front()->access;
    double each = 0;
    for (const Site* store : stores) each += store->access->copies();
    drafts.push_back(
        {a.line,
         s.buffer_name(a),
         fmt::format("{:.6g} {} from global to shared memory in each of {:.6g} iterations, through registers", each,
                     each == 1 ? "copy" : "copies", *trips),
         "copy asynchronously, one tile ahead:\n"
         "__pipeline_memcpy_async(&tile[next][y][x], &a[...], sizeof(T)); __pipeline_commit();",
         what_if,
         {},
         {"two tiles in turn, so that a copy has one iteration to end"}});
  }
  return drafts;
}

/// Every lane of a warp updates one word of shared memory, one after the other.
std::vector<Draft> shared_atomics(const Subject& s) {
  std::vector<Draft> drafts;
  std::set<SourceLine> seen;
  for (const Site& o : s.sites()) {
    if (!in_shared(o) || o.access->kind != AccessKind::atomic || (o.access->unknown >= 0 && !s.knows_data())) continue;
    const double passes = o.count.bank_passes / o.count.requests;
    if (passes < 4 || !seen.insert(o.access->line).second) continue;
    const bool one_word = s.stride(*o.access, local_id(0)) == 0;
    const auto what_if = [index = o.index, block = o.block, one_word, copies = o.access->copies()](Variant& v) {
      AccessCount& c = v.workload.access_counts[index];
      if (one_word) {
        // Sum of the warp by five shuffles and additions, then one lane.
        Block& b = v.profile.blocks[block];
        b.ops[OpClass::shuffle] += 5 * copies;
        b.ops[OpClass::int_add] += 5 * copies;
        c.bank_passes = c.requests;
        c.lanes = c.requests;
      } else {
        // A copy of the array for every other lane halves the lanes that meet on a word.
        c.bank_passes = std::max(c.requests, c.bank_passes / 2);
        v.workload.shared_bytes_per_block *= 2;
      }
    };
    drafts.push_back({o.access->line,
                      s.buffer_name(*o.access),
                      fmt::format("lanes of a warp update the same words of '{}': {:.3g} wavefronts per request",
                                  s.buffer_name(*o.access), passes),
                      one_word ? "add within the warp first (__reduce_add_sync or shuffles), then one lane updates"
                               : "keep two copies of the array, for odd and even lanes, and add them at the end",
                      what_if,
                      {},
                      {}});
  }
  return drafts;
}

/// A loop whose iterations synchronize and combine two words of shared memory each, as many as the logarithm of the
/// block: a sum in the shape of a tree. Inside of a warp shuffles do it without barriers.
std::vector<Draft> trees(const Subject& s) {
  std::vector<Draft> drafts;
  const KernelProfile& p = s.profile();
  const double threads = static_cast<double>(s.workload().block.count()), warp = s.device().geometry().warp_size;
  if (s.device().vendor != "NVIDIA" || threads < 2 * warp) return drafts;
  for (std::size_t l = 0; l < p.loops.size(); ++l) {
    const auto trips = s.trips(static_cast<int>(l));
    if (p.loops[l].parent >= 0 || !trips || std::abs(*trips - std::log2(threads)) > 1.01) continue;
    double loads = 0, stores = 0, barriers = 0;
    bool others = false;
    std::vector<std::size_t> blocks;
    for (std::size_t b = 0; b < p.blocks.size(); ++b) {
      if (p.blocks[b].loop != static_cast<int>(l)) continue;
      blocks.push_back(b);
      barriers += p.blocks[b].barriers;
      for (const Access& a : p.blocks[b].accesses) {
        const bool shared = a.space == MemorySpace::shared && a.bytes <= 8 && a.kind != AccessKind::atomic;
        others = others || !shared;
        (a.kind == AccessKind::store ? stores : loads) += a.copies();
      }
    }
    if (others || stores != 1 || loads < 1 || loads > 2 || barriers != 1) continue;
    const Site* first = nullptr;
    for (const Site& o : s.sites())
      if (in_shared(o) && p.blocks[o.block].loop == static_cast<int>(l) && first == nullptr) first = &o;
    if (first == nullptr) continue;
    const double steps = std::log2(warp), again = std::ceil(std::log2(std::max(2.0, threads / warp)));
    const auto what_if = [blocks, steps, again, l, &s](Variant& v) {
      double barriers_gone = 0;
      for (const std::size_t b : blocks) {
        barriers_gone += v.profile.blocks[b].barriers * v.workload.block_counts[b].warps / v.workload.warps_per_block;
        v.workload.block_counts[b] = {};
      }
      for (const Site& o : s.sites())
        if (s.profile().blocks[o.block].loop == static_cast<int>(l)) v.workload.access_counts[o.index] = {};
      // Each warp adds up, one lane stores; a barrier; the first warp adds up what the warps stored.
      v.workload.barriers = std::max(0.0, v.workload.barriers - barriers_gone) + v.workload.blocks;
      const double warps = v.workload.warps;
      Block once;
      once.ops[OpClass::shuffle] = once.ops[OpClass::int_add] = steps + again / v.workload.warps_per_block;
      once.ops[OpClass::shared_store] = 1;
      once.ops[OpClass::shared_load] = 1 / v.workload.warps_per_block;
      once.ops[OpClass::barrier] = 1;
      once.stalls.waits[static_cast<std::size_t>(Latency::shared)] = steps + again + 1;
      once.stalls.waits[static_cast<std::size_t>(Latency::alu)] = steps + again;
      v.profile.blocks.push_back(once);
      v.workload.block_counts.push_back({warps, warps * v.workload.geometry.warp_size});
    };
    drafts.push_back(
        {first->access->line,
         s.buffer_name(*first->access),
         fmt::format("a reduction over the block in {:.0f} steps through shared memory, a barrier each", *trips),
         "combine within each warp by shuffles, then the results of the warps: one barrier in all:\n"
         "for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(~0u, v, d);  // or min, max, ...",
         what_if,
         {},
         {"the operation may be done in another order"}});
  }
  return drafts;
}

}  // namespace

std::span<const Rule> shared_memory_rules() {
  static const Rule list[] = {
      {{"bank-conflicts", "lanes of a warp use different words of one bank"}, bank_conflicts},
      {{"matrix-conflicts", "ldmatrix reads rows that begin in the same banks"}, matrix_conflicts},
      {{"shared-atomic", "lanes of a warp update the same words of shared memory"}, shared_atomics},
      {{"needless-barrier", "a barrier between threads that share nothing"}, needless_barriers},
      {{"double-buffer", "a tile is filled and used between two barriers"}, double_buffers},
      {{"tree-reduction", "a reduction over the block with a barrier a step"}, trees},
      {{"async-copy", "copies to shared memory pass through registers"}, synchronous_copies},
  };
  return list;
}

}  // namespace kernelcast::advice
