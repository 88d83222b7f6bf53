// What is measured here came from the device file or is a hypothesis of the spec: no field is written back.
#include "probe/sim_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "probe/memory_steps.h"
#include "probe/sync_steps.h"

namespace kernelcast::probe {
namespace {

constexpr std::int64_t longest_walk = std::int64_t{8} << 20U;

void add_level(std::vector<Result>& out, const std::string& name, const Plateau* found, bool has_end,
               const std::string& method) {
  if (found == nullptr) {
    out.push_back(unknown_figure(name + ".latency_cycles", "cycles", "no such level shows in memory.latency_by_size"));
    out.push_back(unknown_figure(name + ".size_bytes", "bytes", "no such level shows in memory.latency_by_size"));
    return;
  }
  out.push_back(exact_figure(name + ".latency_cycles", found->latency, "cycles", method,
                             "Cycles of a load that this cache holds."));
  if (has_end) {
    out.push_back(exact_figure(name + ".size_bytes", found->last_bytes, "bytes", method,
                               "Largest walk that the cache holds, to the step."));
  } else {
    out.push_back(unknown_figure(name + ".size_bytes", "bytes",
                                 fmt::format("it holds the largest walk, {} bytes", longest_walk)));
  }
}

/// A step from which loads take no longer is a line only when a miss does not bring more: a cache that serves groups of
/// lanes has such steps, too.
Result line_figure(const TestedSm& m, int fill) {
  constexpr const char* id = "l1.line_bytes";
  const int step = line_bytes(m);
  if (step == 0) return unknown_figure(id, "bytes", "the time does not depend on the step between lanes");
  if (step < fill)
    return unknown_figure(id, "bytes",
                          fmt::format("the time grows until lanes are {} bytes apart, but a miss brings {}: this cache "
                                      "serves groups of lanes, not lines",
                                      step, fill));
  return exact_figure(id, step, "bytes",
                      fmt::format("128 and 256 loads of {} warps, lanes 4 to 256 bytes apart", m.warps),
                      "Step between lanes from which a load takes no longer: a line for each lane.");
}

/// Lines and bandwidth of the first cache; `fill`: what a miss brings.
void add_first_cache(std::vector<Result>& out, const TestedSm& m, const Plateau* l1, int fill) {
  constexpr const char* unit = "bytes per cycle and SM";
  if (l1 == nullptr) {
    out.push_back(unknown_figure("l1.line_bytes", "bytes", "no such level shows in memory.latency_by_size"));
    out.push_back(unknown_figure("l1.read_bytes_per_cycle", unit, "no such level shows in memory.latency_by_size"));
    return;
  }
  out.push_back(line_figure(m, fill));
  constexpr std::int64_t region = 1024;
  out.push_back(exact_figure("l1.read_bytes_per_cycle", cached_bytes_per_cycle(m, region), unit,
                             fmt::format("128 and 256 loads of {} warps, 4 bytes a lane, the same few lines", m.warps),
                             "Bytes that the SM reads from its first cache in a cycle."));
}

/// Half of what the L2 holds, where that is four times the L1: warps drift apart, and what a few of them read together
/// may fit a cache that is not much smaller.
void add_second_cache(std::vector<Result>& out, const TestedSm& m, const Plateau* l1, const Plateau* l2) {
  constexpr const char *id = "l2.read_bytes_per_cycle", *unit = "bytes per cycle and SM";
  if (l2 == nullptr) {
    out.push_back(unknown_figure(id, unit, "no such level shows in memory.latency_by_size"));
    return;
  }
  constexpr double enough = 1 << 20U;
  const double four = l1 != nullptr ? 4 * l1->last_bytes : 0;
  const double region = std::min(l2->last_bytes / 2, std::max(four, enough));
  if (region < four) {
    out.push_back(unknown_figure(id, unit, "no region is large enough for the L1 and small enough for the L2"));
    return;
  }
  out.push_back(
      exact_figure(id, cached_bytes_per_cycle(m, static_cast<std::int64_t>(region)), unit,
                   fmt::format("loads of {} warps, {:g} bytes read again and again", m.warps, region),
                   "Bytes that one SM reads from the second cache in a cycle, with its share of the bandwidth."));
}

std::vector<std::vector<double>> by_lanes(const std::vector<AtomicLatency>& latencies) {
  std::vector<std::vector<double>> out;
  for (const AtomicLatency& l : latencies) out.push_back({static_cast<double>(l.lanes), l.cycles});
  return out;
}

void add_atomics(std::vector<Result>& out, const TestedSm& m, Memory memory, const std::string& name,
                 const std::string& words) {
  const std::vector<AtomicLatency> latencies = atomic_latencies(m, memory);
  const std::string chains = "chains of 64 and 128 operations of one warp, second of two passes; ";
  out.push_back(exact_figure(
      name + "_latency_cycles", latencies.front().cycles, "cycles", chains + "one lane",
      "Cycles from an atomic operation on " + words + " to the next one that needs the value that it returns."));
  Result list = exact_figure(name + "_latency_by_lanes", std::nullopt, "lanes, cycles", chains + "lanes on one word",
                             "The same when so many lanes update one word of " + words + ".");
  list.samples = static_cast<int>(latencies.size());
  list.lists = by_lanes(latencies);
  out.push_back(std::move(list));
  const std::string many = fmt::format("128 and 256 operations of {} warps, ", m.warps);
  out.push_back(
      exact_figure(name + "_apart_per_cycle", atomics_per_cycle(m, memory, false), "thread operations per cycle and SM",
                   many + "a word for each lane, side by side",
                   "Atomic operations on " + words + " that the SM completes in a cycle without contention."));
  const double same = atomics_per_cycle(m, memory, true);
  out.push_back(exact_figure(name + "_same_word_per_cycle", same, "thread operations per cycle and SM",
                             many + "all lanes on one word",
                             "The same when all threads update one word of " + words + "."));
  out.push_back(exact_figure(name + "_same_word_cycles", 1 / same, "cycles", many + "all lanes on one word",
                             "Cycles from one update of a word of " + words + " to the next."));
}

}  // namespace

Result exact_figure(std::string id, std::optional<double> value, std::string unit, std::string method,
                    std::string what) {
  Result r;
  r.id = std::move(id);
  r.value = value;
  r.unit = std::move(unit);
  r.method = std::move(method);
  r.samples = 1;
  r.confidence = "exact";
  r.what = std::move(what);
  return r;
}

Result unknown_figure(std::string id, std::string unit, std::string reason) {
  Result r = exact_figure(std::move(id), std::nullopt, std::move(unit), "", "not measured");
  r.samples = 0;
  r.confidence = "none";
  r.reason = std::move(reason);
  return r;
}

/// The paper's bandwidth by access width: one figure for each of 32, 64 and 128 bits a lane.
template <class F>
void add_widths(std::vector<Result>& out, const TestedSm& m, const std::string& start, const char* from,
                F bytes_per_cycle) {
  for (const int lane_bytes : {4, 8, 16})
    out.push_back(exact_figure(
        fmt::format("{}.read_bytes_per_cycle.{}bit", start, 8 * lane_bytes), bytes_per_cycle(lane_bytes),
        "bytes per cycle and SM", fmt::format("128 and 256 loads of {} warps, {} bytes a lane", m.warps, lane_bytes),
        fmt::format("Bytes that the SM reads from {} in a cycle, {} bits a lane.", from, 8 * lane_bytes)));
}

std::vector<Result> shared_memory_figures(const TestedSm& m) {
  std::vector<Result> out;
  out.push_back(exact_figure("shared.latency_cycles", shared_latency_cycles(m), "cycles",
                             "chains of 64 and 128 loads of one warp, all lanes from one word, second of two passes",
                             "Cycles from a load of shared memory to the next one that needs its result."));
  out.push_back(exact_figure("shared.read_bytes_per_cycle", shared_bytes_per_cycle(m), "bytes per cycle and SM",
                             fmt::format("128 and 256 loads of {} warps, 4 bytes a lane, side by side", m.warps),
                             "Bytes that the SM reads from shared memory in a cycle, loads of 4 bytes a lane."));
  add_widths(out, m, "shared", "shared memory", [&](int bytes) { return shared_bytes_per_cycle(m, bytes); });
  const SharedBanks found = shared_banks(m);
  const std::string steps =
      fmt::format("chains of one warp and loads of {} warps, lanes 4 to 1024 bytes apart", m.warps);
  if (found.banks == 0) {
    out.push_back(unknown_figure("shared.bank_bytes", "bytes", "the time does not depend on the step between lanes"));
    out.push_back(unknown_figure("shared.banks", "", "the time does not depend on the step between lanes"));
    return out;
  }
  out.push_back(exact_figure("shared.bank_bytes", found.bank_bytes, "bytes", steps,
                             "Width of a bank of shared memory; at least 4."));
  out.push_back(exact_figure("shared.banks", found.banks, "", steps, "Banks of shared memory."));
  return out;
}

std::vector<Result> global_memory_figures(const TestedSm& m, int line, bool cached) {
  std::vector<Result> out;
  const std::string method = fmt::format("one warp walks line by line ({} bytes), second of two passes", line);
  const std::vector<CurvePoint> curve = latency_by_size(m, line, longest_walk);
  Result list = exact_figure("memory.latency_by_size", std::nullopt, "bytes, cycles", method,
                             "Cycles of a load by the size that is walked through.");
  list.samples = static_cast<int>(curve.size());
  for (const CurvePoint& p : curve) list.lists.push_back({p.bytes, p.latency});
  out.push_back(std::move(list));
  const double behind = cold_latency_cycles(m, line);
  std::vector<Plateau> levels = plateaus(curve);
  // The curve may end behind all caches.
  const bool ends = !levels.empty() && std::abs(levels.back().latency - behind) < 0.02 * behind;
  if (ends) levels.pop_back();
  const std::size_t second = cached ? 1 : 0;
  const Plateau* l1 = cached && !levels.empty() ? &levels.front() : nullptr;
  const Plateau* l2 = levels.size() > second ? &levels[second] : nullptr;
  const int fill = fill_bytes(m);
  add_level(out, "l1", l1, levels.size() > 1 || ends, method);
  add_first_cache(out, m, l1, fill);
  add_level(out, "l2", l2, ends, method);
  add_second_cache(out, m, l1, l2);
  const std::string walks = "chains of 64 and 128 loads of memory that was never read before, 4 to 1024 bytes apart";
  out.push_back(
      fill > 0 ? exact_figure("memory.fill_bytes", fill, "bytes", walks, "Bytes that a miss brings into the caches.")
               : unknown_figure("memory.fill_bytes", "bytes", "what a miss brings is not found any faster"));
  out.push_back(exact_figure("dram.latency_cycles", behind, "cycles",
                             "chains of 64 and 128 loads of lines that were never read before",
                             "Cycles of a load that misses all caches."));
  out.push_back(exact_figure("dram.read_bytes_per_cycle", stream_bytes_per_cycle(m, m.warps), "bytes per cycle and SM",
                             fmt::format("128 and 256 loads of {} warps, lines that were never read before", m.warps),
                             "Bytes that one SM reads from DRAM in a cycle, with its share of the bandwidth."));
  add_widths(out, m, "dram", "DRAM", [&](int bytes) { return stream_bytes_per_cycle(m, m.warps, bytes); });
  return out;
}

std::vector<Result> barrier_figures(const TestedSm& m, int most_warps) {
  const std::vector<BarrierCost> costs = barrier_costs(m, most_warps);
  const std::string method = "64 and 128 barriers of a block, second of two passes";
  std::vector<Result> out;
  out.push_back(exact_figure("barrier.latency_cycles", costs.front().cycles, "cycles", method + "; one warp",
                             "Cycles from one barrier to the next of a block of one warp."));
  Result list = exact_figure("barrier.cycles_by_threads", std::nullopt, "threads, cycles", method,
                             "Cycles from one barrier to the next by the threads of the block.");
  list.samples = static_cast<int>(costs.size());
  for (const BarrierCost& c : costs) list.lists.push_back({static_cast<double>(c.threads), c.cycles});
  out.push_back(std::move(list));
  const double rate = barrier_threads_per_cycle(costs);
  constexpr const char *id = "barrier.threads_per_cycle", *unit = "threads per cycle and SM";
  out.push_back(rate > 0 ? exact_figure(id, rate, unit, method + "; the largest block against half of it",
                                        "Threads that arrive at a barrier in a cycle.")
                         : unknown_figure(id, unit, "the time does not depend on the threads of the block"));
  return out;
}

std::vector<Result> atomic_figures(const TestedSm& m) {
  std::vector<Result> out;
  add_atomics(out, m, Memory::shared, "atomic.shared", "shared memory");
  add_atomics(out, m, Memory::global, "atomic.global", "global memory");
  return out;
}

std::vector<Result> figures_of_a_host() {
  const std::string reason = "not simulated: one SM, without driver, host and what connects them";
  std::vector<Result> out{unknown_figure("launch.wall_s", "s", reason)};
  for (const char* to : {"transfer.to_", "transfer.from_"}) {
    for (const char* what : {"overhead_s", "gap_s", "latency_s"})
      out.push_back(unknown_figure(std::string(to) + what, "s", reason));
    out.push_back(unknown_figure(std::string(to) + "bandwidth_bytes_per_s", "bytes/s", reason));
  }
  return out;
}

}  // namespace kernelcast::probe
