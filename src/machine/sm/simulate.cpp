// The wiring. Each cycle every scheduler whose turn it is looks for a warp; when none found one, time goes on to the
// first cycle in which a warp is worth looking at. Results are the same as with every cycle looked at.
#include <algorithm>
#include <cmath>
#include <map>

#include "io/clock.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "machine/sm/stages.h"

namespace kernelcast::sm {
namespace {

[[noreturn]] void refuse(const Program& program, int line, const std::string& what) {
  throw UserError(program.name + ":" + std::to_string(std::max(line, 1)) + ": " + what);
}

void check_control(const Spec& spec, const Program& program, const Instruction& i) {
  if (!i.control) return;
  if (spec.control == ControlKind::none) refuse(program, i.line, spec.name + " has no control codes");
  const int bits = spec.control == ControlKind::eight_bit ? 8 : 21;
  if (*i.control >> bits != 0)
    refuse(program, i.line, "a control code of " + spec.name + " has " + std::to_string(bits) + " bits");
  const Control control = decode_control(spec, *i.control);
  const int barriers = static_cast<int>(Warp{}.barriers.size());
  if (control.write_barrier >= barriers || control.read_barrier >= barriers)
    refuse(program, i.line, "control code: barriers go from 0 to " + std::to_string(barriers - 1));
}

void check_asynchronous(const Spec& spec, const Program& program, const Instruction& i) {
  const std::string name(info(i.op).name);
  if (i.op == Op::matrix || i.op == Op::matrix_async) {
    if (i.product < 0 || i.product >= static_cast<int>(program.products.size()))
      refuse(program, i.line, name + " names no product");
    const Product& product = program.products[static_cast<std::size_t>(i.product)];
    const double rate = spec.tensor_rate(i.op, product.type);
    const std::string type(name_of(product.type));
    if (std::isnan(rate))
      refuse(program, i.line, "the rate of " + type + " products on " + spec.name + " is not known");
    if (rate <= 0) refuse(program, i.line, spec.name + " has no " + type + " products");
    if (spec.latency[static_cast<std::size_t>(Op::matrix)] <= 0)
      refuse(program, i.line, "the latency of matrix products on " + spec.name + " is not known");
  }
  if ((i.op == Op::copy_bulk || i.op == Op::arrive || i.op == Op::mbarrier_wait) &&
      (i.mbarrier < 0 || i.mbarrier >= static_cast<int>(program.mbarriers.size())) && i.op != Op::copy_bulk)
    refuse(program, i.line, name + " names no mbarrier");
}

void check_roles(const Program& program, const SmLaunch& launch) {
  if (program.roles.empty()) return;
  int warps = 0;
  for (const Role& r : program.roles) {
    if (r.warps < 1 || r.start < 0 || r.start >= static_cast<int>(program.instructions.size()))
      refuse(program, 1, "a role needs warps and instructions");
    warps += r.warps;
  }
  if (warps != launch.warps_per_block)
    refuse(
        program, 1,
        "the roles are of " + std::to_string(warps) + " warps, a block has " + std::to_string(launch.warps_per_block));
}

void check_instruction(const Spec& spec, const Program& program, const Instruction& i) {
  check_control(spec, program, i);
  const auto check = [&](int reg) {
    if (reg >= 256) refuse(program, i.line, "register R" + std::to_string(reg) + " is above R255");
  };
  check(i.destination);
  for (std::int16_t source : i.sources) check(source);
  const bool executes = std::ranges::any_of(
      spec.units, [&](const Unit& unit) { return std::ranges::find(unit.ops, i.op) != unit.ops.end(); });
  const bool free = i.op == Op::copy_bulk || i.op == Op::copy_commit || i.op == Op::copy_wait ||
                    i.op == Op::matrix_commit || i.op == Op::matrix_wait || i.op == Op::arrive ||
                    i.op == Op::mbarrier_wait || i.op == Op::barrier || i.op == Op::clock || i.op == Op::branch ||
                    i.op == Op::nop || i.op == Op::exit || i.op == Op::move;
  if (!executes && !free) refuse(program, i.line, spec.name + " has no unit for " + std::string(info(i.op).name));
  if (info(i.op).memory && (i.access < 0 || i.access >= static_cast<int>(program.accesses.size())))
    refuse(program, i.line, std::string(info(i.op).name) + " names no access");
  check_asynchronous(spec, program, i);
  if (i.op != Op::branch) return;
  const auto index = static_cast<int>(&i - program.instructions.data());
  const auto length = static_cast<int>(program.instructions.size());
  const bool forward = i.target > index;
  if (i.target < 0 || i.target > length || (!forward && i.trips < 1))
    refuse(program, i.line, "a branch needs target and trips");
  if (!(i.fraction >= 0 && i.fraction <= 1)) refuse(program, i.line, "the fraction of a branch goes from 0 to 1");
}

Decoded decode(const Spec& spec, const Program& program, const Instruction& i, int index, int& loops) {
  Decoded d;
  d.op = i.op;
  d.memory = info(i.op).memory;
  d.has_control = i.control.has_value();
  d.destination = i.destination;
  d.sources = i.sources;
  for (std::size_t k = 0; k < 3; ++k)
    if (d.sources[k] >= 0) d.banks[k] = static_cast<std::int8_t>(spec.bank_of(d.sources[k]));
  const bool coded = spec.control != ControlKind::none;
  if (coded && d.has_control) d.control = decode_control(spec, *i.control);
  if (coded && !d.has_control && spec.control == ControlKind::eight_bit)
    d.control = decode_control(spec, spec.default_code);
  d.latency = std::max(spec.latency[static_cast<std::size_t>(i.op)], 1);
  d.access = i.access;
  d.product = i.product;
  d.mbarrier = i.mbarrier;
  d.open = i.open;
  d.asynchronous = i.op >= Op::copy_async && i.op <= Op::mbarrier_wait && i.op != Op::matrix;
  if (i.op == Op::matrix_async) d.latency = spec.latency[static_cast<std::size_t>(Op::matrix)];
  if (i.product >= 0)
    d.rate = spec.tensor_rate(i.op, program.products[static_cast<std::size_t>(i.product)].type) / spec.schedulers;
  d.target = i.target;
  d.trips = i.trips;
  d.fraction = i.fraction;
  if (i.op == Op::branch) d.loop = loops++;
  d.slot = index % spec.group_instructions;
  d.line = index / spec.group_instructions * spec.group_bytes / spec.line_bytes;
  d.text_line = i.line;
  return d;
}

void make_lanes(SmState& m) {
  const Spec& spec = *m.spec;
  m.lanes_of.assign(static_cast<std::size_t>(spec.schedulers) * op_count, {});
  m.result.unit_busy.assign(spec.units.size(), 0);
  for (std::size_t u = 0; u < spec.units.size(); ++u) {
    const Unit& unit = spec.units[u];
    for (int first = 0; first < spec.schedulers; first += unit.schedulers) {
      Lanes lanes;
      lanes.unit = static_cast<int>(u);
      const auto index = static_cast<int>(m.lanes.size());
      for (int s = first; s < first + unit.schedulers; ++s)
        for (Op op : unit.ops) {
          std::vector<int>& candidates =
              m.lanes_of[static_cast<std::size_t>(s) * op_count + static_cast<std::size_t>(op)];
          lanes.shared = lanes.shared || (unit.schedulers > 1 && !candidates.empty());
          candidates.push_back(index);
        }
      m.lanes.push_back(lanes);
    }
  }
}

void make_warps(SmState& m, int loops) {
  const Spec& spec = *m.spec;
  int slots = std::max(1, std::min(spec.max_warps / m.launch.warps_per_block, spec.max_blocks));
  if (m.launch.resident_blocks > 0) slots = std::min(slots, m.launch.resident_blocks);
  slots = std::min(slots, m.launch.blocks);
  m.blocks.resize(static_cast<std::size_t>(slots));
  m.warps.resize(static_cast<std::size_t>(slots * m.launch.warps_per_block));
  m.schedulers.resize(static_cast<std::size_t>(spec.schedulers));
  for (Scheduler& s : m.schedulers) s.last_read.fill({-1, -1});
  for (std::size_t i = 0; i < m.warps.size(); ++i) {
    Warp& w = m.warps[i];
    w.ready.assign(static_cast<std::size_t>(std::max(m.program->registers, 1)), 0);
    w.passes.assign(static_cast<std::size_t>(loops), 0);
    w.debts.assign(static_cast<std::size_t>(loops), 0);
    w.executions.assign(m.program->accesses.size(), 0);
    w.wake = never;
    m.schedulers[i % m.schedulers.size()].warps.push_back(static_cast<int>(i));
  }
  m.result.clocks.resize(static_cast<std::size_t>(m.launch.blocks * m.launch.warps_per_block));
}

/// The first turn of a scheduler at `from` or later.
Cycle turn_at(const Spec& spec, std::size_t scheduler, Cycle from) {
  const auto turn = static_cast<Cycle>(spec.turn_cycles);
  const Cycle phase = spec.turns_alternate ? static_cast<Cycle>(scheduler) % turn : 0;
  return from + (turn + phase - from % turn) % turn;
}

Cycle next_event(const SmState& m) {
  Cycle next = never;
  for (std::size_t i = 0; i < m.warps.size(); ++i) {
    const Warp& w = m.warps[i];
    if (!w.alive || w.wake == never) continue;
    next = std::min(next, turn_at(*m.spec, i % m.schedulers.size(), std::max(w.wake, m.now + 1)));
  }
  return next;
}

bool issue_cycle(SmState& m) {
  bool any = false;
  for (int s = 0; s < m.spec->schedulers; ++s)
    if (turn_at(*m.spec, static_cast<std::size_t>(s), m.now) == m.now) any = issue_turn(m, s) || any;
  return any;
}

void tell_stalls(SmState& m, Cycle until, const std::vector<std::uint64_t>& issued_before) {
  for (std::size_t i = 0; i < m.warps.size(); ++i) {
    const Warp& w = m.warps[i];
    if (!w.alive || issued_before[i] != 0) continue;
    const Cycle from = turn_at(*m.spec, i % m.schedulers.size(), m.now);
    if (from >= until) continue;  // its turn is not in this time: counted with the turn before
    const Cycle last = m.spec->turns_alternate ? turn_at(*m.spec, i % m.schedulers.size(), until) : until;
    m.listener->on_stall(from, last - from, w.number, w.wake > m.now ? w.why : Stall::not_selected);
  }
}

/// The first warp that waits for an mbarrier goes on.
bool pass_a_wait(SmState& m) {
  for (Warp& w : m.warps) {
    if (!w.alive || w.wake != never || w.why != Stall::mbarrier) continue;
    w.passed = true;
    w.wake = m.now + 1;
    ++m.result.passed_waits;
    return true;
  }
  return false;
}

}  // namespace

SmState initial_state(const Spec& spec, const Program& program, const SmLaunch& launch) {
  if (program.instructions.empty()) refuse(program, 1, "there is no instruction");
  if (launch.blocks < 1 || launch.warps_per_block < 1) throw UserError("a launch has at least one block of one warp");
  if (launch.warps_per_block > spec.max_warps)
    throw UserError("a block of " + std::to_string(launch.warps_per_block) + " warps does not fit; " + spec.name +
                    " holds " + std::to_string(spec.max_warps));
  check_roles(program, launch);
  SmState m;
  m.spec = &spec;
  m.program = &program;
  m.launch = launch;
  int loops = 0;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    check_instruction(spec, program, program.instructions[i]);
    m.code.push_back(decode(spec, program, program.instructions[i], static_cast<int>(i), loops));
  }
  make_lanes(m);
  make_warps(m, loops);
  const auto lines = static_cast<std::size_t>(m.code.back().line) + 1;
  m.icache.ready_at.assign(lines, never);
  m.icache.used_at.assign(lines, 0);
  m.icache.capacity = static_cast<std::size_t>(std::max(spec.icache_bytes / spec.line_bytes, 1));
  m.memory.l1 = memory::LruCache(spec.l1_bytes, spec.line_bytes_l1, spec.sector_bytes);
  m.memory.l2 = memory::LruCache(spec.l2_bytes, 128, spec.sector_bytes);
  m.memory.l1_debt.assign(program.accesses.size(), 0);
  m.memory.l2_debt.assign(program.accesses.size(), 0);
  start_blocks(m);
  return m;
}

