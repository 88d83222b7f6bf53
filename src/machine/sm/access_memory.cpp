// Loads, stores and atomics. Shared memory takes a pass for each word that the busiest bank has to deliver, L1 the
// passes that its banks and tags need (profile/request.h), or a cycle for each line where nobody measured those. Global
// memory takes its sectors through the L1 cache (loads only), then through two queues, L2 and DRAM, that have a
// bandwidth and a latency each: a sector leaves a queue bytes / bandwidth after the one before it. Latencies are load
// to use. Atomic operations update a word for one lane at a time: the others that want it wait.
#include <algorithm>
#include <cmath>

#include "kernelcast/error.h"
#include "machine/sm/stages.h"
#include "profile/warp_request.h"

namespace kernelcast::sm {
namespace {

std::int64_t lane_address(const Access& a, int warp, std::uint64_t k, int lane) {
  const auto offset = a.step * static_cast<std::int64_t>(k);
  return a.base + a.warp_step * warp + (a.span > 0 ? offset % a.span : offset) + a.lane_step * lane;
}

int lanes_of(const Spec& spec, const Access& a) {
  return a.lanes > 0 ? std::min(a.lanes, spec.warp_size) : spec.warp_size;
}

bool is_shared(Op op) { return op == Op::load_shared || op == Op::store_shared || op == Op::atomic_shared; }
bool is_atomic(Op op) { return op == Op::atomic_shared || op == Op::atomic_global; }

/// Lanes go in groups whose data the banks could deliver in one pass. Lanes that load one word share it (`share`); an
/// atomic operation is one update of the bank for each lane.
int shared_passes(const Spec& spec, const Access& a, int warp, std::uint64_t k, bool share, bool pairs) {
  const int width = spec.shared_banks * spec.shared_bank_bytes;
  const int lanes = lanes_of(spec, a);
  int group = std::clamp(width / a.bytes, 1, spec.warp_size);
  const std::uint64_t all = lanes >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << lanes) - 1;
  if (pairs && a.bytes > spec.shared_bank_bytes &&
      lanes_are_pairs(all, [&](int lane) { return lane_address(a, warp, k, lane); }))
    group *= 2;
  int passes = 0;
  for (int first = 0; first < lanes; first += group) {
    std::array<int, 128> words{};
    std::int64_t last = -1;
    int most = 1;
    for (int lane = first; lane < std::min(first + group, lanes); ++lane) {
      const std::int64_t address = lane_address(a, warp, k, lane);
      for (std::int64_t word = address / spec.shared_bank_bytes;
           word <= (address + a.bytes - 1) / spec.shared_bank_bytes; ++word) {
        if (share && word == last) continue;
        last = word;
        most = std::max(most, ++words[static_cast<std::size_t>(word % spec.shared_banks)]);
      }
    }
    passes += most;
  }
  return passes;
}

/// Passes of a warp without conflicts, 4 bytes a lane: the latency of a spec is that of such a load.
int least_passes(const Spec& spec) {
  const int lanes = std::max(spec.shared_banks * spec.shared_bank_bytes / 4, 1);
  return (spec.warp_size + lanes - 1) / lanes;
}

/// When the last lane of an atomic operation that reaches its words at `start` has its turn. Words of shared memory are
/// those of the warp's block.
Cycle last_turn(SmState& m, const Warp& w, const Access& a, std::uint64_t k, Op op, Cycle start) {
  const bool shared = op == Op::atomic_shared;
  const auto each = static_cast<Cycle>(shared ? m.spec->atomic_shared_cycles : m.spec->atomic_global_cycles);
  const std::uint64_t space = shared ? static_cast<std::uint64_t>(w.block + 1) << 56U : 0;
  Cycle last = start;
  for (int lane = 0; lane < lanes_of(*m.spec, a); ++lane) {
    const auto word = static_cast<std::uint64_t>(lane_address(a, w.number, k, lane)) / 4;
    Cycle& free = m.memory.word_free[space | word];
    free = std::max(free, start);
    last = std::max(last, free);
    free += each;
  }
  return last;
}

/// Passes of the L1 by its banks and tags.
double l1_passes(const Spec& spec, const Access& a, int warp, std::uint64_t k) {
  const int lanes = lanes_of(spec, a);
  if (lanes == 1 || a.lane_step == 0) return 1;
  std::vector<std::int64_t> addresses;
  for (int lane = 0; lane < lanes; ++lane) addresses.push_back(lane_address(a, warp, k, lane));
  LaneSet set;
  set.warp_bits = {lanes >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << lanes) - 1};
  constexpr std::array certain{1.0};
  const RequestRule rule{MemorySpace::global, false, false, a.bytes};
  return count_requests(rule, spec.l1, set, addresses, 0, certain).bank_passes;
}

/// Cycles of the L1 for what lanes move to or from registers, of 4 bytes at least.
double l1_cycles_of_data(const Spec& spec, const Access& a) {
  return spec.l1_bytes_per_cycle > 0 ? lanes_of(spec, a) * std::max(a.bytes, 4) / spec.l1_bytes_per_cycle : 0;
}

