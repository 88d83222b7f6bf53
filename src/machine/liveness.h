// Which registers are live where, and how many at most: backward data flow over blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/code.h"

namespace kernelcast::machine {

/// live_out[b][r / 64] bit r % 64: register r is live at the end of block b.
using LiveSets = std::vector<std::vector<std::uint64_t>>;
LiveSets live_out(const FlowGraph& graph);

/// The largest sum of weights that is live at once anywhere in block `b`; definitions count even when nobody reads
/// them.
int max_pressure(const FlowGraph& graph, const LiveSets& live_out, int b);

}  // namespace kernelcast::machine
