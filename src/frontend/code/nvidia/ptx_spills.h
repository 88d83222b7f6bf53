// What a kernel that needs more registers than it may have does in local memory: an estimate without ptxas.
#pragma once

#include <vector>

#include "frontend/ir/machine_code.h"

namespace kernelcast::frontend {

/// Loads and stores of spilled registers, 32 bits each, before and behind an instruction; those of instruction k of
/// block b stand at [b][k].
struct SpillAccess {
  int loads = 0, stores = 0;
};
struct Spills {
  std::vector<std::vector<SpillAccess>> at;
  std::vector<bool> spilled;  // each register of the graph
};

/// Keeps at most `registers` (32 bits each) at once. `order[b]` is the order in which block b runs. Where one more is
/// needed, the value whose next use is farthest away goes to local memory (Belady, IBM Systems Journal 5(2), 1966): it
/// is stored once, where it is made, and loaded when it is used next. Of the values that a block begins with, those
/// that are used first are in registers. `copies[b][k]`: the instruction only renames a value, which costs nothing.
Spills find_spills(const FlowGraph& graph, const LiveSets& live_out, const std::vector<std::vector<std::size_t>>& order,
                   const std::vector<std::vector<bool>>& copies, int registers);

}  // namespace kernelcast::frontend
