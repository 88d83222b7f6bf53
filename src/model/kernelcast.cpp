// Idea: a launch keeps several parts of the machine busy at once: schedulers, pipes, load/store units, caches, DRAM;
// and each warp has a critical path that only other warps can fill. Each part alone gives a bound; the time lies above
// the largest one because the parts do not overlap perfectly, which a p-norm of the bounds describes: with p infinite
// they overlap fully, with p = 1 not at all.
//
// Sources: bounds and bottlenecks, Williams et al., CACM 52(4), 2009, and Abel and Reineke, uiCA, ICS 2022; Little's
// law for latency, Volkov, UCB/EECS-2016-143, 2016; whole rounds of resident blocks, Hong and Kim, ISCA 2009; p-norm in
// place of the maximum: the "soft" roofline of several authors, chosen here on measured data (validation/).
#include "model/kernelcast.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "memory/capacity.h"

namespace kernelcast::forecast {
namespace {

using C = OpClass;

/// Four chains of additions at a time: one would wait for itself.
double total_of(const OpCounts& c) {
  std::array<double, 4> t{};
  std::size_t i = 0;
  for (; i + 4 <= c.n.size(); i += 4)
    for (std::size_t k = 0; k < 4; ++k) t[k] += c.n[i + k];
  for (; i < c.n.size(); ++i) t[0] += c.n[i];
  return (t[0] + t[1]) + (t[2] + t[3]) - 2 * c[C::dual_issued];
}

/// a / b, where nothing takes no time whatever the rate.
double over(double a, double b) { return a <= 0 ? 0 : a / b; }

double requested_sectors(const Workload& w, AccessKind kind) {
  return w.at(MemorySpace::global, kind).sectors + w.at(MemorySpace::texture, kind).sectors;
}

/// Lines of the L1 are allocated whole: the share of a line that a request uses.
double line_waste(const Workload& w) {
  const AccessCount& a = w.at(MemorySpace::global, AccessKind::load);
  if (a.sectors <= 0) return 1;
  const double per_line = static_cast<double>(w.geometry.segment_bytes) / w.geometry.sector_bytes;
  return std::clamp(a.segments * per_line / a.sectors, 1.0, per_line);
}

/// Stack distances say more than strides where data decide addresses.
bool measured(const Workload& w) { return w.locality && w.locality->resident.touches > 0; }

void l1_traffic(const Workload& w, const KernelcastDevice& m, const Constants& c, double resident, Traffic& t) {
  t.l1_requested = requested_sectors(w, AccessKind::load);
  t.l2_read = t.l1_requested;
  if (!w.reuse.known || t.l1_requested <= 0) return;
  // Where the L1 is not for loads, those of read-only data may have a cache of their own.
  const double past_l1 = std::min(1.0, (w.bulk_sectors + w.past_l1_sectors) / t.l1_requested);
  const double cached = m.l1_caches_loads       ? 1 - past_l1
                        : m.read_only_bytes > 0 ? w.read_only_sectors / t.l1_requested
                                                : 0;
  if (cached <= 0) return;
  const double left =
      m.l1_and_shared_bytes > 0 ? m.l1_and_shared_bytes - resident * w.shared_bytes_per_block : m.l1_bytes;
  const double bytes = m.l1_caches_loads ? std::clamp(left, 0.0, m.l1_bytes) : m.read_only_bytes;
  const double capacity = bytes * c.l1_share / line_waste(w);
  const double through = measured(w)
                             ? t.l1_requested * (1 - w.locality->resident.hit_rate(capacity / m.sector_bytes))
                             : w.blocks * memory::past_window(w.reuse, Reuse::read, 0,
                                                              t.l1_requested * w.reuse.near[Reuse::read] / w.blocks,
                                                              {capacity, m.sector_bytes}, resident);
  t.l2_read = (1 - cached) * t.l1_requested + cached * through;
}

/// Loads and stores of registers that the code generator put into local memory: what the target's code has beyond the
/// accesses to private arrays. One word of each lane, interleaved so that a warp's words are neighbours.
double spill_requests(const Workload& w) {
  const double arrays =
      w.at(MemorySpace::local, AccessKind::load).requests + w.at(MemorySpace::local, AccessKind::store).requests;
  return std::max(0.0, w.warp_ops[C::local_load] + w.warp_ops[C::local_store] - arrays);
}
double spill_bytes(const Workload& w, const KernelcastDevice& m) { return spill_requests(w) * m.warp * 4; }

/// Of private arrays and spilled registers.
double local_sectors(const Workload& w, const KernelcastDevice& m) {
  return w.at(MemorySpace::local, AccessKind::load).sectors + w.at(MemorySpace::local, AccessKind::store).sectors +
         spill_bytes(w, m) / m.sector_bytes;
}

/// Of these, what is stored.
double local_stores(const Workload& w, const KernelcastDevice& m) {
  const AccessCount& arrays = w.at(MemorySpace::local, AccessKind::store);
  const double spills = std::max(0.0, w.warp_ops[C::local_store] - arrays.requests);
  return arrays.sectors + spills * m.warp * 4 / m.sector_bytes;
}

/// Sectors of local memory that the resident threads' share of a cache cannot hold.
double local_overflow(const Workload& w, const KernelcastDevice& m, double threads, double capacity) {
  const double held = threads * w.local_bytes();
  return held <= 0 ? 0 : local_sectors(w, m) * std::clamp(1 - capacity / held, 0.0, 1.0);
}

/// What of local memory goes past each cache.
void local_traffic(const Workload& w, const KernelcastDevice& m, const Constants& c, double resident, Traffic& t) {
  const double threads = resident * static_cast<double>(w.block.count());
  const double all = threads * std::min(m.units, w.blocks / resident);
  t.local = local_sectors(w, m);
  t.local_past_l1 = local_overflow(w, m, threads, m.l1_bytes * c.l1_share);
  // An L1 that serves global memory, too, writes through: counters of an H100 have every local store in the L2
  // (docs/lab/h100.md).
  t.local_in_l2 = t.local_past_l1;
  if (m.l1_caches_loads && t.local > 0) t.local_in_l2 += local_stores(w, m) * (1 - t.local_past_l1 / t.local);
  t.local_past_l2 = std::min(t.local_past_l1, local_overflow(w, m, all, m.l2_bytes * c.l2_share));
  t.local_past_cache =
      m.l3_bytes <= 0 ? t.local_past_l2 : std::min(t.local_past_l2, local_overflow(w, m, all, m.l3_bytes * c.l2_share));
}

/// Sectors of a launch that go past a cache between the units and DRAM.
struct Through {
  double read = 0, written = 0;
};

Through through_cache(const Workload& w, const KernelcastDevice& m, const Traffic& t, double resident,
                      double capacity) {
  if (!w.reuse.known || capacity <= 0)
    return {std::max(w.footprint_read_bytes / m.sector_bytes, capacity > 0 ? 0.0 : t.l2_read),
            std::max(w.footprint_write_bytes / m.sector_bytes, capacity > 0 ? 0.0 : t.l2_written)};
  const double together = std::min(w.blocks, resident * m.units);
  const memory::BlockCache cache{capacity, m.sector_bytes};
  const double asked = std::min(t.l2_read, t.l1_requested * w.reuse.near[Reuse::read]);
  Through past;
  past.read = memory::past_grid(w.reuse, Reuse::read, w.blocks, together, asked, cache);
  if (measured(w))
    past.read = std::min(past.read, t.l1_requested * (1 - w.locality->grid.hit_rate(capacity / m.sector_bytes)));
  past.written =
      memory::past_grid(w.reuse, Reuse::write, w.blocks, together, t.l2_written * w.reuse.near[Reuse::write], cache);
  return past;
}

}  // namespace

std::string_view name_of(Limit limit) {
  static constexpr std::array<std::string_view, limit_count> names{
#define BOUND(id, name, group, cycles, sentence) name,
#include "model/kernelcast_bounds.def"
  };
  return names[static_cast<std::size_t>(limit)];
}

namespace {

constexpr std::array<BoundGroup, limit_count> group_of_bound{
#define BOUND(id, name, group, cycles, sentence) BoundGroup::group,
#include "model/kernelcast_bounds.def"
};

}  // namespace

BoundGroup group_of(Limit limit) { return group_of_bound[static_cast<std::size_t>(limit)]; }

double Traffic::dram_moved_by_writes(const Workload& w, const KernelcastDevice& m) const {
  const AccessCount& s = w.at(MemorySpace::global, AccessKind::store);
  const double full = s.sectors > 0 ? std::min(1.0, s.bytes / (s.sectors * m.sector_bytes)) : 1;
  const double merged = l2_written > 0 ? std::min(1.0, full * l2_written / std::max(1.0, dram_written)) : 1;
  return dram_written * (2 - merged);
}

/// Bytes of a cache that hold what one launch after another sweeps through. In an L2 of parts, copies of what the units
/// of another part ask for take room, too.
double swept(double bytes, const KernelcastDevice& m, const Constants& c) {
  return bytes * c.swept_share * (m.l2_parts > 1 ? c.swept_share_of_parts : 1);
}

Traffic traffic_of(const Workload& w, const KernelcastDevice& m, const Constants& c, double resident) {
  Traffic t;
  l1_traffic(w, m, c, resident, t);
  const double joined = w.reuse.known ? c.stores_joined * w.reuse.stored_again : 0;
  t.l2_written = requested_sectors(w, AccessKind::store) * (1 - joined) + requested_sectors(w, AccessKind::atomic);
  local_traffic(w, m, c, resident, t);
  const auto through = [&](double capacity) {
    Through past = through_cache(w, m, t, resident, capacity);
    const double missed = 1 - memory::left_by_earlier_launch(
                                  w, {capacity <= 0 ? 0.0 : swept(capacity / c.l2_share, m, c), m.sector_bytes});
    past.read *= missed;
    past.written *= missed;
    return past;
  };
  const Through past_l2 = through(m.l2_bytes * c.l2_share);
  Through past = past_l2;
  if (m.l3_bytes > 0) {
    past = through(m.l3_bytes * c.l2_share);
    past.read = std::min(past.read, past_l2.read);
    past.written = std::min(past.written, past_l2.written);
    t.l3_read = past_l2.read;
    t.l3_written = past_l2.written;
    t.past_l2 = past_l2.read + past_l2.written + t.local_past_l2;
  }
  t.dram_read = past.read;
  t.dram_written = past.written;
  return t;
}

int first_window_of(double blocks) {
  int window = 1;
  while (window + 1 < Reuse::windows && Reuse::blocks_in(window + 1, INFINITY) <= blocks) ++window;
  return window;
}

namespace {

/// An attempt to update shared memory: load, compute, compare and swap, test, branch (cuobjdump -sass).
constexpr double retry_instructions = 5;

/// Issue slots that an instruction takes in the mean. Arithmetic alone fills nearly all of them; what goes through the
/// queues to units that the schedulers share, or decides what comes next, leaves slots empty beside it.
double slots_per_instruction(const OpCounts& n, double total, const Constants& c) {
  double shared = n[C::control] + n[C::barrier] + n[C::shuffle] + n[C::vote] + n[C::fp32_special] + n[C::convert];
  for (std::size_t k = 0; k < op_class_count; ++k)
    if (is_memory(static_cast<OpClass>(k))) shared += n.n[k];
  return 1 + c.issue_lost * std::min(1.0, over(shared, total));
}

/// Cycles of all asynchronous products of the launch on one unit.
double async_cycles(const OpCounts& n, const KernelcastDevice& m, const Constants& c) {
  double cycles = 0;
  for (std::size_t t = 0; t < tensor_type_count; ++t)
    cycles += over(n.tensor.async[t], m.tensor_fma[t] * c.tensor_efficiency);
  return cycles * n.tensor.hold();
}

double integer_multiplies(const OpCounts& n) {
  return n[C::int_mul] + n[C::int_mad] + n[C::int64_mul] + n[C::int64_mad] + n[C::int_div] + n[C::int64_div];
}

/// Cycles of one warp-wide lane for FP32, FP16 and integers.
double arithmetic_per_lane(const OpCounts& n, const KernelcastDevice& m) {
  const double fp32 = n[C::fp32_add] + n[C::fp32_mul] + n[C::fp32_fma] + n[C::fp32_div];
  const double half = 2 * (n[C::fp16_add] + n[C::fp16_mul] + n[C::fp16_fma]);  // the lanes count packed values twice
  const double shifts = n[C::shift];
  const double integers = n[C::int_add] + n[C::int64_add] + n[C::logic] + n[C::compare] + n[C::select] + n[C::min_max] +
                          n[C::bit_special] + n[C::convert_alu] + n[C::move] + n[C::vote] + shifts;
  const double all = m.fp32_lanes + m.int_lanes - m.shared_lanes;
  double of_integers = integers / m.int_lanes;
  if (m.int_mul_lanes >= m.int_lanes) {
    // ptxas writes moves and additions as multiply-adds (IMAD.MOV, IMAD.IADD) until both pipes have as much to do: SASS
    // of nvcc 13 for sm_86 has 61 instructions on one and 59 on the other where the source has 91 and 29.
    const double movable = n[C::move] + n[C::int_add] + n[C::int64_add], multiplies = integer_multiplies(n);
    of_integers = std::max((integers - movable) / m.int_lanes,
                           std::min(of_integers, (integers + multiplies) / (m.int_lanes + m.int_mul_lanes)));
  }
  return std::max(
      {fp32 / m.fp32_lanes + half / m.fp16_lanes, of_integers, (fp32 + integers) / all, over(shifts, m.shift_lanes)});
}

double fp64_per_lane(const OpCounts& n, const KernelcastDevice& m) {
  return over(n[C::fp64_add] + n[C::fp64_mul] + n[C::fp64_fma] + n[C::fp64_div] + n[C::fp64_special] +
                  n[C::fp64_compare],
              m.fp64_lanes) +
         over(n[C::convert64], m.convert64_lanes);
}

/// By the rates of the types.
double product_cycles(const OpCounts& n, const KernelcastDevice& m, const Constants& c) {
  double products = async_cycles(n, m, c);
  for (std::size_t t = 0; t < tensor_type_count; ++t) {
    const double of_peak = c.tensor_efficiency;
    const auto type = static_cast<TensorType>(t);
    const bool eight_bits = type == TensorType::f8_f16 || type == TensorType::f8_f32;
    const double share = eight_bits ? m.tensor_warp_f8_share : m.tensor_warp_share;
    const double warps = has_async_form(type) ? std::min(of_peak, share) : of_peak;
    products += over(n.tensor.warp[t], m.tensor_fma[t] * warps);
  }
  return products;
}

/// Times that products take longer because their shapes do not reach the rate of their type: a pass takes as long as an
/// instruction on a SIMD's other pipes.
double shape_factor(const OpCounts& n, const KernelcastDevice& m, const Constants& c) {
  const double products = product_cycles(n, m, c);
  return products > 0 ? std::max(1.0, over(n.tensor.passes, m.issue_per_cycle * c.tensor_efficiency) / products) : 1;
}

double requests_of(const Workload& w, MemorySpace s) {
  return w.at(s, AccessKind::load).requests + w.at(s, AccessKind::store).requests +
         w.at(s, AccessKind::atomic).requests;
}

double memory_instructions(const Workload& w) {
  return requests_of(w, MemorySpace::global) + requests_of(w, MemorySpace::shared) +
         requests_of(w, MemorySpace::local) + spill_requests(w) +
         w.at(MemorySpace::texture, AccessKind::load).requests + w.warp_ops[C::shuffle];
}

double shared_wavefronts(const Workload& w) {
  double wavefronts = 0;
  for (const AccessKind k : {AccessKind::load, AccessKind::store, AccessKind::atomic})
    wavefronts += w.at(MemorySpace::shared, k).bank_passes;
  wavefronts += 2 * w.retries.rounds - w.retries.passes;  // a load and an exchange each
  // Operands of wgmma and tcgen05 in whole ones.
  return wavefronts + w.warp_ops.tensor.shared_bytes / (w.geometry.shared_banks * w.geometry.bank_bytes);
}

/// The longer of its wavefronts, one a cycle, and its bytes.
double l1_cycles(const Workload& w, const KernelcastDevice& m) {
  constexpr double local_line_bytes = 128;  // a word of each of 32 lanes lies side by side in local memory
  const AccessCount& load = w.at(MemorySpace::global, AccessKind::load);
  const AccessCount& store = w.at(MemorySpace::global, AccessKind::store);
  const AccessCount& texture = w.at(MemorySpace::texture, AccessKind::load);
  const AccessCount& atomic = w.at(MemorySpace::global, AccessKind::atomic);
  const double local_bytes =
      4 * (w.at(MemorySpace::local, AccessKind::load).words + w.at(MemorySpace::local, AccessKind::store).words) +
      spill_bytes(w, m);
  // The L1 takes a line of each part of a warp that goes at once; read-only caches beside it take whole warps.
  const double lines = m.l1_caches_loads
                           ? load.bank_passes + store.bank_passes + texture.bank_passes + atomic.bank_passes
                           : load.segments + store.segments + texture.segments + atomic.segments;
  const double read_only =
      m.l1_caches_loads || m.read_only_bytes <= 0 ? 0 : 4 * load.words * over(w.read_only_sectors, load.sectors);
  // What moves are registers: a lane that loads a byte fills one.
  const double bytes = 4 * (load.words + texture.words + store.words) - read_only + local_bytes;
  return std::max(lines + local_sectors(w, m) * m.sector_bytes / local_line_bytes,
                  bytes / m.l1_bytes_per_cycle + over(read_only, m.read_only_bytes_per_cycle));
}

/// Updates of a word follow one another; floating-point ones take longer. What lies within 512 bytes meets in one place
/// of the L2, which takes a sector a cycle, or a lane where it adds floating-point numbers: 512 words that all warps
/// update side by side take as long on GPUs of 14 to 68 units (validation/README.md, nv_histogram_shared), and 32, 256
/// words of 8 bytes a quarter and a sixteenth of that a lane (validation/atomics.md).
double atomic_cycles(const Workload& w, const KernelcastDevice& m, const Constants& c) {
  constexpr double together_bytes = 512;
  double sum = 0;
  for (std::size_t k = 0; k < atomic_kind_count; ++k) {
    const AtomicCount& a = w.atomics[k];
    const bool real = k == static_cast<std::size_t>(AtomicKind::real);
    const double places = std::clamp(a.bytes / together_bytes, 1.0, m.units);
    sum += std::max(a.hottest * (real ? m.real_update_cycles : c.update_cycles),
                    (real ? a.updates : a.sectors) * c.update_cycles / places);
  }
  return sum;
}

/// Bandwidth that is reached of a cache's: what DRAM can deliver passes it.
double at_least_dram(double bytes_per_s, const KernelcastDevice& m, const Constants& c) {
  return std::max(bytes_per_s, m.dram_bytes_per_s * c.dram_efficiency);
}

/// Bytes a second that the L2 gives or takes: a request costs some beside its sectors, so that those for parts of a
/// line get less than those for whole lines.
double l2_rate(double bytes_per_line, const Workload& w, const KernelcastDevice& m, const Constants& c) {
  const double whole = std::max<double>(w.geometry.segment_bytes, m.sector_bytes);
  const double bytes = std::clamp(bytes_per_line, m.sector_bytes, whole);
  const double share = bytes / (bytes + c.l2_request_bytes) * (whole + c.l2_request_bytes) / whole;
  return at_least_dram(m.l2_bytes_per_s * c.l2_efficiency * share, m, c);
}

/// By the sectors of a line that the launch's loads or stores ask for. Copies in bulk and local memory take whole ones.
double l2_rate_of(const Workload& w, AccessKind kind, const KernelcastDevice& m, const Constants& c) {
  const AccessCount& a = w.at(MemorySpace::global, kind);
  const double in_bulk = kind == AccessKind::load && a.sectors > 0 ? std::min(1.0, w.bulk_sectors / a.sectors) : 0;
  const double part = a.segments > 0 ? a.sectors / a.segments * m.sector_bytes : INFINITY;
  return std::lerp(l2_rate(part, w, m, c), l2_rate(INFINITY, w, m, c), in_bulk);
}

/// Sectors that an earlier launch left in the L2, but not in the part of it that is near: a part keeps copies of what
/// its units ask the others for, and so holds as much as it has room for by itself. Loads of the others pass the L2
/// twice (docs/lab/h100.md).
double left_in_other_parts(const Workload& w, const KernelcastDevice& m, const Constants& c, const Traffic& t) {
  if (m.l2_parts <= 1 || w.cache != CacheState::warm) return 0;
  const auto left = [&](double parts) {
    return memory::left_by_earlier_launch(w, {swept(m.l2_bytes, m, c) / parts, m.sector_bytes});
  };
  return std::min(t.l2_read, w.footprint_read_bytes / m.sector_bytes) * std::max(0.0, left(1) - left(m.l2_parts));
}

/// Seconds of the L2 with all SMs at work: the data of reads and of writes go different ways, so that the one hides a
/// share of the other; what requests for parts of lines take beside theirs is common to both. In an L2 of parts what is
/// written passes a second one, unless it belongs to the nearest.
double l2_seconds(const Workload& w, const KernelcastDevice& m, const Constants& c, const Traffic& t) {
  const double read = t.l2_read / l2_rate_of(w, AccessKind::load, m, c);
  const double written = t.l2_written / l2_rate_of(w, AccessKind::store, m, c);
  const double crossed = written * (m.l2_parts - 1) / m.l2_parts;
  const double others =
      t.local_in_l2 + left_in_other_parts(w, m, c, t) - c.l2_duplex * std::min(t.l2_read, t.l2_written);
  return (read + written + crossed + others / l2_rate(INFINITY, w, m, c)) * m.sector_bytes;
}

/// Sectors past the L2, less what goes the other way meanwhile.
double past_l2_both_ways(const Constants& c, const Traffic& t) {
  return t.past_l2 - c.l2_duplex * std::min(t.l3_read, t.l3_written);
}

/// Share of the SMs that have a block: the others leave their part of the L2's bandwidth unused.
double working_sms(const Workload& w, const KernelcastDevice& m) { return std::min(1.0, w.blocks / m.units); }

/// Of a batch of loads: where one of them finds its data, as shares. What is left is found nearer.
struct Depth {
  double l2 = 0, l3 = 0, dram = 0;
};

/// Cycles that a warp waits for the last of `loads` loads that are under way together, each of which goes as deep as
/// `one` says, whatever the others do: all come back from a level or above with the power of one's probability.
double slowest_of(double loads, const Depth& one, double l1_latency, const KernelcastDevice& m) {
  const double above_dram = std::max(0.0, 1 - one.dram), above_l3 = std::max(0.0, above_dram - one.l3);
  const double above_l2 = std::max(0.0, above_l3 - one.l2);
  const auto all = [loads](double p) { return loads == 1 || p <= 0 || p >= 1 ? p : std::pow(p, loads); };
  const double without_dram = all(above_dram);
  const double dram = 1 - without_dram, l3 = m.l3_bytes > 0 ? without_dram - all(above_l3) : 0;
  const double l1 = all(above_l2);
  return l1 * l1_latency + (1 - l1 - l3 - dram) * m.l2_latency + l3 * m.l3_latency + dram * m.dram_latency;
}

/// `missed`: share of the requests that the L1 does not serve; of `asked` sectors behind it `past_l2` and `past_cache`
/// go on.
Depth depth_of(double missed, double asked, double past_l2, double past_cache, const KernelcastDevice& m) {
  const double dram = std::clamp(over(past_cache, asked), 0.0, 1.0);
  const double l3 = m.l3_bytes > 0 ? std::clamp(over(past_l2, asked) - dram, 0.0, 1.0) : 0;
  return {missed * (1 - dram - l3), missed * l3, missed * dram};
}

/// Cycles of a barrier: a warp alone waits for nobody.
double barrier_wait(const Workload& w, const Constants& c) {
  const double others = std::max(0.0, w.warps_per_block - 1);
  return c.barrier_latency + c.barrier_warp_cycles * others + c.barrier_cycles * others / (others + 1);
}

/// Cycles of a wait for shared memory: loads from other blocks of the cluster and from the block's own count alike.
double shared_latency(const Workload& w, const KernelcastDevice& m) {
  const double own = m.latency[static_cast<std::size_t>(Latency::shared)];
  const double all = w.at(MemorySpace::shared, AccessKind::load).requests +
                     w.at(MemorySpace::shared, AccessKind::atomic).requests + w.warp_ops[C::shuffle];
  if (w.in_cluster.read_requests <= 0) return own;
  return std::lerp(own, m.cluster_latency, std::min(1.0, w.in_cluster.read_requests / all));
}

/// The path of the slowest warp of a block, summed over all blocks. Blocks hold their place until their last warp is
/// through. `total`: of w.warp_ops.
WarpPath path_of(const Workload& w, double total) {
  if (w.slowest.instructions > 0) return w.slowest;
  const double each = std::max(1.0, w.warp_imbalance) / w.warps_per_block;
  WarpPath p{total * each, w.warp_ops[C::control] * each, {}};
  p.stalls.add(w.stalls, each);
  return p;
}

/// Work of the block that has most, in mean blocks: where a few blocks have all of it, the unit of one is busy with
/// that block alone, however few blocks a unit has on average.
double largest_block(const Workload& w, double total) {
  return w.longest.instructions > 0 ? w.longest.instructions / path_of(w, total).instructions : 1;
}

/// Cycles, over all blocks, of the asynchronous products that the slowest warp issues and so has to wait for.
double awaited_products(const Workload& w, const KernelcastDevice& m, const Constants& c, const WarpPath& p) {
  const auto& async = w.warp_ops.tensor.async;
  const double all = std::accumulate(async.begin(), async.end(), 0.0);
  return all <= 0 ? 0 : async_cycles(w.warp_ops, m, c) * p.stalls.products / all;
}

/// Copies in bulk fill stages of shared memory; a stage is filled again when its consumer is done with it. So a block
/// that has room for n stages takes at least an n-th of what it took if each copy waited for the products before it: of
/// the warps' own path and of every stage's copy, from its issue to its last byte (Little's law).
double pipelined(const Workload& w, const KernelcastDevice& m, const Constants& c, double path, BoundTimes& f) {
  if (w.stalls.fills <= 0 || w.bulk_bytes <= 0) return path;
  const Traffic& t = f.traffic;
  const double stage = w.bulk_bytes / w.stalls.fills;
  f.stages = std::clamp(std::floor(w.shared_bytes_per_block / stage), 1.0, std::max(1.0, w.stalls.fills / w.blocks));
  const double latency = slowest_of(1, depth_of(1, t.l2_read, t.l3_read, t.dram_read, m), 0, m);
  const double transfer = stage / (l2_rate(INFINITY, w, m, c) / m.units / m.clock_hz);
  const double product = w.stalls.products > 0 ? m.async_product_latency : 0;
  return std::max(path, (path + w.stalls.fills * (latency + transfer + product)) / f.stages);
}

/// What all warps wait for in attempts to update shared memory.
double retry_cycles(const Workload& w, const KernelcastDevice& m, const Constants& c) {
  const auto latency = [&m](Latency l) { return m.latency[static_cast<std::size_t>(l)]; };
  const double attempt = 2 * latency(Latency::shared) + c.branch_cycles;
  return w.retries.rounds * (attempt + latency(Latency::alu)) +
         w.retries.fp64 * (latency(Latency::fp64) - latency(Latency::alu));
}

/// What a warp waits for beyond what it issues meanwhile.
double waiting_cycles(const std::array<double, latency_count>& waits, const std::array<double, latency_count>& hidden,
                      const std::array<double, latency_count>& latency, const KernelcastDevice& m) {
  double cycles = 0;
  for (std::size_t k = 0; k < latency_count; ++k)
    cycles += std::max(0.0, waits[k] * latency[k] - hidden[k] * m.issue_interval);
  return cycles;
}

/// Latencies are those of an idle memory: where many warps wait at once, the bounds of L2 and DRAM hold the queues, and
/// the norm joins them. One factor for all launches made those of few warps 1.6 times too slow.
void critical_path(const Workload& w, const KernelcastDevice& m, const Constants& c, double total, BoundTimes& f) {
  const Traffic& t = f.traffic;
  const WarpPath p = path_of(w, total);
  const double together =
      std::max(1.0, over(p.stalls.loads, p.stalls.waits[static_cast<std::size_t>(Latency::global)]));
  const double missed = 1 - std::clamp(t.l1_hits(), 0.0, 1.0);
  f.global_latency = slowest_of(together, depth_of(missed, t.l2_read, t.l3_read, t.dram_read, m),
                                m.latency[static_cast<std::size_t>(Latency::global)], m);
  const double local =
      slowest_of(1, depth_of(over(t.local_past_l1, t.local), t.local_past_l1, t.local_past_l2, t.local_past_cache, m),
                 m.latency[static_cast<std::size_t>(Latency::local)], m);
  const double beside = retry_cycles(w, m, c) / w.warps_per_block + w.barriers * barrier_wait(w, c);
  f.latency = m.latency;
  f.latency[static_cast<std::size_t>(Latency::shared)] = shared_latency(w, m);
  f.latency[static_cast<std::size_t>(Latency::global)] = f.global_latency;
  f.latency[static_cast<std::size_t>(Latency::local)] = local;
  const double cluster_barrier = m.cluster_barrier + m.cluster_barrier_warp * std::max(0.0, w.warps_per_block - 1);
  const auto cycles_of_path = [&](const WarpPath& path) {
    return waiting_cycles(path.stalls.waits, path.stalls.hidden, f.latency, m) + path.instructions * m.issue_interval +
           path.branches * c.branch_cycles + beside + path.stalls.cluster_barriers * cluster_barrier;
  };
  const double products = awaited_products(w, m, c, p);
  // The warps of a block start one after another; of the first round that is in the launch's own time.
  const double starts = c.warp_start_cycles * w.warps_per_block * std::max(0.0, 1 - 1 / f.rounds);
  f.path_cycles = pipelined(w, m, c, cycles_of_path(p) + products, f) / w.blocks + starts;
  f.longest_cycles =
      w.longest.instructions > 0 ? std::max(f.path_cycles, cycles_of_path(w.longest) / w.blocks) : f.path_cycles;
  f.in_both = products / w.blocks * f.rounds;
}

/// What the formulas of kernelcast_bounds.def read.
struct Terms {
  const Workload& w;
  const OpCounts& n;  // warp instructions
  const KernelcastDevice& m;
  const Constants& c;
  const Traffic& t;
  const BoundTimes& f;  // all but its cycles
  double total;         // warp instructions of all classes
  double share;         // of the launch, on the busiest SM: its blocks, or the largest block
  double slots;         // issue slots of an instruction
  double lanes;         // lane operations of the busiest SM for one warp instruction, with its slots
  double memory_share;  // share, at the efficiency of load/store units, shared memory and L1
};

template <Limit>
double cycles_of(const Terms& terms);

#define BOUND(id, name, group, cycles, sentence)                                      \
  template <>                                                                         \
  inline double cycles_of<Limit::id>(const Terms& terms) {                            \
    const auto& [w, n, m, c, t, f, total, share, slots, lanes, memory_share] = terms; \
    return cycles;                                                                    \
  }
#include "model/kernelcast_bounds.def"

template <std::size_t... l>
void fill_cycles(const Terms& terms, std::array<double, limit_count>& cycles, std::index_sequence<l...>) {
  ((cycles[l] = cycles_of<static_cast<Limit>(l)>(terms)), ...);
}

}  // namespace

namespace {

/// p-norm of a few values that are not negative. Inlined, since each caller's number of values is known.
[[gnu::always_inline]] inline double norm_of(std::span<const double> values, double p) {
  double most = 0;
  for (const double v : values) most = std::max(most, v);
  if (most <= 0) return 0;
  double sum = 0;
  // Below it a value adds less than 1e-4 to the sum: 0.01 to the power of 2, 0.3 to that of 8, 0.75 to that of 33.
  const double least = (p < 8 ? 0.01 : p < 33 ? 0.3 : 0.75) * most;
  for (const double v : values)
    if (v > least) sum += v == most ? 1 : std::exp(p * std::log(v / most));
  return sum == 1 ? most : most * std::exp(std::log(sum) / p);
}

/// The same of two values; with p = 2, as the latency bound is joined, it takes no logarithm.
double norm_of_two(double a, double b, double p) {
  if (p != 2) return norm_of(std::array{a, b}, p);
  const double most = std::max(a, b), share = std::min(a, b) / most;
  return share > 0.01 ? most * std::sqrt(1 + share * share) : std::max(0.0, most);
}

/// The bounds of a group, behind those that are given.
template <BoundGroup group, class... First>
[[gnu::always_inline]] inline auto values_of(const std::array<double, limit_count>& cycles, First... first) {
  constexpr auto size = static_cast<std::size_t>(std::ranges::count(group_of_bound, group));
  std::array<double, sizeof...(First) + size> values{first...};
  std::size_t next = sizeof...(First);
  for (std::size_t l = 0; l < limit_count; ++l)
    if (group_of_bound[l] == group) values[next++] = cycles[l];
  return values;
}

}  // namespace

namespace {

/// The bounds of an SM, by what of a phase they grow with.
struct PhaseWork {
  double issue = 0, arithmetic = 0, tensor = 0, memory = 0, shared = 0, global = 0;
  [[nodiscard]] double joined() const {
    // Only proportions are read of it: the fourth power is near what the constants join an SM's parts with.
    double sum = 0;
    for (const double v : {issue, arithmetic, tensor, memory, shared, global}) sum += (v * v) * (v * v);
    return std::sqrt(std::sqrt(sum));
  }
};

PhaseWork work_of(const BoundTimes& f) {
  const auto most = [&f](std::initializer_list<Limit> limits) {
    double cycles = 0;
    for (const Limit l : limits) cycles = std::max(cycles, f.cycles[static_cast<std::size_t>(l)]);
    return cycles;
  };
  return {most({Limit::issue}),         most({Limit::arithmetic, Limit::fp64, Limit::special, Limit::integer_multiply}),
          most({Limit::tensor}),        most({Limit::load_store}),
          most({Limit::shared_memory}), most({Limit::l1})};
}

/// The phases of a block follow one another: what of the SM one of them does not use stands idle meanwhile, unless
/// another block is there. A block alone takes the sum over its phases, each of which joins its share of the SM's work
/// with its share of the path; the path grows so that the latency bound and that block's work together come to the sum.
/// L2 and DRAM serve blocks of other SMs meanwhile, which are in other phases.
void divide_by_barriers(const Workload& w, const KernelcastDevice& m, const Constants& c, BoundTimes& f) {
  if (w.phases.size() < 2 || w.barriers <= 0 || w.stalls.fills > 0 || w.stalls.products > 0) return;
  BarrierPhase all;
  for (const BarrierPhase& p : w.phases) all.add(p, 1);
  const auto path = [&](const BarrierPhase& p) {
    return waiting_cycles(p.waits, p.hidden, f.latency, m) + p.instructions * m.issue_interval +
           p.branches * c.branch_cycles + p.barriers * barrier_wait(w, c);
  };
  const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
  const PhaseWork work = work_of(f);
  double paths = 0;
  for (const BarrierPhase& p : w.phases) paths += path(p);
  const double throughput = f.unit_cycles(f.cycles) / f.blocks_per_unit, joined = work.joined();
  if (!(paths > 0) || !(joined > 0) || !(throughput < INFINITY) || !(f.path_cycles > 0)) return;
  double alone = 0;
  for (const BarrierPhase& p : w.phases) {
    const PhaseWork part{work.issue * share(p.instructions, all.instructions),
                         work.arithmetic * share(p.arithmetic, all.arithmetic),
                         work.tensor * share(p.products, all.products),
                         work.memory * share(p.shared + p.global, all.shared + all.global),
                         work.shared * share(p.shared, all.shared),
                         work.global * share(p.global, all.global)};
    alone += norm_of_two(throughput * part.joined() / joined, f.path_cycles * path(p) / paths, c.latency_norm);
  }
  if (!(alone > norm_of_two(throughput, f.path_cycles, c.latency_norm))) return;
  const double p = c.latency_norm;
  const double longer = std::pow(std::pow(alone, p) - std::pow(throughput, p), 1 / p) / f.path_cycles;
  f.path_cycles *= longer;
  f.longest_cycles *= longer;
}

}  // namespace

BoundTimes forecast(const Workload& w, const KernelcastDevice& m, const Constants& c, double resident) {
  BoundTimes f;
  f.resident_blocks = resident;
  f.blocks_per_unit = std::ceil(w.blocks * m.units_per_block / m.units) / m.units_per_block;
  f.rounds = std::ceil(w.blocks / (m.units * resident));
  f.clock_hz = m.clock_hz;
  f.launch_s = m.launch_s;
  f.norm = c.norm;
  f.unit_norm = c.unit_norm;
  f.pipe_norm = c.pipe_norm;
  f.latency_norm = c.latency_norm;
  f.traffic = traffic_of(w, m, c, resident);
  const double total = total_of(w.warp_ops);
  f.shape_factor = shape_factor(w.warp_ops, m, c);
  critical_path(w, m, c, total, f);
  const double share = std::max(f.blocks_per_unit, largest_block(w, total) / m.units_per_block) / w.blocks;
  const double slots = slots_per_instruction(w.warp_ops, total, c);
  const Terms terms{
      w, w.warp_ops, m, c, f.traffic, f, total, share, slots, share * m.warp * slots, share / c.memory_efficiency};
  fill_cycles(terms, f.cycles, std::make_index_sequence<limit_count>());
  divide_by_barriers(w, m, c, f);
  f.cycles[static_cast<std::size_t>(Limit::latency)] = cycles_of<Limit::latency>(terms);
  return f;
}

double BoundTimes::unit_cycles(const std::array<double, limit_count>& of) const {
  const double pipes = norm_of(values_of<BoundGroup::pipe>(of), pipe_norm);
  const double memory = norm_of(values_of<BoundGroup::memory>(of), pipe_norm);
  return norm_of(values_of<BoundGroup::sm>(of, pipes, memory), unit_norm);
}

double BoundTimes::seconds(Limit without) const {
  std::array<double, limit_count> c = cycles;
  if (without != Limit::count_) c[static_cast<std::size_t>(without)] = 0;
  if (!std::all_of(c.begin(), c.end(), [](double v) { return v < INFINITY; })) return NAN;
  const double throughput = norm_of(values_of<BoundGroup::chip>(c, unit_cycles(c)), norm);
  const double path = norm_of(values_of<BoundGroup::path>(c), latency_norm);
  // Neither can hide in the other what is in both.
  const double common = std::min({in_both, throughput, path});
  return launch_s + (common + norm_of_two(throughput - common, path - common, latency_norm)) / clock_hz;
}

namespace {

/// Power that matrix instructions draw beyond idle at the clock of `f`, whose voltage rises with it: the energy of each
/// with the square of the clock.
double tensor_watts(const Workload& w, const KernelcastDevice& m, const BoundTimes& f) {
  double joules = 0;
  for (std::size_t t = 0; t < tensor_type_count; ++t)
    joules += w.warp_ops.tensor.of(static_cast<TensorType>(t)) * m.tensor_energy[t];
  return joules > 0 ? joules * f.clock_hz * f.clock_hz / f.seconds() : 0;
}

}  // namespace

BoundTimes sustained_forecast(const Workload& w, const KernelcastDevice& m, const Constants& c, double resident) {
  BoundTimes f = forecast(w, m, c, resident);
  if (m.power_w <= 0) return f;
  // Power grows with the cube of the clock where the pipes bind and with its square where they wait for DRAM: steps by
  // the cube shrink the error to a third or less.
  for (int step = 0; step < 8; ++step) {
    const double over = tensor_watts(w, m, f) / m.power_w;
    if (!(over > 1.002) && !(step > 0 && over < 0.998)) break;
    f = forecast(w, at_clock(m, std::min(m.clock_hz, f.clock_hz / std::cbrt(over))), c, resident);
  }
  return f;
}

}  // namespace kernelcast::forecast
