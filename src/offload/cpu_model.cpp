// Core: cycles of each block by LLVM's scheduling model times how often it runs, spread over the threads where a marked
// loop surrounds it.
//
// Caches: memory/capacity.h. Data are taken to be warm: what fits into a cache is there. A line that is only written is
// fetched first, and every written line goes back.
//
// Accesses take turns at the two ports of the L1. Whether that time and the lines' add up or hide each other the device
// file says, and so it does for lines that all go to few sets of the L1.
//
// Bandwidths that the device file does not have follow from Little's law: lines that a core can wait for, times their
// size, over the latency of the level. Hardware prefetches more from memory, but not from the L3: there a stream of
// 20 GB/s at 78 cycles was seven or eight lines, where the same core's stream from memory was 27 and it waits for 9.
#include "kernelcast/cpu_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "device/describe.h"
#include "kernelcast/error.h"
#include "memory/cache_sets.h"
#include "memory/capacity.h"

namespace kernelcast::offload {
namespace {

using describe::number;
using describe::si;

// Half of a 90 % interval in the logarithm: a factor of 1.7 holds nine in ten of 78 cells, 13 nests at three sizes and
// two levels of optimisation on one thread of a machine that was probed (1.74 and 1.69); docs/reference/offload.md,
// "How far off".
constexpr double log_base = 0.53;
// By judgement.
constexpr double log_stand_in = 0.05;
constexpr double log_data = 0.35;  // counts that data decide, as for GPUs

constexpr double thread_start_stand_in_s = 5e-6;
constexpr double dram_share = 0.8;  // of the data sheet's bandwidth
constexpr double lines_stand_in = 10;

class CpuReader {
 public:
  CpuReader(const Device& d, CpuEstimate& e) : device_(d), estimate_(e) {}
  double operator()(Field f, double stand_in, const std::string& why) {
    if (const auto v = device_.get(f)) {
      note_unsteady(f);
      return *v;
    }
    estimate_.assumptions.push_back({describe::key_of(f) + " of " + device_.name, number(stand_in) + " (" + why + ")",
                                     describe::where_to_set(device_, describe::key_of(f).c_str())});
    ++stand_ins;
    return stand_in;
  }
  /// A number that varied while it was measured widens the interval as a stand-in does.
  void note_unsteady(Field f) {
    if (!device_.unsteady(f)) return;
    estimate_.assumptions.push_back({describe::key_of(f) + " of " + device_.name,
                                     number(*device_.get(f)) + " (varied while it was measured)",
                                     describe::where_to_set(device_, describe::key_of(f).c_str())});
    ++stand_ins;
  }
  int stand_ins = 0;

