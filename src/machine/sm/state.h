// Everything that changes while a program runs. Plain data: the stages in fetch, operands, choose_lanes, access_memory,
// blocks and issue are functions on it, and simulate.cpp is the wiring.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <queue>
#include <unordered_map>
#include <vector>

#include "kernelcast/sm.h"
#include "memory/lru_cache.h"

namespace kernelcast::sm {

using Cycle = std::uint64_t;
inline constexpr Cycle never = std::numeric_limits<Cycle>::max();

/// An instruction with what does not change from one execution to the next.
struct Decoded {
  Op op = Op::nop;
  bool memory = false, has_control = false;
  bool asynchronous = false;  // starts or waits for what runs beside the warp
  std::int16_t destination = -1;
  std::array<std::int16_t, 3> sources{-1, -1, -1};
  std::array<std::int8_t, 3> banks{-1, -1, -1};
  Control control;
  int product = -1, mbarrier = -1, open = 0;
  int latency = 1, access = -1, target = -1, trips = 0, loop = -1, line = 0, slot = 0, text_line = 0;
  double fraction = 0;
  double rate = 0;  // of a matrix instruction: multiply-adds a cycle of one scheduler's pipe
};

/// Asynchronous copies or products of a warp: when those since the last commit and those of each group are done.
struct Groups {
  Cycle open = 0;
  std::deque<Cycle> committed;  // the oldest first
};

/// One set of lanes of a unit.
struct Lanes {
  int unit = 0;
  bool shared = false;  // by several schedulers that have private lanes for the same instructions
  Cycle free_at = 0;
  double part = 0;      // of a cycle that matrix instructions took beyond whole ones
  int granted_to = -1;  // scheduler that a late request was granted to, for cycle granted_at
  Cycle granted_at = 0;
  int queued = -1;        // scheduler whose late request waits for the grant to end
  int last_late = -1;     // scheduler that had the last grant; of two requests the other one's is first
  Cycle handed_over = 0;  // when the last grant ended or was used
};

struct Warp {
  bool alive = false, at_barrier = false;
  int number = 0;  // in the launch
  int block = -1;  // slot of its block
  int role = 0;    // index into Program::roles
  std::size_t pc = 0;
  int line = -1;        // of instructions that it holds
  Cycle may_issue = 0;  // by its last control code
  Cycle wake = 0;       // not worth looking at before
  Stall why = Stall::not_selected;
  std::vector<Cycle> ready;  // by register
  std::array<Cycle, 6> barriers{};
  std::vector<int> passes;                // of each branch back
  std::vector<double> debts;              // of each branch: what its fraction has added up to
  std::vector<std::uint64_t> executions;  // of each access
  Groups copies, products;
  std::vector<int> arrivals, waits;  // at each mbarrier
  bool passed = false;               // its wait for an mbarrier is over, complete or not
  Cycle bulk_done = 0;               // of the copies in bulk since the last arrival
};

struct Scheduler {
  std::vector<int> warps;                           // slots
  std::size_t current = 0;                          // whose turn it is
  std::array<std::pair<int, int>, 16> last_read{};  // by bank or operand slot: warp, register
};

/// Warps of one role in a block: those that run, and those that wait at the barrier.
struct RoleWarps {
  int running = 0, waiting = 0;
};

struct MbarrierPhase {
  int arrived = 0;
  Cycle complete = 0;  // valid when all have arrived
};

struct Block {
  bool active = false;
  int warps = 0, running = 0;
  std::vector<RoleWarps> roles;
  std::vector<std::vector<MbarrierPhase>> mbarriers;  // phases of each
};

struct InstructionCache {
  std::vector<Cycle> ready_at, used_at;  // by line; never: absent
  std::vector<int> resident;
  std::size_t capacity = 0;
};

struct Memory {
  memory::LruCache l1, l2;
  double shared_free = 0, l1_free = 0;                 // when atomic operations are through
  double bulk_free = 0;                                // when the copies in bulk are through
  double l2_free = 0, dram_free = 0;                   // when the queues are empty
  std::vector<double> l1_debt, l2_debt;                // by access: fractions of sectors that are still to miss
  std::unordered_map<std::uint64_t, Cycle> word_free;  // by word that atomic operations update: when the next one can
  std::priority_queue<Cycle, std::vector<Cycle>, std::greater<>> outstanding;
};

struct SmState {
  const Spec* spec = nullptr;
  const Program* program = nullptr;
  SmLaunch launch;
  Listener* listener = nullptr;
  Cycle now = 0;

  std::vector<Decoded> code;
  std::vector<Warp> warps;  // slots
  std::vector<Scheduler> schedulers;
  std::vector<Block> blocks;  // slots
  std::vector<Lanes> lanes;
  std::vector<std::vector<int>> lanes_of;  // by scheduler * op_count + op: indices into lanes, the preferred first
  InstructionCache icache;
  Memory memory;
  int next_block = 0, finished_blocks = 0;
  Result result;
};

/// Sets up everything for the first cycle. Throws UserError when the spec cannot run the program or the launch.
SmState initial_state(const Spec& spec, const Program& program, const SmLaunch& launch);

}  // namespace kernelcast::sm
