// The stages of a cycle. Each is one file.
#pragma once

#include <optional>

#include "machine/sm/state.h"

namespace kernelcast::sm {

/// Whether the warp holds the line of its next instruction; otherwise when it will.
Cycle fetch(SmState& m, Warp& w);

/// What the instructions that a warp issues together ask of the register banks.
struct Collection {
  std::array<int, 16> reads{};  // of each bank
  // When the second of a pair is collected:
  const Decoded* first = nullptr;
  std::optional<decltype(Scheduler::last_read)> held;  // what the operand cache held before the pair
};
/// Cycles that collecting the operands of `d` takes, behind those of the collection.
int collect_operands(const Spec& spec, Scheduler& s, const Warp& w, const Decoded& d, Collection& together);

struct Choice {
  int lanes = -1;      // -1: none is free
  bool needed = true;  // false: the instruction goes to no lanes
  Stall why = Stall::unit;
  Cycle wake = 0;
};
/// Lanes for an instruction of a scheduler; `announced`: the control code asked for the shared ones in time.
Choice choose_lanes(SmState& m, int scheduler, Op op, bool announced, int other_than = -1, bool other_name = false);

struct Request {
  Cycle done = 0;        // when the destination can be read
  double occupancy = 1;  // cycles that shared memory or L1, of which all schedulers have one, takes for it
  int waits = 0;         // cycles until atomic operations before it are through
};
/// Sends a memory instruction on its way.
Request access_memory(SmState& m, Warp& w, const Decoded& d, Cycle start);
/// Whether one more request can be under way; otherwise when.
Cycle memory_accepts(SmState& m);

/// Fills free slots with blocks; ends a warp; a warp arrives at a barrier.
void start_blocks(SmState& m);
void end_warp(SmState& m, int slot);
void arrive(SmState& m, int slot);

/// One scheduler's turn; whether something was issued.
bool issue_turn(SmState& m, int scheduler);

}  // namespace kernelcast::sm
