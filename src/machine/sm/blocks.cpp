// The block scheduler: a block starts as soon as a slot is free. Warps of a block go to the schedulers in turn.
#include <algorithm>
#include <cmath>

#include "machine/sm/stages.h"

namespace kernelcast::sm {
namespace {

// Multiples of it modulo 1 are spread evenly, however many there are (Knuth, The Art of Computer Programming, 6.4).
constexpr double golden_section = 0.6180339887498949;

void start_block(SmState& m, int slot) {
  Block& block = m.blocks[static_cast<std::size_t>(slot)];
  block.active = true;
  block.warps = block.running = m.launch.warps_per_block;
  block.roles.assign(std::max<std::size_t>(m.program->roles.size(), 1), {});
  block.mbarriers.assign(m.program->mbarriers.size(), {});
  std::size_t role = 0;
  int of_role = 0;
  for (int i = 0; i < m.launch.warps_per_block; ++i) {
    const auto index = static_cast<std::size_t>(slot * m.launch.warps_per_block + i);
    Warp& w = m.warps[index];
    w.alive = true;
    w.at_barrier = false;
    w.number = m.next_block * m.launch.warps_per_block + i;
    w.block = slot;
    if (!m.program->roles.empty() && of_role++ == m.program->roles[role].warps) {
      ++role;
      of_role = 1;
    }
    w.role = m.program->joint ? 0 : static_cast<int>(role);
    ++block.roles[m.program->joint ? 0 : role].running;
    w.pc = m.program->roles.empty() ? 0 : static_cast<std::size_t>(m.program->roles[role].start);
    w.line = -1;
    w.may_issue = w.wake = m.now;
    std::ranges::fill(w.ready, m.now);
    w.barriers.fill(m.now);
    std::ranges::fill(w.passes, 0);
    // Warps begin at different points, so that a branch that one in eight takes is taken by one warp in eight.
    const double phase = golden_section * w.number;
    std::ranges::fill(w.debts, phase - std::floor(phase));
    std::ranges::fill(w.executions, 0);
    w.copies = w.products = {};
    w.arrivals.assign(m.program->mbarriers.size(), 0);
    w.waits.assign(m.program->mbarriers.size(), 0);
    w.bulk_done = 0;
    w.passed = false;
  }
  ++m.next_block;
}

/// Warps of one role wait for one another: warps of others may execute other barriers, or none.
void release(SmState& m, int slot, int role) {
  Block& block = m.blocks[static_cast<std::size_t>(slot)];
  block.roles[static_cast<std::size_t>(role)].waiting = 0;
  const auto latency = static_cast<Cycle>(std::max(m.spec->latency[static_cast<std::size_t>(Op::barrier)], 1));
  for (int i = 0; i < block.warps; ++i) {
    Warp& w = m.warps[static_cast<std::size_t>(slot * m.launch.warps_per_block + i)];
    if (!w.at_barrier || w.role != role) continue;
    w.at_barrier = false;
    w.may_issue = std::max(w.may_issue, m.now + latency);
    w.wake = w.may_issue;
  }
}

}  // namespace

void start_blocks(SmState& m) {
  for (std::size_t slot = 0; slot < m.blocks.size() && m.next_block < m.launch.blocks; ++slot)
    if (!m.blocks[slot].active) start_block(m, static_cast<int>(slot));
}

void end_warp(SmState& m, int slot) {
  Warp& w = m.warps[static_cast<std::size_t>(slot)];
  w.alive = false;
  w.wake = never;
  Block& block = m.blocks[static_cast<std::size_t>(w.block)];
  RoleWarps& role = block.roles[static_cast<std::size_t>(w.role)];
  --role.running;
  if (--block.running > 0) {
    if (role.running > 0 && role.waiting == role.running) release(m, w.block, w.role);
    return;
  }
  block.active = false;
  ++m.finished_blocks;
  start_blocks(m);
}

void arrive(SmState& m, int slot) {
  Warp& w = m.warps[static_cast<std::size_t>(slot)];
  w.at_barrier = true;
  w.wake = never;
  w.why = Stall::barrier;
  Block& block = m.blocks[static_cast<std::size_t>(w.block)];
  RoleWarps& role = block.roles[static_cast<std::size_t>(w.role)];
  if (++role.waiting == role.running) release(m, w.block, w.role);
}

}  // namespace kernelcast::sm
