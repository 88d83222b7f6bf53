// Registers that a PTX instruction reads and writes, and the kernel's flow graph.
#pragma once

#include <string_view>
#include <vector>

#include "frontend/assembly.h"
#include "frontend/liveness.h"

namespace kernelcast::frontend {

/// Names as the text has them: "%r12", "%p1"; special registers (%tid.x) are not among them.
struct PtxAccesses {
  std::vector<std::string_view> reads, writes;
};
PtxAccesses ptx_accesses(const AsmInstruction& instruction);

/// The kernel's blocks with their registers numbered; `names[r]` is register r. Weights: two for 64-bit registers, none
/// for predicates and for values that need no register (parameters, constants, what is computed from these by copies).
struct PtxFlow {
  FlowGraph graph;
  std::vector<std::string_view> names;
};
PtxFlow ptx_flow(const AsmFunction& kernel);

}  // namespace kernelcast::frontend