/// Whole sectors of this request when `share` of `sectors` goes on, the rest kept for the next.
double whole_part(double& debt, double sectors, double share) {
  debt += sectors * share;
  const double whole = std::floor(debt + 1e-9);
  debt -= whole;
  return whole;
}

class GlobalRequest {
 public:
  GlobalRequest(SmState& m, const Decoded& d, double start)
      : m_(m),
        load_(d.op == Op::load_global || d.op == Op::copy_async),
        more_(is_atomic(d.op) ? m.spec->latency_of_global_atomic() - m.spec->l2_latency : 0),
        start_(start),
        done_(start_ + m.spec->l1_latency) {
    if (!load_) done_ = start_ + 1;
  }

  void by_address(const Access& a, int warp, std::uint64_t k) {
    const std::int64_t sector = m_.spec->sector_bytes;
    std::int64_t last_sector = -1, last_line = -1;
    for (int lane = 0; lane < lanes_of(*m_.spec, a); ++lane) {
      const std::int64_t address = lane_address(a, warp, k, lane);
      for (std::int64_t s = address / sector; s <= (address + a.bytes - 1) / sector; ++s) {
        if (s == last_sector) continue;
        last_sector = s;
        const std::int64_t line = s * sector / m_.spec->line_bytes_l1;
        if (line != last_line) ++passes_;
        last_line = line;
        const auto at = static_cast<std::uint64_t>(s * sector);
        ++m_.result.l1_sectors;
        if (load_ && m_.memory.l1.touch(at)) {
          ++m_.result.l1_hits;
        } else {
          through_l2(1);
          if (m_.memory.l2.touch(at)) {
            ++m_.result.l2_hits;
          } else {
            through_dram(1);
          }
        }
      }
    }
    if (m_.spec->l1.l1_banks > 0) passes_ = l1_passes(*m_.spec, a, warp, k);
    passes_ = std::max(passes_, l1_cycles_of_data(*m_.spec, a));
  }

  void by_share(const Access& a, std::size_t index) {
    const double sectors = a.sectors.value_or(1);
    const double per_line = static_cast<double>(m_.spec->line_bytes_l1) / m_.spec->sector_bytes;
    passes_ = a.passes ? *a.passes : a.lines ? *a.lines : std::ceil(sectors / per_line);
    const double l1 = load_ ? a.l1_hits.value_or(0) : 0;
    const double missed = whole_part(m_.memory.l1_debt[index], sectors, 1 - l1);
    m_.result.l1_sectors += sectors;
    m_.result.l1_hits += sectors * l1;
    if (missed > 0) through_l2(missed);
    const double dram = whole_part(m_.memory.l2_debt[index], missed, 1 - a.l2_hits.value_or(0));
    m_.result.l2_hits += missed - dram;
    if (dram > 0) through_dram(dram);
  }

  /// The answer of an atomic operation whose last lane has its turn `cycles` after the request reaches L2.
  void wait_for_turn(double cycles) { answered_ += cycles; }

  [[nodiscard]] Cycle done(bool wait_for_memory) const {
    return static_cast<Cycle>(std::ceil(wait_for_memory ? std::max(done_, answered_) : done_));
  }
  [[nodiscard]] double passes() const { return std::max(passes_, 1.0); }
  /// When the last sector has left the queues: a copy in bulk is many.
  [[nodiscard]] double last() const {
    return std::max({m_.memory.l2_free + (l2_ ? m_.spec->l2_latency : 0.0),
                     dram_ ? m_.memory.dram_free + m_.spec->dram_latency : 0.0});
  }
  [[nodiscard]] Cycle answered() const { return static_cast<Cycle>(std::ceil(std::max(done_, answered_))); }

 private:
  void through_l2(double sectors) {
    l2_ = true;
    m_.memory.l2_free =
        std::max(m_.memory.l2_free, start_) + sectors * m_.spec->sector_bytes / m_.spec->l2_bytes_per_cycle;
    // The first sector of an idle queue arrives after the latency alone.
    answered_ = std::max(answered_,
                         waited(m_.memory.l2_free, sectors, m_.spec->l2_bytes_per_cycle) + m_.spec->l2_latency + more_);
  }
  void through_dram(double sectors) {
    dram_ = true;
    m_.memory.dram_free =
        std::max(m_.memory.dram_free, start_) + sectors * m_.spec->sector_bytes / m_.spec->dram_bytes_per_cycle;
    m_.result.dram_sectors += sectors;
    answered_ = std::max(
        answered_, waited(m_.memory.dram_free, sectors, m_.spec->dram_bytes_per_cycle) + m_.spec->dram_latency + more_);
  }
  [[nodiscard]] double waited(double free, double sectors, double bytes_per_cycle) const {
    return free - sectors * m_.spec->sector_bytes / bytes_per_cycle;
  }

