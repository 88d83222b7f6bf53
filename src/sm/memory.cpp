// Loads, stores and atomics. Shared memory takes a pass for each word that the busiest bank has to deliver. Global
// memory takes its sectors through the L1 cache (loads only), then through two queues, L2 and DRAM, that have a
// bandwidth and a latency each: a sector leaves a queue bytes / bandwidth after the one before it. Latencies are load
// to use.
#include <algorithm>
#include <cmath>

#include "kernelcast/error.h"
#include "sm/stages.h"

namespace kernelcast::sm {
namespace {

std::int64_t lane_address(const Access& a, int warp, std::uint64_t k, int lane) {
  const auto offset = a.step * static_cast<std::int64_t>(k);
  return a.base + a.warp_step * warp + (a.span > 0 ? offset % a.span : offset) + a.lane_step * lane;
}

/// Lanes go in groups whose data the banks could deliver in one pass.
int shared_passes(const Spec& spec, const Access& a, int warp, std::uint64_t k) {
  const int width = spec.shared_banks * spec.shared_bank_bytes;
  const int group = std::clamp(width / a.bytes, 1, spec.warp_size);
  int passes = 0;
  for (int first = 0; first < spec.warp_size; first += group) {
    std::array<int, 128> words{};
    std::int64_t last = -1;
    int most = 1;
    for (int lane = first; lane < std::min(first + group, spec.warp_size); ++lane) {
      const std::int64_t address = lane_address(a, warp, k, lane);
      for (std::int64_t word = address / spec.shared_bank_bytes;
           word <= (address + a.bytes - 1) / spec.shared_bank_bytes; ++word) {
        if (word == last) continue;  // lanes that read one word share it
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

/// Whole sectors of this request when `share` of `sectors` goes on, the rest kept for the next.
double whole_part(double& debt, double sectors, double share) {
  debt += sectors * share;
  const double whole = std::floor(debt + 1e-9);
  debt -= whole;
  return whole;
}

class GlobalRequest {
 public:
  GlobalRequest(Machine& m, const Decoded& d, Cycle start)
      : m_(m), load_(d.op == Op::load_global), start_(static_cast<double>(start)), done_(start_ + m.spec->l1_latency) {
    if (!load_) done_ = start_ + 1;
  }

  void by_address(const Access& a, int warp, std::uint64_t k) {
    const std::int64_t sector = m_.spec->sector_bytes;
    std::int64_t last_sector = -1, last_line = -1;
    for (int lane = 0; lane < m_.spec->warp_size; ++lane) {
      const std::int64_t address = lane_address(a, warp, k, lane);
      for (std::int64_t s = address / sector; s <= (address + a.bytes - 1) / sector; ++s) {
        if (s == last_sector) continue;
        last_sector = s;
        const std::int64_t line = s * sector / m_.spec->line_bytes_l1;
        if (line != last_line) ++lines_;
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
  }

  void by_share(const Access& a, std::size_t index) {
    const double sectors = a.sectors.value_or(1);
    const double per_line = static_cast<double>(m_.spec->line_bytes_l1) / m_.spec->sector_bytes;
    lines_ = static_cast<int>(a.lines ? std::lround(*a.lines) : std::lround(std::ceil(sectors / per_line)));
    const double l1 = load_ ? a.l1_hits.value_or(0) : 0;
    const double missed = whole_part(m_.memory.l1_debt[index], sectors, 1 - l1);
    m_.result.l1_sectors += sectors;
    m_.result.l1_hits += sectors * l1;
    if (missed > 0) through_l2(missed);
    const double dram = whole_part(m_.memory.l2_debt[index], missed, 1 - a.l2_hits.value_or(0));
    m_.result.l2_hits += missed - dram;
    if (dram > 0) through_dram(dram);
  }

  [[nodiscard]] Request request(bool wait_for_memory) const {
    const auto done = static_cast<Cycle>(std::ceil(wait_for_memory ? std::max(done_, answered_) : done_));
    return {done, std::max(lines_, 1)};
  }
  [[nodiscard]] Cycle answered() const { return static_cast<Cycle>(std::ceil(std::max(done_, answered_))); }

 private:
  void through_l2(double sectors) {
    m_.memory.l2_free =
        std::max(m_.memory.l2_free, start_) + sectors * m_.spec->sector_bytes / m_.spec->l2_bytes_per_cycle;
    // The first sector of an idle queue arrives after the latency alone.
    answered_ =
        std::max(answered_, waited(m_.memory.l2_free, sectors, m_.spec->l2_bytes_per_cycle) + m_.spec->l2_latency);
  }
  void through_dram(double sectors) {
    m_.memory.dram_free =
        std::max(m_.memory.dram_free, start_) + sectors * m_.spec->sector_bytes / m_.spec->dram_bytes_per_cycle;
    m_.result.dram_sectors += sectors;
    answered_ = std::max(answered_,
                         waited(m_.memory.dram_free, sectors, m_.spec->dram_bytes_per_cycle) + m_.spec->dram_latency);
  }
  [[nodiscard]] double waited(double free, double sectors, double bytes_per_cycle) const {
    return free - sectors * m_.spec->sector_bytes / bytes_per_cycle;
  }

  Machine& m_;
  bool load_;
  double start_, done_, answered_ = 0;
  int lines_ = 0;
};

Request global(Machine& m, Warp& w, const Decoded& d, const Access& a, Cycle start) {
  GlobalRequest request(m, d, start);
  const auto index = static_cast<std::size_t>(d.access);
  if (a.sectors) {
    request.by_share(a, index);
  } else {
    request.by_address(a, w.number, w.executions[index]);
  }
  m.memory.outstanding.push(request.answered());
  return request.request(d.op != Op::store_global);
}

}  // namespace

Cycle memory_accepts(Machine& m) {
  auto& outstanding = m.memory.outstanding;
  while (!outstanding.empty() && outstanding.top() <= m.now) outstanding.pop();
  if (outstanding.size() < static_cast<std::size_t>(m.spec->max_requests)) return m.now;
  return outstanding.top();
}

Request access_memory(Machine& m, Warp& w, const Decoded& d, Cycle start) {
  if (d.access < 0) throw InternalError("a memory instruction without access reached the load/store unit");
  const auto index = static_cast<std::size_t>(d.access);
  const Access& a = m.program->accesses[index];
  Request out;
  if (d.op == Op::load_shared || d.op == Op::store_shared || d.op == Op::atomic_shared) {
    const int passes = a.passes ? std::max(1, static_cast<int>(std::lround(*a.passes)))
                                : shared_passes(*m.spec, a, w.number, w.executions[index]);
    const int beyond = passes - (a.passes ? 1 : least_passes(*m.spec));
    out = {start + static_cast<Cycle>(m.spec->shared_latency + std::max(beyond, 0)), passes};
  } else {
    out = global(m, w, d, a, start);
  }
  ++w.executions[index];
  return out;
}

}  // namespace kernelcast::sm
