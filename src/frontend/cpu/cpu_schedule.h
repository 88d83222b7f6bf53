// How long a core with an out-of-order window takes for a loop. Free of LLVM.
#pragma once

#include <cstdint>
#include <vector>

namespace kernelcast::frontend {

/// One machine instruction as the scheduler sees it.
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

struct LoopCycles {
  double cycles = 0;        // of one iteration in the steady state
  double width_cycles = 0;  // what dispatch and ports alone would take
  double uops = 0;
  /// Cycles by which the next passage of the loop begins before the chains of the last one have ended, long passages.
  double overlap = 0;
};

/// Runs the body again and again until the time of an iteration is steady. Values are numbered, so that a load finds
/// the store of the same address in an earlier iteration whatever registers hold it.
LoopCycles schedule_loop(const std::vector<CoreInstruction>& body, const Core& core);

}  // namespace kernelcast::frontend
