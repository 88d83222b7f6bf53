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

/// Cycles until what an instruction waits for (groups of copies or products, a phase of an mbarrier) is there; `never`:
/// somebody has to arrive first.
struct AsyncWait {
  Cycle until = 0;
  Stall why = Stall::copy;
};
AsyncWait waits_for(SmState& m, Warp& w, const Decoded& d);
/// Notes what an instruction does to groups and mbarriers; `done`: when what it started is finished.
void note_async(SmState& m, Warp& w, const Decoded& d, Cycle done);
/// Cycles that a matrix instruction holds its pipe, whole ones: what is left over goes to the next one.
int matrix_cycles(const SmState& m, Lanes& lanes, const Decoded& d);
struct Queued {
  Cycle done = 0;
  int busy = 0;  // cycles of the pipe
};
/// Puts an asynchronous product into the queue of its pipe (all pipes for one of the whole SM).
Queued queue_product(SmState& m, int scheduler, const Decoded& d);

/// One scheduler's turn; whether something was issued.
bool issue_turn(SmState& m, int scheduler);

}  // namespace kernelcast::sm
