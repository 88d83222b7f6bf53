// How long a core with an out-of-order window takes for a loop.
#pragma once

#include <vector>

#include "machine/code.h"

namespace kernelcast::machine {

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
