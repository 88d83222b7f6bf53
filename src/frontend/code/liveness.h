// Which registers are live where, and how many at most: backward data flow over blocks.
#pragma once

#include <cstdint>
#include <vector>

namespace kernelcast::frontend {

/// An instruction as data flow sees it. Registers are numbered from 0.
struct FlowInstruction {
  std::vector<int> uses, defs;
  bool may_skip = false;  // guarded: its definitions do not end the life of the old values
};

struct FlowBlock {
  std::vector<FlowInstruction> code;
  std::vector<int> successors;
};

struct FlowGraph {
  std::vector<FlowBlock> blocks;
  std::vector<int> weight;  // of each register, in 32-bit registers; 0: takes none
};

/// live_out[b][r / 64] bit r % 64: register r is live at the end of block b.
using LiveSets = std::vector<std::vector<std::uint64_t>>;
LiveSets live_out(const FlowGraph& graph);

/// The largest sum of weights that is live at once anywhere in block `b`; definitions count even when nobody reads
/// them.
int max_pressure(const FlowGraph& graph, const LiveSets& live_out, int b);

}  // namespace kernelcast::frontend