 private:
  const Device& device_;
  CpuEstimate& estimate_;
};

struct CpuRates {
  double clock_hz = 0, cores = 1, line = 64;
  double l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;
  double l1_ways = 0, l2_ways = 0, l3_ways = 0;                            // 0: not known
  double l2_per_s = 0, l3_per_s = 0, core_dram_per_s = 0, dram_per_s = 0;  // bytes
  double start_s = 0;
};

double clock_of(const Device& d, int threads, CpuEstimate& e) {
  if (const auto measured = d.get(Field::clock_sustained_clock_hz)) return *measured;
  const auto base = d.get(Field::clock_base_clock_hz), boost = d.get(Field::clock_boost_clock_hz);
  if (!base && !boost) return d.require(Field::clock_base_clock_hz);
  const bool alone = threads == 1 && boost;
  const double clock = alone || !base ? *boost : *base;
  e.assumptions.push_back(
      {"clock of " + d.name,
       si(clock, "Hz") + (alone ? " (boost: one thread)" : " (all cores busy: the guaranteed clock)"),
       describe::where_to_set(d, "clock.sustained_clock_hz")});
  return clock;
}

CpuRates rates_of(const Device& d, int threads, CpuEstimate& e, int& stand_ins) {
  CpuReader read(d, e);
  CpuRates m;
  m.clock_hz = clock_of(d, threads, e);
  m.cores = d.require(Field::compute_units);
  m.line = d.get_or(Field::memory_l1_line_bytes, 64);
  m.l1_bytes = read(Field::memory_l1_bytes, 32768, "most x86-64 cores");
  m.l2_bytes = read(Field::memory_l2_bytes, 262144, "small x86-64 cores");
  m.l3_bytes = read(Field::memory_l3_bytes, 0, "none");
  m.l1_ways = d.get_or(Field::memory_l1_ways, 0);
  m.l2_ways = d.get_or(Field::memory_l2_ways, 0);
  m.l3_ways = d.get_or(Field::memory_l3_ways, 0);
  const double lines = read(Field::cpu_outstanding_lines_per_core, lines_stand_in, "Intel cores before 2019");
  const auto by_latency = [&](Field latency, double cycles, const char* why) {
    return lines * m.line * m.clock_hz / read(latency, cycles, why);
  };
  const auto level = [&](Field bandwidth, Field latency, double cycles, const char* why) {
    const auto known = d.get(bandwidth);
    return known ? *known : by_latency(latency, cycles, why);
  };
  m.l2_per_s = level(Field::memory_l2_bandwidth_bytes_per_s, Field::memory_l2_latency_cycles, 14, "a usual latency");
  const auto sustained = d.get(Field::memory_sustained_dram_bandwidth_bytes_per_s);
  const auto sheet = d.get(Field::memory_dram_bandwidth_bytes_per_s);
  const auto one = d.get(Field::cpu_core_dram_bandwidth_bytes_per_s);
  for (const Field f : {Field::memory_l2_bandwidth_bytes_per_s, Field::memory_l3_bandwidth_bytes_per_s,
                        Field::memory_sustained_dram_bandwidth_bytes_per_s, Field::cpu_core_dram_bandwidth_bytes_per_s,
                        Field::cpu_l2_overlap, Field::cpu_l1_one_set_line_cycles, Field::cpu_l1_two_sets_line_cycles})
    read.note_unsteady(f);
  m.l3_per_s = level(Field::memory_l3_bandwidth_bytes_per_s, Field::memory_l3_latency_cycles, 40, "a usual latency");
  if (!sustained && !sheet && !one) {
    m.dram_per_s = m.core_dram_per_s = read(Field::memory_dram_bandwidth_bytes_per_s, 1e10, "a slow channel");
  } else {
    m.dram_per_s = sustained ? *sustained : sheet ? *sheet * dram_share : *one;
    m.core_dram_per_s = one ? *one : m.dram_per_s;
  }
  // A latency bounds what loads wait for; prefetching fetches ahead of them. A stream from DRAM passes the caches, so
  // they are at least as fast as what one core was measured to get from there.
  if (one && !d.get(Field::memory_l3_bandwidth_bytes_per_s)) m.l3_per_s = std::max(m.l3_per_s, *one);
  if (!d.get(Field::memory_l2_bandwidth_bytes_per_s)) m.l2_per_s = std::max(m.l2_per_s, m.l3_per_s);
  m.start_s = threads > 1 ? read(Field::cpu_thread_start_s, thread_start_stand_in_s, "not measured") : 0;
  stand_ins = read.stand_ins;
  return m;
}

std::vector<bool> in_parallel(const CpuCode& code) {
  std::vector<bool> out;
  for (const Block& b : code.profile.blocks) {
    bool parallel = false;
    for (int l = b.loop; l >= 0 && !parallel; l = code.profile.loops[static_cast<std::size_t>(l)].parent)
      parallel = std::find(code.parallel_loops.begin(), code.parallel_loops.end(), l) != code.parallel_loops.end();
    out.push_back(parallel);
  }
  return out;
}

struct Core {
  double shared_cycles = 0, serial_cycles = 0, uops = 0, width_cycles = 0, starts = 0;
  double accesses = 0;  // turns at the L1's ports
};

/// Turns at the two ports of the L1 for loads that a block's accesses take: a line that is crossed into takes one more,
/// and so does each further part that is as wide as a port.
double turns(const L1Accesses& a, double port_bytes) {
  const auto parts = [&](double bytes) { return std::max(1.0, std::ceil(bytes / port_bytes)); };
  return a.to_16 + a.to_32 * parts(32) + a.to_64 * parts(64) + a.crossings;
}

/// Bytes of one of the two ports: half of what the L1 was measured to give a cycle, as a power of two. Without a
/// measurement 32, two loads of an AVX2 register (Intel optimisation manual, Haswell and later; AMD's for family 17h
/// model 30h and later).
double port_bytes(const Device& d) {
  const auto measured = d.get(Field::memory_l1_bandwidth_bytes_per_unit);
  return measured ? std::exp2(std::round(std::log2(*measured / 2))) : 32;
}

/// Entries of a loop whose exit the core foresees: it saw as many trips the time before, and remembers so many.
double foreseen_exits(const CpuCode& code, const Workload& w, std::size_t loop, double remembered) {
  if (code.first_change == 0 || remembered <= 0) return 0;
  const double entries = w.block_counts[code.first_entry + loop].lanes;
  double passages = 0;
  for (std::size_t b = 0; b < code.first_entry; ++b)
    if (code.profile.blocks[b].loop == static_cast<int>(loop)) passages = std::max(passages, w.block_counts[b].lanes);
  if (passages > remembered * entries) return 0;
  return std::max(0.0, entries - w.block_counts[code.first_change + loop].lanes);
}

/// `remembered`: trips of a loop whose exit is foreseen, 0 when not known.
Core core_of(const CpuCode& code, const Workload& w, double bytes_of_a_port, double remembered) {
  Core c;
  const std::vector<bool> parallel = in_parallel(code);
  for (std::size_t l = 0; l < code.profile.loops.size(); ++l) {
    const std::size_t entry = code.first_entry + l;
    if (code.blocks[entry].cycles <= 0) continue;
    (parallel[entry] ? c.shared_cycles : c.serial_cycles) -=
        foreseen_exits(code, w, l, remembered) * code.blocks[entry].cycles;
  }
  for (std::size_t b = 0; b < code.blocks.size(); ++b) {
    const double runs = w.block_counts[b].lanes;
    (parallel[b] ? c.shared_cycles : c.serial_cycles) += runs * code.blocks[b].cycles;
    c.uops += runs * code.blocks[b].uops;
    c.width_cycles += runs * code.blocks[b].width_cycles;
    c.accesses += runs * turns(code.blocks[b].accesses, bytes_of_a_port);
  }
  // Passages of an innermost loop overlap, down to what dispatch and ports take.
  for (std::size_t l = 0; l < code.overlap_cycles.size(); ++l) {
    if (code.overlap_cycles[l] <= 0) continue;
    double cycles = 0, least = 0;
    bool shared = false;
    for (std::size_t b = 0; b < code.blocks.size(); ++b) {
      if (code.profile.blocks[b].loop != static_cast<int>(l)) continue;
      cycles += w.block_counts[b].lanes * code.blocks[b].cycles;
      least += w.block_counts[b].lanes * code.blocks[b].width_cycles;
      shared = parallel[b];
    }
    const double most = std::max(0.0, cycles - least);
    const double saved = std::clamp(w.block_counts[code.first_entry + l].lanes * code.overlap_cycles[l], 0.0, most);
    (shared ? c.shared_cycles : c.serial_cycles) -= saved;
  }
  for (const int l : code.parallel_loops)
    c.starts += w.block_counts[code.first_entry + static_cast<std::size_t>(l)].lanes;
  return c;
}

/// Cycles that lines take beyond the stream of the L2 because the walk that brings them goes to few sets of the L1: one
/// set takes a line in `one` cycles, two in turn one in `two`; the time halves where the sets double, down to what any
/// line takes (`any`). Walks that bring about as many lines are taken to go on at a time, each to sets of its own.
double crowded_cycles(const Workload& w, const CpuRates& m, double one, double two, double any) {
  const std::int64_t period = memory::set_period(m.l1_bytes, m.line, m.l1_ways);
  if (!w.reuse.known || period == 0 || (one <= any && two <= any)) return 0;
  const double sets = m.l1_bytes / m.line / m.l1_ways;
  constexpr int all = Reuse::windows - 1;
  struct Crowd {
    double lines, sets;
  };
  std::vector<Crowd> crowds;
  for (const AccessStream& walk : w.streams) {
    double missed = walk.level[0].traffic, own = 1, used = 0;
    for (int d = 0; d < Reuse::depths; ++d) {
      const auto at = static_cast<std::size_t>(d);
      const double lines = walk.level[at].footprint;
      const double others = w.reuse.at(Reuse::read, d, all).footprint + w.reuse.at(Reuse::write, d, all).footprint;
      if (lines > 1) {
        const double share = memory::share_of_sets(walk, d, static_cast<std::int64_t>(m.line), period);
        own = std::min(own, memory::retained_share((others + lines * (1 / share - 1)) * m.line, m.l1_bytes));
        if (used == 0 && own < 1) used = share * sets;  // of the smallest passage that the L1 does not keep
      }
      const double after = d + 1 < Reuse::depths ? walk.level[at + 1].traffic : 0;
      missed -= own * std::max(0.0, walk.level[at].traffic - after);
    }
    if (used > 0 && missed > 0) crowds.push_back({missed, used});
  }
  double cycles = 0;
  for (const Crowd& crowd : crowds) {
    double used = 0;
    for (const Crowd& other : crowds)
      if (std::max(crowd.lines, other.lines) <= 2 * std::min(crowd.lines, other.lines)) used += other.sets;
    const double each = used < 2 ? one + (two - one) * (used - 1) : two * 2 / used;
    cycles += crowd.lines * std::max(0.0, each - any);
  }
  return cycles;
}

/// Of the bytes stored, the share that goes to buffers that are never read.
double write_only_share(const CpuCode& code, const Workload& w) {
  std::set<int> read;
  for (const Block& b : code.profile.blocks)
    for (const Access& a : b.accesses)
      if (a.kind == AccessKind::load) read.insert(a.buffer);
  double only = 0, all = 0;
  std::size_t at = 0;
  for (const Block& b : code.profile.blocks)
    for (const Access& a : b.accesses) {
      const double bytes = w.access_counts[at++].bytes;
      if (a.kind == AccessKind::load) continue;
      all += bytes;
      if (!read.contains(a.buffer)) only += bytes;
    }
  return all > 0 ? only / all : 0;
}

}  // namespace

MemoryGeometry cpu_geometry(const Device& cpu) {
  MemoryGeometry g;
  g.warp_size = 1;
  g.sector_bytes = g.segment_bytes = static_cast<int>(cpu.get_or(Field::memory_l1_line_bytes, 64));
  return g;
}

int cpu_threads(const CpuCode& code, const Device& cpu, int threads) {
  const double cores = cpu.require(Field::compute_units);
  if (code.parallel_loops.empty()) return 1;
  if (threads <= 0) threads = static_cast<int>(cores);
  return std::min(threads, static_cast<int>(cores * cpu.get_or(Field::cpu_threads_per_core, 1)));
}

double shared_cycles(const CpuCode& code, const Workload& w) { return core_of(code, w, 1, 0).shared_cycles; }

CpuEstimate estimate_cpu(const CpuCode& code, const Workload& w, const Device& cpu, int threads, double uneven) {
  CpuEstimate e;
  threads = cpu_threads(code, cpu, threads);
  e.threads = threads;
  int stand_ins = 0;
  const CpuRates m = rates_of(cpu, threads, e, stand_ins);
  const Core c = core_of(code, w, port_bytes(cpu), cpu.get_or(Field::cpu_predicted_trips, 0));
  const double busy_cores = std::min<double>(threads, m.cores);
  // Two threads of a core fill each other's waits, up to what dispatch and ports allow.
  const double cycles = c.shared_cycles + c.serial_cycles;
  const double smt = threads > m.cores ? std::min(threads / m.cores, cycles / std::max(1.0, c.width_cycles)) : 1;
  const double core_s = (c.shared_cycles / (busy_cores * smt) * uneven + c.serial_cycles) / m.clock_hz;

  const double write_only = write_only_share(code, w);
  const double share = cycles > 0 ? c.shared_cycles / cycles : 1;
  const double spread = share / busy_cores * uneven + (1 - share);
  const double l2_lines = memory::lines_missed(w, {m.l1_bytes, m.line, m.l1_ways}, write_only);
  const double l3_lines = std::min(l2_lines, memory::lines_missed(w, {m.l2_bytes, m.line, m.l2_ways}, write_only));
  const memory::CoreCache last = m.l3_bytes > 0 ? memory::CoreCache{m.l3_bytes, m.line, m.l3_ways}
                                                : memory::CoreCache{m.l2_bytes, m.line, m.l2_ways};
  const double dram_lines = std::min(l3_lines, memory::lines_missed(w, last, write_only));
  // A line costs what the level takes that has it, up to the registers: that is what is measured, and what Little's law
  // gives from a latency. So each line counts once, and the L1 only for accesses that bring no line.
  // Where a measurement says that the L1 goes on meanwhile, its time hides behind that of the lines or they behind it.
  const double overlap = cpu.get_or(Field::cpu_l2_overlap, 0);
  const double l1_s =
      std::max(0.0, c.accesses - (1 - overlap) * l2_lines) / 2 / m.clock_hz * spread;  // two accesses a cycle
  const double any = m.line / m.l2_per_s * m.clock_hz, one = cpu.get_or(Field::cpu_l1_one_set_line_cycles, any);
  const double crowded = crowded_cycles(w, m, one, cpu.get_or(Field::cpu_l1_two_sets_line_cycles, one / 2), any);
  const double l2_s = ((l2_lines - l3_lines) * m.line / m.l2_per_s + crowded / m.clock_hz) * spread;
  const double l3_s = m.l3_bytes > 0 ? (l3_lines - dram_lines) * m.line / m.l3_per_s * spread : 0;
  const double dram_s =
      dram_lines * m.line / std::min(m.core_dram_per_s / spread, std::max(m.dram_per_s, m.core_dram_per_s));
  const double lines_s = l2_s + l3_s + dram_s;
  const double data_s = l1_s + lines_s - overlap * std::min(l1_s, lines_s);
  e.start_s = threads > 1 ? c.starts * m.start_s : 0;
  e.time_s = std::max(core_s, data_s) + e.start_s;
  e.uops = c.uops;
  e.flops = flops32(w.thread_ops) + flops64(w.thread_ops);
  e.dram_bytes = dram_lines * m.line;
  const auto add = [&](const char* name, double s, std::string why) {
    e.bounds.push_back({name, Seconds(s), std::move(why)});
  };
  add("core", core_s,
      si(cycles, "cycles") + " on " + number(busy_cores) + " of " + number(m.cores) + " cores at " +
          si(m.clock_hz, "Hz") +
          (uneven > 1.05 ? ", the thread with most work has " + number(uneven) + " times the mean" : ""));
  add("data", data_s,
      "L1 " + si(l1_s, "s") + ", L2 " + si(l2_s, "s") + ", L3 " + si(l3_s, "s") + ", DRAM " + si(dram_s, "s") + ": " +
          si(e.dram_bytes, "B") + " of DRAM");
  if (e.start_s > 0)
    add("threads", e.start_s,
        number(c.starts) + (c.starts == 1 ? " parallel loop on " : " parallel loops on ") + number(threads) +
            (threads == 1 ? " thread" : " threads"));
  std::stable_sort(e.bounds.begin(), e.bounds.end(), [](const Bound& a, const Bound& b) { return a.time > b.time; });
  e.limiter = e.bounds.front().name;
  if (busy_cores > 1) e.assumptions.push_back({"NUMA", "ignored: all memory is taken to be equally near", ""});
  const bool data = !code.profile.unknowns.empty();
  e.factor = std::exp(
      std::sqrt(log_base * log_base + (data ? log_data * log_data : 0) + std::pow(log_stand_in * stand_ins, 2)));
  return e;
}

}  // namespace kernelcast::offload
