// What schedulers and data flow read of machine code and say about it: which registers are live where, how long a warp
// that issues in order waits in each machine block, and how long a core with an out-of-order window takes for a loop.
#pragma once

#include <cstdint>
#include <vector>

#include "kernelcast/profile.h"
#include "machine/code.h"

namespace kernelcast::machine {

/// live_out[b][r / 64] bit r % 64: register r is live at the end of block b.
using LiveSets = std::vector<std::vector<std::uint64_t>>;
LiveSets live_out(const FlowGraph& graph);

/// The largest sum of weights that is live at once anywhere in block `b`; definitions count even when nobody reads
/// them.
int max_pressure(const FlowGraph& graph, const LiveSets& live_out, int b);

/// What the schedule is made for.
struct Timing {
  double issue_cycles = 1;          // cycles from one instruction of a warp to its next
  bool reschedule = true;           // order each block anew, as ptxas does; false: the order of the text is final
  double registers_in_flight = 32;  // loads are moved up as long as no more results than this are under way
  std::array<double, latency_count> latency{4, 16, 20, 25, 30, 350, 100, 32};  // only to order and to overlap
};

/// The class of the result of an instruction.
Latency latency_class(const OpCounts& ops);

/// What a warp meets in each block.
struct Walk {
  std::vector<Stalls> stalls;
  std::vector<std::vector<BarrierPhase>>
      phases;  // empty ones where barriers do not part the code, or in too many pieces
  std::vector<std::vector<AsyncEvent>> events;
};
/// Blocks are walked in the order of the text, each loop twice: what is reported of a block is its last walk, with the
/// registers' ready times as the blocks before it left them.
Walk walk(const std::vector<TimedBlock>& blocks, int registers, const Timing& timing);
/// Its stalls.
std::vector<Stalls> find_stalls(const std::vector<TimedBlock>& blocks, int registers, const Timing& timing);

/// An order of the block's instructions that keeps few registers alive, as a compiler seeks it when they run out: of
/// the instructions that could be next the one that frees most, then the first in the text. Where that needs more than
/// `most`, the best of three: this one; the same where a register that is written again is another value; the order of
/// the text with loads and addresses right before what needs them first. `weight[r]` registers for value r;
/// `live_out[r]`: it is needed after the block.
std::vector<std::size_t> narrow_order(const TimedBlock& block, const std::vector<int>& weight,
                                      const std::vector<bool>& live_out, int most);

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

}  // namespace kernelcast::machine
