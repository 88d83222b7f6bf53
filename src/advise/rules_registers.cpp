// What a thread and a block hold: registers, private arrays, shared memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "advise/rules.h"
#include "advise/source_edit.h"
#include "io/text.h"
#include "kernelcast/error.h"
#include "kernelcast/model.h"

namespace kernelcast::advice {
namespace {

constexpr double most_registers =
    255;  // of a thread: CUDA C++ Programming Guide, Technical Specifications per Compute Capability
constexpr double most_selected = 32;  // words among which a chain of comparisons can choose
constexpr auto local_latency = static_cast<std::size_t>(Latency::local);

std::vector<Draft> local_arrays(const Subject& s) {
  std::vector<Draft> drafts;
  if (s.workload().stack_bytes <= 0) return drafts;
  const Site* first = nullptr;
  double requests = 0;
  for (const Site& o : s.sites()) {
    if (o.access->space != MemorySpace::local || o.count.requests <= 0) continue;
    requests += o.count.requests;
    if (first == nullptr && o.access->line.file >= 0) first = &o;
  }
  if (first == nullptr) return drafts;
  // Addresses that are all constant are no matter of indices.
  const bool indexed = std::any_of(s.sites().begin(), s.sites().end(), [](const Site& o) {
    return o.access->space == MemorySpace::local && (o.access->unknown >= 0 || !o.access->offset.constant());
  });
  if (!indexed) return drafts;
  const double words = std::ceil(s.workload().stack_bytes / 4);
  Draft d{first->access->line, s.buffer_name(*first->access), "", "", {}, {}, {}};
  d.message = fmt::format(
      "{} per thread stay in local memory, since indices that are not constants cannot name registers: {} requests",
      format_bytes(s.workload().stack_bytes), format_count(requests));
  // Unrolling makes no constant of an index that data decide.
  const bool constant_once_unrolled = std::none_of(s.sites().begin(), s.sites().end(), [](const Site& o) {
    return o.access->space == MemorySpace::local && o.access->unknown >= 0 && o.count.requests > 0;
  });
  const bool fits = s.workload().registers_per_thread + words <= most_registers * 0.8 &&
                    (constant_once_unrolled || words <= most_selected);
  if (fits) {
    d.change =
        "make every index a constant after unrolling (#pragma unroll over a fixed trip count), or select with a chain "
        "of comparisons";
    d.what_if = [words](Variant& v) {
      std::size_t k = 0;
      for (Block& b : v.profile.blocks) {
        for (const Access& a : b.accesses) {
          AccessCount& c = v.workload.access_counts[k++];
          if (a.space != MemorySpace::local) continue;
          c = {};
          OpCounts& ops = b.ops;
          const OpClass op = a.kind == AccessKind::store ? OpClass::local_store : OpClass::local_load;
          ops[op] = std::max(0.0, ops[op] - a.copies());
        }
        b.stalls.waits[local_latency] = b.stalls.hidden[local_latency] = 0;
      }
      v.workload.stack_bytes = 0;
      v.workload.registers_per_thread += words;
    };
    d.assumptions.push_back(fmt::format("{:.0f} more registers a thread", words));
  } else {
    // Too large for registers: one copy a thread in shared memory, words of neighbors side by side.
    const double bytes = s.workload().stack_bytes * static_cast<double>(s.workload().block.count());
    if (bytes > 48 * 1024) return drafts;
    d.change = "keep the array in shared memory, one column a thread: tile[index][threadIdx.x]";
    d.what_if = [bytes](Variant& v) {
      std::size_t k = 0;
      for (Block& b : v.profile.blocks) {
        for (Access& a : b.accesses) {
          AccessCount& c = v.workload.access_counts[k++];
          if (a.space != MemorySpace::local) continue;
          const bool store = a.kind == AccessKind::store;
          const double moved = std::min(a.copies(), b.ops[store ? OpClass::local_store : OpClass::local_load]);
          b.ops[store ? OpClass::local_store : OpClass::local_load] -= moved;
          b.ops[store ? OpClass::shared_store : OpClass::shared_load] += moved;
          a.space = MemorySpace::shared;
          c.sectors = c.segments = 0;
          c.bank_passes = c.requests * std::max(1, words_of(a.bytes));
        }
        auto& waits = b.stalls.waits;
        waits[static_cast<std::size_t>(Latency::shared)] += waits[local_latency];
        waits[local_latency] = b.stalls.hidden[local_latency] = 0;
      }
      v.workload.stack_bytes = 0;
      v.workload.shared_bytes_per_block += bytes;
    };
    d.assumptions.push_back(fmt::format("{} of shared memory a block", format_bytes(bytes)));
  }
  drafts.push_back(std::move(d));
  return drafts;
}

std::vector<Draft> spills(const Subject& s) {
  const double bytes = s.workload().spill_bytes;
  if (bytes <= 0) return {};
  const double words = std::ceil(bytes / 4);
  const double needed = s.workload().registers_per_thread + words;
  const bool bounded = s.profile().max_threads_per_block > 0 && needed <= most_registers;
  const auto what_if = [needed](Variant& v) {
    for (Block& b : v.profile.blocks) {
      double load = 0, store = 0;  // of private arrays, which stay
      for (const Access& a : b.accesses) {
        if (a.space == MemorySpace::local) (a.kind == AccessKind::store ? store : load) += a.copies();
      }
      b.ops[OpClass::local_load] = std::min(b.ops[OpClass::local_load], load);
      b.ops[OpClass::local_store] = std::min(b.ops[OpClass::local_store], store);
      if (load == 0) b.stalls.waits[local_latency] = b.stalls.hidden[local_latency] = 0;
    }
    v.workload.spill_bytes = 0;
    v.workload.registers_per_thread = std::min(needed, most_registers);
  };
  return {{{},
           "",
           fmt::format("{} of registers per thread are spilled to local memory", format_bytes(bytes)),
           bounded
               ? "raise the limit of registers: a smaller first argument of __launch_bounds__, or a smaller second one"
               : "keep fewer values alive: smaller tiles per thread, less unrolling, or two kernels",
           what_if,
           {},
           {bounded ? fmt::format("{:.0f} registers a thread", needed)
                    : std::string("the values that are spilled can be done without")}}};
}

double warps_with(const Subject& s, const std::function<void(Workload&)>& change) {
  Workload w = s.workload();
  change(w);
  try {
    return occupancy(w, s.device()).warps_per_unit;
  } catch (const Error&) {
    return 0;
  }
}

/// A little less of what limits the occupancy, where that lets one more block in. Much less would be another kernel.
constexpr double little = 0.125;

std::vector<Draft> fewer_registers(const Subject& s) {
  const Occupancy& o = s.estimate().occupancy;
  const double now = s.workload().registers_per_thread;
  if (o.limiter != "registers" || s.workload().spill_bytes > 0) return {};
  // Where the estimate allows so few registers that one more block fits, the compiler may be there already.
  const double fewest = s.fewest_registers();
  if (warps_with(s, [fewest](Workload& w) { w.registers_per_thread = fewest; }) > o.warps_per_unit) return {};
  for (double r = now - 1; r >= now * (1 - little); --r) {
    const double warps = warps_with(s, [r](Workload& w) { w.registers_per_thread = r; });
    if (warps <= o.warps_per_unit) continue;
    const double threads = static_cast<double>(s.workload().block.count());
    Draft d{
        {},
        "",
        fmt::format(
            "registers limit the occupancy: {:.0f} a thread leave room for {:.3g} of warps; {:.0f} would for {:.3g}",
            now, o.warps_per_unit, r, warps),
        fmt::format("__launch_bounds__({:.0f}, {:.0f})  // or -maxrregcount {:.0f}", threads,
                    std::max(1.0, std::floor(warps * s.device().geometry().warp_size / threads)), r),
        [r](Variant& v) { v.workload.registers_per_thread = r; },
        {},
        {"the compiler finds an order with so many registers without spills"}};
    d.edit.most_registers = r;
    const LineEdit bounds =
        with_launch_bounds(s.question().source.text, s.profile().kernel, static_cast<int>(threads),
                           std::max(1, static_cast<int>(warps * s.device().geometry().warp_size / threads)));
    if (bounds.line > 0) d.edit.lines.push_back(bounds);
    return {std::move(d)};
  }
  return {};
}

std::vector<Draft> less_shared(const Subject& s) {
  const Occupancy& o = s.estimate().occupancy;
  const double now = s.workload().shared_bytes_per_block;
  if (o.limiter != "shared memory") return {};
  for (double bytes = now - 16; bytes >= now * (1 - little); bytes -= 16) {
    const double warps = warps_with(s, [bytes](Workload& w) { w.shared_bytes_per_block = bytes; });
    if (warps <= o.warps_per_unit) continue;
    return {
        {{},
         "",
         fmt::format("shared memory limits the occupancy: {} a block; {} would let one more block in",
                     format_bytes(now), format_bytes(bytes)),
         fmt::format("shorten the tiles by {}: drop padding that is not needed, or reuse a tile that is no longer read",
                     format_bytes(now - bytes)),
         [bytes](Variant& v) { v.workload.shared_bytes_per_block = bytes; },
         {},
         {}}};
  }
  return {};
}

}  // namespace

std::span<const Rule> register_rules() {
  static const Rule list[] = {
      {{"local-array", "a private array in local memory"}, local_arrays},
      {{"register-spills", "values that do not fit into registers"}, spills},
      {{"occupancy-registers", "slightly too many registers for one more block"}, fewer_registers},
      {{"occupancy-shared-memory", "slightly too much shared memory for one more block"}, less_shared},
  };
  return list;
}

}  // namespace kernelcast::advice