Result simulate(const Spec& spec, const Program& program, const SmLaunch& launch, Listener* listener) {
  SmState m = initial_state(spec, program, launch);
  m.listener = listener;
  std::vector<std::uint64_t> issued;
  for (unsigned turns = 1; m.finished_blocks < launch.blocks; ++turns) {
    if ((turns & 1023U) == 0 && launch.deadline_s > 0 && steady_seconds() > launch.deadline_s)
      throw LimitError(program.name + ": not simulated within the time of " KC_SETTING(max_seconds));
    if (m.now > launch.max_cycles)
      throw LimitError(program.name + ": not over after " + std::to_string(launch.max_cycles) +
                       " cycles; run fewer blocks or passes");
    if (listener != nullptr) {
      issued.assign(m.warps.size(), 0);
      for (std::size_t i = 0; i < m.warps.size(); ++i) issued[i] = m.warps[i].pc;
    }
    const Cycle step = spec.turns_alternate ? 1 : static_cast<Cycle>(spec.turn_cycles);
    const Cycle next = issue_cycle(m) ? m.now + step : next_event(m);
    if (m.finished_blocks < launch.blocks && next == never && launch.pass_waits && pass_a_wait(m)) {
      ++m.now;
      continue;
    }
    if (m.finished_blocks < launch.blocks && next == never)
      throw UserError(program.name +
                      ": no warp can go on; do all warps of a block reach the same barriers, "
                      "and does somebody arrive for each phase of an mbarrier?");
    if (listener != nullptr) {
      for (std::size_t i = 0; i < m.warps.size(); ++i) issued[i] = issued[i] != m.warps[i].pc ? 1 : 0;
      tell_stalls(m, next == never ? m.now + 1 : next, issued);
    }
    m.result.cycles = m.now + 1;
    m.now = next;
  }
  return std::move(m.result);
}

}  // namespace kernelcast::sm
