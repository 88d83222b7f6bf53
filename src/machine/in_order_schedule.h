// How long a warp that runs alone waits in each machine block: in-order issue over the dependences of the target's
// code.
#pragma once

#include <vector>

#include "kernelcast/profile.h"
#include "machine/code.h"

namespace kernelcast::machine {

/// What the schedule is made for.
struct Timing {
  double issue_cycles = 1;          // cycles from one instruction of a warp to its next
  bool reschedule = true;           // order each block anew, as ptxas does; false: the order of the text is final
  double registers_in_flight = 32;  // loads are moved up as long as no more results than this are under way
  std::array<double, latency_count> latency{4, 16, 20, 25, 30, 350, 100, 32};  // only to order and to overlap
};

/// The class of the result of an instruction.
Latency latency_class(const OpCounts& ops);

/// Stalls of each block. Blocks are walked in the order of the text, each loop twice: what is reported of a block is
/// its last walk, with the registers' ready times as the blocks before it left them.
std::vector<Stalls> find_stalls(const std::vector<TimedBlock>& blocks, int registers, const Timing& timing);

/// An order of the block's instructions that keeps few registers alive, as a compiler seeks it when they run out: of
/// the instructions that could be next the one that frees most, then the first in the text. `weight[r]` registers for
/// value r; `live_out[r]`: it is needed after the block.
std::vector<std::size_t> narrow_order(const TimedBlock& block, const std::vector<int>& weight,
                                      const std::vector<bool>& live_out);

}  // namespace kernelcast::machine
