// What runs beside the warps: copies and matrix products that a warp starts and later waits for.
//
// Copies of the lanes (cp.async) and products of a warp (wgmma) belong to groups: a wait is for all groups but the last
// N. Copies in bulk complete a phase of an mbarrier: it is complete when its arrivals have come and the bytes of the
// copies before them are in shared memory. Asynchronous products queue for the tensor pipe and read their operands from
// shared memory: they take the scheduler's part of its bandwidth, and last as long as the longer of both.
//
// Limits: the queue of products has no end. Their reads of shared memory are taken from the load/store lanes when the
// product is issued, not when it runs.
#include <algorithm>
#include <cmath>
#include <utility>

#include "machine/sm/stages.h"

namespace kernelcast::sm {
namespace {

std::vector<MbarrierPhase>& phases(SmState& m, const Warp& w, int mbarrier) {
  return m.blocks[static_cast<std::size_t>(w.block)].mbarriers[static_cast<std::size_t>(mbarrier)];
}

/// Forgets the groups that a wait no longer needs; when the last of those that it does need is done.
Cycle wait_for_groups(Groups& groups, int open, Cycle now) {
  Cycle until = 0;
  while (groups.committed.size() > static_cast<std::size_t>(open)) {
    until = std::max(until, groups.committed.front());
    if (until > now) return until;
    groups.committed.pop_front();
  }
  return until;
}

void commit(Groups& groups) {
  groups.committed.push_back(groups.open);
  groups.open = 0;
}

/// Warps of the block that wait for a phase look again when it is complete.
void wake(SmState& m, const Warp& w, Cycle complete) {
  const int first = w.block * m.launch.warps_per_block;
  for (int i = first; i < first + m.launch.warps_per_block; ++i) {
    Warp& other = m.warps[static_cast<std::size_t>(i)];
    if (other.alive && other.why == Stall::mbarrier && other.wake == never) other.wake = std::max(complete, m.now + 1);
  }
}

void arrive_at(SmState& m, Warp& w, const Decoded& d) {
  const auto index = static_cast<std::size_t>(d.mbarrier);
  std::vector<MbarrierPhase>& all = phases(m, w, d.mbarrier);
  const auto phase = static_cast<std::size_t>(w.arrivals[index]++);
  if (all.size() <= phase) all.resize(phase + 1);
  MbarrierPhase& p = all[phase];
  p.complete = std::max({p.complete, m.now + 1, w.bulk_done});
  w.bulk_done = 0;
  if (++p.arrived == m.program->mbarriers[index].arrivals) wake(m, w, p.complete);
}

/// The load/store lanes of a scheduler; nullptr: it has none.
Lanes* load_store_lanes(SmState& m, int scheduler) {
  const auto& candidates =
      m.lanes_of[static_cast<std::size_t>(scheduler) * op_count + static_cast<std::size_t>(Op::load_shared)];
  return candidates.empty() ? nullptr : &m.lanes[static_cast<std::size_t>(candidates.front())];
}

}  // namespace

AsyncWait waits_for(SmState& m, Warp& w, const Decoded& d) {
  switch (d.op) {
    case Op::copy_wait:
      return {wait_for_groups(w.copies, d.open, m.now), Stall::copy};
    case Op::matrix_wait:
      return {wait_for_groups(w.products, d.open, m.now), Stall::product};
    case Op::mbarrier_wait: {
      const auto index = static_cast<std::size_t>(d.mbarrier);
      const Mbarrier& barrier = m.program->mbarriers[index];
      const int phase = w.waits[index] - barrier.ahead;
      if (phase < 0 || std::exchange(w.passed, false)) return {0, Stall::mbarrier};
      const std::vector<MbarrierPhase>& all = phases(m, w, d.mbarrier);
      const bool there = all.size() > static_cast<std::size_t>(phase) &&
                         all[static_cast<std::size_t>(phase)].arrived >= barrier.arrivals;
      return {there ? all[static_cast<std::size_t>(phase)].complete : never, Stall::mbarrier};
    }
    default:
      return {};
  }
}

void note_async(SmState& m, Warp& w, const Decoded& d, Cycle done) {
  switch (d.op) {
    case Op::copy_async:
      w.copies.open = std::max(w.copies.open, done);
      break;
    case Op::copy_bulk:
      w.bulk_done = std::max(w.bulk_done, done);
      break;
    case Op::copy_commit:
      commit(w.copies);
      break;
    case Op::matrix_async:
      w.products.open = std::max(w.products.open, done);
      break;
    case Op::matrix_commit:
      commit(w.products);
      break;
    case Op::mbarrier_wait:
      ++w.waits[static_cast<std::size_t>(d.mbarrier)];
      break;
    case Op::arrive:
      arrive_at(m, w, d);
      break;
    default:
      break;
  }
}

int matrix_cycles(const SmState& m, Lanes& lanes, const Decoded& d) {
  const Unit& unit = m.spec->units[static_cast<std::size_t>(lanes.unit)];
  lanes.part += m.program->products[static_cast<std::size_t>(d.product)].multiply_adds / (d.rate * unit.schedulers);
  const double whole = std::floor(lanes.part + 1e-9);
  lanes.part -= whole;
  return static_cast<int>(whole);
}

Queued queue_product(SmState& m, int scheduler, const Decoded& d) {
  const Product& product = m.program->products[static_cast<std::size_t>(d.product)];
  const int first = product.whole ? 0 : scheduler, last = product.whole ? m.spec->schedulers - 1 : scheduler;
  const double sharers = product.whole ? 1 : m.spec->schedulers;
  const auto reads = static_cast<Cycle>(std::ceil(product.shared_bytes * sharers / m.spec->shared_bytes_per_cycle));
  Decoded part = d;
  if (product.whole) part.rate *= m.spec->schedulers;  // each pipe has its part of the product
  Queued out{m.now + 1, 0};
  const Lanes* before = nullptr;
  for (int s = first; s <= last; ++s) {
    Cycle operands = m.now;
    if (Lanes* memory = load_store_lanes(m, s); memory != nullptr && reads > 0) {
      operands = memory->free_at = std::max(memory->free_at, m.now) + reads;
      m.result.unit_busy[static_cast<std::size_t>(memory->unit)] += reads;
    }
    Lanes& pipe = m.lanes[static_cast<std::size_t>(
        m.lanes_of[static_cast<std::size_t>(s) * op_count + static_cast<std::size_t>(d.op)].front())];
    if (&pipe == before) continue;  // schedulers that share one
    before = &pipe;
    const Cycle start = std::max(pipe.free_at, m.now);
    const auto cycles = static_cast<Cycle>(matrix_cycles(m, pipe, part));
    pipe.free_at = std::max(start + cycles, operands);
    m.result.unit_busy[static_cast<std::size_t>(pipe.unit)] += cycles;
    out.done = std::max({out.done, pipe.free_at, start + static_cast<Cycle>(d.latency)});
    out.busy += static_cast<int>(cycles);
  }
  return out;
}

}  // namespace kernelcast::sm
