// Issue. A scheduler stays with a warp until that cannot issue, has used up its line of instructions (where the spec
// says so), or two can share the turn; then the next warp in order has it. Where lines end turns, a warp in the middle
// of its line keeps the scheduler while it waits for cores of which some are shared: what the operand cache holds for
// it would be lost to the next warp.
//
// Two instructions of a warp go together
//   by control code: the first carries the code, and both wait until both can go. If its successor carries the code,
//     too, they do not pair and the warp waits unpaired_stall_cycles; the first slot of an instruction group may have
//     no partner at all (dual_slot0_leads). Both rules are hypotheses of the spec.
//   by hardware: whenever the second can go now.
#include <algorithm>
#include <cmath>

#include "machine/sm/stages.h"

namespace kernelcast::sm {
namespace {

void block(Warp& w, Stall why, Cycle until, Cycle now) {
  w.why = why;
  w.wake = std::max(until, now + 1);
}

Cycle registers_ready(const Warp& w, const Decoded& d) {
  Cycle ready = 0;
  for (std::int16_t source : d.sources)
    if (source >= 0) ready = std::max(ready, w.ready[static_cast<std::size_t>(source)]);
  // Results of one register come in order.
  if (d.destination >= 0) {
    const Cycle last = w.ready[static_cast<std::size_t>(d.destination)];
    const auto latency = static_cast<Cycle>(d.latency);
    if (last > latency) ready = std::max(ready, last - latency);
  }
  return ready;
}

Cycle scoreboards_ready(const Warp& w, std::uint8_t mask) {
  Cycle ready = 0;
  for (std::size_t i = 0; i < w.barriers.size(); ++i)
    if (((mask >> i) & 1) != 0) ready = std::max(ready, w.barriers[i]);
  return ready;
}

/// Whether operands are there, or the spec leaves that to the code.
bool operands_ready(SmState& m, Warp& w, const Decoded& d) {
  if (d.control.wait_mask != 0) {
    const Cycle ready = scoreboards_ready(w, d.control.wait_mask);
    if (ready > m.now) {
      block(w, Stall::dependency, ready, m.now);
      return false;
    }
  }
  const Cycle ready = registers_ready(w, d);
  if (ready <= m.now) return true;
  if (m.spec->interlock || !d.has_control) {
    block(w, Stall::dependency, ready, m.now);
    return false;
  }
  if (m.result.hazards++ == 0) m.result.first_hazard_line = d.text_line;
  return true;
}

/// Whether what the fraction of a branch has added up to makes a whole.
bool due(double& debt, double fraction) {
  debt += fraction;
  if (debt < 1) return false;
  debt -= 1;
  return true;
}

/// Called with the warp behind the branch.
bool takes_branch(Warp& w, const Decoded& d) {
  double& debt = w.debts[static_cast<std::size_t>(d.loop)];
  if (d.target >= static_cast<int>(w.pc)) return due(debt, d.fraction);
  int& passes = w.passes[static_cast<std::size_t>(d.loop)];
  if (++passes < d.trips || (passes == d.trips && due(debt, d.fraction))) return true;
  passes = 0;
  return false;
}

struct Issued {
  Warp& w;
  const Decoded& d;
  int lanes;
  int reads;
};

/// The tensor pipe of the scheduler: asynchronous products queue for it.
Choice pipe_of(const SmState& m, int scheduler, Op op) {
  return {m.lanes_of[static_cast<std::size_t>(scheduler) * op_count + static_cast<std::size_t>(op)].front(), true};
}

/// Cycles that an instruction keeps its lanes. Beyond the time of its lanes a load or store takes its scheduler's part
/// of what all schedulers share: one pass of the L1 a cycle, and the bandwidth of shared memory. An atomic operation
/// takes the whole of it, after those before it.
int busy_cycles(const Spec& spec, const Unit& unit, const Decoded& d, const Request& request) {
  const int own = spec.interval_of(unit, d.op);
  if (!d.memory) return own;
  const bool atomic = d.op == Op::atomic_shared || d.op == Op::atomic_global;
  const double sharers = atomic ? 1 : static_cast<double>(spec.schedulers) / unit.schedulers;
  return std::max(own, request.waits + static_cast<int>(std::ceil(request.occupancy * sharers)));
}

/// Returns the cycles that its lanes are taken.
int execute(SmState& m, int scheduler, int slot, const Issued& issued) {
  Warp& w = issued.w;
  const Decoded& d = issued.d;
  Request request;
  int busy = 0;
  Cycle done = m.now + static_cast<Cycle>(d.latency + issued.reads - 1);
  if (d.memory) {
    request = access_memory(m, w, d, m.now + static_cast<Cycle>(issued.reads) - 1);
    done = request.done;
  }
  if (d.op == Op::matrix_async) {
    const Queued queued = queue_product(m, scheduler, d);
    done = queued.done;
    busy = queued.busy;
  } else if (issued.lanes >= 0) {
    Lanes& lanes = m.lanes[static_cast<std::size_t>(issued.lanes)];
    const auto unit = static_cast<std::size_t>(lanes.unit);
    const int own =
        d.op == Op::matrix ? matrix_cycles(m, lanes, d) : busy_cycles(*m.spec, m.spec->units[unit], d, request);
    if (d.op == Op::matrix) done = std::max(done, m.now + static_cast<Cycle>(own));
    busy = own + issued.reads - 1;
    lanes.free_at = m.now + static_cast<Cycle>(busy);
    m.result.unit_busy[unit] += static_cast<Cycle>(busy);
  }
  if (d.destination >= 0) w.ready[static_cast<std::size_t>(d.destination)] = done;
  if (d.control.write_barrier >= 0) w.barriers[static_cast<std::size_t>(d.control.write_barrier)] = done;
  if (d.control.read_barrier >= 0)
    w.barriers[static_cast<std::size_t>(d.control.read_barrier)] = m.now + static_cast<Cycle>(issued.reads) + 1;
  if (d.asynchronous) note_async(m, w, d, done);
  ++m.result.warp_instructions;
  m.result.bank_conflict_cycles += static_cast<Cycle>(issued.reads - 1);
  w.may_issue = m.now + static_cast<Cycle>(d.control.stall);
  ++w.pc;
  switch (d.op) {
    case Op::clock:
      m.result.clocks[static_cast<std::size_t>(w.number)].push_back(m.now);
      break;
    case Op::branch:
      if (takes_branch(w, d)) {
        w.pc = static_cast<std::size_t>(d.target);
        w.line = -1;
        w.may_issue = std::max(w.may_issue, m.now + 1 + static_cast<Cycle>(m.spec->branch_cycles));
      }
      break;
    case Op::exit:
      w.pc = m.code.size();
      break;
    default:
      break;
  }
  w.wake = w.may_issue;
  w.why = Stall::control;
  if (d.op == Op::barrier) arrive(m, slot);
  return busy;
}

void tell(SmState& m, int scheduler, const Issued& issued, std::size_t pc, bool second, int busy) {
  if (m.listener == nullptr) return;
  const int unit = issued.lanes >= 0 ? m.lanes[static_cast<std::size_t>(issued.lanes)].unit : -1;
  m.listener->on_issue({m.now, scheduler, issued.w.number, static_cast<int>(pc), unit, second, issued.reads, busy});
}

/// Whether all lanes that take `op` belong to `unit`.
bool only_in(const SmState& m, int scheduler, Op op, int unit) {
  const auto& candidates = m.lanes_of[static_cast<std::size_t>(scheduler) * op_count + static_cast<std::size_t>(op)];
  return !candidates.empty() &&
         std::ranges::all_of(candidates, [&](int i) { return m.lanes[static_cast<std::size_t>(i)].unit == unit; });
}

/// Whether `lanes` are the only ones of the scheduler that take `op`.
bool has_no_other(const SmState& m, int scheduler, Op op, int lanes) {
  const auto& candidates = m.lanes_of[static_cast<std::size_t>(scheduler) * op_count + static_cast<std::size_t>(op)];
  return candidates.size() == 1 && candidates.front() == lanes;
}

/// The successor that may go together with the instruction at `w.pc`, ready to go; nullptr: there is none.
const Decoded* partner(SmState& m, Warp& w) {
  const Spec& spec = *m.spec;
  const Decoded& first = m.code[w.pc];
  if (spec.dual == DualIssue::none || w.pc + 1 >= m.code.size()) return nullptr;
  if (spec.dual == DualIssue::by_control_code && !first.control.dual) return nullptr;
  if (first.slot == 0 && !spec.dual_slot0_leads) return nullptr;
  const Decoded& second = m.code[w.pc + 1];
  if (second.line != w.line || (spec.dual == DualIssue::by_control_code && second.control.dual)) return nullptr;
  const auto alone = [](Op op) { return op == Op::branch || op == Op::barrier || op == Op::exit; };
  if (first.asynchronous || second.asynchronous) return nullptr;
  if (alone(first.op) || alone(second.op)) return nullptr;
  for (std::int16_t source : second.sources)
    if (source >= 0 && source == first.destination) return nullptr;
  if (second.destination >= 0 && second.destination == first.destination) return nullptr;
  if (registers_ready(w, second) > m.now || scoreboards_ready(w, second.control.wait_mask) > m.now) return nullptr;
  if (second.memory && memory_accepts(m) > m.now) return nullptr;
  return &second;
}

/// After a code for dual issue that had no effect.
void apply_unpaired(SmState& m, Warp& w, std::size_t pc) {
  const Spec& spec = *m.spec;
  if (spec.dual != DualIssue::by_control_code || !m.code[pc].control.dual || pc + 1 >= m.code.size()) return;
  if (!m.code[pc + 1].control.dual) return;
  w.may_issue = std::max(w.may_issue, m.now + static_cast<Cycle>(spec.unpaired_stall_cycles));
  w.wake = w.may_issue;
}

bool try_issue(SmState& m, int scheduler, int slot, std::uint64_t& names_taken) {
  Warp& w = m.warps[static_cast<std::size_t>(slot)];
  if (w.may_issue > m.now) return block(w, Stall::control, w.may_issue, m.now), false;
  if (const Cycle there = fetch(m, w); w.line != m.code[w.pc].line) return block(w, Stall::fetch, there, m.now), false;
  const std::size_t pc = w.pc;
  const Decoded& first = m.code[pc];
  if (!operands_ready(m, w, first)) return false;
  if (first.memory && first.op != Op::copy_bulk)
    if (const Cycle accepts = memory_accepts(m); accepts > m.now) return block(w, Stall::memory, accepts, m.now), false;
  if (first.asynchronous)
    if (const AsyncWait wait = waits_for(m, w, first); wait.until > m.now)
      return block(w, wait.why, wait.until, m.now), false;
  const Choice lanes =
      first.op == Op::matrix_async ? pipe_of(m, scheduler, first.op) : choose_lanes(m, scheduler, first.op, false);
  if (lanes.needed && lanes.lanes < 0) return block(w, lanes.why, lanes.wake, m.now), false;
  // Warps that share a turn go to different units.
  if (m.spec->warps_per_turn > 1 && lanes.lanes >= 0) {
    const auto name = std::uint64_t{1} << m.lanes[static_cast<std::size_t>(lanes.lanes)].unit;
    if ((names_taken & name) != 0) return block(w, Stall::unit, m.now + 1, m.now), false;
    names_taken |= name;
  }

  const Decoded* second = m.spec->dispatch_per_turn > 1 ? partner(m, w) : nullptr;
  // Two that need the same unit, or the same set of lanes, do not go together, whatever the code says.
  if (second != nullptr && lanes.lanes >= 0 &&
      (has_no_other(m, scheduler, second->op, lanes.lanes) ||
       (m.spec->dual_needs_other_unit &&
        only_in(m, scheduler, second->op, m.lanes[static_cast<std::size_t>(lanes.lanes)].unit))))
    second = nullptr;
  Choice second_lanes;
  if (second != nullptr) {
    second_lanes = choose_lanes(m, scheduler, second->op, true, lanes.lanes, m.spec->dual_needs_other_unit);
    if (second_lanes.needed && second_lanes.lanes < 0) {
      if (m.spec->dual == DualIssue::by_control_code)
        return block(w, Stall::arbitration, second_lanes.wake, m.now), false;
      second = nullptr;
    }
  }

  Scheduler& s = m.schedulers[static_cast<std::size_t>(scheduler)];
  Collection together;
  if (second != nullptr) together.held = s.last_read;
  const Issued one{w, first, lanes.lanes, collect_operands(*m.spec, s, w, first, together)};
  const int busy = execute(m, scheduler, slot, one);
  tell(m, scheduler, one, pc, false, busy);
  if (second != nullptr) {
    together.first = &first;
    const Issued two{w, *second, second_lanes.lanes, collect_operands(*m.spec, s, w, *second, together)};
    const int second_busy = execute(m, scheduler, slot, two);
    tell(m, scheduler, two, pc + 1, true, second_busy);
    ++m.result.dual_issues;
  } else {
    apply_unpaired(m, w, pc);
  }
  if (w.pc >= m.code.size()) end_warp(m, slot);
  return true;
}

/// Whether the warp has begun its line of instructions and waits for its own or shared lanes.
bool waits_in_line(const SmState& m, int scheduler, const Warp& w) {
  if (!m.spec->turn_ends_with_line || !w.alive || (w.why != Stall::unit && w.why != Stall::arbitration)) return false;
  const Decoded& next = m.code[w.pc];
  const bool begun = w.pc > 0 && next.line == w.line && m.code[w.pc - 1].line == w.line;
  const auto op = static_cast<std::size_t>(next.op);
  return begun && m.lanes_of[static_cast<std::size_t>(scheduler) * op_count + op].size() > 1;
}

}  // namespace

bool issue_turn(SmState& m, int scheduler) {
  Scheduler& s = m.schedulers[static_cast<std::size_t>(scheduler)];
  const std::size_t count = s.warps.size();
  std::uint64_t names_taken = 0;
  int issued = 0;
  const std::size_t start = s.current;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t at = start + i;
    if (at >= count) at -= count;
    const int slot = s.warps[at];
    Warp& w = m.warps[static_cast<std::size_t>(slot)];
    const int line = w.wake > m.now ? -1 : m.code[w.pc].line;
    if (w.wake > m.now || !try_issue(m, scheduler, slot, names_taken)) {
      if (i == 0 && waits_in_line(m, scheduler, w)) return false;
      continue;
    }
    const bool line_done = w.pc >= m.code.size() || m.code[w.pc].line != line;
    const bool pass_on = (m.spec->turn_ends_with_line && line_done) || m.spec->warps_per_turn > 1;
    s.current = pass_on ? (at + 1 == count ? 0 : at + 1) : at;
    if (++issued == m.spec->warps_per_turn) break;
  }
  return issued > 0;
}

}  // namespace kernelcast::sm
