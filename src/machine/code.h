// Machine code as plain values: what data flow and the schedulers read of it, whatever wrote it. Registers are numbered
// from 0.
#pragma once

#include <cstdint>
#include <vector>

#include "kernelcast/ops.h"
#include "kernelcast/profile.h"

namespace kernelcast::machine {

/// An instruction as data flow sees it.
struct FlowInstruction {
  std::vector<int> uses, defs;
  bool may_skip = false;  // guarded: its definitions do not end the life of the old values
};

/// A basic block, in the order of the text.
template <class Instruction>
struct CodeBlockOf {
  std::vector<Instruction> code;
  std::vector<int> successors;
};
using FlowBlock = CodeBlockOf<FlowInstruction>;

struct FlowGraph {
  std::vector<FlowBlock> blocks;
  std::vector<int> weight;  // of each register, in 32-bit registers; 0: takes none
};

/// Part of an instruction in copies that run beside the warp (cp.async): one of them, the end of a group of them, or a
/// wait until at most `open_groups` groups are under way; stop: a wait for what has the latency `stops_for`.
enum class Async : std::uint8_t { none, copy, commit, wait, stop };

/// An instruction of a warp, which issues in order: what data flow sees, with what it costs.
struct TimedInstruction : FlowInstruction {
  OpCounts ops;  // what it issues; nothing: it costs nothing and only passes values on
  Async async = Async::none;
  int open_groups = 0;
  Latency stops_for = Latency::alu;
  double fills = 0, products = 0, cluster_barriers = 0;  // see Stalls
  AsyncEvent::Kind event = AsyncEvent::Kind::none;
};

using TimedBlock = CodeBlockOf<TimedInstruction>;

/// An instruction of a core with an out-of-order window.
struct CoreInstruction {
  /// A register that is read: `ahead` cycles later than the instruction starts (operands beside a folded load).
  struct Read {
    int reg;
    int ahead;
  };
  /// Cycles on one of the ports of a set.
  struct Use {
    std::uint64_t ports;
    int cycles;
  };
  std::uint64_t text = 0;  // what it does, apart from registers: opcode and immediates
  int uops = 1;
  int latency = 1;  // from start to result
  std::vector<Read> reads;
  std::vector<int> writes;
  std::vector<Use> uses;
  /// Entries of a scheduler's queue, held until the instruction starts.
  struct Entry {
    int queue;
    int entries;
  };
  std::vector<Entry> queued = {};
  bool loads = false, stores = false;
  // Address of the memory operand: registers (-1: none) and what is constant in it.
  int base = -1, index = -1;
  std::uint64_t address_text = 0;
  int block = 0;  // whose it is
  bool unmodelled_call = false;
};

struct Core {
  int width = 4;                 // micro-operations dispatched a cycle
  int window = 192;              // micro-operations in flight
  std::vector<int> queues = {};  // entries of each scheduler's queue
  int ports = 8;
  int registers = 0;
};

}  // namespace kernelcast::machine