  SmState& m_;
  bool load_;
  int more_;  // cycles that an atomic operation takes beyond a load
  double start_, done_, answered_ = 0;
  double passes_ = 0;  // of the L1
  bool l2_ = false, dram_ = false;
};

/// When an atomic operation begins: those before it are through. It takes `cycles`.
Cycle begin_atomic(double& free, Cycle start, double cycles) {
  const double begin = std::max(static_cast<double>(start), free);
  free = begin + cycles;
  return static_cast<Cycle>(std::ceil(begin));
}

Request shared(SmState& m, Warp& w, const Decoded& d, const Access& a, Cycle start) {
  const Spec& spec = *m.spec;
  const std::uint64_t k = w.executions[static_cast<std::size_t>(d.access)];
  const bool atomic = d.op == Op::atomic_shared;
  const int passes =
      a.passes ? std::max(1, static_cast<int>(std::lround(*a.passes)))
               : shared_passes(spec, a, w.number, k, !atomic, spec.shared_pairs != 0 && d.op == Op::load_shared);
  const int beyond = std::max(passes - (a.passes ? 1 : least_passes(spec)), 0);
  const double pass = std::max(spec.shared_banks * spec.shared_bank_bytes / spec.shared_bytes_per_cycle, 1.0);
  if (!atomic) return {start + static_cast<Cycle>(spec.shared_latency + beyond), pass * passes};
  const Cycle from = begin_atomic(m.memory.shared_free, start, pass * passes);
  Cycle last = from + static_cast<Cycle>(beyond);
  if (!a.passes) last = std::max(last, last_turn(m, w, a, k, d.op, from));
  return {last + static_cast<Cycle>(spec.latency_of_shared_atomic()), pass * passes, static_cast<int>(from - start)};
}

Request global(SmState& m, Warp& w, const Decoded& d, const Access& a, Cycle start) {
  const Spec& spec = *m.spec;
  const bool atomic = is_atomic(d.op);
  const Cycle from = atomic ? begin_atomic(m.memory.l1_free, start, 0) : start;
  GlobalRequest request(m, d, static_cast<double>(from));
  const auto index = static_cast<std::size_t>(d.access);
  const std::uint64_t k = w.executions[index];
  if (a.sectors) {
    request.by_share(a, index);
  } else {
    request.by_address(a, w.number, k);
    if (atomic) request.wait_for_turn(static_cast<double>(last_turn(m, w, a, k, d.op, from) - from));
  }
  if (atomic) m.memory.l1_free += request.passes();
  m.memory.outstanding.push(request.answered());
  double occupancy = request.passes();
  if (d.op == Op::copy_async) {  // it writes to shared memory, too
    const double pass = std::max(spec.shared_banks * spec.shared_bank_bytes / spec.shared_bytes_per_cycle, 1.0);
    const double bytes = lanes_of(spec, a) * a.bytes;
    const double passes = a.shared_passes.value_or(std::ceil(bytes / (spec.shared_banks * spec.shared_bank_bytes)));
    occupancy = std::max(occupancy, passes * pass);
  }
  return {request.done(d.op != Op::store_global), occupancy, static_cast<int>(from - start)};
}

/// A copy in bulk goes past the L1 and asks for no request slot of the SM. Copies follow one another on their way to
/// shared memory.
Request bulk(SmState& m, Warp& w, const Decoded& d, const Access& a, Cycle start) {
  GlobalRequest request(m, d, static_cast<double>(start));
  const auto index = static_cast<std::size_t>(d.access);
  if (a.sectors) {
    request.by_share(a, index);
  } else {
    request.by_address(a, w.number, w.executions[index]);
  }
  const double bytes = a.sectors ? *a.sectors * m.spec->sector_bytes : lanes_of(*m.spec, a) * a.bytes;
  const double arrived =
      std::max(static_cast<double>(request.answered()), m.memory.bulk_free) + bytes / m.spec->shared_bytes_per_cycle;
  m.memory.bulk_free = arrived;
  return {static_cast<Cycle>(std::ceil(std::max(arrived, request.last()))), 1};
}

}  // namespace

Cycle memory_accepts(SmState& m) {
  auto& outstanding = m.memory.outstanding;
  while (!outstanding.empty() && outstanding.top() <= m.now) outstanding.pop();
  if (outstanding.size() < static_cast<std::size_t>(m.spec->max_requests)) return m.now;
  return outstanding.top();
}

Request access_memory(SmState& m, Warp& w, const Decoded& d, Cycle start) {
  if (d.access < 0) throw InternalError("a memory instruction without access reached the load/store unit");
  const auto index = static_cast<std::size_t>(d.access);
  const Access& a = m.program->accesses[index];
  Request out;
  if (is_shared(d.op)) {
    out = shared(m, w, d, a, start);
  } else if (d.op == Op::copy_bulk) {
    out = bulk(m, w, d, a, start);
  } else {
    out = global(m, w, d, a, start);
  }
  ++w.executions[index];
  return out;
}

}  // namespace kernelcast::sm
